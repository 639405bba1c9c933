"""What AMD's libraries tell the engine of its device: facts where it is given, conditions elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..evaluate.unions import join
from ..evaluate.values import DictValue, Instance, ListValue, Native, Opaque, Unknown, Value
from ..scenario import ARCHITECTURES, Scenario

if TYPE_CHECKING:
    from ..evaluate.machine import Machine

HANDLES, DEVICE = "amdsmi.amdsmi_get_processor_handles", "amdsmi.amdsmi_get_gpu_asic_info"
TARGET = "target_graphics_version"
"""The entry of a device's description that holds its architecture: AMD SMI's Python reference."""
OTHERS = (
    "market_name", "vendor_id", "vendor_name", "subvendor_id", "subsystem_id", "device_id", "rev_id",
    "asic_serial", "oam_id", "num_compute_units",
)  # fmt: skip
"""Its other entries."""
SILENT = ("amdsmi.amdsmi_init", "amdsmi.amdsmi_shut_down")
"""Calls that do not fail where there is such a device."""
PROPERTIES, NAME = "torch.cuda.get_device_properties", "gcnArchName"
"""The same as torch has it."""


def install(m: Machine, scenario: Scenario) -> None:
    """Answer for the device's architecture."""
    if scenario.platform != "rocm":
        return
    table = m.world.models.table
    for name in SILENT:
        table[name] = Native(name, lambda m, args, kwargs: None)
    table[HANDLES] = Native(HANDLES, lambda m, args, kwargs: ListValue((Opaque("a device"),), m.live))
    table[DEVICE] = Native(DEVICE, lambda m, args, kwargs: _description(m, scenario))
    table[PROPERTIES] = Native(PROPERTIES, lambda m, args, kwargs: _properties(m, scenario))


def _architecture(m: Machine, scenario: Scenario) -> Value:
    if scenario.arch is not None:
        return scenario.arch
    parts = [(m.space.choice("arch", ARCHITECTURES, (name,)), name) for name in ARCHITECTURES]
    with m.aside():
        return join(m, parts)


def _description(m: Machine, scenario: Scenario) -> Value:
    """A description of which one entry is known."""
    out = DictValue(m.live)
    for name in OTHERS:
        out.entries["constant", name] = (name, Unknown(f"{DEVICE} {name}", f"{DEVICE}()[{name!r}]"))
    out.entries["constant", TARGET] = (TARGET, _architecture(m, scenario))
    return out


def _properties(m: Machine, scenario: Scenario) -> Value:
    cls = m.world.outside_class("torch.cuda._CudaDeviceProperties")
    cls.attrs["__getattr__"] = Native(
        "__getattr__", lambda m, args, kwargs: Unknown(f"{PROPERTIES}.{args[1]}", f"{PROPERTIES}().{args[1]}")
    )
    out = Instance(cls, m.live)
    out.attrs[NAME] = _architecture(m, scenario)
    return out
