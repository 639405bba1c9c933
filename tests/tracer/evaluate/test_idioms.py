"""The idioms of engine source that selection hangs on: one small engine each, named by what must come out."""

from __future__ import annotations

from textwrap import dedent

import pytest

from qtrace.tracer.evaluate.machine import Machine
from qtrace.tracer.evaluate.unions import alternatives
from qtrace.tracer.evaluate.values import ClassValue, Guarded, ListValue, Unknown, Value

from .harness import Answer, OneOf, Opaque, Parameter, evaluate, machine
from .matching import Raised


def ask(text: str, m: Machine | None = None, **given: Parameter) -> Answer:
    return evaluate(dedent(text), given, m)


def engine(files: dict[str, str], **given: Parameter) -> Answer:
    return evaluate({path: dedent(text) for path, text in files.items()}, given)


def names(answer: Answer) -> dict[str, str]:
    """The classes (or texts) that come out, by the condition of each."""
    return {str(g): v.name if isinstance(v, ClassValue) else str(v) for g, v in answer.ends}


def told(answer: Answer) -> set[str]:
    """The same without conditions; exceptions by their class."""
    return {
        v.error.cls.name if isinstance(v, Raised) else v.name if isinstance(v, ClassValue) else str(v)
        for _, v in answer.ends
    }


def callees(answer: Answer) -> set[str]:
    return {edge.callee.removeprefix("pkg.mod.") for edge in answer.machine.record.edges}


PLATFORM = OneOf(("cuda", "rocm"))


def test_imports_inside_functions_feed_the_registry() -> None:
    answer = engine(
        {
            "mod.py": """
                def registry():
                    from .a import A
                    from pkg.b import B as Other
                    import pkg.b
                    found = {"a": A, "b": Other}
                    found.setdefault("c", pkg.b.C)
                    found.update({"a": Other})
                    for extra in ("d", "e"):
                        found[extra] = A
                    return found
                def main(method):
                    table = registry()
                    if method not in table:
                        raise ValueError(f"Invalid quantization method: {method}")
                    return table[method]
                """,
            "a.py": "class A: pass",
            "b.py": "class B: pass\nclass C: pass",
        },
        method=OneOf(("a", "c", "e", "nope")),
    )
    assert told(answer) == {"A", "B", "C", "ValueError"}


def test_a_class_bound_by_platform_keeps_its_qualified_name() -> None:
    answer = engine(
        {
            "mod.py": """
                def main(platform):
                    if platform == "cuda":
                        from .nvidia import Config
                    else:
                        from .amd import Config as Config
                    return Config
                """,
            "nvidia.py": "class Config: pass",
            "amd.py": "class Config: pass",
        },
        platform=PLATFORM,
    )
    assert {v.symbol for _, v in answer.ends} == {"pkg.nvidia.Config", "pkg.amd.Config"}


def test_a_class_list_keyed_by_a_platform_enum() -> None:
    answer = ask(
        """
        from enum import Enum, auto
        class PlatformEnum(Enum):
            CUDA = auto()
            ROCM = auto()
        class A: pass
        class B: pass
        class C: pass
        _POSSIBLE: dict[PlatformEnum, list[type]] = {
            PlatformEnum.CUDA: [A, B],
            PlatformEnum.ROCM: [C],
        }
        class Platform:
            def __init__(self, name):
                self._enum = PlatformEnum[name.upper()]
        def main(platform):
            return _POSSIBLE[Platform(platform)._enum]
        """,
        platform=PLATFORM,
    )
    m = answer.machine
    content = [v.content for _, v in answer.ends if isinstance(v, ListValue)]
    assert [[c.name for c in items] for items in content] == [["A", "B"], ["C"]]
    assert not m.coverage.gaps


FIRST_MATCH = """
    class Kernel:
        @classmethod
        def is_supported(cls, capability):
            return True, None
        @classmethod
        def can_implement(cls, config):
            return True, None
    class Fast(Kernel):
        @classmethod
        def is_supported(cls, capability):
            if capability < 90:
                return False, "needs 90"
            return True, None
    class Small(Kernel):
        @classmethod
        def can_implement(cls, config):
            ok, why = super().can_implement(config)
            if ok and config["k"] % 128 != 0:
                return False, "K must divide by 128"
            return ok, why
    class Slow(Kernel):
        pass
    KERNELS = [Fast, Small, Slow]
    def main(capability, k):
        reasons = []
        for kernel in KERNELS:
            ok, why = kernel.is_supported(capability)
            if not ok:
                reasons.append(f"{kernel.__name__}: {why}")
                continue
            ok, why = kernel.can_implement({"k": k})
            if ok:
                return kernel
            reasons.append(why)
        raise ValueError("no kernel: " + "; ".join(reasons))
    """


