"""What the compiled half adds to an answer, and listing a wheel, beside Python's parser, in one run.

    python benchmarks/native.py SDIST MODEL [WHEEL]

CPU seconds of whole processes, nothing kept: of three runs the fastest. `MODEL` is a folder or a file; the
device is an H100. With a wheel, seconds on the clock and the largest process as well.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time

COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
PARSE = """
import ast, sys, tarfile
with tarfile.open(sys.argv[1]) as archive:
    for member in archive:
        if member.name.endswith(".py") and member.isfile():
            try:
                ast.parse(archive.extractfile(member).read())
            except SyntaxError:
                pass
"""
STATIC = ("qtrace", "static", "vllm", "--device", "h100", "--offline", "--json")
WITHOUT = """
import sys
import qtrace.tracer.operators as operators
operators.with_operators = lambda report, *_: report
sys.argv = ["qtrace", *sys.argv[1:]]
from qtrace.cli import main
sys.exit(main())
"""


def used(*argv: str) -> tuple[float, float, int]:
    """CPU seconds, seconds on the clock and the largest MiB of a process and those it starts."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with tempfile.TemporaryDirectory() as cache:
        env = {**COMPILED, "QTRACE_CACHE": cache}
        done = subprocess.run(
            (sys.executable, "-P", *argv), cwd="/", env=env, capture_output=True, check=False
        )
    if done.returncode not in (0, 1):
        raise SystemExit(done.stderr.decode())
    after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - started
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, clock, after.ru_maxrss // 1024


def main() -> None:
    sdist, model, *wheel = map(os.path.abspath, sys.argv[1:])
    question = (*STATIC, "--at", sdist, "--model", model)
    rows = (
        ("ast.parse of every file", ("-c", PARSE, sdist)),
        ("one scenario without the compiled half", ("-c", WITHOUT, *question[1:])),
        ("one scenario", ("-m", *question)),
    )
    print(f"{'':44}{'CPU s':>8}{'x parse':>9}")
    base = 0.0
    for name, argv in rows:
        cpu = min(used(*argv)[0] for _ in range(3))
        base = base or cpu
        print(f"{name:44}{cpu:8.2f}{cpu / base:9.2f}")
    for path in wheel:
        cpu, clock, largest = used("-m", *question, "--binary", path)
        print(f"{'with --binary, a whole wheel':44}{cpu:8.2f}{cpu / base:9.2f}  {clock:.1f} s, {largest} MiB")


if __name__ == "__main__":
    main()
