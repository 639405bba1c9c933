"""How C++ asks for the compute capability: CUDA's properties, and functions that give them back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from .conditions import CAPABILITY, MAJOR
from .outline import Definition, Kind

if TYPE_CHECKING:
    from .files import NativeFiles
    from .resolve import Resolver

# Of the device's properties: CUDA, drivers and libraries have versions with a major half too.
_OF = r"[\w():>.-]*[pP]rop[\w():>.-]*(?:->|\.)"
_MAJOR = re.compile(rf"{_OF}major")
_BOTH = re.compile(rf"(?:{_OF}|\b(?:sm_|cc_)?)major\w* \* 10 \+ (?:{_OF}|(?:sm_|cc_)?)minor\w*")
_PAIR = re.compile(rf"\{{\s*{_OF}major, {_OF}minor\s*\}}")
_RETURNED = re.compile(r"\breturn ([^;]*);")
_CALLED = re.compile(r"(?:(\w+)(?:->|\.))?(\w+(?:::\w+)*)\(\)")
LONGEST = 4_000
"""Characters of a function that may give the capability back."""
NOTHING = ("0", "-1")
"""What such a function gives back where there is no device."""
_FIRST = re.compile(rf"({_CALLED.pattern})\.first")


def spelled_out(text: str) -> str:
    """`capability`, or its major half, for what asks CUDA's device properties for it."""
    if _BOTH.fullmatch(text):
        return CAPABILITY
    return MAJOR if _MAJOR.fullmatch(text) else text


def given_back(text: str, at: Definition, files: NativeFiles, names: Resolver) -> str | None:
    """What of the capability a call without arguments gives back, None where it is something else."""
    functions = _called(text, at, files, names)
    found = {_part(function, files, names) for function in functions}
    return found.pop() if len(found) == 1 else None


def _called(text: str, at: Definition, files: NativeFiles, names: Resolver) -> tuple[Definition, ...]:
    """The functions that a call without arguments may be of."""
    called = _CALLED.fullmatch(text)
    if called is None:
        return ()
    if called[1] is not None:
        return _method(called[1], called[2], at, files)
    return tuple(f for f in names.named(called[2], at, 0) if f.kind is Kind.FUNCTION)


def _method(target: str, name: str, at: Definition, files: NativeFiles) -> tuple[Definition, ...]:
    """The method of an object of the file, where no other class has one of that name and what makes the
    object names the class.
    """
    found = [d for d in files.definitions.get(name, ()) if d.kind is Kind.FUNCTION]
    if len({d.scope for d in found}) != 1 or not found[0].scope:
        return ()
    owner = found[0].scope[-1]
    is_class = any(d.kind is Kind.CLASS for d in files.definitions.get(owner, ()))
    made = re.compile(rf"\b{re.escape(target)}\s*=[^;]*\b{owner}\b|\b{owner}\b[\s*&]+{re.escape(target)}\b")
    known = is_class and any(made.search(files.files[path].text) for path in files.closure(at.path))
    own = any(param.name == target for param in at.params)
    return tuple(d for d in found if d.body is not None and not d.least) if known and not own else ()


def _part(function: Definition, files: NativeFiles, names: Resolver) -> str | None:
    whole = files.inside(function)
    if len(whole) > LONGEST:
        return None
    text = " ".join(whole.split())
    given = [back for back in _RETURNED.findall(text) if back not in NOTHING]
    if not given:
        return None
    if all(_MAJOR.fullmatch(back) for back in given):
        return MAJOR
    if all(_is_first(back, function, files, names) for back in given):
        return MAJOR
    asks = "ComputeCapabilityMajor" in text or "->major" in text
    return CAPABILITY if asks and all(_is_capability(back, text) for back in given) else None


def _is_first(back: str, at: Definition, files: NativeFiles, names: Resolver) -> bool:
    """Whether what is given back is the first of the pair that another function makes of the capability."""
    found = _FIRST.fullmatch(back)
    functions = _called(found[1], at, files, names) if found else ()
    texts = [" ".join(files.inside(function).split()) for function in functions]
    pairs = [given for text in texts for given in _RETURNED.findall(text)]
    return bool(pairs) and all(map(_PAIR.fullmatch, pairs))


def _is_capability(back: str, text: str) -> bool:
    """Whether what is given back is the capability, or a local that is set to it or by a lambda."""
    if _BOTH.fullmatch(back):
        return True
    return back.isidentifier() and re.search(rf"\b{back} = (?:\[|{_BOTH.pattern};)", text) is not None
