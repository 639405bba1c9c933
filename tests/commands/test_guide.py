"""`qtrace` alone guides a newcomer, and what it says is true."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from shell import qtrace

from qtrace.cli import WELCOME, main

GUIDE = [line.strip() for line in WELCOME.splitlines() if line.startswith("     qtrace ")]


def test_alone_it_guides_a_newcomer_on_a_small_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) < 24 and max(map(len, lines)) < 80
    assert [line.split()[0] for line in lines if re.match(r"  \d\. ", line)] == ["1.", "2.", "3."]
    assert len(GUIDE) == 3


@pytest.mark.parametrize("line", GUIDE)
def test_what_the_guide_says_works_as_written(vllm_sdist: Path, tmp_path: Path, line: str) -> None:
    done = qtrace(
        *shlex.split(line)[1:],
        cwd=tmp_path,
        PIP_NO_INDEX="1",
        PIP_FIND_LINKS=str(vllm_sdist.parent),
        QTRACE_CACHE=str(tmp_path),
    )
    assert done.returncode == 0
    assert done.stderr.startswith(b"qtrace: vllm 0.33.0 from the snapshot")
    assert done.stderr.count(b"\n") == 1 + (" -- " in line)  # and where the release came from
    assert b"MarlinFP8" in done.stdout or b"Fp8Config" in done.stdout
