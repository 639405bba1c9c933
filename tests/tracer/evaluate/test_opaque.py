"""Small programs over a number of which only the type is known: what CPython does lies within the answer.

Each shows one way in which an unknown number of turns, or a key that nobody can tell, reaches what comes
after it.
"""

from __future__ import annotations

from textwrap import dedent

import pytest

from .harness import OneOf, Opaque, check

N = {"n": Opaque("int", (-1, 0, 1, 2, 5, 7))}

PROGRAMS = {
    "what_map_calls_may_raise": """
        def main(n):
            try:
                return list(map(lambda q: 6 // (1 - q), list(range(n))))
            except ZeroDivisionError:
                return "raised"
        """,
    "what_map_of_two_calls_has_its_effects": """
        def main(n):
            seen = []
            list(map(lambda q, r: seen.append(q + r), list(range(n)), [1, 2, 3]))
            return len(seen)
        """,
    "what_filter_asks_has_its_effects": """
        def main(n):
            last = 9
            def keep(q):
                nonlocal last
                last = q
                return q > 1
            return list(filter(keep, list(range(n)))), last
        """,
    "a_key_is_asked_for_every_element": """
        def main(n):
            count = 0
            def key(q):
                nonlocal count
                count += 1
                return -q
            xs = list(range(n))
            xs.sort(key=key)
            return max(xs, key=key, default=4), sorted(xs, key=key), count
        """,
    "reduce_calls_for_every_element": """
        from functools import reduce
        def main(n):
            seen = []
            out = reduce(lambda x, y: seen.append(y) or x, range(n), 0)
            return out, seen
        """,
    "enumerate_counts_on_through_a_generator": """
        def numbers(upto):
            for i in range(upto):
                yield i
        def main(n):
            last = -1
            for at, _ in enumerate(numbers(n)):
                last = at
                if at > 3:
                    raise ValueError(at)
            return last
        """,
    "effects_of_a_generator_and_of_who_walks_it_interleave": """
        def main(n):
            count, seen = 0, []
            for q in map(lambda q: seen.append(count), range(n)):
                count += 1
            return seen
        """,
    "a_dict_written_under_an_unknown_key_while_it_is_walked": """
        def main(n):
            d = {"k": 1, "x": 2}
            try:
                for key in d:
                    d[n] = key
            except RuntimeError:
                return "changed"
            return d
        """,
    "a_dict_filled_from_the_unknown_and_then_walked": """
        def main(n):
            d = {q: q for q in range(n)}
            try:
                for key in d:
                    d["more"] = key
            except RuntimeError:
                return "changed"
            return len(d)
        """,
    "a_cache_answers_once_for_an_unknown": """
        from functools import cache
        def main(n):
            seen = []
            @cache
            def ask(x):
                seen.append(x)
                return x * 2
            return ask(n), ask(n), ask(n), seen
        """,
    "a_cache_may_know_the_unknown_already": """
        from functools import cache
        def main(n):
            seen = []
            @cache
            def ask(x):
                seen.append("asked")
                return x * 2
            return ask(2), ask(n), ask(0), len(seen)
        """,
    "a_cache_filled_in_a_loop_of_unknown_length": """
        from functools import cache
        def main(n):
            seen = []
            @cache
            def ask(x):
                seen.append("asked")
                return x
            for q in range(n):
                ask(q // 2)
                ask(7)
            ask(1)
            return len(seen)
        """,
    "a_frozen_record_with_an_unknown_field_as_a_key": """
        from dataclasses import dataclass
        @dataclass(frozen=True)
        class Key:
            rank: int
        def main(n):
            d = {Key(n): 1}
            s = {Key(n)}
            return d.get(Key(2), 0), Key(2) in d, Key(2) in s, len({Key(n), Key(0)})
        """,
    "what_a_dict_holds_is_asked_again_after_a_write": """
        def main(n):
            d = {n: 1}
            before = 2 in d
            d.pop(2, None)
            return before, 2 in d
        """,
    "what_a_list_equals_is_asked_again_after_a_write": """
        def main(n):
            xs = list(range(n))
            before = xs == [0]
            xs.append(1)
            return before, xs == [0]
        """,
    "an_enum_first_used_in_a_loop_of_unknown_length": """
        from enum import Enum, IntEnum
        class Kind(Enum):
            LOW = 1
        class Level(IntEnum):
            SOME = 1
        def main(n):
            for q in range(n):
                Kind(1)
            return Level(1).value, Kind.LOW.value
        """,
    "a_dict_from_keys_that_nobody_knows": """
        def main(n):
            d = dict.fromkeys(range(n), "x")
            return len(d), list(d), d.get(1)
        """,
    "an_order_that_there_is_not": """
        def main(n):
            try:
                return max([None, n * 3])
            except TypeError as error:
                return str(error)
        """,
    "loops_of_unknown_length_inside_one_another": """
        def main(n):
            xs, count = [1, 2], 0
            for q in range(n):
                for r in range(q):
                    count += 1
                    xs.append(r)
            return count, xs
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_opaque(name: str) -> None:
    answer = check(dedent(PROGRAMS[name]), N)
    assert not answer.open.is_true


class Ledger(dict[object, object]):
    """A table that has something else for every object that it is asked for."""

    def __missing__(self, key: object) -> object:
        return self.setdefault(key, object())


@pytest.mark.parametrize("made", ["K()", "[K()]", "(K(), 1)"])
def test_an_object_is_not_taken_for_one_that_was_thrown_away(made: str) -> None:
    """Where one lay in memory, the next is made."""
    text = f"""
class K:
    pass
def get(table, made):
    return table.get(made[0] if isinstance(made, (list, tuple)) else made)
def main(table):
    asked = get(table, {made}) is get(table, {made})
    return [table[(1, K())] is table[(1, K())], table[K()] is table[K()], asked]
"""
    table = Ledger()
    answer = check(text, {"table": Opaque("dict", (table,))}, exact=False)
    assert answer.ends


def test_a_key_that_is_put_back_while_its_dict_is_walked_comes_later() -> None:
    """With the value that it had: nothing but its place has changed."""
    check(
        """
def main():
    d, out = {"a": 1, "b": 2, "c": 3}, []
    for key, value in d.items():
        out.append(key)
        if key == "a":
            kept = d["b"]
            del d["b"]
            d["b"] = kept
    return out
""",
        {},
    )
    check(
        """
def main():
    d, out = {"a": 1, "b": 2}, []
    try:
        for key in d:
            out.append(key)
            d[key] = d.pop(key)
            if len(out) > 9:
                return "endless"
    except RuntimeError:
        return out
    return out
""",
        {},
    )


def test_the_last_key_that_is_put_back_is_met_once_too_often() -> None:
    """The order is the same as before, the places are not: CPython says that keys changed."""
    text = """
        def main(a):
            d = {"k": 1, "x": 2}
            seen = []
            for key, value in d.items():
                seen.append(key)
                if a:
                    d.pop("x")
                    d["x"] = value
            return seen
        """
    check(dedent(text), {"a": OneOf((False, True))})
