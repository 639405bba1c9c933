"""Revisions of repositories on this machine: read from the objects; nothing of the repository's is run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from indexes import engine
from pinning import opened, refused
from repositories import Repository, repository, submodule

from qtrace.tracer import archive
from qtrace.tracer.archive import one_line
from qtrace.tracer.sources import open_source


@pytest.fixture
def repo(tmp_path: Path) -> Repository:
    """Two releases as two commits, tagged, and a branch that stayed behind."""
    return repository(tmp_path / "repo")


def test_tags_branches_and_hashes_are_commits(repo: Repository) -> None:
    first, second = repo.commits
    for name, commit, version in (
        ("v1.1.0", first, "1.1.0"),
        ("old", first, "1.1.0"),
        (first, first, "1.1.0"),
        (second[:8], second, "1.2.0"),
        ("main", second, "1.2.0"),
        ("HEAD~1", first, "1.1.0"),
        ("annotated", second, "1.2.0"),
    ):
        source, said = opened(f"{repo.folder}@{name}")
        assert (source.commit, source.version, said) == (commit, version, []), name
        assert source.text("vllm/__init__.py") == f"VERSION = {version!r}\n"
        assert source.has_native


def test_a_revision_is_the_pin_of_the_same_files_in_a_folder(repo: Repository, tmp_path: Path) -> None:
    for name, content in engine("1.1.0").items():
        path = tmp_path / "folder" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    revision, folder = opened(f"{repo.folder}@old")[0].pin(), open_source(tmp_path / "folder").pin()
    assert (revision.python_hash, revision.native_hash) == (folder.python_hash, folder.native_hash)


def test_no_work_tree_is_touched(repo: Repository) -> None:
    (repo.folder / "vllm" / "__init__.py").write_text("EDITED = 1\n")
    status, before = repo.git("status", "--porcelain"), repo.state()
    assert opened(f"{repo.folder}@main")[0].text("vllm/__init__.py") == "VERSION = '1.2.0'\n"
    assert repo.state() == before
    assert repo.git("status", "--porcelain") == status == "M vllm/__init__.py"


def test_a_bare_repository_is_read_by_path_and_by_address(repo: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "bare repo.git"
    repo.git("clone", "--quiet", "--bare", str(repo.folder), str(bare))
    address = bare.as_uri()
    for pin in (
        f"{bare}@v1.1.0",
        f"git+{address}@v1.1.0",
        f"git+{address.replace('///', '//localhost/')}@old",
    ):
        assert opened(pin)[0].commit == repo.commits[0], pin
    assert "is a repository without a work tree; write FOLDER@REV" in refused(str(bare))


def test_a_worktree_of_git_has_its_repository_elsewhere(repo: Repository, tmp_path: Path) -> None:
    repo.git("worktree", "add", "--quiet", str(tmp_path / "other"), "old")
    assert opened(f"{tmp_path / 'other'}@main")[0].commit == repo.commits[1]


def test_a_repository_may_be_called_like_an_option(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.folder.rename(tmp_path / "-x")
    monkeypatch.chdir(tmp_path)
    assert opened("-x@v1.1.0")[0].commit == repo.commits[0]
    assert "is no commit, branch or tag" in refused("-x@--all")


@pytest.mark.parametrize("name", ["gone", "0" * 40, "refs/heads/gone", "v1.1.0^{tree}", "v1.1.0^9"])
def test_a_revision_that_is_not_there_is_one_line(repo: Repository, name: str) -> None:
    assert f"has no commit, branch or tag {one_line(name)}" in refused(f"{repo.folder}@{name}")


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    assert "is no git repository" in refused(f"{tmp_path / 'plain'}@main")
    assert "is no git repository" in refused(f"git+{(tmp_path / 'gone').as_uri()}@main")
    (tmp_path / "plain" / ".git").write_text("gitdir: /nowhere\n")
    assert "has no commit" in refused(f"{tmp_path / 'plain'}@main")


def test_a_repository_of_something_else_is_refused(tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {"readme": b"x"})
    assert "holds no vllm/__init__.py" in refused(f"{other.folder}@main")


def test_without_git_it_is_said(repo: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert "git is not installed" in refused(f"{repo.folder}@main")


# --- hostile repositories


def test_nothing_that_a_repository_names_is_run(repo: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "was-run"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {marker}\nexec cat\n")
    program.chmod(0o755)
    hooks = repo.folder / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in (
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "fsmonitor-watchman",
        "pre-auto-gc",
    ):
        (hooks / name).symlink_to(program)
    for key in (
        "core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "core.gitProxy", "core.askPass",
        "core.alternateRefsCommand", "diff.external", "pager.ls-tree", "pager.cat-file", "credential.helper",
        "filter.x.smudge", "filter.x.process", "diff.x.textconv", "remote.origin.uploadpack", "gpg.program",
        "alias.ls-tree", "alias.cat-file", "alias.rev-parse", "uploadpack.packObjectsHook",
    ):  # fmt: skip
        repo.git("config", key, f"!{program}" if key.startswith("alias") else str(program))
    repo.git("config", "core.worktree", str(tmp_path))
    (repo.folder / ".git" / "info" / "attributes").write_text("*.py filter=x diff=x\n")
    assert opened(f"{repo.folder}@main")[0].commit == repo.commits[1]
    assert not marker.exists()
    # The trap works: git itself falls into it.
    subprocess.run(["git", "status"], cwd=repo.folder, capture_output=True, check=False)
    assert marker.exists()


def test_what_a_partial_clone_lacks_is_not_fetched(repo: Repository, tmp_path: Path) -> None:
    marker = tmp_path / "was-run"
    repo.git("config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial.git"
    repo.git("clone", "--quiet", "--bare", "--filter=blob:none", repo.folder.as_uri(), str(partial))
    config = ("git", f"--git-dir={partial}", "config")
    subprocess.run([*config, "remote.origin.uploadpack", f"touch {marker}; git-upload-pack"], check=True)
    assert "fetch it whole" in refused(f"{partial}@main")
    assert not marker.exists()
    repo.git(f"--git-dir={partial}", "show", "main:vllm/__init__.py")
    assert marker.exists()  # what git by itself would have run


def test_the_environment_leads_git_nowhere_else(
    repo: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = repository(tmp_path / "other", {"readme": b"x"})
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(other.folder / ".git" / "objects"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "x")
    monkeypatch.setenv("GIT_TRACE", str(tmp_path / "trace"))
    assert opened(f"{repo.folder}@main")[0].commit == repo.commits[1]
    assert not (tmp_path / "trace").exists()


def test_a_replaced_object_is_not_believed(repo: Repository) -> None:
    blobs = [repo.git("rev-parse", f"{name}:vllm/__init__.py") for name in ("old", "main")]
    repo.git("replace", *blobs)
    assert repo.git("show", "old:vllm/__init__.py") == "VERSION = '1.2.0'"
    assert opened(f"{repo.folder}@old")[0].text("vllm/__init__.py") == "VERSION = '1.1.0'\n"


def test_links_and_submodules_are_not_there(repo: Repository) -> None:
    (repo.folder / "vllm" / "link.py").symlink_to("/etc/passwd")
    (repo.folder / "vllm" / "up").symlink_to("..")
    submodule(repo, "vllm/inner", "ext::sh -c touch% pwned")
    repo.save("hostile")
    source = opened(f"{repo.folder}@main")[0]
    assert source.files("vllm/") == ("vllm/__init__.py", "vllm/config/model.py")


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_MEMBERS", 5, "has over 5 files"),
        ("MAX_FILE", 5, "has a file over 5 bytes: 'csrc/ops.cpp'"),
        ("MAX_KEPT", 20, "has over 20 bytes of source"),
    ],
)
def test_limits_hold_in_repositories(
    repo: Repository, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    monkeypatch.setattr(archive, limit, value)
    assert reason in refused(f"{repo.folder}@main")


def test_a_tree_that_holds_itself_over_and_over_is_refused(
    repo: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ten folders in each of ten folders in ..., the last ones empty: 10^40 entries in 41 objects."""
    tree = repo.tree("")
    for _ in range(40):
        tree = repo.tree("".join(f"040000 tree {tree}\td{i}\n" for i in range(10)))
    repo.git("tag", "bomb", repo.git("commit-tree", "-m", "bomb", tree))
    monkeypatch.setattr(archive, "MAX_MEMBERS", 1000)
    assert "has over 1,000 files" in refused(f"{repo.folder}@bomb")


def test_a_damaged_repository_is_one_line(repo: Repository) -> None:
    for path in (repo.folder / ".git" / "objects").glob("??/*"):
        path.chmod(0o644)
        path.write_bytes(b"rubbish")
    assert "has no commit" in refused(f"{repo.folder}@main")


def test_the_command_line_reads_a_revision(repo: Repository) -> None:
    command = [sys.executable, "-P", "-m", "qtrace", "static", "vllm", "--at", f"{repo.folder}@gone"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=dict(os.environ))
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        done.stderr
        == f"qtrace: {repo.folder}: has no commit, branch or tag gone; fetch it, or name another\n"
    )
