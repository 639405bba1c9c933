"""Releases come from the index that pip is configured for: listed, verified, kept by what they hold."""

from __future__ import annotations

import json
import socket
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from indexes import CERTIFICATE, JSON, Answer, Index, anchor, html, page, sdist, serving, sha256, wheel
from pinning import left, opened, refused

from qtrace.tracer.pins import download, index as index_module


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    versions = ("1.1.0", "1.2.0", "1.2.1", "1.3.0rc1")
    return {version: sdist(tmp_path / "made", version) for version in versions}


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


# --- which file is meant


def test_a_version_is_fetched_once_and_then_kept(index: Index, files: dict[str, Path]) -> None:
    index.list(*files.values())
    source, said = opened("1.2.0")
    assert (source.version, said) == ("1.2.0", ["vllm 1.2.0 from the package index"])
    again, said = opened("v1.2.0")
    assert again.pin() == source.pin()
    assert said == ["vllm 1.2.0 from the cache"]
    assert index.count("/files/vllm-1.2.0.tar.gz") == index.count("/simple/vllm/") == 1


@pytest.mark.parametrize(
    ("pin", "version"),
    [("1.2", "1.2.1"), ("1.1", "1.1.0"), ("latest", "1.2.1"), ("1.3rc1", "1.3.0rc1"), ("v1", "1.2.1")],
)
def test_a_series_is_its_newest_release(index: Index, files: dict[str, Path], pin: str, version: str) -> None:
    index.list(*files.values())
    assert opened(pin)[0].version == version


def test_a_yanked_file_is_taken_by_its_exact_version_only(index: Index, files: dict[str, Path]) -> None:
    listing = json.loads(page(*files.values()))
    listing["files"][2]["yanked"] = "broken"
    index.list(*files.values())
    index.answers["/simple/vllm/"] = Answer(json.dumps(listing).encode(), kind=JSON)
    assert opened("1.2")[0].version == "1.2.0"
    source, said = opened("1.2.1")
    assert source.version == "1.2.1"
    assert said[0] == "vllm-1.2.1.tar.gz was yanked from the index"


def test_a_version_that_is_not_listed_names_those_next_to_it(index: Index, files: dict[str, Path]) -> None:
    index.list(*files.values())
    assert refused("1.1.5").endswith("lists no sdist of it; it has 1.1.0, 1.2.0, 1.2.1")
    index.list(files["1.1.0"], wheel(files["1.1.0"].parent, "1.4.0"))
    assert refused("1.4.0").endswith("lists no sdist of it; download a wheel of it and name that")
    index.list()
    assert refused("1.4.0").endswith("lists no sdist of it or of any version")


def test_a_newer_release_that_has_wheels_only_is_told(index: Index, files: dict[str, Path]) -> None:
    index.list(files["1.2.0"], wheel(files["1.2.0"].parent, "1.2.5"), wheel(files["1.2.0"].parent, "2.0rc1"))
    for pin in ("1.2", "latest"):
        source, said = opened(pin)
        assert source.version == "1.2.0"
        assert said[0] == "vllm 1.2.5 has wheels only; 1.2.0 is the newest sdist that fits"
    assert len(opened("1.2.0")[1]) == 1


def test_html_is_read_as_well(index: Index, files: dict[str, Path]) -> None:
    index.list(*files.values())
    rows = [anchor(path, f"../../files/{path.name}") for path in files.values()]
    index.answers["/simple/vllm/"] = Answer(
        html("<a>no link</a>", "<a href='http://[x'>bad</a>", *rows), kind="text/html"
    )
    assert opened("1.2")[0].version == "1.2.1"


