"""What a static answer costs, beside parsing the same tree with Python's own parser, in one run.

    python benchmarks/static.py SDIST [SCENARIOS [PEERS]]

CPU seconds (user and system) and peak memory of whole processes, each started with nothing kept by us; one
question is then asked again, from what was kept. Rows with a number of scenarios answer them in one process:
what one more costs. PEERS is the `bin` folder of an environment with call-graph and navigation tools: those
that are there read the same tree; none of them gives a path from the flag to the operator.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""What a process is started with: an installed package is compiled once, not in each process."""
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


GRIMP = "import sys; sys.path.insert(0, sys.argv[1]); import grimp; grimp.build_graph('vllm', cache_dir=None)"
PEERS: dict[str, tuple[str, ...]] = {
    "grimp: imports": ("python", "-c", GRIMP, "{root}"),
    "ast-grep: calls of operators": (
        "ast-grep",
        "run",
        "-p",
        "torch.ops.$A.$B($$$)",
        "-l",
        "py",
        "{root}/vllm",
    ),
    "griffe: classes and functions": ("griffe", "dump", "vllm", "-X", "-s", "{root}", "-o", os.devnull),
    "jarviscg: call graph": ("jarviscg", "{files}", "--package", "{root}", "-o", os.devnull),
}
"""What reads the whole tree: the program, and its arguments."""


class Cost(NamedTuple):
    """Of one process."""

    seconds: float
    mebibytes: float


def measured(cache: str, *argv: str) -> Cost:
    """Run a process to its end; its own CPU time, and the most memory it held."""
    env = {**COMPILED, "QTRACE_CACHE": cache}
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL, cwd="/", env=env)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        raise SystemExit(f"{' '.join(argv)[:200]} ended with {os.waitstatus_to_exitcode(status)}")
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def peers(folder: Path, root: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The tools that are installed there, with what each is started with."""
    files = [str(path) for path in sorted((root / "vllm").rglob("*.py"))]
    for name, (program, *given) in PEERS.items():
        if (folder / program).exists():
            argv = [arg.replace("{root}", str(root)) for arg in given]
            at = argv.index("{files}") if "{files}" in argv else len(argv)
            yield (
                name,
                (str(folder / program), *argv[:at], *(files if at < len(argv) else ()), *argv[at + 1 :]),
            )


def main() -> None:
    sdist, most = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as temporary:
        others = {}
        if len(sys.argv) > 3:
            with tarfile.open(sdist) as archive:
                archive.extractall(temporary, filter="data")
            (root,) = Path(temporary).iterdir()
            others = dict(peers(Path(sys.argv[3]), root))
        table(sdist, most, others)


def table(sdist: str, most: int, others: dict[str, tuple[str, ...]]) -> None:
    """Measure and print, a row as soon as it is there."""
    static = ("-m", "qtrace", "static", "vllm", "--at", sdist)
    h100 = ("-q", "fp8", "--device", "h100", "--packages", "wheel")
    diff = ("-m", "qtrace", "diff", "vllm@0.26.0", "vllm@0.33.0", "--offline")
    snapshot = ("-m", "qtrace", "static", "vllm", "--at", "0.33.0", "--offline")
    own = {
        "ast.parse of every file": ("-c", PARSE, sdist),
        "qtrace --help": ("-m", "qtrace", "--help"),
        "from a snapshot": (*snapshot, "-q", "fp8", "--kv-cache-dtype", "fp8", "--device", "h100"),
        "from a snapshot, every method": snapshot,
        "two releases, one question": (*diff, "-q", "fp8", "--device", "h100"),
        "two releases, every question": diff,
        FIRST: (*static, *h100, "--model", str(MODEL)),
        "the same, with its KV cache": (*static, *h100, "--model", str(MODEL), "--kv-cache-dtype", "fp8"),
        "the same, nothing else known": (*static, "-q", "fp8", "--model", str(MODEL)),
        "without a checkpoint": (*static, *h100),
        **{f"{n} scenarios": ("-c", MANY, sdist, str(n)) for n in (1, 10, 100, 1000) if n <= most},
    }
    print(f"{'':34}{'CPU s':>8}{'x ast':>8}{'MiB':>8}")
    rows = {**{name: (sys.executable, *argv) for name, argv in own.items()}, **others}
    base = None
    for name, argv in rows.items():
        with tempfile.TemporaryDirectory() as cache:
            cost = measured(cache, *argv)
            base = base or cost.seconds
            told(name, cost, base)
            if name == FIRST:
                told("the same in a second process", measured(cache, *argv), base)


def told(name: str, cost: Cost, base: float) -> None:
    print(f"{name:34}{cost.seconds:8.2f}{cost.seconds / base:8.2f}{cost.mebibytes:8.0f}", flush=True)


if __name__ == "__main__":
    main()