def test_a_first_match_loop_is_an_ordered_choice() -> None:
    answer = ask(FIRST_MATCH, capability=OneOf((80, 90)), k=OneOf((100, 128)))
    assert names(answer) == {
        "<Guard capability == 90>": "Fast",
        "<Guard capability == 80 and k == 128>": "Small",
        "<Guard capability == 80 and k == 100>": "Slow",
    }
    (selection,) = answer.machine.record.selections
    tried = {a.cls.name: [v.reason for v in a.reasons] for a in selection.attempts}
    assert "needs 90" in tried["Fast"]
    assert "K must divide by 128" in tried["Small"]


def test_a_first_match_loop_over_an_open_number_names_the_condition() -> None:
    answer = ask(FIRST_MATCH, capability=80, k=Opaque("int"))
    assert told(answer) == {"Small", "Slow"}
    assert all("k % 128" in str(guard) for guard, _ in answer.ends)


def test_isinstance_tells_layer_kinds_apart() -> None:
    answer = ask(
        """
        class LinearBase: pass
        class Linear(LinearBase): pass
        class Experts: pass
        class Attention: pass
        def main(kind):
            layer = {"linear": Linear, "experts": Experts}.get(kind, Attention)()
            if isinstance(layer, LinearBase):
                return "linear method"
            elif isinstance(layer, (Experts, int)):
                return "expert method"
            return None
        """,
        kind=OneOf(("linear", "experts", "attention")),
    )
    assert told(answer) == {"linear method", "expert method", "None"}


def test_mixins_follow_the_c3_order() -> None:
    answer = ask(
        """
        from abc import ABC
        from typing import Generic, TypeVar
        T = TypeVar("T")
        class Base(ABC, Generic[T]):
            def load(self):
                return ["Base"]
        class Mixin:
            def load(self):
                return ["Mixin", *super().load()]
        class Method(Base[int]):
            def load(self):
                return ["Method"] + super().load()
        class Online(Mixin, Method):
            pass
        def main():
            return Online().load()
        """
    )
    assert answer.value.content == ("Mixin", "Method", "Base")


def test_a_registering_decorator_keeps_and_lists_the_class() -> None:
    answer = ask(
        """
        class CustomOp:
            registry = {}
            @classmethod
            def register(cls, name):
                def keep(op):
                    op.name = name
                    cls.registry[name] = op
                    return op
                return keep
            def __init__(self):
                self.run = self.dispatch()
            def dispatch(self):
                return self.forward_cuda if self.enabled() else self.forward_native
            @classmethod
            def enabled(cls):
                return FLAG
        FLAG = True
        @CustomOp.register("quant_fp8")
        class Quant(CustomOp):
            def forward_cuda(self): return "cuda"
            def forward_native(self): return "native"
        def main(flag):
            global FLAG
            FLAG = flag
            return f"{Quant.name} {CustomOp.registry['quant_fp8']().run()}"
        """,
        flag=OneOf((True, False)),
    )
    assert told(answer) == {"quant_fp8 cuda", "quant_fp8 native"}
    assert callees(answer) >= {"Quant.forward_cuda", "Quant.forward_native"}


def test_a_module_that_imports_what_is_not_there_cannot_be_imported() -> None:
    answer = engine(
        {
            "mod.py": """
import importlib
def main(name):
    try:
        return importlib.import_module(name).VALUE
    except ModuleNotFoundError as error:
        return str(error)
""",
            "whole.py": "VALUE = 'whole'",
            "broken.py": "import absent.part\nVALUE = 1",
            "through.py": "from .broken import VALUE",
            "careful.py": "try:\n    import absent\nexcept ImportError:\n    VALUE = 'careful'",
        },
        name=OneOf(("pkg.whole", "pkg.broken", "pkg.through", "pkg.careful")),
    )
    assert told(answer) == {"whole", "careful", "No module named 'absent'"}


def test_a_module_getattr_answers_for_names_that_are_not_there() -> None:
    answer = engine(
        {
            "mod.py": """
                from pkg import envs
                import pkg.envs as again
                def main():
                    try:
                        envs.NOTHING
                    except AttributeError as e:
                        return envs.FLAG, again.SIZE, str(e)
                """,
            "envs.py": """
                variables = {"FLAG": lambda: True, "SIZE": lambda: 3 + 4}
                def __getattr__(name):
                    if name in variables:
                        return variables[name]()
                    raise AttributeError(f"no {name}")
                """,
        }
    )
    assert answer.value == (True, 7, "no NOTHING")


