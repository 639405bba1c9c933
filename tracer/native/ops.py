"""Which torch ops the native half defines: read from the registrations in csrc, for one platform."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from ...report.predicate import Site
from .host import Facts, HostPredicate, Open, alive_at, directives, read_predicate, without_comments

if TYPE_CHECKING:
    from ..sources import Source


class Implementation(Struct, frozen=True):
    """A host function registered for an op under a dispatch key (empty: for every key)."""

    key: str
    function: str
    site: Site


class Op(Struct, frozen=True):
    """One op as registered: its schema, where it is defined, and what implements it."""

    namespace: str
    name: str
    schema: str
    site: Site
    certain: bool
    """False where an open `#if` decides whether it is there."""
    implementations: tuple[Implementation, ...] = ()


# Which implementation answers a call that passes no tensor.
_KEYS = ("CompositeExplicitAutograd", "", "CUDA", "CPU")


class OpIndex:
    """The ops that csrc defines on a platform, by namespace and name."""

    def __init__(self, source: Source, paths: tuple[str, ...], ops: Mapping[tuple[str, str], Op]) -> None:
        self._source = source
        self._paths = paths
        self._ops = ops
        self.namespaces = tuple(sorted({namespace for namespace, _ in ops}))

    @classmethod
    def read(cls, source: Source, platform: str = "cuda", cuda_version: int | None = None) -> OpIndex:
        """Read a platform's registrations (`cuda`, `rocm`, `cpu`), for the newest CUDA unless told which."""
        facts = build_facts(source, platform, cuda_version)
        files = _native(source, platform, cuda_version)
        paths = tuple(files)
        defined: dict[tuple[str, str], Op] = {}
        implemented: dict[tuple[str, str], list[Implementation]] = {}
        for path in paths:
            if not path.endswith((".cpp", ".cu")) or "TORCH_LIBRARY" not in (text := source.text(path) or ""):
                continue
            for op in _registered(path, text, facts, files[path]):
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

    def predicate(self, namespace: str, op: str) -> HostPredicate | None:
        """Give the host function that answers an op of plain numbers, when it can be found and read."""
        found = self.get(namespace, op)
        ranked = sorted(
            (_KEYS.index(impl.key), impl.function)
            for impl in (found.implementations if found else ())
            if impl.key in _KEYS
        )
        best = {function for rank, function in ranked if rank == ranked[0][0]}
        return read_predicate(self._source, best.pop(), self._paths) if len(best) == 1 else None


# --- registrations

_BLOCK = re.compile(r"\b(?:STABLE_)?TORCH_LIBRARY((?:_[A-Z]+)*)\s*\(")
_ENTRY = re.compile(r"\b(\w+)\s*\.\s*(def|impl)\s*\(")
_STRING = re.compile(r'R"([^()\\\s]{0,16})\((.*?)\)\1"|"((?:\\.|[^"\\\n])*)"', re.S)
_MARK = re.compile(rf"{_STRING.pattern}|'(?:\\.|[^'\\\n])'|[(){{}},]", re.S)
_FUNCTION = re.compile(r"&\s*(?:\w+::)*(\w+)")
_KEY = re.compile(r"\bk(CUDA|CPU|Meta|XPU|HIP)\b")


def _registered(path: str, text: str, facts: Facts, compiled: bool) -> Iterator[Op]:
    """Read the `def` and `impl` calls inside of a file's registration blocks."""
    plain = without_comments(text)
    order = directives(plain)
    for block in _BLOCK.finditer(plain):
        arguments, end = _arguments(plain, block.end())
        opening = re.compile(r"\s*\{").match(plain, end)
        if opening is None or len(arguments) < 2:
            continue
        namespace = _namespace(arguments[0], path)
        key = arguments[1] if "_IMPL" in block.group(1) else ""
        close = _closing(plain, opening.end())
        for entry in _ENTRY.finditer(plain, opening.end(), close):
            if entry.group(1) != arguments[-1]:
                continue
            line = plain.count("\n", 0, entry.start()) + 1
            alive, _ = alive_at(line, order, facts)
            given, _ = _arguments(plain, entry.end())
            if alive != 0 and given:
                certain = compiled and not isinstance(alive, Open)
                yield from _op(namespace, key, given, Site(path, line), entry.group(2) == "def", certain)


