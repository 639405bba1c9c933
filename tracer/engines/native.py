"""What Python asks of the compiled half: does an op exist, and what does a pure predicate answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ..evaluate.atoms import describe, plain
from ..evaluate.calls import call_value
from ..evaluate.unions import each
from ..evaluate.values import MISSING, Opaque, Unknown, Value
from ..native.build import build_facts, cuda_facts
from ..native.ops import OpIndex
from ..scenario import Scenario
from ..sources import Source

if TYPE_CHECKING:
    from .. import tree
    from ..evaluate.machine import Machine


class NativeHalf:
    """Answers from csrc, read when first asked; open where the source has none or does not tell."""

    def __init__(self, source: Source, scenario: Scenario) -> None:
        self.source, self.scenario = source, scenario
        self._index: OpIndex | None = None
        self._registered: dict[str, Value] = {}

    def index(self) -> OpIndex | None:
        if self._index is None and self.source.has_native:
            self._index = OPS.get(self.source, self.scenario)
        return self._index

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

    def _has_op(self, m: Machine, namespace: str, name: str) -> Any:
        index = self.index()
        known = None if index is None else index.defines(namespace, name)
        if known is None:
            return m.space.choice(f"torch.ops.{namespace}.{name} is built", (False, True), (True,))
        return m.space.true if known else m.space.false

    def call(
        self,
        m: Machine,
        func: Opaque,
        args: tuple[Value, ...],
        kwargs: dict[str, Value],
        node: tree.Node | None,
    ) -> Value:
        """The answer of a host predicate such as `cutlass_scaled_mm_supports_fp8`, MISSING for any other
        op.
        """
        parts = func.symbol.split(".")
        index = self.index()
        if index is None or len(parts) < 4 or kwargs:
            return MISSING
        predicate = OPS.predicate(self.source, self.scenario, parts[2], parts[3])
        if predicate is None or len(predicate.params) != len(args):
            return MISSING
        return self._decide(m, func, predicate, args, (), node)

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
            for module, statement in self._registrants(m, name):
                with m.aside():
                    found = m.world.module(m, module)
                    if found is not None:
                        found.scope.run(m, statement)
        target = self._registered[name]
        if target is MISSING:
            return MISSING
        return call_value(m, target, args, kwargs, node)

    def _registrants(self, m: Machine, name: str) -> Iterator[tuple[str, int]]:
        """(module, statement) of the texts that register an op of that name, found by a byte search."""
        quoted, registrar = f'"{name}"'.encode(), self.registrar.rpartition(".")[2].encode()
        for path in self.source.files(f"{self.source.engine}/", ".py"):
            text = self.source.read(path) or b""
            if quoted not in text or registrar not in text:
                continue
            module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            lowered = m.world.source.module(module)
            lines = lowered.text.encode().split(b"\n") if lowered is not None else []
            for number, statement in enumerate(lowered.index.statements if lowered is not None else ()):
                if statement.kind in ("expr", "compound") and quoted in b"\n".join(
                    lines[statement.first_line - 1 : statement.last_line]
                ):
                    yield module, number

    def _decide(
        self,
        m: Machine,
        func: Opaque,
        predicate: Any,
        args: tuple[Value, ...],
        done: tuple[Value, ...],
        node: Any,
    ) -> Value:
        if args:
            return each(
                m, args[0], lambda a: self._decide(m, func, predicate, args[1:], (*done, plain(a)), node)
            )
        known = None
        if all(isinstance(d, int) for d in done):
            known = predicate.decide(
                dict(zip(predicate.params, done, strict=True)), OPS.facts(self.source, self.scenario)
            )
        if known is not None:
            return known
        label = f"{func.symbol}({', '.join(map(describe, done))})"
        return Unknown(label, label, m.site(node), "bool")


class _Ops:
    """Op indexes per source and build, read once a process: csrc is large and does not change under us."""

    def __init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def _keep(self, what: Any, source: Source, scenario: Scenario, make: Any) -> Any:
        key = (what, source.python_hash, source.native_hash, scenario.platform, scenario.cuda)
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def get(self, source: Source, scenario: Scenario) -> OpIndex:
        read = self._keep(
            "ops", source, scenario, lambda: OpIndex.read(source, scenario.platform, scenario.cuda)
        )
        assert isinstance(read, OpIndex)
        return read

    def facts(self, source: Source, scenario: Scenario) -> Any:
        def make() -> Any:
            if scenario.platform == "cuda" and scenario.cuda is not None:
                return cuda_facts(source, scenario.cuda)
            return build_facts(source, scenario.platform, scenario.cuda)

        return self._keep("facts", source, scenario, make)

    def predicate(self, source: Source, scenario: Scenario, namespace: str, op: str) -> Any:
        index = self.get(source, scenario)
        return self._keep((namespace, op), source, scenario, lambda: index.predicate(namespace, op))


OPS = _Ops()