def test_a_qualified_name_is_resolved_to_its_class() -> None:
    answer = engine(
        {
            "mod.py": """
                import importlib
                from enum import Enum
                class Backend(Enum):
                    FLASH = "pkg.flash.Flash"
                    TRITON = "pkg.triton.Triton"
                    def get_class(self):
                        module, _, name = self.value.rpartition(".")
                        return getattr(importlib.import_module(module), name)
                def main(name):
                    return Backend[name].get_class()
                """,
            "flash.py": "class Flash: pass",
            "triton.py": "class Triton: pass",
        },
        name=OneOf(("FLASH", "TRITON")),
    )
    assert told(answer) == {"Flash", "Triton"}


def test_both_branches_of_torch_cond_are_walked() -> None:
    answer = ask(
        """
        import torch
        def small(x): return "small"
        def large(x): return "large"
        def main(rows):
            return torch.cond(rows < 32, small, large, (rows,))
        """,
        rows=Opaque("int"),
    )
    assert callees(answer) >= {"small", "large"}
    assert told(answer) == {"small", "large"}


def test_a_kernel_launch_is_recorded() -> None:
    answer = ask(
        """
        import triton
        @triton.jit
        def _kernel(x, BLOCK):
            pass
        def main(n):
            grid = (triton.cdiv(n, 64),)
            _kernel[grid](n, BLOCK=64)
            return "launched"
        """,
        n=Opaque("int"),
    )
    launches = [e.callee for e in answer.machine.record.edges if e.why == "launches"]
    assert launches == ["pkg.mod._kernel"]


def test_a_module_level_import_under_a_flag() -> None:
    answer = engine(
        {
            "mod.py": """
                from pkg.platform import is_cuda
                _is_cuda = is_cuda()
                if _is_cuda:
                    from pkg.ops import fast as op
                else:
                    def op():
                        return "fallback"
                try:
                    import absent_package
                    HAS = True
                except ImportError:
                    HAS = False
                def main():
                    return op(), HAS
                """,
            "platform.py": "def is_cuda():\n    return True",
            "ops.py": 'def fast():\n    return "fast"',
        }
    )
    assert answer.value == ("fast", False)


def test_a_package_of_which_nobody_knows_is_a_condition() -> None:
    answer = ask(
        """
        def main():
            try:
                import somewhere
            except ImportError:
                return "without"
            return "with"
        """
    )
    assert names(answer) == {
        "<Guard package somewhere == True>": "with",
        "<Guard package somewhere == False>": "without",
    }


def test_what_a_loop_of_unknown_length_writes_is_unknown() -> None:
    answer = ask(
        """
        class Holder:
            def __init__(self):
                self.found = []
                self.kept = "kept"
                self.last = None
            def note(self, item):
                self.found.append(item)
                self.last = 1
        def main(n):
            holder, count, same, seen = Holder(), 0, "same", {"k": 1}
            for i in range(n):
                count += 1
                seen["k"] = i
                holder.note(i)
            return count, holder.last, holder.found, same, holder.kept, seen["k"]
        """,
        n=Opaque("int"),
    )
    m = answer.machine
    count, last, found, same, kept, value = answer.value
    assert (same, kept) == ("same", "kept")
    assert {type(a) for _, a in parts(m, count)} == {Unknown, int}
    assert any(isinstance(a, Unknown) for _, a in parts(m, found.content))
    assert any(isinstance(a, Unknown) for _, a in parts(m, value))
    assert any(isinstance(a, Unknown) for _, a in parts(m, last))
    assert any("loop of unknown length" in gap for gap in answer.widened)


def parts(m: Machine, value: Value) -> list[tuple[object, Value]]:
    return list(alternatives(m, value))


def test_a_return_inside_a_loop_of_unknown_length_is_one_outcome() -> None:
    answer = ask(
        """
        def main(n):
            total = 0
            for i in range(n):
                total += i
                if total == 6:
                    return "six"
            return "none"
        """,
        n=Opaque("int"),
    )
    assert told(answer) == {"six", "none"}


# --- bounds


def test_deep_recursion_is_open() -> None:
    answer = ask("def main(n):\n    return main(n + 1)\n", n=0)
    assert not answer.ends
    assert answer.open.is_true
    assert answer.widened == {"more than 200 nested calls": 1}


def test_only_the_path_that_goes_too_deep_is_open() -> None:
    answer = ask("def main(n):\n    return main(n) if n else 'done'\n", n=OneOf((0, 1)))
    assert names(answer) == {"<Guard n == 0>": "done"}
    assert str(answer.open) == "<Guard n == 1>"


def test_too_many_alternatives_are_one_unknown() -> None:
    answer = ask(
        "def main(n, k):\n    return n * 10 + k\n", n=OneOf(tuple(range(9))), k=OneOf(tuple(range(9)))
    )
    assert isinstance(answer.value, Unknown)
    assert "a value with more than 64 alternatives" in answer.widened


