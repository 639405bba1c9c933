"""The index of an engine's kernels that are written in Python: what they are, who launches them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from msgspec.structs import replace

from ..collector import collector_paused
from ..sources import Source
from .facts import Action, Dialect, Idiom, Kernel, Launch, OpenLaunch, Role, Unread
from .linking import Linker
from .printed import CUTE, cute_object
from .sites import Place
from .survey import Survey
from .targets import NOTHING, Argument, Defined, Reached, Unknown

_PRINTED = re.compile(r"(\w+?)(\.kd)?(\s*(?:\.\.\.|\u2026))?\Z")
"""A name without brackets or scopes, with AMD's suffix, with what recorders put where they cut."""
_SHOWN = (Role.KERNEL, Role.UNLAUNCHED)
"""What a profiler can show, in the order of likelihood."""
_SHORTEST = 8
"""Of a name that was cut: what is shorter begins too many."""


_T = TypeVar("_T")


class JitIndex:
    """The kernels of one source. Each part is read at the first question for it."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @cached_property
    def _survey(self) -> Survey:
        with collector_paused():
            return Survey(self.source)

    @property
    def unread(self) -> tuple[Unread, ...]:
        """Files that may hold kernels and could not be read."""
        return tuple(self._survey.unread)

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """Every compiled function, by file and line; `Role` tells what each is for."""
        named = {
            name: role
            for launch in self.launches
            for name, role in (
                (launch.caller, Role.HOST),
                (launch.function, Role.HOST),
                (launch.kernel, Role.KERNEL),
            )
        }
        found = (self._settled(kernel, named.get(kernel.symbol)) for kernel in self._survey.kernels)
        return tuple(sorted(found, key=lambda kernel: (kernel.site, kernel.qualname)))

    @property
    def launches(self) -> tuple[Launch, ...]:
        """Every place that launches a kernel, once for each kernel that it may launch."""
        return self._followed[0]

    @property
    def open_launches(self) -> tuple[OpenLaunch, ...]:
        """Places that launch something whose kernel could not be told."""
        return self._followed[1]

    def launches_of(self, kernel: Kernel | str) -> tuple[Launch, ...]:
        """The places that launch a kernel, given itself or by its symbol."""
        symbol = kernel if isinstance(kernel, str) else kernel.symbol
        return tuple(launch for launch in self.launches if launch.kernel == symbol)

    def claims(self, printed: str) -> tuple[Kernel, ...]:
        """The kernels that a profiler's name may be, those first that a launch is known of; none for a name
        with brackets, which is no Python function's. A name that ends in `...` was cut.
        """
        whole = _PRINTED.match(printed.strip())
        if whole is None:
            return ()
        name, cut = whole[1], whole[3] is not None
        found = list(self._exact.get(name, ()))
        if name.startswith(CUTE) or cut:
            found += (kernel for begins, kernel in self._beginnings if _begins(name, begins, cut))
        if cut and len(name) >= _SHORTEST:
            found += (each for full, same in self._exact.items() if full.startswith(name) for each in same)
        return tuple(sorted(_once(found), key=lambda kernel: _SHOWN.index(kernel.role)))

    # --- names

    @cached_property
    def _exact(self) -> dict[str, list[Kernel]]:
        by_name: dict[str, list[Kernel]] = defaultdict(list)
        for kernel in self.kernels:
            if kernel.role in _SHOWN and kernel.printed and not kernel.prefix:
                by_name[kernel.printed].append(kernel)
        return dict(by_name)

    @cached_property
    def _beginnings(self) -> list[tuple[str, Kernel]]:
        """How names begin: of a method's, one for each class that has it."""
        found: list[tuple[str, Kernel]] = []
        for kernel in self.kernels:
            if kernel.role in _SHOWN and kernel.printed and kernel.prefix:
                found.append((kernel.printed, kernel))
                if kernel.dialect is Dialect.CUTE and kernel.printed != f"{CUTE}{kernel.name}_":
                    owner = Defined(kernel.module, kernel.qualname.rpartition(".")[0])
                    below = self._linker.below(owner)
                    found += ((cute_object(kernel.name, c.module, c.qualname), kernel) for c in below)
        return found

    # --- launches

    def _settled(self, kernel: Kernel, role: Role | None) -> Kernel:
        """With its role, now that it is known what launches name, or which role they play in one."""
        if kernel.role is not Role.UNLAUNCHED:
            return kernel
        if role is not None:
            return replace(kernel, role=role)
        is_method = "." in kernel.qualname.rpartition("<locals>.")[2]
        called = (kernel.module, kernel.qualname) in self._survey.calls or (
            is_method and kernel.name in self._survey.methods
        )
        return replace(kernel, role=Role.HELPER) if called or not _runs(kernel) else kernel

    @cached_property
    def _linker(self) -> Linker:
        survey = self._survey
        return Linker(survey.read, survey.mentioning, survey.classes)

    @cached_property
    def _symbols(self) -> dict[str, Kernel]:
        return {kernel.symbol: kernel for kernel in self._survey.kernels}

    @cached_property
    def _followed(self) -> tuple[tuple[Launch, ...], tuple[OpenLaunch, ...]]:
        with collector_paused():
            return self._all_followed()

    def _all_followed(self) -> tuple[tuple[Launch, ...], tuple[OpenLaunch, ...]]:
        launches: list[Launch] = []
        opened: list[OpenLaunch] = []
        compiling = [place for place in self._survey.places if place.action is Action.COMPILE]
        for place in self._survey.places:
            if place.action is not Action.COMPILE:
                self._follow(place, {}, launches, opened)
        hosts = _hosts(launches)
        for place in compiling:
            self._follow(place, hosts, launches, opened)
        return tuple(sorted(_once(launches), key=lambda each: (each.site, each.kernel))), tuple(
            sorted(opened, key=lambda each: each.site)
        )

    def _follow(
        self, place: Place, hosts: dict[str, list[str]], launches: list[Launch], opened: list[OpenLaunch]
    ) -> None:
        known: list[Launch] = []
        reasons: list[str] = []
        for step in place.steps:
            if not place.sure and isinstance(step.target, Argument):
                continue  # anything may be handed over, and it is hardly a kernel
            for reached in self._linker.reached(step):
                symbols = self._launched(reached, hosts)
                known += (_launch(place, reached, symbol) for symbol in symbols)
                if not symbols:
                    reasons.append(_reason(reached))
        launches += known
        reasons = [reason for reason in reasons if not known or reason != NOTHING.reason]
        if reasons and (known or place.sure):
            opened.append(
                OpenLaunch(
                    site=place.site,
                    function=place.function,
                    text=place.text,
                    reason="; ".join(dict.fromkeys(reasons)),
                    partly=bool(known),
                )
            )

    def _launched(self, reached: Reached, hosts: dict[str, list[str]]) -> list[str]:
        if isinstance(reached.target, Unknown):
            return []
        if (kernel := self._symbols.get(reached.target.symbol)) and _runs(kernel):
            return [kernel.symbol]
        for owner in (reached.target, *self._linker.above(reached.target)):
            if owner.symbol in hosts:
                return hosts[owner.symbol]
        return []


