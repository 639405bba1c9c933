"""Facts are kept, or read from their source: what is damaged, another's or out of date is no fact."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from indexes import engine, sdist
from msgspec.msgpack import encode

from qtrace.report.errors import SourceError
from qtrace.tracer import tree
from qtrace.tracer.index import ClassIndex, class_header, index_module, statement_block
from qtrace.tracer.kept import archives, code, store as stores
from qtrace.tracer.kept.modules import KeptModule
from qtrace.tracer.kept.store import Store, key_of
from qtrace.tracer.kept.wholes import KeptSource
from qtrace.tracer.library import Library
from qtrace.tracer.sources import Held, Source, open_source

TEXT = "import os\nX = [1, 2.0, ..., 3j]\nclass A(list):\n    def f(self):\n        return X\n"
SUM = 32


def never() -> tree.Block:
    raise AssertionError("lowered again")


def lowered(number: int) -> tree.Block:
    return statement_block(TEXT, index_module(TEXT).statements[number])


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "facts")


@pytest.fixture
def file(store: Store) -> Path:
    """The file of the facts of TEXT: its index, and the second statement."""
    facts = KeptModule(store, TEXT)
    facts.block((0, 2), lambda: lowered(1))
    facts.write()
    (found,) = store.root.iterdir()
    return found


def test_what_is_kept_is_not_made_again(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("qtrace.tracer.kept.modules.index_module", lambda _: never())
    found = KeptModule(store, TEXT)
    assert found.index == index_module(TEXT)
    assert found.block((0, 2), never) == lowered(1)


def test_what_is_added_comes_to_what_is_there(store: Store, file: Path) -> None:
    more = KeptModule(store, TEXT)
    more.block((0, 1), lambda: lowered(0))
    more.write()
    found = KeptModule(store, TEXT)
    assert (found.block((0, 1), never), found.block((0, 2), never)) == (lowered(0), lowered(1))
    assert list(store.root.iterdir()) == [file]


def test_nothing_new_writes_nothing(store: Store, file: Path) -> None:
    before = file.stat()
    found = KeptModule(store, TEXT)
    found.block((0, 2), never)
    found.write()
    assert file.stat().st_ino == before.st_ino


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: SUM - 1])


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def changed(file: Path) -> None:
    """One number of a literal: still msgpack, still a block."""
    data = file.read_bytes()
    assert data.count(encode(2.0)) == 1
    file.write_bytes(data.replace(encode(2.0), encode(3.0)))


def anothers(file: Path) -> None:
    """The whole and unharmed facts of another text, under the name of these."""
    other = Store(file.parent.with_name("other"))
    KeptModule(other, "X = 1\n").write()
    shutil.copy(next(other.root.iterdir()), file)


def of_another_kind(file: Path) -> None:
    Store(file.parent).put(file.name, encode({"no": "facts"}))


def with_no_block(file: Path) -> None:
    index = index_module(TEXT)
    Store(file.parent).put(file.name, encode([index, {(0, 2): ["no block"]}]))


def a_pipe(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def endless(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


DAMAGES = (truncated, cut_short, emptied, changed, anothers, of_another_kind, with_no_block, a_pipe, endless)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_what_is_damaged_is_made_again_and_mended(
    store: Store, file: Path, damage: Callable[[Path], None]
) -> None:
    damage(file)
    found = KeptModule(store, TEXT)
    assert found.index == index_module(TEXT)
    assert found.block((0, 2), lambda: lowered(1)) == lowered(1)
    found.write()
    assert KeptModule(store, TEXT).block((0, 2), never) == lowered(1)


def test_a_folder_in_place_of_a_file_is_no_fact(store: Store, file: Path) -> None:
    file.unlink()
    file.mkdir()
    found = KeptModule(store, TEXT)
    assert found.block((0, 2), lambda: lowered(1)) == lowered(1)
    found.write()
    assert list(store.root.iterdir()) == [file]


@pytest.mark.parametrize("root", ["/dev/null/cache", "/proc/facts", "a\0b"])
def test_where_nothing_can_be_written_everything_works(root: str) -> None:
    store = Store(Path(root))
    facts = KeptModule(store, TEXT)
    assert facts.block((0, 2), lambda: lowered(1)) == lowered(1)
    facts.write()
    assert (KeptModule(store, TEXT).index, store.size()) == (index_module(TEXT), (0, 0))


def test_a_folder_that_is_read_only_is_read(
    store: Store, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    facts = KeptModule(store, TEXT)
    assert facts.block((0, 2), never) == lowered(1)
    facts.block((0, 1), lambda: lowered(0))
    facts.write()
    assert list(store.root.iterdir()) == [file]


def test_a_full_disk_leaves_nothing_half(store: Store, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    before = file.read_bytes()
    monkeypatch.setattr(Path, "replace", full)
    store.put(file.name, b"something else")
    assert list(store.root.iterdir()) == [file] and file.read_bytes() == before


def test_many_writers_at_once_leave_one_whole_fact(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: store.put("key", bytes([number]) * 100_000), range(32)))
    found = store.get("key")
    assert found is not None and (len(found), len(set(found))) == (100_000, 1)
    assert [path.name for path in store.root.iterdir()] == ["key"]


def test_other_code_has_other_facts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tmp_path / "tracer"
    shutil.copytree(code.TRACER / "lower", own / "lower")
    before = code.digest(own)
    assert code.digest(own) == before
    with (own / "lower" / "calls.py").open("a") as file:
        file.write("# one more word\n")
    assert code.digest(own) != before
    key = key_of("module", "x")
    monkeypatch.setattr(stores, "made_by", lambda: "other code")
    assert key_of("module", "x") != key


def test_code_that_cannot_be_read_has_no_facts_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(code, "TRACER", Path("/no/such/folder"))
    assert code.made_by.__wrapped__() != code.made_by.__wrapped__()


def test_the_facts_are_those_of_the_text_and_of_its_kind(store: Store, file: Path) -> None:
    assert KeptModule(store, TEXT.replace("2.0", "2.5")).index == index_module(TEXT)
    assert len(list(store.root.iterdir())) == 1
    assert key_of("module", "x") != key_of("source", "x")


def test_what_was_not_used_for_longest_goes_first(store: Store) -> None:
    newest, middle, oldest = keys = [sign * 64 for sign in "bca"]
    for age, key in enumerate(keys):
        store.put(key, b"x" * 68)
        os.utime(store.root / key, (10**9 - age, 10**9 - age))
    assert store.size() == (3, 300)
    (store.root / "somebody's").write_bytes(b"x" * 1000)
    (store.root / f"{oldest}.left_by_one_that_was_killed").touch()
    store.tidy(250)
    assert {path.name for path in store.root.iterdir()} >= {"somebody's", newest, middle}
    assert not (store.root / oldest).exists()
    store.tidy(0)
    assert [path.name for path in store.root.iterdir() if path.stat().st_size] == ["somebody's"]
    assert store.size()[1] == 0


def test_a_library_keeps_what_it_lowered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QTRACE_CACHE", str(tmp_path))
    source = Source("pkg", Held({"pkg/__init__.py": TEXT.encode()}))

    def read(library: Library) -> tuple[tree.Block, tree.Block | None]:
        module = library.module("pkg")
        assert module is not None
        (header,) = module.block(2)
        assert isinstance(header, tree.ClassDef)
        found = library.class_of(header)
        return module.block(2), None if found is None else found.block(0)

    first = read(Library(source))
    gc.collect()  # and it is gone
    assert Store().size()[0] == 1
    monkeypatch.setattr("qtrace.tracer.lower.lower_block", lambda *_: never())
    assert read(Library(source)) == first
    header = index_module(TEXT).statements[2]
    assert isinstance(header, ClassIndex)
    monkeypatch.undo()
    assert first[0] == (class_header(TEXT, header),)
    assert first[1] == statement_block(TEXT, header.members[0])


def test_facts_of_a_whole_source_are_kept_by_its_python(store: Store) -> None:
    first = KeptSource(store, "pkg", "a hash")
    found = first.rewritten(("pkg/",), lambda: {"A": frozenset({"x", "y"})})
    first.write()
    assert KeptSource(store, "pkg", "a hash").rewritten(("pkg/",), dict) == found
    assert KeptSource(store, "pkg", "another hash").rewritten(("pkg/",), dict) == {}
    assert KeptSource(store, "gkp", "a hash").rewritten(("pkg/",), dict) == {}


# --- archives


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("QTRACE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(archives, "MIN_SIZE", 0)
    return sdist(tmp_path, "1.2.0")


def content(source: Source) -> dict[str, bytes | None]:
    return {name: source.read(name) for name in source.files()}


def unread(path: Path, wanted: object) -> dict[str, bytes]:
    raise AssertionError(f"{path} was unpacked again")


def test_an_archive_is_unpacked_once(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = open_source(archive)
    monkeypatch.setattr("qtrace.tracer.sources.read_sdist", unread)
    again = open_source(archive)
    assert (content(again), again.pin()) == (content(first), first.pin())
    assert content(first) == engine("1.2.0")


def test_a_small_archive_is_not_kept(archive: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archives, "MIN_SIZE", 1 << 20)
    open_source(archive)
    assert Store().size() == (0, 0)


def test_an_archive_is_known_by_its_content(archive: Path, tmp_path: Path) -> None:
    open_source(archive)
    times = archive.stat()
    other = sdist(tmp_path / "other", "1.2.0", {**engine("1.2.0"), "vllm/config/model.py": b"X = 2\n"})
    shutil.copy(other, archive)
    os.utime(archive, (times.st_atime, times.st_mtime))
    assert open_source(archive).read("vllm/config/model.py") == b"X = 2\n"
    archive.write_bytes(archive.read_bytes()[:-20])
    with pytest.raises(SourceError, match="corrupt or truncated"):
        open_source(archive)


@pytest.mark.parametrize("damage", [truncated, emptied, of_another_kind, anothers], ids=lambda d: d.__name__)
def test_a_damaged_unpacking_is_done_again(archive: Path, damage: Callable[[Path], None]) -> None:
    first = open_source(archive)
    (kept,) = Store().root.iterdir()
    damage(kept)
    again = open_source(archive)
    assert (content(again), again.pin()) == (content(first), first.pin())


def test_an_archive_that_changes_while_it_is_read_is_not_kept(archive: Path) -> None:
    def read() -> dict[str, bytes]:
        archive.write_bytes(b"something else")
        return {"a": b"b"}

    assert archives.unpacked(archive, "vllm", read).content == {"a": b"b"}
    assert Store().size() == (0, 0)