def test_what_is_missing_among_too_many_alternatives_stays_missing() -> None:
    answer = ask(
        """
        def main(n, k):
            if n != 3:
                x = n * 10 + k
            return x
        """,
        n=OneOf(tuple(range(10))),
        k=OneOf(tuple(range(9))),
    )
    kinds = {str(g): v for g, v in answer.ends}
    assert isinstance(kinds["<Guard n == 3>"], Raised)


def test_a_loop_of_too_many_iterations_is_open() -> None:
    answer = ask(
        """
        def main(flag):
            i = 0
            while flag:
                i += 1
            return i
        """,
        flag=OneOf((True, False)),
    )
    assert names(answer) == {"<Guard flag == False>": "0"}
    assert str(answer.open) == "<Guard flag == True>"


def test_a_question_out_of_time_is_open() -> None:
    text = "def main(n):\n    while True:\n        n = n + 1 - 1\n"
    answer = ask(text, machine({"mod.py": text}, work=0), n=0)
    assert answer.open.is_true
    assert "the work for one question" in answer.widened


def test_a_statement_without_a_meaning_is_open_and_counted() -> None:
    answer = ask(
        """
        def main(flag):
            if flag:
                match flag:
                    case True:
                        return 1
            return 2
        """,
        flag=OneOf((True, False)),
    )
    assert names(answer) == {"<Guard flag == False>": "2"}
    assert any("Match" in gap for gap in answer.widened)


@pytest.mark.parametrize("kind", ["int", "str", "bool"])
def test_an_unknown_of_known_kind_is_no_other(kind: str) -> None:
    answer = ask("def main(x):\n    return isinstance(x, list), x is None\n", x=Opaque(kind))
    assert answer.value == (False, False)


def test_one_unknown_is_decided_once() -> None:
    answer = ask(
        """
        def main(x):
            first = "yes" if x else "no"
            return first == ("yes" if x else "no")
        """,
        x=Opaque("bool"),
    )
    assert answer.value is True


def test_an_attribute_written_on_an_unknown_is_read_back() -> None:
    answer = ask(
        """
        def main(x):
            before = x.flag
            x.flag = 5
            return x.flag, before
        """,
        x=Opaque("object"),
    )
    written, before = answer.value
    assert written == 5
    assert isinstance(before, Unknown)


def test_a_method_called_by_its_class_on_an_unknown_has_an_unknown_parent() -> None:
    answer = ask(
        """
        class Made:
            def f(self):
                return super().f()
        def main(x):
            return Made.f(x)
        """,
        x=Opaque("object"),
    )
    assert isinstance(answer.value, Unknown)


def test_a_logger_is_an_object_of_an_unknown_level() -> None:
    answer = ask(
        """
        import logging
        log = logging.getLogger(__name__)
        def main():
            log.setLevel(logging.INFO)
            return log is None, log.info("said"), log.isEnabledFor(logging.DEBUG)
        """
    )
    none, said, enabled = answer.value
    assert (none, said) == (False, None)
    assert isinstance(enabled, Unknown)


@pytest.mark.parametrize(
    "asked",
    [
        "torch.accelerator.current_accelerator()",
        "torch.accelerator.device_count()",
        "torch.accelerator.is_available()",
        "gc.isenabled()",
    ],
)
def test_what_a_library_tells_of_the_machine_is_unknown(asked: str) -> None:
    answer = ask(f"import gc\nimport torch\ndef main():\n    gc.collect()\n    return {asked}\n")
    assert isinstance(answer.value, Unknown)


def test_guarded_alternatives_do_not_overlap() -> None:
    answer = ask("def main(a, b):\n    return [a, b] if a else (b or a)\n", a=OneOf((0, 1)), b=OneOf((0, 2)))
    guards = [g for g, _ in answer.ends]
    assert all(x.disjoint(y) for i, x in enumerate(guards) for y in guards[i + 1 :])
    assert not isinstance(answer.ends[0][1], Guarded)


def test_what_has_no_hash_raises_where_it_is_asked_for_it() -> None:
    answer = ask("""
        def main():
            kinds = []
            for value in ({}, [], {1}, (1, "a"), frozenset({2})):
                try:
                    hash(value)
                except TypeError as error:
                    kinds.append(str(error))
            return ", ".join(kinds)
    """)
    kinds = ", ".join(f"unhashable type: '{kind}'" for kind in ("dict", "list", "set"))
    assert told(answer) == {kinds}


def test_a_folder_without_a_module_of_its_own_is_a_package() -> None:
    answer = engine(
        {
            "mod.py": """
            from pkg.layers import wrapper
            from pkg.layers.wrapper import THERE

            def main():
                return "gone" if wrapper.THERE or THERE else "here"
        """,
            "layers/wrapper/__init__.py": "from .entry import *\n",
            "layers/wrapper/entry.py": "THERE = False\n",
        }
    )
    assert told(answer) == {"here"}
