"""`--binary`: the wheel or package in which the kernels' GPU code is looked for."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..report.errors import UsageError

if TYPE_CHECKING:
    from ..report.model import Report
    from ..tracer.scenario import Scenario

INSTALLED = "installed"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add `--binary`."""
    parser.add_argument_group("source").add_argument(
        "--binary",
        metavar="WHEEL|DIR|installed",
        help="list the GPU code compiled into a wheel, a package's folder, a library, or what is installed: "
        "which kernel has code for the device",
    )


def held_against(report: Report, args: argparse.Namespace, engine: str, scenario: Scenario) -> Report:
    """The report with what the binary holds, where one was named."""
    if args.binary is None:
        return report
    if scenario.platform != "cuda":
        raise UsageError("--binary lists code for NVIDIA's GPUs: leave it out on other platforms")
    from ..tracer.examined import examined

    return examined(report, _path(args, engine), scenario.capability)


def _path(args: argparse.Namespace, engine: str) -> Path:
    if args.binary != INSTALLED:
        return Path(args.binary)
    from ..tracer.pins.installed import installation
    from ..tracer.pins.interpreter import search_path

    found = installation(engine, search_path(args.python))
    if found is None:
        where = f"in {args.python}" if args.python else "beside qtrace"
        raise UsageError(f"--binary installed: {engine} is not installed {where}; give a wheel or a folder")
    return found.root / engine
