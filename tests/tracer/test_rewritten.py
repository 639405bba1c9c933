"""Fields of a configuration that the engine's start writes to: what their defaults say does not count."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent, indent

import pytest
from edited import edited, library_of, replaced

from qtrace.tracer.answer import report, walked
from qtrace.tracer.engines.rewritten import ANY, fields_of, rewritten
from qtrace.tracer.engines.vllm import machine
from qtrace.tracer.evaluate.values import Instance, Unknown
from qtrace.tracer.library import Library
from qtrace.tracer.scenario import Scenario
from qtrace.tracer.sources import Held, Source
from qtrace.tracer.standard import model_for


def written(body: str) -> set[str]:
    """What a method with this body writes to, as OWNER.FIELD."""
    text = "class Config:\n    def start(self, other, name):\n" + indent(dedent(body), "        ")
    library = Library(Source("pkg", Held({"pkg/a.py": text.encode()})))
    found = rewritten(library, ("pkg/",))
    return {f"{owner}.{name}" for owner, names in found.items() for name in names}


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ("self.a = 1", {"Config.a"}),
        ("other.part.a += 1", {"part.a"}),
        ("del other.a", {"other.a"}),
        ("self.a, (other.b, *_) = 1, (2,)", {"Config.a", "other.b"}),
        ("self.ops.append('x')", {"Config.ops"}),
        ("other.part.table['k'] = 1", {"part.table"}),
        ("other.part.table['k'].extend(())", {"part.table"}),
        ("setattr(other.part, 'a', 1)", {"part.a"}),
        ("setattr(other.part, name, 1)", {f"part.{ANY}"}),
        ("object.__setattr__(self, 'a', 1)", {"Config.a"}),
        ("held = other.part.ops\nheld.append('x')", {"part.ops"}),
        ("held: list = getattr(self.part, name)\nheld.extend(())", {f"part.{ANY}"}),
        ("if other:\n    held = self.ops or other.ops\nheld += ['x']", {"Config.ops", "other.ops"}),
        ("held = other.part\nheld.a = 1", {"held.a", "part.a"}),
        ("table = {'part': {'a': None, 'inner': {'b': 1}}, 'c': 2}", {"part.a", "inner.b"}),
    ],
)
def test_every_way_to_write_to_a_field_is_seen(body: str, fields: set[str]) -> None:
    assert written(body) == fields


@pytest.mark.parametrize(
    "body",
    [
        "held = list(self.ops)\nheld.append('x')",
        "held = [op for op in self.ops]\nheld.sort()",
        "held = {}\nheld['k'] = self.a",
        "print(self.a, other.part.b.index('x'), getattr(self, name))",
    ],
)
def test_what_is_copied_or_read_stays_as_it_was(body: str) -> None:
    assert written(body) == set()


def test_a_local_name_holds_what_its_own_function_gives_it() -> None:
    text = "def f(a):\n    held = a.ops\n\n\ndef g(held):\n    held.append(1)\n"
    assert rewritten(Library(Source("pkg", Held({"pkg/a.py": text.encode()}))), ("pkg/",)) == {}


def test_any_field_is_every_one_that_is_declared() -> None:
    found = {"part": frozenset({ANY, "other"}), "whole": frozenset({"a"})}
    assert fields_of(found, "part", {"a", "b"}) == {"a", "b", "other"}
    assert fields_of(found, "whole", {"a", "b"}) == {"a"}
    assert fields_of(found, "none", {"a", "b"}) == set()


def config(library: Library, path: str, edit: Callable[[str], str]) -> Instance:
    """The engine's configuration with one file of its source edited."""
    source = edited(library.source, {path: edit})
    m = machine(library_of(source), Scenario(capability=90, cuda=13000))
    made: Instance = m.world.settings["engine config"].value
    return made


@pytest.mark.parametrize(
    ("method", "known"),
    [
        ("__post_init__(self):\n        self.put('flash_attn_version', 3)", True),
        ("__post_init__(self):\n        self.put('flash_attn_version', 3)\n        raise OSError", False),
        ("called_some_day(self):\n        self.put('flash_attn_version', 3)", False),
    ],
)
def test_what_an_object_does_to_its_own_fields_by_name_is_evaluated(
    library: Library, method: str, known: bool
) -> None:
    put = "    def put(self, name, value):\n        setattr(self, name, value)\n\n"
    edit = replaced("    def __post_init__(self)", f"{put}    def {method}\n\n    def another(self)")
    part = config(library, "vllm/config/attention.py", edit).attrs["attention_config"]
    assert isinstance(part.attrs["flash_attn_version"], Unknown) is not known
    assert not known or part.attrs["flash_attn_version"] == 3


DEEP = """\
@config
class Deep:
    a: int = 0
    b: int = 0

    def start(self, whole):
        whole.compilation_config.pass_config.deep.a = 1


@config
class PassConfig:
    deep: Deep = Field(default_factory=Deep)
"""


def test_parts_of_parts_are_unknown_where_the_start_writes_to_them(library: Library) -> None:
    edit = replaced("@config\nclass PassConfig:\n", DEEP)
    whole = config(library, "vllm/config/compilation.py", edit)
    part = whole.attrs["compilation_config"].attrs["pass_config"]
    assert isinstance(part.attrs["fuse_norm_quant"], Unknown)
    assert [*part.attrs["deep"].attrs] == ["a"]


FP8 = {"quant_method": "fp8", "activation_scheme": "static"}
MADE = "    def __init__(self, quant_config: Fp8Config):\n"
READS = """\
        from vllm.config import get_current_vllm_config

        config = get_current_vllm_config().kernel_config
        config.ir_op_priority.rms_norm[0]
"""


def test_a_list_that_the_start_fills_is_not_taken_as_empty(library: Library) -> None:
    """That is its default; releases that read its first item where they make a norm refuse nothing."""
    path = "vllm/model_executor/layers/quantization/fp8.py"
    source = edited(library.source, {path: replaced(MADE, MADE + READS)})
    model = {**model_for("linear").config, "quantization_config": FP8}
    scenario = Scenario(model=model, capability=90, cuda=13000, layer="o_proj")
    (chain,) = report(walked(library_of(source), scenario), {}).chains
    assert [outcome.refusal for outcome in chain.outcomes] == [None]
