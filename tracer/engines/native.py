"""What Python asks of the compiled half: does an op exist, and what does a pure predicate answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from ..evaluate.atoms import describe, is_tensor, plain
from ..evaluate.calls import call_value
from ..evaluate.unions import each, settle
from ..evaluate.values import MISSING, Instance, Opaque, Token, Unknown, Value
from ..models.tensors import dtype_attribute
from ..native import values as native
from ..native.build import Build, cuda_facts
from ..native.cpuid import asked_feature
from ..native.ops import OpIndex
from ..native.values import Facts, left_open
from ..readings import Reading
from ..scenario import Scenario
from ..sources import Source
from . import cpu
from .builds import Builds, builds

if TYPE_CHECKING:
    from .. import tree
    from ..evaluate.machine import Machine
    from ..guards import Guard
    from ..library import Library
    from ..native.host import HostFunction


class NativeHalf:
    """Answers from csrc, read when first asked; open where the source has none or does not tell."""

    def __init__(self, library: Library, scenario: Scenario) -> None:
        self.library, self.source, self.scenario = library, library.source, scenario
        self._builds: Builds = []
        self._registered: dict[str, Value] = {}

    def indexes(self, m: Machine) -> list[tuple[Guard, Build, OpIndex]]:
        """The ops of each build that may be the one, with its guard; none where there is no csrc."""
        if not self.source.has_native:
            return []
        if not self._builds:
            self._builds = builds(m, self.scenario)
        return [(guard, build, OPS.get(self.source, build)) for guard, build in self._builds]

    def has(self, m: Machine, atom: Value, name: str) -> Any:
        """`hasattr(torch.ops.NS, name)`, and attributes of optional packages, taken to be new enough."""
        if not isinstance(atom, Opaque):
            return None
        if atom.symbol.startswith("torch.ops.") and atom.symbol.count(".") == 2:
            return self._has_op(m, atom.symbol.rpartition(".")[2], name)
        top = atom.symbol.partition(".")[0]
        if m.world.packages.present(top) and not atom.symbol.startswith("torch"):
            return m.space.true
        return None

    def _has_op(self, m: Machine, namespace: str, name: str) -> Guard:
        unsaid = partial(m.space.choice, f"torch.ops.{namespace}.{name} is built", (False, True), (True,))
        found = self.indexes(m)
        if not found:
            return unsaid()
        held = m.space.false
        for guard, _, index in found:
            known = index.defines(namespace, name)
            held = held | (guard & unsaid() if known is None else guard if known else m.space.false)
        return held

    def call(
        self,
        m: Machine,
        func: Opaque,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: tree.Node | None,
    ) -> Value:
        """The answer of a host predicate such as `cutlass_scaled_mm_supports_fp8`, MISSING for any other op.

        An op that is not built, and a call that its schema does not take, raise as torch does.
        """
        parts = func.symbol.split(".")
        if len(parts) < 4:
            return MISSING
        namespace, name = parts[2:4]
        for guard, _, index in self.indexes(m):
            wrong = complaint(index, namespace, name, len(args))
            if wrong is not None:
                m.branch(guard, partial(m.refuse, *wrong), lambda: None)
        for guard, build, _ in self.indexes(m):
            host, read = OPS.host(self.source, build, namespace, name)
            if host is not None and len(read) == len(args) and not kwargs:
                m.branch(guard, partial(self._checked, m, build, host, read, args), lambda: None)
        asked = [] if kwargs else self._predicates(m, namespace, name, len(args))
        if not asked:
            return MISSING
        return m.split(
            [
                (m.live & guard, partial(self._decide, m, func, build, predicate, args, (), node))
                for guard, build, predicate in asked
            ]
        )

    def _checked(
        self,
        m: Machine,
        build: Build,
        host: HostFunction,
        read: tuple[bool, ...],
        args: tuple[Value, ...],
        done: tuple[native.Value, ...] = (),
    ) -> Value:
        """Raise where a check of the host function is sure to fail: its sizes are the model's own."""
        if args:
            more = partial(self._checked, m, build, host, read, args[1:])
            if not read[len(done)]:
                return more((*done, left_open("an argument that no check reads")))
            return each_held(m, args[0], lambda held: more((*done, held)))
        wrong = host.failed(done, OPS.facts(self.source, build))
        return None if wrong is None else m.refuse(wrong.exception, wrong.message, wrong.site)

    def _predicates(
        self, m: Machine, namespace: str, name: str, given: int
    ) -> list[tuple[Guard, Build, HostFunction | None]]:
        """The host predicate of each build, where any has one that takes as many arguments."""
        found = [
            (guard, build, OPS.predicate(self.source, build, namespace, name))
            for guard, build, _ in self.indexes(m)
        ]
        fits = [p is not None and len(p.params) == given for _, _, p in found]
        return found if any(fits) else []

    registrar = "vllm.utils.torch_utils.direct_register_custom_op"
    """The engine function that binds `torch.ops.vllm.NAME` to a Python function."""

    def register(self, m: Machine, args: tuple[Value, ...], kwargs: dict[str, Value]) -> Value:
        """Stands for the registrar: remembers which function an op name runs."""
        name = args[0] if args else kwargs.get("op_name")
        func = args[1] if len(args) > 1 else kwargs.get("op_func")
        if isinstance(name, str):
            self._registered[name] = func
        return None

    def call_registered(
        self,
        m: Machine,
        func: Opaque,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: tree.Node | None,
    ) -> Value:
        """`torch.ops.vllm.NAME(...)`: runs the Python function that the engine registers under the name."""
        name = func.symbol.split(".")[3]
        if name not in self._registered:
            self._registered[name] = MISSING
            registrar = self.registrar.rpartition(".")[2]
            self.library.note([Reading("registrants", name, name=registrar)])
            for module, statement, _ in registrants(self.library, name, registrar):
                with m.aside():
                    found, lowered = m.world.module(m, module), self.library.module(module)
                    if found is not None and lowered is not None:
                        lowered.note_statement(statement)
                        found.scope.run(m, statement)
        target = self._registered[name]
        if target is MISSING:
            return MISSING
        return call_value(m, target, args, kwargs, node)

    def _decide(
        self,
        m: Machine,
        func: Opaque,
        build: Build,
        predicate: HostFunction | None,
        args: tuple[Value, ...],
        done: tuple[Value, ...],
        node: Any,
    ) -> Value:
        if args:
            decide = partial(self._decide, m, func, build, predicate, args[1:])
            return each(m, args[0], lambda a: decide((*done, plain(a)), node))
        label = f"{func.symbol}({', '.join(map(describe, done))})"
        known = MISSING if predicate is None else self._answer(m, build, predicate, done)
        return Unknown(label, label, m.site(node), "bool") if known is MISSING else known

    def _answer(self, m: Machine, build: Build, predicate: HostFunction, args: tuple[Value, ...]) -> Value:
        """What a predicate answers, MISSING where nobody knows."""
        if len(predicate.params) != len(args) or not all(isinstance(a, int) for a in args):
            return MISSING
        given = dict(zip(predicate.params, args, strict=True))
        answer = predicate.answer(given, OPS.facts(self.source, build))
        if answer.value is not None:
            return answer.value
        feature = asked_feature(self.source, answer)
        return MISSING if feature is None else cpu.told(m, cpu.feature(m, self.scenario, feature))