def _op(namespace: str, key: str, given: list[str], site: Site, is_def: bool, certain: bool) -> Iterator[Op]:
    text = "".join(raw or plain for _, raw, plain in _STRING.findall(given[0]))
    schema = " ".join(text.split())
    name = schema.partition("(")[0].strip()
    if "::" in name:
        namespace, _, name = name.partition("::")
    if not re.fullmatch(r"\w+(\.\w+)?", name):
        return
    rest = " ".join(given[1:])
    function, named = _FUNCTION.search(rest), _KEY.search(rest)
    key = named.group(1) if named else key
    impl = (Implementation(key, function.group(1), site),) if function else ()
    yield Op(namespace, name, schema if is_def else "", site, certain, impl)


def _namespace(argument: str, path: str) -> str:
    """Expand the name of the extension, which the build gives to each file's module."""
    folders = path.split("/")[:-1]
    module = "_moe_C" if "moe" in folders else "_rocm_C" if folders[-1:] == ["rocm"] else "_C"
    joined = re.fullmatch(r"CONCAT\s*\(\s*(\w+)\s*,\s*(\w+)\s*\)", argument)
    parts = joined.groups() if joined else (argument,)
    return "".join(module if part == "TORCH_EXTENSION_NAME" else part for part in parts)


def _arguments(plain: str, start: int) -> tuple[list[str], int]:
    """Split a call's arguments, from behind its parenthesis; give where the call ends."""
    given: list[str] = []
    depth, begin = 0, start
    for mark in _MARK.finditer(plain, start):
        sign = mark[0]
        if sign in "({":
            depth += 1
        elif sign in ")}" and depth:
            depth -= 1
        elif not depth and sign in ",)}":
            given.append(plain[begin : mark.start()].strip())
            begin = mark.end()
            if sign != ",":
                return given, mark.end()
    return [], len(plain)


def _closing(plain: str, start: int) -> int:
    """Find the brace that closes the block which was opened before `start`."""
    depth = 1
    for mark in _MARK.finditer(plain, start):
        depth += (mark[0] == "{") - (mark[0] == "}")
        if not depth:
            return mark.start()
    return len(plain)


# --- what the build says

_BUILD_FILES = ("CMakeLists.txt", "cmake/utils.cmake")
_LANGUAGES = {"cuda": "CUDA", "rocm": "HIP"}
_COMMAND = re.compile(r"^[ \t]*(\w+)\s*\(", re.M)
_WORD = re.compile(r'#[^\n]*|"((?:\\.|[^"\\])*)"|([()])|([^\s()"#]+)', re.S)
_DEFINITION = re.compile(r"(?:-D)?([A-Za-z_]\w*)(?:=(\w+))?")
_NATIVE_FILE = re.compile(r"csrc/[\w./+-]+\.(?:cu|cpp)\b")
# Stands for a compiler newer than any that the build asks for.
_NEWEST = 9_999_000

Truth = bool | None


def build_macros(source: Source, cuda_version: int | None = None) -> dict[str, int]:
    """Tell what a CUDA build for every architecture defines, with the newest CUDA unless told which."""
    stated = _stated(source, "cuda", cuda_version)
    return {name: value for name, value in stated.items() if value is not None}


def cuda_facts(source: Source, cuda_version: int) -> dict[str, int | None]:
    """Say what a host function of a CUDA build can ask, when it runs with the runtime it was built with.

    A version is written as CUDA does: 12090 is 12.9.
    """
    versions = dict.fromkeys(("CUDA_VERSION", "CUDART_VERSION", "cudaRuntimeGetVersion"), cuda_version)
    return {**build_facts(source, "cuda", cuda_version), **versions}