def test_an_index_that_does_not_have_it_is_passed_over(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as other:
        other.list(files["1.2.0"])
        monkeypatch.setenv("PIP_EXTRA_INDEX_URL", f"{other.url}/simple {index.url}/third")
        assert opened("1.2.0")[0].version == "1.2.0"
    assert index.count("/simple/vllm/") == index.count("/third/vllm/") == 1


# --- places on this machine


def test_find_links_is_a_folder_of_files(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    folder = files["1.2.0"].parent
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    source, said = opened("1.2")
    assert (source.version, said) == ("1.2.1", [f"vllm 1.2.1 from {folder}"])
    assert opened("1.2.0", offline=True)[0].version == "1.2.0"
    assert not cache.exists()


@pytest.mark.parametrize("hashed", [True, False])
def test_an_index_may_be_a_folder(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, hashed: bool
) -> None:
    simple = files["1.2.0"].parent / "simple"
    (simple / "vllm").mkdir(parents=True)
    rows = [anchor(path, f"../../{path.name}", hashed=hashed) for path in files.values()]
    (simple / "vllm" / "index.html").write_bytes(html(*rows))
    for url in (simple.as_uri(), str(simple), f"{simple.as_uri()}/"):
        monkeypatch.setenv("PIP_INDEX_URL", url)
        assert opened("1.2")[0].version == "1.2.1"
    if hashed:
        files["1.2.1"].write_bytes(files["1.2.0"].read_bytes())
        assert "as expected; it is not used" in refused("1.2")


def test_a_page_of_links_needs_hashes(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "yes")
    monkeypatch.setenv("PIP_FIND_LINKS", f"{index.url}/links.html")
    index.list(*files.values())
    index.answers["/links.html"] = Answer(
        html(anchor(files["1.2.0"], "/files/vllm-1.2.0.tar.gz")), kind="text/html"
    )
    assert opened("1.2.0")[0].version == "1.2.0"
    bare = anchor(files["1.1.0"], "/files/vllm-1.1.0.tar.gz", hashed=False)
    index.answers["/links.html"] = Answer(html(bare), kind="text/html")
    assert refused("1.1.0").endswith("the index states no sha256 of vllm-1.1.0.tar.gz; it is not fetched")
    assert index.count("/files/vllm-1.1.0.tar.gz") == 0


def test_a_page_of_another_machine_names_no_file_of_this_one(index: Index, files: dict[str, Path]) -> None:
    index.answers["/simple/vllm/"] = Answer(
        html(anchor(files["1.2.0"], files["1.2.0"].as_uri())), kind="text/html"
    )
    assert "lists no sdist of it" in refused("1.2.0")


def test_a_place_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "/no/such/folder")
    assert refused("1.2.0").startswith("/no/such/folder: pip's configuration names it")
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert "no package index is known" in refused("1.2.0")


# --- what must not be believed


def test_a_wrong_hash_is_refused_and_nothing_is_kept(
    index: Index, files: dict[str, Path], cache: Path
) -> None:
    index.list(*files.values())
    index.answers["/files/vllm-1.2.0.tar.gz"] = Answer(files["1.1.0"].read_bytes())
    assert f"not {sha256(files['1.2.0'])[:16]}... as expected" in refused("1.2.0")
    assert left(cache) == []
    assert list((cache / "pins" / "files").iterdir()) == []


def test_a_named_release_is_its_pinned_file_or_none(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    forged = sdist(tmp_path / "forged", "0.33.0")
    index.list(forged)
    assert "the release is pinned as f4c33c2503d52bb4..." in refused("0.33.0")
    assert "the release is pinned as f4c33c2503d52bb4..." in refused("latest")
    monkeypatch.setenv("PIP_FIND_LINKS", str(forged.parent))
    assert "not f4c33c2503d52bb4... as expected" in refused("0.33.0")
    assert index.count(f"/files/{forged.name}") == 0


def test_a_body_that_ends_early_is_told(index: Index, files: dict[str, Path], cache: Path) -> None:
    def half(handler: BaseHTTPRequestHandler) -> None:
        data = files["1.2.0"].read_bytes()
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data[:100])

    index.list(*files.values())
    index.answers["/files/vllm-1.2.0.tar.gz"] = Answer(half)
    assert f"ended after 100 of {files['1.2.0'].stat().st_size:,} bytes" in refused("1.2.0")
    assert left(cache) == []


def test_more_bytes_than_an_sdist_has_are_not_taken(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    index.list(*files.values())
    monkeypatch.setattr(download, "MAX_ARCHIVE", 100)
    assert "gives over 100 bytes; nothing of it is kept" in refused("1.2.0")
    monkeypatch.setattr(index_module, "MAX_PAGE", 100)
    assert "gives over 100 bytes" in refused("1.2.0")
    assert left(cache) == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(b"{", kind=JSON), "is no listing of a package index"),
        (Answer(b"[]", kind=JSON), "is no listing of a package index"),
        (Answer(b'{"files": [3]}', kind=JSON), "is no listing of a package index"),
        (Answer(b'{"files": {"a": 1}}', kind=JSON), "is no listing of a package index"),
        (Answer(b"[" * 100_000, kind=JSON), "is no listing of a package index"),
        (Answer(b"\xff\xfe<a href", kind="text/html"), "lists no sdist of it"),
        (Answer(status=500), "answers 500"),
        (Answer(status=401), "give user and password as pip has them"),
        (Answer(status=404), "lists no sdist of it"),
        (Answer(status=302, headers=(("Location", "file:///etc/passwd"),)), "answers 302"),
        (Answer(status=302, headers=(("Location", "http://h.example/"),)), "is not https"),
        (Answer(status=302, headers=(("Location", "/simple/vllm/"),)), "answers 302"),
    ],
)
def test_an_index_that_answers_nonsense_is_one_line(index: Index, answer: Answer, words: str) -> None:
    index.answers["/simple/vllm/"] = answer
    assert words in refused("1.2.0")