def registrants(library: Library, name: str, registrar: str) -> Iterator[tuple[str, int, str]]:
    """(module, statement, its text) of what registers an op of that name, found by a byte search."""
    source, quoted = library.source, f'"{name}"'
    for path in source.files(f"{source.engine}/", ".py"):
        text = source.read(path) or b""
        if quoted.encode() not in text or registrar.encode() not in text:
            continue
        module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        lowered = library.module(module)
        for number, statement in enumerate(lowered.index.statements if lowered is not None else ()):
            if lowered is not None and statement.kind in ("expr", "compound"):
                cut = lowered.cut(*lowered.span(number))
                if quoted in cut:
                    yield module, number, cut


def complaint(index: OpIndex, namespace: str, name: str, given: int) -> tuple[str, str] | None:
    """The exception and the words of torch for a call that cannot be, None for one that can."""
    if index.defines(namespace, name) is False:
        return "AttributeError", f"'_OpNamespace' '{namespace}' object has no attribute '{name}'"
    op = index.get(namespace, name)
    limit = op.limit if op is not None and op.certain else None
    if op is None or limit is None or given <= limit:
        return None
    words = f"expected at most {limit} argument(s) but received {given} argument(s)."
    return "RuntimeError", f"{namespace}::{name}() {words} Declaration: {namespace}::{op.schema}"