def build_facts(source: Source, platform: str, cuda_version: int | None = None) -> dict[str, int | None]:
    """Say what the preprocessor knows on a platform: macros by value, None for those that are not defined."""
    plain: dict[str, int | None] = dict.fromkeys(("USE_ROCM", "USE_CUDA"))
    if platform in _LANGUAGES:
        plain["USE_ROCM" if platform == "rocm" else "USE_CUDA"] = 1
    return {**_stated(source, platform, cuda_version), **plain}


def _native(source: Source, platform: str, cuda_version: int | None) -> dict[str, bool]:
    """List the C++/CUDA files of a platform, each with whether it is certainly compiled.

    They are those of its folders, less what CMake names for other platforms only.
    """
    files = source.files("csrc/", (".cpp", ".cu", ".cuh", ".h", ".hpp"))
    if platform == "cpu":
        return {path: True for path in files if path.startswith("csrc/cpu/")}
    foreign = ("csrc/cpu/", "csrc/xpu/") + (() if platform == "rocm" else ("csrc/rocm/",))
    named: dict[str, list[Truth]] = {}
    for alive, _, words in _commands(source, platform, cuda_version):
        if words[:1] != ["REMOVE_ITEM"]:
            for path in _NATIVE_FILE.findall(" ".join(words)):
                named.setdefault(path, []).append(alive)
    compiled = {path: _any(named.get(path, [True])) for path in files if not path.startswith(foreign)}
    return {path: state is True for path, state in compiled.items() if state is not False}


def _stated(source: Source, platform: str, cuda_version: int | None) -> dict[str, int | None]:
    """Collect the macros that the build mentions, by value, or None where this build never defines them."""
    states: dict[str, list[Truth]] = {}
    values: dict[str, int] = {}
    for alive, command, words in _commands(source, platform, cuda_version):
        is_target = command == "target_compile_definitions"
        if not is_target and (command != "list" or words[:1] != ["APPEND"]):
            continue
        for word in words[2:]:
            found = _DEFINITION.fullmatch(word) if is_target or word.startswith("-D") else None
            number = _integer(found.group(2) or "1") if found else None
            if found and number is not None:
                states.setdefault(found.group(1), []).append(alive)
                values[found.group(1)] = number
    settled = {name: _any(state) for name, state in states.items()}
    return {name: values[name] if state else None for name, state in settled.items() if state is not None}


def _integer(text: str) -> int | None:
    try:
        return int(re.sub(r"(?i)[ul]+$", "", text), 0)
    except ValueError:
        return None


def _commands(
    source: Source, platform: str, cuda_version: int | None
) -> Iterator[tuple[Truth, str, list[str]]]:
    """Give every CMake command with its words, and whether the conditions around it hold."""
    known = _cmake_facts(platform, cuda_version)
    for path in _BUILD_FILES:
        frames: list[tuple[Truth, Truth]] = []
        for command, words in _cmake(source.text(path) or ""):
            if command == "if":
                test = _Condition(words, known).holds()
                frames.append((test, test))
            elif command in ("elseif", "else") and frames:
                seen = frames[-1][1]
                test = _Condition(words, known).holds() if command == "elseif" else True
                frames[-1] = (_both(_not(seen), test), _not(_both(_not(seen), _not(test))))
            elif command == "endif" and frames:
                frames.pop()
            else:
                alive: Truth = True
                for held, _ in frames:
                    alive = _both(alive, held)
                yield alive, command, words


def _cmake(text: str) -> Iterator[tuple[str, list[str]]]:
    """Split CMake text into commands and their words; quotes are dropped, parentheses are words."""
    position = 0
    while match := _COMMAND.search(text, position):
        words: list[str] = []
        depth = 1
        position = match.end()
        while depth and (word := _WORD.search(text, position)):
            position = word.end()
            if word[0].startswith("#"):
                continue
            depth += (word[2] == "(") - (word[2] == ")")
            words.append(word[1] if word[1] is not None else word[0])
        yield match.group(1).lower(), words[:-1]


