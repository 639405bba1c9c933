"""`--at PIN` and `qtrace pins` as people run them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from asking import qtrace
from indexes import sdist, serving

from qtrace.cli import main
from qtrace.tracer.pins.cache import folder
from qtrace.tracer.pins.named import named
from qtrace.tracer.sources import open_source

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An own cache, and no package index but what a test gives."""
    for name in list(os.environ):
        if name.startswith("PIP_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("QTRACE_CACHE", str(tmp_path / "cache"))


def test_a_named_release_gives_the_answer_of_its_file(
    vllm_sdist: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(vllm_sdist.parent))
    done = qtrace("vllm", "--at", "0.33", "--device", "h100", "--layer", "o_proj", "--json")
    assert done.returncode == 0, done.stderr
    assert done.stderr == f"qtrace: vllm 0.33.0 from {vllm_sdist.parent}\n"
    assert str(vllm_sdist.parent) not in done.stdout
    (pin,) = json.loads(done.stdout)["pins"]
    assert pin["python_hash"] == open_source(vllm_sdist).python_hash


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (("--at", ""), "--at is empty: give installed, latest, a version"),
        (("--at", "installed"), "vllm is not installed beside qtrace"),
        (
            ("--at", "1.2.3", "--offline"),
            "vllm 1.2.3 is not in the cache, and --offline forbids fetching it",
        ),
        (("--at", "1.2.3"), "no package index is known"),
        (("--at", "deadbeef"), "the nearest named release is 0.33.0"),
        (("--at", "git+ext::sh -c id@main"), "git is used over file, https, ssh only"),
        (("--at", "x\x1b[31m@y"), "x?[31m@y: cannot be opened (No such file or directory); give installed"),
        (("--python", "no-such-python"), "--python no-such-python: there is no such program"),
        (("--at", "latest", "--python", sys.executable), "goes with --at installed, not with --at latest"),
    ],
)
def test_what_cannot_be_read_is_one_line(
    args: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert main(["static", "vllm", *args]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("qtrace: ") and words in err


def test_pins_lists_what_is_named_cached_and_installed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["pins"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[:4]] == ["bundled", "0.20.0", "0.26.0", "0.33.0"]
    assert [row.split()[0] for row in rows[4:9]] == ["named", "0.20.0", "0.26.0", "0.33.0", "8e958902eee5"]
    assert rows[9:11] == [f"cached in {tmp_path}/cache/pins", "  (nothing)"]
    assert rows[11:] == [f"facts kept in {tmp_path}/cache/facts", "  (nothing)", "installed", "  (nothing)"]
    file = sdist(tmp_path, "1.2.0")
    with serving() as index:
        index.list(file)
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
        main(["static", "vllm", "--at", "1.2.0", "--platform", "cpu", "--cuda", "1"])
    assert main(["pins"]) == 0
    assert capsys.readouterr().out.splitlines()[10].split()[0] == "vllm-1.2.0.tar.gz"


def test_pins_tells_how_much_is_kept_of_sources(
    vllm_sdist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_source(vllm_sdist)
    (kept,) = (tmp_path / "cache" / "facts").iterdir()
    assert main(["pins"]) == 0
    rows = capsys.readouterr().out.splitlines()
    row = rows[rows.index(f"facts kept in {tmp_path}/cache/facts") + 1]
    assert row.split() == [f"{kept.stat().st_size / 1e6:.1f}", "MB", "1", "file(s)"]
    shutil.rmtree(tmp_path / "cache")
    assert open_source(vllm_sdist).version == "0.33.0"


def test_the_cache_is_where_the_user_wants_it() -> None:
    assert folder({"QTRACE_CACHE": "/c", "XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/c/pins")
    assert folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/qtrace/pins")
    assert folder({"HOME": "/h"}) == Path("/h/.cache/qtrace/pins")


def test_the_files_that_ci_brings_are_the_named_ones(vllm_sdist: Path) -> None:
    text = (ROOT / ".ci" / "sdist").read_text()
    for release in named("vllm").releases:
        assert f'("vllm", "{release.version}"): "{release.sha256}"' in text
    done = subprocess.run(["sha256sum", vllm_sdist], capture_output=True, text=True, check=True)
    assert done.stdout.split()[0] == named("vllm").releases[-1].sha256
