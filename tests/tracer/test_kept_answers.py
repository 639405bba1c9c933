"""An answer has the same bytes with no facts kept, with facts to keep, and from kept facts."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from asking import EXAMPLE

ASK = """
import sys
from qtrace.cli import main
code = main(sys.argv[1:])
print("libcst" in sys.modules, file=sys.stderr)
sys.exit(code)
"""


def asked(sdist: Path, cache: str) -> tuple[bytes, str]:
    """What is printed, and whether the parser was imported for it."""
    question = ("-q", "fp8", "--device", "h100", "--layer", "o_proj", "--packages", "wheel", "--json")
    source = ("vllm", "--at", str(sdist), "--model", str(EXAMPLE))
    command = [sys.executable, "-P", "-c", ASK, "static", *source, *question]
    env = {**os.environ, "QTRACE_CACHE": cache}
    done = subprocess.run(command, capture_output=True, env=env, cwd="/", check=True)
    return done.stdout, done.stderr.decode().strip()


def test_a_second_process_says_the_same_and_parses_nothing(vllm_sdist: Path, tmp_path: Path) -> None:
    without, parsed = asked(vllm_sdist, "/dev/null/cache")
    assert (parsed, without[:1]) == ("True", b"{")
    assert asked(vllm_sdist, str(tmp_path)) == (without, "True")
    assert asked(vllm_sdist, str(tmp_path)) == (without, "False")
