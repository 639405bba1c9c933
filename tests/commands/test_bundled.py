"""A machine that has never seen an engine: what the snapshots that qtrace brings answer, and what not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import COMMAND, clean

from qtrace.report.codec import decode, encode
from qtrace.report.standing import Standing
from qtrace.tracer.answer import answered
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import CAPABILITIES, Scenario
from qtrace.tracer.snapshot.answer import recorded
from qtrace.tracer.snapshot.build import known
from qtrace.tracer.snapshot.bundled import bundled
from qtrace.tracer.snapshot.file import Snapshot

FLAG = ("--quantization", "fp8", "--kv-cache-dtype", "fp8", "--device", "h100")
OTHER_LAYER = ("--quantization", "fp8", "--device", "h100", "--layer", "o_proj")
BROUGHT = b"qtrace: vllm 0.33.0 from the snapshot that qtrace brings\n"


@pytest.fixture
def env(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Nobody's cache, no package index."""
    for name in list(os.environ):
        if name.startswith("PIP_"):
            monkeypatch.delenv(name)
    return {"QTRACE_CACHE": str(tmp_path / "cache"), "PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1"}


def static(env: dict[str, str], *argv: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*COMMAND, "static", "vllm", *argv], capture_output=True, env=clean(**env), cwd="/", timeout=120
    )


def test_a_flag_is_answered_under_each_checkpoint(env: dict[str, str], tmp_path: Path) -> None:
    done = static(env, *FLAG)
    assert (done.returncode, done.stderr) == (0, BROUGHT)
    text = done.stdout.decode()
    assert "checkpoint  not quantized\n" in text and "FP8, a static scale for each tensor" in text
    assert "Fp8PerTensorOnlineLinearMethod" in text and "Fp8Config → Fp8LinearMethod" in text
    assert not (tmp_path / "cache").exists()


def test_nothing_that_reads_source_is_imported(env: dict[str, str]) -> None:
    code = (
        "import sys; from qtrace.cli import main; main(sys.argv[1:]); "
        "print(sorted({'libcst', 'networkx', 'textual', 'tree_sitter', 'torch'} & set(sys.modules)))"
    )
    for argv in (["static", "vllm", *FLAG, "-o", os.devnull], ["static", "vllm", "-o", os.devnull]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *argv],
            capture_output=True,
            text=True,
            env=clean(**env),
            cwd="/",
        )
        assert done.stdout == "[]\n", done.stderr


def test_alone_every_method_is_told_by_device(env: dict[str, str]) -> None:
    done = static(env, "--json")
    matrix = decode(done.stdout).matrix
    assert (done.returncode, done.stderr) == (0, BROUGHT) and matrix is not None
    rows = {row.flag: row for row in matrix.rows}
    assert tuple(rows) == Snapshot(next(iter(bundled("vllm").values()))).header.knows.flags
    assert matrix.columns == tuple(f"sm_{capability}" for capability in CAPABILITIES)
    told = {name: [end.symbol for end in ends] for name, ends in matrix.runs(rows["awq"])}
    assert told["sm_90"] == ["MacheteLinearKernel"] and told["sm_75-89"] == ["MarlinLinearKernel"]
    assert set(rows["torchao"].standings()) == {Standing.OPEN}
    lines = static({**env, "COLUMNS": "100"}).stdout.decode().splitlines()
    assert sum(line.split(" ")[0] in rows for line in lines) == len(rows)


def test_a_table_that_nobody_can_answer_is_open_and_says_so_once(env: dict[str, str]) -> None:
    done = static(env, "--platform", "rocm", "--offline", "--json")
    matrix = decode(done.stdout).matrix
    assert done.returncode == 0 and matrix is not None
    assert {standing for row in matrix.rows for standing in row.standings()} == {Standing.OPEN}
    assert done.stderr.count(b"is not in the cache") == 1 and done.stderr.count(b"\n") == 3