def test_names_that_are_none_are_passed_over(index: Index, files: dict[str, Path]) -> None:
    index.list(files["1.2.0"])
    listing = json.loads(page(files["1.2.0"]))
    names = (
        "vllm-.tar.gz",
        "vllm-1_x.tar.gz",
        "other-1.2.0.tar.gz",
        "vllm-1.2.0.zip",
        f"vllm-{'9' * 5000}.tar.gz",
        "\0",
    )
    listing["files"] += [{"filename": name, "url": name} for name in names]
    index.answers["/simple/vllm/"] = Answer(json.dumps(listing).encode(), kind=JSON)
    assert opened("latest")[0].version == "1.2.0"


def test_a_file_that_is_listed_and_gone_is_told(index: Index, files: dict[str, Path]) -> None:
    index.list(*files.values())
    del index.answers["/files/vllm-1.2.0.tar.gz"]
    assert "/files/vllm-1.2.0.tar.gz: answers 404" in refused("1.2.0")


def test_only_safe_addresses_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://h.example/simple")
    assert refused("1.2.0").startswith("http://h.example/simple/vllm/: is not https")
    monkeypatch.setenv("PIP_INDEX_URL", "ftp://h.example/simple")
    assert "is no http(s) address" in refused("1.2.0")
    monkeypatch.setenv("PIP_INDEX_URL", "https://h.example:port/simple")
    assert "malformed" in refused("1.2.0")


