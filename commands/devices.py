"""Tell what is known of a device by its name; without a name, list the devices.

A name that stands for several products gives what they agree on.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ..report.exits import Exit

if TYPE_CHECKING:
    from ..tracer.devices import Device, Row

COLUMNS = (
    ("memory_gb", "GB"),
    ("bandwidth_gbs", "GB/s"),
    ("fp16", "fp16"),
    ("bf16", "bf16"),
    ("fp8", "fp8"),
    ("fp4", "fp4"),
    ("int8", "int8"),
    ("units", "SM or CU"),
)
"""Figures of a device, and what each is called."""

HEAD = """\
# Devices

Made by `qtrace devices --markdown`; edit `tracer/devices.json` instead.

The names that `--device` takes, besides `sm_90`, `9.0`, `gfx942`, `cpu` and `xpu`. The name that NVIDIA's
driver reports is taken too, and so is part of a name: where it stands for several products, what they agree
on is known and the rest is not.

Rates are peaks for dense matrices in 10^12 operations a second; where a vendor gives rates for sparse
matrices only, half of them. For GeForce fp16 and fp8 are those with fp32 accumulation. Memory is as the
vendor names it, not what the driver reports. An empty place is something that the hardware does not have, or
that no source here gives. A row is one device as the driver counts them, whole: not a MIG instance, not a
partition.

"""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help="as in `qtrace static --device NAME`")
    parser.add_argument("--markdown", action="store_true", help="all devices as the page docs/devices.md")


def run(args: argparse.Namespace) -> int:
    from ..tracer.devices import device, table

    if args.markdown:
        print(page(table()), end="")
    elif args.name is None:
        for row in table():
            print(f"{row.arch or row.sm:<8} {row.name:<50} {row.driver or ''}".rstrip())
    else:
        for label, value in _facts(device(args.name)):
            print(f"{label:<10} {value}")
    return Exit.OK


def page(rows: Sequence[Row]) -> str:
    """The devices as a Markdown page, `docs/devices.md`."""
    titles = ("device", "arch", *(title for _, title in COLUMNS), "source")
    lines = [_line(titles), _line("---" for _ in titles)]
    return HEAD + "".join([*lines, *(_line(_cells(row)) for row in rows)])


def _cells(row: Row) -> list[str]:
    figures = [_number(getattr(row, field)) for field, _ in COLUMNS]
    return [row.name, str(row.arch or row.sm), *figures, f"[{row.source.split('/')[2]}]({row.source})"]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _facts(found: Device) -> list[tuple[str, str]]:
    told = [("platform", found.platform), ("arch", found.arch or found.sm), ("driver", found.driver)]
    told += [(title, _number(getattr(found, field))) for field, title in COLUMNS]
    return [(label, value) for label, value in told if value]


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:,g}"
