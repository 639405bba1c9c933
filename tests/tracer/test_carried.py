"""A record holds for another source exactly where nothing that it was read from is another."""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from edited import edited, replaced
from shared import made_once

from qtrace.report.codec import encode
from qtrace.tracer.answer import answered
from qtrace.tracer.answers import FromSnapshot, FromSource
from qtrace.tracer.engines.native import OPS
from qtrace.tracer.library import Library
from qtrace.tracer.native.build import Build
from qtrace.tracer.native.ops import OpIndex
from qtrace.tracer.pins.answering import nearby
from qtrace.tracer.readings import print_of
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.snapshot.answer import recorded
from qtrace.tracer.snapshot.build import asked, build, known
from qtrace.tracer.snapshot.carried import Carried
from qtrace.tracer.snapshot.file import Snapshot
from qtrace.tracer.sources import Source
from qtrace.tracer.standard import model_for, standards

GPTQ = next(standard.config for standard in standards() if standard.name == "gptq-w4")
GIVEN = Scenario(
    model={**model_for("linear").config, "quantization_config": GPTQ},
    capability=90,
    profile="wheel",
    cuda=13000,
)
CACHE = Scenario(whole=False, kv_cache_dtype="fp8", layer="attention", capability=90, cuda=13000)
LAYERS = "vllm/model_executor/layers"
MACHETE = "vllm/model_executor/kernels/linear/mixed_precision/machete.py"
LINEAR = f"{LAYERS}/linear.py"
FP8 = f"{LAYERS}/quantization/fp8.py"
Edit = Callable[[str], str]


def added(end: str, start: str = "") -> Edit:
    """An edit that puts something at the end, or at the start."""
    return lambda text: f"{start}{text}{end}"