def test_a_source_that_names_no_method_has_no_table(env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "vllm").mkdir()
    (tmp_path / "vllm" / "__init__.py").write_text("")
    done = static(env, "--at", str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (2, b"", 1)


def test_a_table_of_one_checkpoint_is_no_table(env: dict[str, str]) -> None:
    done = static(env, "--matrix", "--model", "{}")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--matrix is about every checkpoint: leave out --model" in done.stderr
    assert b"knows awq, " in static(env, "--matrix", "-q", "gguf").stderr


@pytest.mark.parametrize("pin", ["0.33", "v0.33.0", "0.33.0", "latest"])
def test_a_release_may_be_meant_in_several_ways_offline(env: dict[str, str], pin: str) -> None:
    done = static(env, "--at", pin, "--offline", *FLAG, "--json")
    assert (done.returncode, done.stderr) == (0, BROUGHT)
    assert json.loads(done.stdout)["pins"][0]["version"] == "0.33.0"


def test_a_series_that_the_index_cannot_tell_is_the_newest_that_is_bundled(env: dict[str, str]) -> None:
    done = static(env, "--at", "0.26", *FLAG, "--json")
    assert done.returncode == 0
    assert (
        b"no package index is known" in done.stderr and b"0.26.0 is the newest that is bundled" in done.stderr
    )


def test_a_commit_that_is_not_at_hand_is_told_how_to_bring(env: dict[str, str]) -> None:
    done = static(env, "--at", "8e958902eee5", "--offline", *FLAG)
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"fetch -q --depth 1 https://" in done.stderr and b"the nearest named release is" in done.stderr


def test_a_flag_that_the_release_has_not_names_those_that_have_it(env: dict[str, str]) -> None:
    done = static(env, "--quantization", "gguf")
    assert (done.returncode, done.stdout) == (2, b"")
    told = done.stderr.removeprefix(BROUGHT).decode()
    assert told.startswith("qtrace: --quantization gguf: vllm 0.33.0 knows awq, ") and told.count("\n") == 1
    assert told.endswith("; it is known to 0.20.0\n")


def test_from_its_source_the_engine_says_so_itself(vllm_sdist: Path, env: dict[str, str]) -> None:
    done = static(env, "--at", str(vllm_sdist), "--quantization", "gguf")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"the engine says: ValueError: Invalid quantization method: gguf\n" in done.stderr
    assert b"; it is known to 0.20.0; the engine says" in done.stderr


def test_off_the_grid_it_is_open_where_the_source_cannot_be_had(env: dict[str, str]) -> None:
    done = static(env, *OTHER_LAYER, "--offline", "--json")
    assert done.returncode == 0
    missing = b"qtrace: vllm 0.33.0 is not in the cache, and --offline forbids fetching it"
    assert done.stderr.startswith(BROUGHT + missing)
    ((outcome,),) = (chain.outcomes for chain in decode(done.stdout).chains)
    assert str(outcome.guard) == "the source of vllm 0.33.0, which the snapshot does not stand for"


def test_off_the_grid_the_source_is_brought(env: dict[str, str], vllm_sdist: Path, library: Library) -> None:
    env["PIP_FIND_LINKS"] = str(vllm_sdist.parent)
    done = static(env, "--platform", "xpu", "--layer", "o_proj", "--json")
    assert done.returncode == 0
    question = Scenario(whole=False, platform="xpu", layer="o_proj")
    assert decode(done.stdout).chains == answered(library, question, {}).chains
    assert done.stderr == BROUGHT + f"qtrace: vllm 0.33.0 from {vllm_sdist.parent}\n".encode()


def test_a_dtype_of_the_cache_that_the_release_has_not_is_one_line(env: dict[str, str]) -> None:
    done = static(env, "--kv-cache-dtype", "fp9")
    assert (done.returncode, done.stdout) == (2, b"")
    assert b"--kv-cache-dtype fp9: vllm 0.33.0 knows auto, " in done.stderr


def test_an_installed_engine_comes_first(env: dict[str, str], tmp_path: Path) -> None:
    """Else a snapshot would answer for another release than the one that runs here."""
    info = tmp_path / "site" / "vllm-0.26.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: vllm\nVersion: 0.26.0\n")
    (info / "RECORD").write_text("vllm/__init__.py,,\n")
    (tmp_path / "site" / "vllm").mkdir()
    (tmp_path / "site" / "vllm" / "__init__.py").write_text("")
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path / "site"), *sys.path])
    done = static(env, *FLAG)
    assert b"vllm 0.26.0 installed in" in done.stderr and done.returncode == 2


def test_three_releases_are_brought_and_are_small() -> None:
    sizes = {str(version): path.stat().st_size for version, path in bundled("vllm").items()}
    assert list(sizes) == ["0.33.0", "0.26.0", "0.20.0"]
    assert max(sizes.values()) <= 3_000_000


@pytest.mark.full
def test_the_table_of_a_snapshot_is_that_of_its_source(vllm_sdist: Path, env: dict[str, str]) -> None:
    argv = ("--matrix", "--quantization", "fp8", "--json")
    done, again = static(env, *argv), static(env, *argv, "--at", str(vllm_sdist))
    assert (done.returncode, done.stdout) == (0, again.stdout)


def test_what_a_snapshot_says_is_what_its_source_says(library: Library) -> None:
    snapshot = Snapshot(next(iter(bundled("vllm").values())))
    assert snapshot.pin == library.source.pin()
    assert snapshot.header.knows == known(library)
    question = Scenario(whole=False, quantization="awq", capability=75, cuda=snapshot.header.knows.cuda)
    found = recorded(snapshot, question, {})
    assert found is not None and encode(found) == encode(answered(library, question, {}))
