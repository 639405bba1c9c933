"""`qtrace review`: a change to an engine, and a change to files that start one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from edited import replaced
from releases import change, repository_of
from repositories import Repository
from shell import qtrace

from qtrace.report.codec import decode
from qtrace.report.drift import Fate
from qtrace.report.model import Change, Launches
from qtrace.tracer.sources import Source, open_source

MACHETE = "vllm/model_executor/kernels/linear/mixed_precision/machete.py"
SCRIPT = """#!/bin/sh
vllm serve M --quantization awq --port $PORT
vllm serve M --quantization $METHOD
vllm serve M -q gptq --dtype bfloat16
vllm serve M -q gptq --max-model-len 10
HF_TOKEN=hf_secret vllm serve M --dtype float16
vllm serve M --config engine.yaml --api-key sk-1234
"""


@pytest.fixture(scope="module")
def engine(vllm_source: Source, tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """A release, then a change that nothing hangs on, then one on which much does."""
    repo = repository_of(tmp_path_factory.mktemp("engine") / "vllm", vllm_source)
    small = {
        MACHETE: replaced("class Machete", "def unrelated():\n    return 1\n\n\nclass Machete"),
        "vllm/model_executor/models/bloom.py": lambda text: f"import json\n{text}",
    }
    change(repo, vllm_source, small)
    change(repo, vllm_source, {MACHETE: replaced("is_device_capability(90)", "is_device_capability(100)")})
    return repo


def test_a_change_that_nothing_hangs_on_asks_nobody(engine: Repository) -> None:
    question = ("--only", "sm_90", "-q", "gptq", "--offline", "--json")
    release, small, _ = engine.commits
    done = qtrace("review", "--git", str(engine.folder), f"v0.33.0..{small}", *question)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(b"2,119 of 2,119 recorded answers hold") == 2
    report = decode(done.stdout)
    assert report.drift is not None and not report.drift.changes
    assert {step.change for chain in report.drift.chains for step in chain.steps} == {Change.MOVED}
    pins = (f"vllm@{engine.folder}@{name}" for name in (release, small))
    assert qtrace("diff", *pins, *question).stdout == done.stdout


@pytest.mark.full
def test_a_change_on_which_much_hangs_is_told_first(engine: Repository) -> None:
    asked = ("--only", "sm_90", "-q", "gptq", "--offline")
    done = qtrace("review", "--git", str(engine.folder), "HEAD~1..", *asked)
    assert done.returncode == 1
    text = done.stdout.decode()
    assert "another kernel" in text and "was  ✓ MacheteLinearKernel" in text
    assert "now  ✓ MarlinLinearKernel" in text and f"{MACHETE}:" in text


@pytest.mark.full
def test_a_pair_of_releases_as_two_commits_is_the_diff_of_their_pins(
    vllm_sdist: Path, vllm_source: Source, tmp_path: Path
) -> None:
    before = open_source(vllm_sdist.with_name("vllm-0.26.0.tar.gz"))
    repo = repository_of(tmp_path / "vllm", before, vllm_source)
    asked = ("--offline", "--json")
    done = qtrace("review", "--git", str(repo.folder), "v0.26.0..v0.33.0", *asked)
    pins = qtrace("diff", "vllm@0.26.0", "vllm@0.33.0", *asked)
    assert done.returncode == pins.returncode == 1
    told, known = ({**json.loads(each.stdout), "pins": ()} for each in (done, pins))
    assert told == known
    fates = {each.fate for each in (decode(done.stdout).drift or pytest.fail("no drift")).changes}
    assert fates >= {Fate.OTHER, Fate.REFUSED}


@pytest.fixture(scope="module")
def deployments(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """Two scripts, one of which changes and one of which goes."""
    folder = tmp_path_factory.mktemp("deployments") / "repo"
    folder.mkdir()
    repo = Repository(folder, [])
    repo.git("init", "--quiet", "--initial-branch=main")
    (folder / "run.sh").write_text(SCRIPT)
    (folder / "old.yaml").write_text('args: ["vllm", "serve", "M"]\n')
    (folder / "broken.yaml").write_text("vllm: [\n")
    repo.save("before")
    (folder / "run.sh").write_text(
        SCRIPT.replace("-q gptq --dtype bfloat16", "-q gptq --dtype float16").replace(
            "--max-model-len", "--max-len"
        )
    )
    (folder / "old.yaml").unlink()
    repo.save("after")
    return repo


@pytest.fixture(scope="module")
def reviewed(
    deployments: Repository, vllm_sdist: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Path]:
    """The review of that change, saved."""
    path = tmp_path_factory.mktemp("review") / "review.json"
    argv = ("--device", "h100", "--at", str(vllm_sdist), "-o", str(path))
    done = qtrace("review", "--git", str(deployments.folder), "HEAD~1..HEAD", *argv)
    assert b"Traceback" not in done.stderr
    return done.returncode, path


def told(path: Path) -> Launches:
    launches = decode(path.read_bytes()).launches
    assert launches is not None
    return launches


def test_each_line_is_asked_and_held_against_what_it_was(reviewed: tuple[int, Path]) -> None:
    code, path = reviewed
    rows = {launch.site.line: launch for launch in told(path).launches if launch.site.path == "run.sh"}
    assert {line: launch.change for line, launch in rows.items()} == {
        2: Change.SAME,
        3: Change.SAME,
        4: Change.CHANGED,
        5: Change.CHANGED,
        6: Change.SAME,
        7: Change.SAME,
    }
    assert code == 1
    assert any(end.reaches == "MacheteLinearKernel" for end in rows[2].ends)
    assert rows[2].unsaid == ("--port $PORT",)  # of the server: the answer does not hang on it
    assert rows[3].problem == "the answer hangs on --quantization $METHOD, which the file does not say"
    assert not rows[3].ends and not rows[3].refused
    assert rows[4].was == "vllm serve M -q gptq --dtype bfloat16" and rows[4].was_ends and rows[4].ends
    assert rows[5].refused and "--max-len" in (rows[5].problem or "")
    assert rows[6].line == "HF_TOKEN=(hidden) vllm serve M --dtype float16"
    assert rows[7].line == "vllm serve M --config engine.yaml --api-key (hidden)"
    assert not rows[7].refused and "the file that --config names" in (rows[7].problem or "")
    (gone,) = (launch for launch in told(path).launches if launch.change is Change.GONE)
    assert gone.site.path == "old.yaml"
    assert told(path).unread and told(path).unread[0].startswith("broken.yaml: line")


def test_its_findings_stand_at_the_line(reviewed: tuple[int, Path]) -> None:
    found: list[dict[str, Any]] = json.loads(reviewed[1].read_bytes())["findings"]
    refused = [(each["verdict"], each["site"]) for each in found if each["rule"] == "QT112"]
    assert ("fail", {"path": "run.sh", "line": 5}) in refused
    assert ("open", {"path": "run.sh", "line": 3}) in refused
    assert {each["site"]["path"] for each in found if each["rule"] != "QT902"} == {"run.sh"}


def test_it_is_told_in_every_voice(reviewed: tuple[int, Path]) -> None:
    text = qtrace("show", str(reviewed[1])).stdout.decode()
    assert "7 starts in 2 files: 2 changed, 1 gone, 4 same" in text
    assert text.index("run.sh:4  changed") < text.index("run.sh:2  same")
    assert "hf_secret" not in text and "not read  broken.yaml" in text
    markdown = qtrace("show", str(reviewed[1]), "--format", "markdown").stdout.decode()
    assert markdown.startswith("<!-- qtrace -->\n\n**2 changed, 1 gone**; 7 starts in 2 files; ")
    assert "<details><summary>the same lines: 4</summary>" in markdown


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("main",), "write BASE..HEAD"),
        (("..main",), "write BASE..HEAD"),
        (("nope..main",), "has no commit, branch or tag nope"),
        (("HEAD~1..HEAD", "-q", "fp8"), "the lines in the repository say that themselves"),
        (("HEAD~1..HEAD", "--tp", "2"), "the lines in the repository say that themselves"),
        (("HEAD~1..HEAD", "--device", "toaster"), "toaster"),
    ],
)
def test_what_cannot_be_meant_is_one_line(deployments: Repository, argv: tuple[str, ...], words: str) -> None:
    done = qtrace("review", "--git", str(deployments.folder), *argv)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr.decode() and b"Traceback" not in done.stderr


def test_another_folder_and_a_pin_beside_the_range(engine: Repository, tmp_path: Path) -> None:
    done = qtrace("review", "--git", str(tmp_path), "a..b")
    assert done.returncode == 2 and b"is no git repository" in done.stderr
    done = qtrace("review", "--git", str(engine.folder), "HEAD~1..HEAD", "--at", "0.33.0")
    assert done.returncode == 2 and b"the range says what is read" in done.stderr