@pytest.mark.parametrize(
    ("name", "value"), [("PIP_CERT", str(CERTIFICATE)), ("PIP_TRUSTED_HOST", "x.example 127.0.0.1")]
)
def test_a_certificate_is_checked_as_pip_is_told(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    with serving(tls=True) as index:
        index.list(files["1.2.0"])
        monkeypatch.setenv("PIP_INDEX_URL", f"{index.url}/simple")
        assert "certificate verify failed" in refused("1.2.0")
        monkeypatch.setenv(name, value)
        assert opened("1.2.0")[0].version == "1.2.0"


def test_certificates_that_are_not_there_are_named(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_CERT", "/no/such.pem")
    assert refused("1.2.0") == "/no/such.pem: no certificates (No such file or directory)"


def test_no_redirect_leaves_https(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tls=True) as first:
        first.answers["/simple/vllm/"] = Answer(
            status=302, headers=(("Location", f"{index.url}/simple/vllm/"),)
        )
        monkeypatch.setenv("PIP_INDEX_URL", f"{first.url}/simple")
        monkeypatch.setenv("PIP_CERT", str(CERTIFICATE))
        assert "leads from https to http://127.0.0.1" in refused("1.2.0")
    assert index.asked == []


# --- who asks


def test_user_and_password_are_used_and_not_told(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.list(files["1.2.0"])
    monkeypatch.setenv("PIP_INDEX_URL", index.url.replace("//", "//me:s%40cret@") + "/simple")
    assert opened("1.2.0")[0].version == "1.2.0"
    assert {who for _, who in index.asked} == {"Basic bWU6c0BjcmV0"}
    index.answers["/simple/vllm/"] = Answer(status=403)
    assert "cret" not in refused("1.1.0")


def test_a_redirect_to_another_host_does_not_learn_who_asks(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.list(files["1.2.0"])
    with serving() as first:
        for path in ("/simple/vllm/", "/moved/vllm/"):
            first.answers[path] = Answer(status=302, headers=(("Location", f"{index.url}/simple/vllm/"),))
        first.answers["/simple/vllm/"] = Answer(status=302, headers=(("Location", "/moved/vllm/"),))
        monkeypatch.setenv("PIP_INDEX_URL", first.url.replace("//", "//me:secret@") + "/simple")
        assert opened("1.2.0")[0].version == "1.2.0"
    assert [who is not None for _, who in first.asked] == [True, True]
    assert [who for _, who in index.asked] == [None, None]


def test_the_netrc_file_is_read(index: Index, files: dict[str, Path], home: Path) -> None:
    index.list(files["1.2.0"])
    (home / ".netrc").write_text("machine 127.0.0.1 login me password s@cret\n")
    (home / ".netrc").chmod(0o600)
    opened("1.2.0")
    assert {who for _, who in index.asked} == {"Basic bWU6c0BjcmV0"}


# --- no network


def test_without_an_answer_what_is_kept_is_used(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    index.list(files["1.1.0"], files["1.2.0"])
    opened("1.1.0"), opened("1.2.0")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{free.getsockname()[1]}/simple")
        source, said = opened("latest")
        assert source.version == "1.2.0"
        assert "cannot be reached (Connection refused); the newest in the cache is used" in said[0]
        assert opened("1.1.0")[0].version == "1.1.0"
        assert "cannot be reached" in refused("1.2.1")


def test_offline_asks_nobody(index: Index, files: dict[str, Path]) -> None:
    index.list(*files.values())
    assert "--offline forbids fetching it" in refused("1.2.0", offline=True)
    opened("1.2.0")
    asked = len(index.asked)
    for pin in ("1.2.0", "1.2", "latest"):
        assert opened(pin, offline=True)[0].version == "1.2.0"
    assert len(index.asked) == asked


def test_a_kept_file_of_another_index_is_not_taken_for_this_ones(
    index: Index, files: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.list(files["1.2.0"])
    opened("1.2.0")
    other_file = sdist(tmp_path / "fork", "1.2.0", {"vllm/__init__.py": b"FORK = 1\n"})
    with serving() as other:
        other.list(other_file)
        monkeypatch.setenv("PIP_INDEX_URL", f"{other.url}/simple")
        assert opened("1.2.0")[0].text("vllm/__init__.py") == "FORK = 1\n"


# --- the cache


def test_a_kept_file_that_was_changed_is_fetched_again(
    index: Index, files: dict[str, Path], cache: Path
) -> None:
    index.list(files["1.2.0"])
    pin = opened("1.2.0")[0].pin()
    kept = cache / "pins" / "files" / sha256(files["1.2.0"])
    kept.write_bytes(b"rubbish")
    assert opened("1.2.0")[0].pin() == pin
    assert kept.read_bytes() == files["1.2.0"].read_bytes()


@pytest.mark.parametrize("folder", ["/dev/null/cache", "/proc/qtrace", "own"])
def test_a_cache_that_cannot_be_written_is_said_and_done_without(
    index: Index, files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, folder: str
) -> None:
    index.list(*files.values())
    if folder == "own":
        folder = str(tmp_path / "own")
        (tmp_path / "own" / "pins").mkdir(parents=True)
        (tmp_path / "own" / "pins" / "locks").touch()
    monkeypatch.setenv("QTRACE_CACHE", folder)
    for _ in range(2):
        source, said = opened("1.2.0")
        assert source.version == "1.2.0"
        assert [line.partition(": ")[0] for line in said[:-1]] == [f"{folder}/pins"]
        assert "cannot be written" in said[0] and said[0].endswith("nothing is kept")
    assert index.count("/files/vllm-1.2.0.tar.gz") == 2


def test_damaged_names_are_passed_over(index: Index, files: dict[str, Path], cache: Path) -> None:
    index.list(files["1.2.0"])
    opened("1.2.0")
    for name in (cache / "pins" / "names").iterdir():
        name.write_text('{"name": "vllm-1.2.0.tar.gz", "key": "../../etc/passwd"}')
    assert opened("1.2.0")[1] == ["vllm 1.2.0 from the package index"]
