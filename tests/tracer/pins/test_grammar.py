"""A PIN means what its text says."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version
from pinning import refused

from qtrace.tracer.pins.grammar import Commit, Installed, Place, Release, Request, Revision, parse


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("installed", Installed()),
        ("latest", Release("")),
        ("0.33", Release("0.33")),
        ("v0", Release("0")),
        ("0.33.0", Release("0.33.0", exact=True)),
        ("v0.33.0", Release("0.33.0", exact=True)),
        ("0.33rc1", Release("0.33rc1", exact=True)),
        ("0.6.3.post1", Release("0.6.3.post1", exact=True)),
        ("8E95890", Commit("8e95890")),
        ("8e958902eee56ca5158728f1dd5a32246f0246f3", Commit("8e958902eee56ca5158728f1dd5a32246f0246f3")),
        ("./0.33", Place("./0.33")),
        ("0.33.0.tar.gz", Place("0.33.0.tar.gz")),
        ("vllm-0.33.0.tar.gz", Place("vllm-0.33.0.tar.gz")),
        ("no@where", Place("no@where")),
        ("git+https://h.example/o/r@v1", Revision("https://h.example/o/r", "v1", remote=True)),
        ("git+https://u:p@h.example/r.git@a/b", Revision("https://u:p@h.example/r.git", "a/b", remote=True)),
        ("git+ssh://git@h.example/r@main", Revision("ssh://git@h.example/r", "main", remote=True)),
        ("git+file:///a%20b/r@main", Revision("/a b/r", "main", remote=False)),
    ],
)
def test_a_text_means_one_thing(text: str, meant: Request) -> None:
    assert parse(text) == meant


def test_a_folder_with_a_revision_is_a_repository(tmp_path: Path) -> None:
    (tmp_path / "a@b").mkdir()
    assert parse(f"{tmp_path}@main") == Revision(str(tmp_path), "main", remote=False)
    assert parse(f"{tmp_path}/a@b") == Place(f"{tmp_path}/a@b")
    assert parse(f"{tmp_path}/a@b@v1") == Revision(f"{tmp_path}/a@b", "v1", remote=False)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "--at is empty"),
        ("git+ext::sh -c touch% /tmp/x@main", "file, https, ssh only"),
        ("git+http://h.example/r@main", "file, https, ssh only"),
        ("git+git@h.example:r@main", "file, https, ssh only"),
        ("git+https://h.example/r", "write git+URL@REV"),
        ("git+https://h.example/@main", "write git+URL@REV"),
        ("git+https://h.example/r@main#subdirectory=x", "write git+URL@REV"),
        ("git+https://h.example/r@", "is no commit, branch or tag"),
        ("git+https://h.example/r@-x", "is no commit, branch or tag"),
        ("git+https://h.example/r@^a", "is no commit, branch or tag"),
        ("git+https://h.example/r@a..b", "is no commit, branch or tag"),
        ("git+https://h.example/r@a:b", "is no commit, branch or tag"),
        ("git+https://h.example/r@a b", "no address"),
        ("git+https://h.example/r\n@a", "no address"),
        ("git+ssh://-oProxyCommand=x/r@main", "no address"),
        ("git+ssh://-x@h.example/r@main", "no address"),
        ("git+file://elsewhere/r@main", "no file of this machine"),
        ("git+https://[h/r@main", "Invalid IPv6"),
    ],
)
def test_what_can_mean_nothing_is_one_line(text: str, words: str) -> None:
    assert words in refused(text)


def test_a_password_is_not_printed() -> None:
    for text in (
        "git+http://u:secret@h.example/r@main",
        "git+https://u:secret@h.example/r",
        "git+https://u:secret@-h/r@a",
    ):
        assert "secret" not in refused(text)


@pytest.mark.parametrize(
    ("asked", "taken", "others"),
    [
        (Release(""), ["0.33.0", "1.0.post1"], ["2.0rc1", "2.0.dev1"]),
        (Release("0.3"), ["0.3", "0.3.1", "0.3.1.post2"], ["0.33.0", "0.3.2rc1", "1.0.3"]),
        (Release("0.33.0", exact=True), ["0.33.0", "0.33"], ["0.33.0.post1", "0.33.0rc1", "0.33.1"]),
        (Release("0.33rc1", exact=True), ["0.33.0rc1"], ["0.33.0"]),
    ],
)
def test_a_series_takes_its_releases(asked: Release, taken: list[str], others: list[str]) -> None:
    assert all(asked.takes(Version(text)) for text in taken)
    assert not any(asked.takes(Version(text)) for text in others)