def _runs(kernel: Kernel) -> bool:
    """Whether it runs on a GPU on its own: a `cute.jit` does not."""
    return kernel.dialect is not Dialect.CUTE or kernel.printed is not None


def _hosts(launches: Iterable[Launch]) -> dict[str, list[str]]:
    """The kernels that each function launches, and each class and function around it."""
    found: dict[str, list[str]] = defaultdict(list)
    for launch in launches:
        for symbol in _around(launch.caller or launch.function):
            if launch.kernel not in found[symbol]:
                found[symbol].append(launch.kernel)
    return dict(found)


def _around(function: str) -> Iterator[str]:
    while function:
        yield function
        function = function.rpartition(".")[0].removesuffix(".<locals>")


def _launch(place: Place, reached: Reached, symbol: str) -> Launch:
    found = reached.found
    return Launch(
        kernel=symbol,
        action=place.action,
        site=place.site,
        function=place.function,
        idioms=found.idioms or (Idiom.DIRECT,),
        condition=" and ".join(found.tests) or None,
        key=found.key,
        via=reached.via,
        caller=reached.caller,
    )


def _reason(reached: Reached) -> str:
    if isinstance(reached.target, Unknown):
        return reached.target.reason
    return f"{reached.target.symbol} is no kernel"


def _once(found: Iterable[_T]) -> list[_T]:
    return list(dict.fromkeys(found))


def _begins(name: str, begins: str, cut: bool) -> bool:
    return name.startswith(begins) or (cut and len(name) >= _SHORTEST and begins.startswith(name))
