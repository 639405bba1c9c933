"""Revisions of repositories elsewhere: one commit is fetched, over ssh here, and kept as a repository."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pinning import left, opened, refused
from repositories import Repository, repository

SSH = """#!/bin/sh
# ssh to this machine: the last argument is the command that git wants to have run there.
echo "$@" >> {log}
for command; do :; done
exec sh -c "$command"
"""


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    return repository(tmp_path / "repo")


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What ssh was asked; there is one call for each question to the repository."""
    log, ssh = tmp_path / "ssh.log", tmp_path / "ssh"
    ssh.write_text(SSH.format(log=log))
    ssh.chmod(0o755)
    log.touch()
    monkeypatch.setenv("GIT_SSH_COMMAND", str(ssh))
    return log


@pytest.fixture
def url(repo: Repository, log: Path) -> str:
    return f"git+ssh://me:secret@host.example{repo.folder}"


def calls(log: Path) -> int:
    return len(log.read_text().splitlines())


def test_a_tag_is_one_commit_in_a_bare_repository(
    repo: Repository, url: str, log: Path, tmp_path: Path
) -> None:
    first, second = repo.commits
    source, said = opened(f"{url}@v1.2.0")
    shown = url.removeprefix("git+").replace("me:secret@", "")
    assert (source.commit, source.version) == (second, "1.2.0")
    assert said == [f"fetching {shown}@v1.2.0", "vllm 1.2.0 from the repository"]
    kept = tmp_path / "cache" / "pins" / "git" / second
    git = ("git", f"--git-dir={kept}")
    assert (
        subprocess.run([*git, "rev-parse", "--is-bare-repository"], capture_output=True).stdout == b"true\n"
    )
    assert subprocess.run([*git, "cat-file", "-e", first], capture_output=True).returncode != 0
    assert left(tmp_path / "cache") == []


def test_a_commit_is_fetched_by_its_hash_and_then_at_hand(repo: Repository, url: str, log: Path) -> None:
    first = repo.commits[0]
    assert opened(f"{url}@{first}")[0].text("vllm/__init__.py") == "VERSION = '1.1.0'\n"
    asked = calls(log)
    for pin in (f"{url}@{first}", first, first[:10]):
        source, said = opened(pin)
        assert (source.commit, said[-1][-14:]) == (first, "from the cache"), pin
    assert opened(f"{url}@{first[:10]}", offline=True)[0].commit == first
    assert calls(log) == asked


def test_a_branch_is_asked_for_again(repo: Repository, url: str, log: Path) -> None:
    assert opened(f"{url}@main")[0].commit == repo.commits[1]
    assert opened(f"{url}@main")[1] == [f"vllm @ {repo.commits[1][:9]} from the repository"]
    (repo.folder / "vllm" / "new.py").write_text("NEW = 1\n")
    repo.save("new")
    source, said = opened(f"{url}@main")
    assert (source.commit, source.text("vllm/new.py")) == (repo.commits[2], "NEW = 1\n")
    source, said = opened(f"{url}@main", offline=True)
    assert source.commit == repo.commits[2]
    assert said[0].endswith(
        f"--offline forbids asking for it; commit {repo.commits[2][:12]} in the cache is used"
    )


def test_names_of_tags_and_branches_may_be_whole(repo: Repository, url: str, log: Path) -> None:
    repo.git("tag", "old", "main")
    assert opened(f"{url}@old")[0].commit == repo.commits[1]
    assert opened(f"{url}@refs/heads/old")[0].commit == repo.commits[0]
    assert opened(f"{url}@annotated")[0].commit == repo.commits[1]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gone", "no such branch or tag, and a commit is given by its 40 digits"),
        ("0" * 40, "not our ref"),
        ("HEAD~1", "no such branch or tag"),
    ],
)
def test_a_revision_that_is_not_there_is_one_line(
    url: str, log: Path, tmp_path: Path, name: str, words: str
) -> None:
    message = refused(f"{url}@{name}")
    assert words in message and "secret" not in message
    assert left(tmp_path / "cache") == []


def test_a_host_that_does_not_answer_is_one_line(
    url: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_SSH_COMMAND", "false")
    message = refused(f"{url}@main")
    assert "Could not read from remote repository" in message and "secret" not in message


def test_offline_asks_nobody(url: str, log: Path) -> None:
    assert "--offline forbids asking for it" in refused(f"{url}@main", offline=True)
    assert calls(log) == 0


def test_a_password_is_no_argument_of_a_process_and_in_no_file(
    url: str, log: Path, tmp_path: Path, repo: Repository
) -> None:
    opened(f"{url}@main")
    kept = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert kept and not [path for path in kept if b"secret" in path.read_bytes()]


def test_ctrl_c_leaves_nothing_half(url: str, log: Path, tmp_path: Path) -> None:
    """The signal comes while git waits for the other side."""
    (tmp_path / "ssh").write_text(f"#!/bin/sh\necho called >> {log}\nexec sleep 60\n")
    command = [sys.executable, "-P", "-m", "qtrace", "static", "vllm", "--at", f"{url}@main"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd="/") as process:
        while not log.read_text():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, "qtrace: interrupted\n")
    assert left(tmp_path / "cache") == []


def test_without_a_cache_it_is_fetched_each_time(
    repo: Repository, url: str, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("QTRACE_CACHE", "/dev/null/cache")
    for _ in range(2):
        source, said = opened(f"{url}@main")
        assert source.commit == repo.commits[1]
        assert said[0].endswith("nothing is kept")


@pytest.mark.parametrize("pin", ["8e958902", "8e958902eee56ca5158728f1dd5a32246f0246f3"])
def test_the_named_commit_says_how_it_is_brought_and_what_is_near(pin: str) -> None:
    hash = "8e958902eee56ca5158728f1dd5a32246f0246f3"
    message = refused(pin)
    assert f"git -C vllm.git fetch -q --depth 1 https://github.com/vllm-project/vllm {hash}`" in message
    assert message.endswith("brings it for --at vllm.git@8e958902eee5; the nearest named release is 0.26.0")


def test_the_command_that_brings_a_commit_brings_it(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit = repo.commits[0]
    command = refused(commit).split("`")[1]
    here = command.replace("https://github.com/vllm-project/vllm", repo.folder.as_uri())
    subprocess.run(["sh", "-c", here], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    assert opened(f"vllm.git@{commit[:12]}")[0].commit == commit
    assert "`git clone --bare https://github.com/vllm-project/vllm vllm.git`" in refused(commit[:12])
