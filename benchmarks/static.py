"""What a static answer costs, beside parsing the same tree with Python's own parser, in one run.

    python benchmarks/static.py SDIST [SCENARIOS]

CPU seconds (user and system) and peak memory of whole processes, each started with nothing kept by us; the
first question is then asked again, from what was kept. The last rows answer several questions in one process:
what one more costs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

FIRST = "one scenario, with a checkpoint"
MODEL = Path(__file__).parent.parent / "docs" / "examples" / "llama-3.1-8b-fp8"
PARSE = """
import ast, sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    for member in archive:
        if member.isfile() and member.name.endswith(".py") and member.name.split("/")[1] == "vllm":
            ast.parse(archive.extractfile(member).read())
"""
MANY = """
import itertools, json, sys
from qtrace.tracer.answer import answered
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import open_source
from qtrace.tracer.standard import model_for, standards
library, count = Library(open_source(sys.argv[1])), int(sys.argv[2])
grid = itertools.product(standards(), ("bare", "wheel"), (80, 89, 90, 100, 120), (None, 1, 16, 512))
for standard, profile, capability, rows in itertools.islice(grid, count):
    model = {**model_for("linear").config, "quantization_config": standard.config}
    scenario = Scenario(model=model, profile=profile, capability=capability, rows=rows, cuda=13000)
    answered(library, scenario, {})
"""


class Cost(NamedTuple):
    """Of one process."""

    seconds: float
    mebibytes: float


def measured(cache: str, *argv: str) -> Cost:
    """Run a process to its end; its own CPU time, and the most memory it held."""
    env = {**os.environ, "QTRACE_CACHE": cache}
    process = subprocess.Popen([sys.executable, *argv], stdout=subprocess.DEVNULL, cwd="/", env=env)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(argv)[:200]} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> None:
    sdist, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    static = ("-m", "qtrace", "static", "vllm", "--at", sdist)
    h100 = ("-q", "fp8", "--device", "h100", "--packages", "wheel")
    rows = {
        "ast.parse of every file": ("-c", PARSE, sdist),
        "qtrace --help": ("-m", "qtrace", "--help"),
        FIRST: (*static, *h100, "--model", str(MODEL)),
        "the same, with its KV cache": (*static, *h100, "--model", str(MODEL), "--kv-cache-dtype", "fp8"),
        "the same, nothing else known": (*static, "-q", "fp8", "--model", str(MODEL)),
        "without a checkpoint": (*static, *h100),
        **{f"{n} scenarios": ("-c", MANY, sdist, str(n)) for n in (1, 10, 100, 1000) if n <= most},
    }
    print(f"{'':34}{'CPU s':>8}{'x ast':>8}{'MiB':>8}")
    base = None
    for name, argv in rows.items():
        with TemporaryDirectory() as cache:
            for row in (name, *(("the same question again",) if name == FIRST else ())):
                cost = measured(cache, *argv)
                base = base or cost.seconds
                print(
                    f"{row:34}{cost.seconds:8.2f}{cost.seconds / base:8.2f}{cost.mebibytes:8.0f}", flush=True
                )


if __name__ == "__main__":
    main()
