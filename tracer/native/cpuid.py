"""What a host function asks the processor itself: one bit of CPUID, by the place where it is returned."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..cpus import cpus
from .directives import without_comments

if TYPE_CHECKING:
    from ..sources import Source
    from .host import Answer

QUERY = "__get_cpuid_count"
_QUERY = re.compile(rf"{QUERY}\s*\(\s*(0x[0-9a-fA-F]+|\d+)\s*,\s*(0x[0-9a-fA-F]+|\d+)\s*,")
_BIT = re.compile(r"return\s*\(\s*(e[abcd]x)\s*>>\s*(\d+)\s*\)\s*&\s*1[uU]?\s*;")


def asked_feature(source: Source, answer: Answer) -> str | None:
    """The feature that decides a function, None unless one bit is all that its file asks."""
    site = answer.site
    if QUERY not in answer.needs or site is None:
        return None
    text = without_comments(source.text(site.path) or "")
    queries, bits = _QUERY.findall(text), _BIT.findall(text)
    if len(queries) != 1 or len(bits) != 1:
        return None
    leaf, part = (int(number, 0) for number in queries[0])
    register, bit = bits[0]
    return cpus().cpuid.get(f"{leaf:#x}.{part}.{register}.{bit}")
