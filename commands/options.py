"""The options by which a question is put: what is asked, where it runs, and what is around it."""

from __future__ import annotations

import argparse

LAYERS = (
    "linear",
    "qkv_proj",
    "o_proj",
    "gate_up_proj",
    "down_proj",
    "attention",
    "experts",
    "embedding",
    "lm_head",
)
PLATFORMS = ("cuda", "rocm", "cpu", "xpu")
PACKAGES = ("bare", "wheel")
DTYPES = ("bfloat16", "float16", "float32")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the scenario's arguments."""
    parser.set_defaults(libraries=[])
    group = parser.add_argument_group("scenario (what is not given is unknown)")
    _what(group)
    _where(group)
    _around(group)


def _what(group: argparse._ArgumentGroup) -> None:
    """The flags, the checkpoint and the layer."""
    group.add_argument("--quantization", "-q", metavar="X", help="the engine's --quantization")
    group.add_argument(
        "--kv-cache-dtype",
        metavar="X",
        help="the engine's --kv-cache-dtype: which attention backend takes it",
    )
    group.add_argument(
        "--model", metavar="DIR|JSON", help="checkpoint folder, config.json, or JSON text; never downloaded"
    )
    group.add_argument(
        "--layer",
        default="linear",
        choices=LAYERS,
        help="one projection, or another kind of layer (default: all four projections)",
    )


def _where(group: argparse._ArgumentGroup) -> None:
    """The device, the ranks, and what a forward is like."""
    group.add_argument(
        "--device",
        metavar="D",
        help="h100, 'NVIDIA H100 80GB HBM3', sm_90, 9.0, mi300x, gfx942, cpu, x86_64+amx_tile, xpu",
    )
    group.add_argument(
        "--platform", choices=PLATFORMS, help="of the device (default: what --device says, else cuda)"
    )
    group.add_argument("--dtype", choices=DTYPES, help="activation dtype; from the checkpoint when it says")
    group.add_argument("--tp", type=int, metavar="N", help="tensor parallel size (default: 1)")
    group.add_argument(
        "--expert-parallel",
        action="store_true",
        default=None,
        help="the engine's --enable-expert-parallel, over --tp ranks",
    )
    group.add_argument(
        "--tokens", metavar="M", help="rows of a forward: a number, decode (1) or prefill (unknown, many)"
    )


def _around(group: argparse._ArgumentGroup) -> None:
    """Environment, packages and build."""
    group.add_argument(
        "--env", action="append", default=[], metavar="K=V", help="environment of the engine; K=? is unknown"
    )
    group.add_argument("--packages", choices=PACKAGES, help="none optional, or all that the release installs")
    group.add_argument(
        "--with", action="append", default=[], dest="present", metavar="NAME", help="this package is there"
    )
    group.add_argument(
        "--without", action="append", default=[], dest="absent", metavar="NAME", help="this one is not"
    )
    group.add_argument(
        "--cuda", metavar="V", help="CUDA that the engine was built with (default: the release's own)"
    )


def configure_libraries(parser: argparse.ArgumentParser) -> None:
    """Add `--library`, for commands that tell what is launched."""
    parser.add_argument_group("libraries").add_argument(
        "--library",
        action="append",
        default=[],
        dest="libraries",
        metavar="NAME[=SOURCE]",
        help="read a library that the release's build takes (deepgemm) too: the revision that it takes, or a "
        "directory, FOLDER@REV, git+URL@REV",
    )