@pytest.fixture(scope="module")
def path(library: Library, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two questions came to, one of them with its premises."""

    def make(path: Path) -> None:
        build(library.source, path, lambda *done: None, only=[[GIVEN], [CACHE]])

    return made_once(tmp_path_factory, "carried.snapshot", make)


def carried(path: Path, source: Source) -> Carried:
    return Carried(path, Library(source))


def test_every_reading_is_the_same_at_its_own_source(path: Path, vllm_source: Source) -> None:
    snapshot = Snapshot(path)
    assert len(snapshot.readings.prints) > 1500
    fresh = Library(vllm_source)
    for reading, told in snapshot.readings.prints:
        assert print_of(fresh, reading) == told, reading
    held = carried(path, vllm_source)
    assert held.holding() == len(held)
    assert [encode_of(held, scenario) for scenario in (GIVEN, CACHE)] == [
        encode_of(snapshot, scenario) for scenario in (GIVEN, CACHE)
    ]


def encode_of(snapshot: Snapshot, scenario: Scenario) -> bytes | None:
    found = recorded(snapshot, scenario, {})
    return None if found is None else encode(found)


@pytest.mark.parametrize(
    ("where", "edit"),
    [
        pytest.param(
            LINEAR, replaced("\nclass LinearBase", "\n# one\n# two\n\nclass LinearBase"), id="notes"
        ),
        pytest.param(LINEAR, added("", '"""Other words\nof the module."""\n'), id="above all"),
        pytest.param(MACHETE, added("\n\ndef unrelated():\n    return 1\n"), id="a function"),
        pytest.param("vllm/model_executor/models/bloom.py", added("", "import json\n"), id="another model"),
        pytest.param(FP8, replaced("def process_weights_after", "def  process_weights_after"), id="a method"),
    ],
)
def test_what_was_not_read_changes_lines_alone(
    path: Path, vllm_source: Source, where: str, edit: Edit
) -> None:
    source = edited(vllm_source, {where: edit})
    held = carried(path, source)
    assert encode_of(held, GIVEN) == encode(answered(Library(source), GIVEN, {}))


@pytest.mark.parametrize(
    ("where", "edit"),
    [
        pytest.param(MACHETE, replaced("def can_implement", "def  can_implement"), id="a function that ran"),
        pytest.param(LINEAR, added("\n\ndef isinstance(*args):\n    return True\n"), id="a new name"),
        pytest.param(LINEAR, added("\n\nfrom vllm.utils import *\n"), id="a star"),
        pytest.param(f"{LAYERS}/__init__.py", added("", "import nowhere_to_be_found\n"), id="an import"),
        pytest.param("requirements/common.txt", added("\nnothing==1.0\n"), id="a requirement"),
        pytest.param("csrc/ops.h", added("\n// other\n"), id="the native half"),
        pytest.param(LINEAR, added("\n)\n"), id="no Python any more"),
        pytest.param("vllm/envs.py", added("\nfrom vllm.overrides import *\n"), id="a star over names"),
        pytest.param(
            "vllm/compilation/decorators.py",
            replaced("\nfrom typing import", "\nfrom typing import Any\nfrom typing import"),
            id="a name that a statement makes beside the one that was asked for",
        ),
        pytest.param(
            "vllm/config/cache.py",
            replaced("    def compute_hash", "    compute_hash: int = 7\n\n    def compute_hash"),
            id="a field called as a method is",
        ),
    ],
)
def test_where_something_that_was_read_is_another_nothing_is_said(
    path: Path, vllm_source: Source, where: str, edit: Edit
) -> None:
    held = carried(path, edited(vllm_source, {where: edit}))
    assert encode_of(held, GIVEN) is None and held.holding() < len(held)


def test_what_does_not_hold_is_asked_of_the_source(path: Path, vllm_source: Source) -> None:
    source = edited(vllm_source, {MACHETE: replaced("is_device_capability(90)", "is_device_capability(100)")})
    library = Library(source)
    held = Carried(path, library).filled(known, lambda question: asked(library, question, {})[0])
    assert held.holding() < len(held)
    told = encode_of(held, GIVEN)
    assert told is not None and b"MarlinLinearKernel" in told
    assert told == encode(answered(library, GIVEN, {}))


def test_a_package_that_hides_a_module_counts(path: Path, vllm_source: Source) -> None:
    text = vllm_source.text(MACHETE) or ""
    other = text.replace("is_device_capability(90)", "is_device_capability(100)")
    where = f"{MACHETE.removesuffix('.py')}/__init__.py"
    assert encode_of(carried(path, edited(vllm_source, {where: lambda _: other})), GIVEN) is None


class Quiet:
    """Hears what is said of a source."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, line: str) -> None:
        self.said.append(line)

    def bar(self, name: str, total: int | None) -> contextlib.AbstractContextManager[Callable[[int], None]]:
        return contextlib.nullcontext(lambda done: None)


def test_the_bundled_answers_are_not_those_of_other_requirements(vllm_source: Source) -> None:
    """Its Python and csrc are the same, and what is installed with it is not."""
    where = "requirements/cuda.txt"
    other = FromSource(edited(vllm_source, {where: added("\nnothing==1.0\n")}))
    assert isinstance(nearby(FromSource(vllm_source), Quiet()), FromSnapshot)
    assert nearby(other, Quiet()) is other


def test_two_sources_in_one_process_keep_their_own_operators(vllm_source: Source) -> None:
    build_ = Build("cuda", 13000)
    other = edited(vllm_source, {"CMakeLists.txt": replaced("ENABLE_", "DISABLE_", -1)})
    kept, fresh = OPS.get(vllm_source, build_), OpIndex.read(other, build_)
    assert len(fresh) != len(kept) and len(OPS.get(other, build_)) == len(fresh)


def test_a_file_that_is_no_python_stops_nothing(path: Path, vllm_source: Source) -> None:
    text = 'direct_register_custom_op(\n    op_name="marlin_gemm"\n'
    held = carried(path, edited(vllm_source, {"vllm/broken.py": lambda _: text}))
    assert 0 <= held.holding() <= len(held)


CAPS = """_CAPS = [90]
_CAP = _CAPS[0]
_CAPS[0] = 100


class MacheteLinearKernel"""


@pytest.mark.full
def test_the_order_of_what_was_read_counts(vllm_source: Source, tmp_path: Path) -> None:
    """A statement sees what stands above it, also where no name's own statements are others."""

    def before(text: str) -> str:
        text = replaced("is_device_capability(90)", "is_device_capability(_CAP)")(text)
        return replaced("class MacheteLinearKernel", CAPS)(text)

    base = edited(vllm_source, {MACHETE: before})
    path = tmp_path / "ordered.snapshot"
    build(base, path, lambda *done: None, only=[[GIVEN]])
    swap = replaced("_CAP = _CAPS[0]\n_CAPS[0] = 100", "_CAPS[0] = 100\n_CAP = _CAPS[0]")
    assert encode_of(carried(path, edited(base, {MACHETE: added("# a note\n")})), GIVEN) is not None
    assert encode_of(carried(path, edited(base, {MACHETE: swap})), GIVEN) is None


def test_a_module_that_came_to_be_counts(path: Path, vllm_source: Source) -> None:
    absent = [r.where for r, p in Snapshot(path).readings.prints if r.kind == "module" and p.text == "absent"]
    name = next(name for name in absent if name.startswith("vllm."))
    held = carried(path, edited(vllm_source, {f"{name.replace('.', '/')}.py": lambda text: "X = 1\n"}))
    assert held.holding() < len(held)


def test_what_the_flags_take_is_asked_where_it_may_be_another(path: Path, vllm_source: Source) -> None:
    where = f"{LAYERS}/quantization/__init__.py"
    source = edited(vllm_source, {where: replaced('    "awq",\n', '    "awq",\n    "mine",\n')})
    library = Library(source)
    before = Snapshot(path).header.knows
    held = Carried(path, library).filled(known, lambda question: asked(library, question, {})[0])
    assert held.header.knows.flags == (
        *before.flags[: before.flags.index("awq") + 1],
        "mine",
        *before.flags[before.flags.index("awq") + 1 :],
    )


KINDS: tuple[Callable[[random.Random, list[str]], list[str]], ...] = (
    lambda rng, lines: [*lines[: (at := rng.randrange(len(lines)))], "# a comment", *lines[at:]],
    lambda rng, lines: _without(rng, lines),
    lambda rng, lines: _numbers(rng, lines),
    lambda rng, lines: _renamed(rng, lines),
)


def _without(rng: random.Random, lines: list[str]) -> list[str]:
    """Without a function or class at the left margin."""
    starts = [n for n, line in enumerate(lines) if re.match(r"(def|class) ", line)]
    if not starts:
        return lines
    first = rng.choice(starts)
    last = next((n for n in range(first + 1, len(lines)) if re.match(r"[^\s)#]", lines[n])), len(lines))
    return [*lines[:first], *lines[last:]]


def _numbers(rng: random.Random, lines: list[str]) -> list[str]:
    """With another number on a line that has one."""
    at = [n for n, line in enumerate(lines) if re.search(r"\b\d+\b", line)]
    if not at:
        return lines
    chosen = rng.choice(at)
    return [re.sub(r"\b\d+\b", "77", line) if n == chosen else line for n, line in enumerate(lines)]


def _renamed(rng: random.Random, lines: list[str]) -> list[str]:
    """With a function or method called otherwise where it is defined."""
    at = [n for n, line in enumerate(lines) if re.match(r"\s*def \w", line)]
    if not at:
        return lines
    chosen = rng.choice(at)
    return [re.sub(r"def (\w)", r"def x\1", line) if n == chosen else line for n, line in enumerate(lines)]


def check(path: Path, source: Source, seed: int) -> int:
    """Hold what is carried over a random change against the source that it made; how many records were."""
    rng = random.Random(seed)
    files = sorted({reading.where for reading, _ in Snapshot(path).readings.prints if reading.kind == "name"})
    where = rng.choice([name for name in files if source.text(name)])
    before = (source.text(where) or "").split("\n")
    after = rng.choice(KINDS)(rng, before)
    try:
        compile("\n".join(after), where, "exec")
    except SyntaxError:
        return 0
    if after == before:
        return 0
    changed = edited(source, {where: lambda text: "\n".join(after)})
    library, held = Library(changed), carried(path, changed)
    told = 0
    for scenario in (GIVEN, CACHE):
        found = encode_of(held, scenario)
        if found is not None:
            assert found == encode(answered(library, scenario, {})), (seed, where)
            told += 1
    return told


def test_random_changes_of_what_was_read(path: Path, vllm_source: Source) -> None:
    assert sum(check(path, vllm_source, seed) for seed in range(2)) > 0


@pytest.mark.full
def test_many_random_changes_of_what_was_read(path: Path, vllm_source: Source) -> None:
    told = sum(check(path, vllm_source, seed) for seed in range(1000, 1120))
    print(f"{told} answers carried over 120 random changes, all as the source says")
    assert told > 60