def _cmake_facts(platform: str, cuda_version: int | None) -> dict[str, str]:
    known = {"VLLM_TARGET_DEVICE": platform}
    if platform in _LANGUAGES:
        known |= {"VLLM_GPU_LANG": _LANGUAGES[platform], "GPU_LANG": _LANGUAGES[platform]}
    if platform == "cuda":
        version = _NEWEST if cuda_version is None else cuda_version
        dotted = f"{version // 1000}.{version % 1000 // 10}"
        known |= {"CMAKE_CUDA_COMPILER_VERSION": dotted, "CUDA_VERSION": dotted}
    return known


def _both(a: Truth, b: Truth) -> Truth:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def _not(a: Truth) -> Truth:
    return None if a is None else not a


def _any(states: list[Truth]) -> Truth:
    if True in states:
        return True
    return None if None in states else False


class _Condition:
    """A CMake condition in three values: language and version are known, every architecture is built."""

    def __init__(self, words: list[str], known: Mapping[str, str]) -> None:
        self._words = words
        self._known = known
        self._next = 0

    def holds(self) -> Truth:
        """Evaluate the whole of it; words left over, or too many, make it open."""
        if len(self._words) > 200:
            return None
        value = self._any()
        return value if self._next == len(self._words) else None

    def _take(self, *words: str) -> str | None:
        if self._next < len(self._words) and (not words or self._words[self._next] in words):
            self._next += 1
            return self._words[self._next - 1]
        return None

    def _any(self) -> Truth:
        value = self._all()
        while self._take("OR"):
            value = _not(_both(_not(value), _not(self._all())))
        return value

    def _all(self) -> Truth:
        value = self._one()
        while self._take("AND"):
            value = _both(value, self._one())
        return value

    def _one(self) -> Truth:
        if self._take("NOT"):
            return _not(self._one())
        if self._take("("):
            value = self._any()
            self._take(")")
            return value
        left = self._take()
        if left in ("DEFINED", "EXISTS", "TARGET", "COMMAND"):
            name = self._take()
            return True if left == "DEFINED" and name in self._known else None
        operator = self._take("STREQUAL", "MATCHES", "IN_LIST", "EQUAL", *_ORDERS)
        if operator:
            return self._compared(self._resolved(left), operator, self._resolved(self._take()))
        # `MACHETE_ARCHS` and its kind hold what is left of the architectures to build for: all of them.
        is_archs = left is not None and re.fullmatch(r"\w+_ARCHS", left)
        return True if is_archs and self._known.get("VLLM_GPU_LANG") == "CUDA" else None

    def _resolved(self, word: str | None) -> str | None:
        if word is None:
            return None
        name = re.sub(r"^\$\{(\w+)\}$", r"\1", word)
        if name in self._known:
            return self._known[name]
        return None if name != word or re.search(r"\$\{|^[A-Z_]+_[A-Z_]+$", word) else word

    def _compared(self, left: str | None, operator: str, right: str | None) -> Truth:
        if left is None or right is None:
            return None
        if operator == "STREQUAL":
            return left == right
        orders = _ORDERS.get(operator)
        if orders is None or not all(re.fullmatch(r"[\d.]+", side) for side in (left, right)):
            return None
        a, b = ([int(part) for part in side.split(".") if part] for side in (left, right))
        width = max(len(a), len(b))
        a, b = a + [0] * (width - len(a)), b + [0] * (width - len(b))
        return ((a > b) - (a < b)) in orders


_ORDERS = {
    "VERSION_LESS": (-1,),
    "VERSION_LESS_EQUAL": (-1, 0),
    "VERSION_EQUAL": (0,),
    "VERSION_GREATER_EQUAL": (0, 1),
    "VERSION_GREATER": (1,),
}
