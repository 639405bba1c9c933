"""Which torch ops the native half defines: read from the registrations in csrc, for one platform."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...report.predicate import Site
from .build import Build, native_files
from .host import HostFunction, read_host
from .registrations import Implementation, Op, registered
from .units import Unit

if TYPE_CHECKING:
    from ..sources import Source

# Which implementation answers a call that passes no tensor.
_KEYS = ("CompositeExplicitAutograd", "", "CUDA", "CPU")


class OpIndex:
    """The ops that csrc defines on a platform, by namespace and name."""

    def __init__(self, source: Source, paths: tuple[str, ...], ops: Mapping[tuple[str, str], Op]) -> None:
        self._source = source
        self._paths = paths
        self._ops = ops
        self._units: dict[str, Unit] = {}
        self.namespaces = tuple(sorted({namespace for namespace, _ in ops}))

    @classmethod
    def read(cls, source: Source, build: Build = Build()) -> OpIndex:  # noqa: B008 - a value that never changes
        """Read the registrations of a build, which is that of the newest CUDA unless told otherwise."""
        facts = build.facts(source)
        files = native_files(source, build.platform, build.cuda)
        paths = tuple(files)
        defined: dict[tuple[str, str], Op] = {}
        implemented: dict[tuple[str, str], list[Implementation]] = {}
        for path in paths:
            if not path.endswith((".cpp", ".cu")) or "TORCH_LIBRARY" not in (text := source.text(path) or ""):
                continue
            for op in registered(path, text, facts, files[path]):
                known = defined.get((op.namespace, op.name))
                if op.schema and (known is None or op.certain > known.certain):
                    defined[op.namespace, op.name] = op
                implemented.setdefault((op.namespace, op.name), []).extend(op.implementations)
        ops = {
            key: Op(op.namespace, op.name, op.schema, op.site, op.certain, tuple(implemented[key]))
            for key, op in sorted(defined.items())
        }
        return cls(source, paths, ops)

    def __len__(self) -> int:
        return len(self._ops)

    def ops(self, namespace: str) -> tuple[str, ...]:
        """List a namespace's ops, sorted."""
        return tuple(name for owner, name in self._ops if owner == namespace)

    def get(self, namespace: str, op: str) -> Op | None:
        """Give an op as registered."""
        return self._ops.get((namespace, op))

    def defines(self, namespace: str, op: str) -> bool | None:
        """Tell whether `torch.ops.<namespace>.<op>` is there; None where csrc cannot say."""
        found = self.get(namespace, op)
        if found is not None:
            return True if found.certain else None
        return False if namespace in self.namespaces else None

    def site(self, namespace: str, op: str) -> Site | None:
        """Give the line that defines an op."""
        found = self.get(namespace, op)
        return found.site if found else None

    def schema(self, namespace: str, op: str) -> str | None:
        """Give an op's schema, without the line breaks it was written with."""
        found = self.get(namespace, op)
        return found.schema if found else None

    def predicate(self, namespace: str, op: str) -> HostFunction | None:
        """Give the host function that answers an op of plain numbers, when it can be found and read."""
        found = self.host(namespace, op, _KEYS)
        return found if found is not None and found.answers else None

    def host(self, namespace: str, op: str, keys: tuple[str, ...]) -> HostFunction | None:
        """Give the host function of an op under the first of these dispatch keys, when it can be read."""
        found = self.get(namespace, op)
        ranked = sorted(
            (keys.index(impl.key), impl.function)
            for impl in (found.implementations if found else ())
            if impl.key in keys
        )
        best = {function for rank, function in ranked if rank == ranked[0][0]}
        return read_host(self._source, best.pop(), self._paths, self._units) if len(best) == 1 else None
