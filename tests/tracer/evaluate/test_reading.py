"""What is noted of a dict that is read: two that agree in it give CPython the same answer."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from qtrace.tracer.evaluate.reading import ReadEntries, agree
from qtrace.tracer.models.stdlib import box_json

from .harness import evaluate, machine, python

CONFIGS: tuple[dict[str, Any], ...] = (
    {},
    {"a": 1},
    {"a": 1, "b": 2},
    {"a": 1, "b": 3},
    {"a": 2},
    {"b": 2},
    {"b": 2, "a": 1},
    {"a": None},
    {"a": True},
    {"a": {"b": 1}},
    {"a": {"b": 2}},
)
BY_KEY = (
    "config.get('a')",
    "config.get('a', 5)",
    "'a' in config",
    "config['a'] if 'a' in config else 7",
    "config.setdefault('a', 4)",
    "config.pop('a', 3)",
    "(config.get('a') or {}) if not isinstance(config.get('a'), int) else 0",
)
AS_A_WHOLE = (
    "len(config)",
    "bool(config)",
    "1 if config else 2",
    "list(config)",
    "sorted(config)",
    "[*config.values()]",
    "sorted(key for key, value in config.items() if value)",
    "any(key == 'b' for key in config)",
    "dict(config)",
    "{**config}",
    "config | {'c': 1}",
    "{'c': 1} | config",
    "config.copy()",
    "config == {'a': 1, 'b': 2}",
    "{'a': 1} == config",
    "{'c': 1}.update(config) or len({**config})",
    "config.keys() - {'a'}",
    "config.items() == {'a': 1}.items()",
    "str(config)",
    "f'{config}'",
    "config.popitem() if config else 0",
    "tuple(zip(config, 'xy'))",
    "max(config, default=0)",
    "next(iter(config), 0)",
    "(lambda **given: given.get('b'))(**config)",
)


def read_by(text: str, config: dict[str, Any]) -> set[Any]:
    """What the evaluator notes of `config` while it evaluates `text`."""
    m = machine({"mod.py": text})
    held, read = box_json(m, config), set[Any]()
    held.entries = ReadEntries(held.entries, read)
    answer = evaluate(text, {"config": held}, m)
    assert answer.ends or not answer.open.is_false, text
    return read


@pytest.mark.parametrize("expression", [*BY_KEY, *AS_A_WHOLE])
def test_configs_that_agree_in_what_was_read_are_one(expression: str) -> None:
    text = f"def main(config):\n    return {expression}\n"
    run = python(text)
    for one, other in permutations(CONFIGS, 2):
        if agree(read_by(text, one), one, other):
            first, second = run({"config": dict(one)}), run({"config": dict(other)})
            assert repr(first) == repr(second), (one, other)


@pytest.mark.parametrize("expression", BY_KEY)
def test_keys_that_nobody_asked_for_do_not_count(expression: str) -> None:
    text = f"def main(config):\n    return {expression}\n"
    read = read_by(text, {"a": 1, "b": 2})
    assert agree(read, {"a": 1, "b": 2}, {"a": 1, "b": 3})
    assert not agree(read, {"a": 1, "b": 2}, {"a": 2, "b": 2})