HOST_KEYS = {"cuda": ("CUDA", ""), "rocm": ("CUDA", "HIP", ""), "cpu": ("CPU", "")}
"""The dispatch keys that answer a call with a tensor on each platform, the first that there is."""


def each_held(m: Machine, value: Value, apply: Callable[[native.Value], Value]) -> Value:
    """`apply` to what a host function is given, on the paths of each."""

    def of_tensor(atom: Instance) -> Value:
        return each(
            m,
            settle(m, atom.attrs["shape"]),
            lambda shape: each(m, settle(m, atom.attrs["dtype"]), lambda dtype: apply(_tensor(shape, dtype))),
        )

    def of(atom: Value) -> Value:
        if isinstance(atom, Instance) and is_tensor(atom):
            return of_tensor(atom)
        known = plain(atom)
        return apply(known if isinstance(known, int | str) else left_open(describe(atom)))

    return each(m, settle(m, value), of)


def _tensor(shape: Value, dtype: Value) -> native.Tensor:
    sizes = (
        tuple(size if isinstance(size, int) else None for size in shape) if isinstance(shape, tuple) else None
    )
    width = dtype_attribute(dtype, "itemsize") if isinstance(dtype, Token) else MISSING
    return native.Tensor(sizes, width if isinstance(width, int) else None)


class _Ops:
    """Op indexes per source and build, read once a process: csrc is large and does not change under us."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def _keep(self, what: Any, source: Source, build: Build, make: Any) -> Any:
        key = (what, source.python_hash, source.rest_hash, build)
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def get(self, source: Source, build: Build) -> OpIndex:
        read = self._keep("ops", source, build, lambda: OpIndex.read(source, build))
        assert isinstance(read, OpIndex)
        return read

    def facts(self, source: Source, build: Build) -> Facts:
        def make() -> Facts:
            if build.platform == "cuda" and build.cuda is not None:
                return cuda_facts(source, build.cuda)
            return build.facts(source)

        facts: Facts = self._keep("facts", source, build, make)
        return facts

    def host(
        self, source: Source, build: Build, namespace: str, op: str
    ) -> tuple[HostFunction | None, tuple[bool, ...]]:
        """What a call that passes a tensor runs, and which of its arguments a check may hang on."""

        def find() -> tuple[HostFunction | None, tuple[bool, ...]]:
            keys = HOST_KEYS.get(build.platform, ("",))
            found = self.get(source, build).host(namespace, op, keys)
            return found, () if found is None else found.checked(self.facts(source, build))

        kept: tuple[HostFunction | None, tuple[bool, ...]] = self._keep(
            ("host", namespace, op), source, build, find
        )
        return kept

    def predicate(self, source: Source, build: Build, namespace: str, op: str) -> HostFunction | None:
        index = self.get(source, build)
        found: HostFunction | None = self._keep(
            (namespace, op), source, build, lambda: index.predicate(namespace, op)
        )
        return found


OPS = _Ops()
