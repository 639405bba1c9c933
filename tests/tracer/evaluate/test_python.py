"""Small programs, named by the behaviour of Python they show: evaluated exactly as CPython runs them.

`a`, `b` are unknown booleans, `n` an unknown small number, `s` an unknown text or None.
"""

from __future__ import annotations

import re
from textwrap import dedent
from typing import Any

import pytest

from .harness import OneOf, Parameter, check

UNKNOWNS: dict[str, Parameter] = {
    "a": OneOf((False, True)),
    "b": OneOf((False, True)),
    "n": OneOf((0, 1, 2, 3)),
    "s": OneOf((None, "", "fp8", "awq_marlin")),
}

PROGRAMS = {
    "an_unbound_local_is_not_the_global": """
        x = 1
        def main(a):
            if a:
                x = 2
            return x
        """,
    "an_unbound_local_is_not_the_enclosing_one": """
        def main(a):
            x = 1
            def inner():
                if a:
                    x = 2
                return x
            return inner()
        """,
    "a_class_body_is_no_scope_of_its_methods": """
        x = 1
        def main():
            class A:
                x = 2
                def get(self):
                    return x
            return A().get(), A.x
        """,
    "a_free_name_may_be_bound_later": """
        def main(a):
            def inner():
                return x
            if a:
                x = 5
            try:
                return inner()
            except NameError as e:
                return "none"
        """,
    "the_texts_of_an_exception_are_methods_of_it": """
        class Named(ValueError):
            def __repr__(self):
                return "named"
        def main(n):
            try:
                raise Named(f"no {n}") if n else ValueError("none", n)
            except ValueError as e:
                return e.__str__(), e.__repr__(), str(e), repr(e)
        """,
    "nonlocal_writes_where_the_name_lives": """
        def main(a, n):
            count = 0
            def bump(by):
                nonlocal count
                count += by
                return count
            if a:
                bump(n)
            bump(1)
            return count
        """,
    "nonlocal_before_the_first_binding": """
        def main(a):
            def put():
                nonlocal x
                x = 3
            put()
            y = x
            x = 4
            return x, y
        """,
    "global_writes_over_the_module_s_own_statement": """
        total = 1
        def bump(by):
            global total
            total = total + by
        def reset():
            global total
            total = 100
        def main(a, n):
            if a:
                reset()
            bump(n)
            return total
        """,
    "global_first_written_then_read": """
        flag = "module"
        def main(a):
            global flag
            if a:
                flag = "main"
            return flag
        """,
    "a_default_is_evaluated_at_definition": """
        def main(a):
            x = 1
            def f(y=x, z=[]):
                z.append(y)
                return z
            x = 2
            f()
            if a:
                f(7)
            return f()
        """,
    "arguments_that_do_not_fit_are_refused_in_python_s_words": """
        from dataclasses import dataclass
        from typing import NamedTuple
        def f(x, y=1, *, z): return x
        def g(a, b, c, d=0): return a
        def h(x, /): return x
        class Holder:
            def none(self): return 0
        @dataclass
        class Record:
            x: int
            y: int = 2
        class Row(NamedTuple):
            left: int
            right: int
        def said(run):
            try:
                return run()
            except TypeError as error:
                return str(error)
        def main(a):
            known = {"y": 2} if a else {"q": 2}
            return [said(run) for run in (
                lambda: f(), lambda: f(1), lambda: f(1, 2, 3, z=1), lambda: f(1, q=2), lambda: g(), lambda: g(1),
                lambda: g(1, c=2), lambda: h(x=1), lambda: h(), lambda: Holder().none(1), lambda: h(1, 2, 3),
                lambda: g(1, 2, 3, 4, 5), lambda: f(1, z=2, **known), lambda: f(1, x=2, z=0),
            )], [said(run).replace("main.<locals>.", "") for run in (
                lambda: Record(), lambda: Record(1, 2, 3), lambda: Record(1, q=2), lambda: Row(1), lambda: Row(), lambda: Record(1, x=2), lambda: Row(1, 2, 3),
            )]
        """,
    "a_named_tuple_with_its_own_equality_hashes_as_a_tuple": """
        from typing import NamedTuple
        class Version(NamedTuple):
            major: int
            minor: int
            def __eq__(self, other):
                return self.major == other.major
        def main(n):
            return {Version(n, 0): "here"}[Version(n, 0)], len({Version(1, 0), Version(1, n)}), Version(1, 2) == Version(1, n)
        """,
    "signatures": """
        import inspect
        def f(x, /, y, *rest, z=3, **more): return x
        class A:
            def __init__(self, size, *, scale=1): self.size = size
            def ask(self, q): return q
            @classmethod
            def make(cls, n): return cls(n)
        def main(n):
            def said(g):
                found = inspect.signature(g).parameters
                return [(name, p.kind == inspect.Parameter.KEYWORD_ONLY, p.default is inspect.Parameter.empty)
                        for name, p in found.items()]
            return (said(f), said(A), said(A(1).ask), said(A.ask), said(A.make), said(A.__init__), "q" in inspect.signature(A.ask).parameters,
                    inspect.signature(f).parameters["z"].default == n, inspect.signature(f).parameters["rest"].kind is inspect.Parameter.VAR_POSITIONAL)
        """,
    "unions_of_types": """
        def main(s, n):
            either = int | None
            return (isinstance(s, str | None), isinstance(n, either), isinstance(s, either), either == int | None,
                    either == str | None, either == int, (int | str) == (int | str | None), issubclass(bool, either))
        """,
    "a_walrus_in_a_default_binds_where_the_function_stands": """
        def main(a, n):
            x = 1
            def outer():
                def early():
                    return x
                def late(p=(x := n)):
                    return p
                return early() if a else x, late()
            def too_soon():
                def early():
                    return x
                try:
                    early()
                except NameError:
                    said = "unbound"
                f = lambda p=(x := 5): p
                return said, x, f()
            return outer(), too_soon(), x
        """,
    "fields_that_are_only_passed_on": """
        from dataclasses import InitVar, asdict, dataclass, fields
        @dataclass
        class Box:
            size: int
            scale: InitVar[int] = 2
            area: int = 0
            def __post_init__(self, scale):
                self.area = self.size * scale
        def main(n):
            box = Box(n)
            return box.area, Box(1, scale=n), asdict(Box(2, n)), [f.name for f in fields(Box)], box == Box(n, 3)
        """,
    "fractions": """
        from fractions import Fraction
        def main(n):
            f = Fraction(32, [4, 8, 6, 3][n])
            g = Fraction(6, -4)
            return (f.numerator, f.denominator, 4096 // f, 4096 % f.numerator, f * 3, str(f), 2 * f == f + f, f > 5, int(g),
                    g // 2, 7 % f, bool(g), 1 / f, f - 1, repr(g), 3 - g, f % 3, f == 8)
        """,
    "versions_compare_as_the_library_does": """
        from packaging import version
        from packaging.version import Version
        def main(n):
            found = version.parse(["1.9", "1.10", "1.10.dev1", "1.10+cu128"][n])
            other = Version("1.10.0")
            return (found < other, found <= other, found == other, found >= other, found > other, found != other,
                    found.major, found.base_version)
        """,
    "late_binding_of_loop_names_in_closures": """
        def main():
            fs = [lambda: i for i in range(3)]
            gs = []
            for j in range(3):
                gs.append(lambda j=j: j)
            return [f() for f in fs], [g() for g in gs]
        """,
    "walrus_in_a_comprehension_binds_outside": """
        def main(n):
            xs = [y := x + n for x in range(3)]
            return xs, y
        """,
    "comprehension_names_stay_inside": """
        def main(n):
            x = 9
            ys = {x: x * n for x in range(3)}
            return x, ys
        """,
    "comprehension_over_guarded_lists": """
        def main(a, b, n):
            xs = [1, 2]
            if a:
                xs.append(n)
            return [x * 2 for x in xs if x != 1 or b], {x for x in xs if x > 1}
        """,
    "an_exception_inside_a_comprehension": """
        def main(n):
            try:
                return [10 // (x - n) for x in range(3)]
            except ZeroDivisionError:
                return "zero"
        """,
    "return_in_finally_wins": """
        def main(a, b):
            try:
                if a:
                    raise ValueError("x")
                return 1
            finally:
                if b:
                    return 2
        """,
    "finally_runs_on_every_way_out": """
        def main(n):
            log = []
            for i in range(3):
                try:
                    if i == n:
                        break
                    if i == 1:
                        continue
                    log.append(i)
                finally:
                    log.append("f")
            else:
                log.append("else")
            return log
        """,
    "break_in_finally_drops_the_exception": """
        def main(a):
            for i in range(3):
                try:
                    if a:
                        raise KeyError(i)
                finally:
                    break
            return i
        """,
    "raise_in_finally_replaces": """
        def main(a, b):
            try:
                try:
                    if a:
                        raise ValueError("first")
                finally:
                    if b:
                        raise KeyError("second")
            except ValueError:
                return "v"
            except KeyError:
                return "k"
            return "none"
        """,
    "finally_sees_what_the_handler_wrote": """
        def main(a):
            out = []
            try:
                try:
                    out.append(1)
                    if a:
                        raise ValueError
                    out.append(2)
                except ValueError:
                    out.append(3)
                    raise RuntimeError("x") from None
                else:
                    out.append(4)
                finally:
                    out.append(5)
            except RuntimeError:
                out.append(6)
            return out
        """,
    "handler_name_is_gone_afterwards": """
        def main(a):
            try:
                if a:
                    raise ValueError("x")
            except ValueError as e:
                text = str(e)
            else:
                e = 1
            return e
        """,
    "reraise_of_the_current_exception": """
        def main(n):
            try:
                try:
                    [][n]
                except IndexError:
                    raise
            except LookupError as e:
                return type(e).__name__
        """,
    "handlers_chosen_by_a_guarded_class": """
        def main(a, b):
            kind = ValueError if a else KeyError
            try:
                if b:
                    raise ValueError("v")
                raise KeyError("k")
            except kind as e:
                return "caught", str(e)
            except Exception as e:
                return "other", repr(e)
        """,
    "own_exceptions_keep_their_arguments": """
        class Refused(ValueError):
            def __init__(self, what, code=3):
                self.what = what
                self.code = code
        class Quiet(Refused):
            pass
        def main(a):
            try:
                if a:
                    raise Refused("x")
                raise Quiet("y", code=4)
            except Quiet as e:
                return "quiet", e.what, e.code, e.args, str(e)
            except Refused as e:
                return "refused", e.what, e.code, e.args
        """,
    "raising_what_is_no_exception": """
        def main(a):
            try:
                raise (5 if a else "x")
            except TypeError:
                return "type"
        """,
    "the_text_of_a_key_error": """
        def main(s):
            try:
                return {"fp8": 1}[s]
            except KeyError as e:
                return str(e), e.args
        """,
    "assert_with_a_message": """
        def main(n):
            assert n < 2, f"too many: {n}"
            return n
        """,
    "while_with_an_undecided_test": """
        def main(n):
            i, out = 0, []
            while i < n:
                i += 1
                if i == 2:
                    continue
                out.append(i)
            else:
                out.append("else")
            return i, out
        """,
    "while_with_break_and_else": """
        def main(n, a):
            i = 0
            while True:
                if i == n:
                    break
                i += 1
                if a and i == 2:
                    return "early"
            else:
                return "never"
            return i
        """,
    "an_exception_in_the_test_of_a_while": """
        def main(n):
            i = 2
            try:
                while 6 // (i - n) > 1 and i < 9:
                    i += 1
            except ZeroDivisionError:
                return "zero", i
            return i
        """,
    "while_counting_past_few_turns": """
        def main(n):
            i = 0
            while i < 30 + n:
                i += 1
            return i
        """,
    "for_over_a_list_that_grows": """
        def main(n):
            xs = [1, 2]
            for x in xs:
                if x <= n:
                    xs.append(x + 2)
            return xs
        """,
    "for_over_a_list_that_shrinks": """
        def main(n):
            xs = [0, 1, 2, 3]
            seen = []
            for x in xs:
                seen.append(x)
                if x == n:
                    xs.remove(x)
            return seen, xs
        """,
    "the_loop_variable_stays": """
        def main(n):
            for i in range(n):
                pass
            try:
                return i
            except NameError:
                return "unbound"
        """,
    "an_unbound_local_is_its_own_error": """
        def main(n):
            for i in range(n):
                pass
            return i
        """,
    "loop_else_and_nested_break": """
        def main(n, a):
            out = []
            for i in range(3):
                for j in range(3):
                    if i * j == n:
                        out.append((i, j))
                        if a:
                            break
                else:
                    out.append("else")
                    continue
                out.append("broke")
            return out
        """,
    "dict_order_under_guards": """
        def main(a):
            d = {}
            if a:
                d["x"] = 1
            d["y"] = 2
            if not a:
                d["x"] = 3
            return list(d), d
        """,
    "dict_order_after_delete_and_reinsert": """
        def main(a):
            d = {"x": 1, "y": 2}
            if a:
                del d["x"]
                d["x"] = 3
            d["x"] = d["x"] + 1
            return list(d.items())
        """,
    "dict_pop_setdefault_update": """
        def main(a, n):
            d = {"k": n}
            if a:
                d.pop("k")
            d.setdefault("k", 7)
            d.setdefault("l", []).append(n)
            d.update({"m": 1}, z=2)
            d.update([("p", n)])
            return d, d.pop("nope", None), d.get("k"), len(d)
        """,
    "dict_pop_of_nothing": """
        def main(a):
            d = {}
            if a:
                d["x"] = 1
            return d.pop("x")
        """,
    "dict_pop_with_default_under_a_guard": """
        def main(a, n):
            d = {"q": 0}
            if a:
                d["x"] = n
            got = d.pop("x", "none")
            return got, "x" in d, d
        """,
    "a_dict_that_grows_while_it_is_walked": """
        def main(a, n):
            d = {"x": 1, "y": n}
            seen = []
            for k, v in d.items():
                seen.append(v)
                d["y"] = 5
                if a:
                    d[n] = 2
            return seen, d
        """,
    "of_equal_keys_the_first_is_kept": """
        def main(a, b):
            d = {}
            d[a] = 1
            d.setdefault(0, 2)
            xs = {b}
            xs.add(1)
            return d, sorted(xs), len(d)
        """,
    "a_mapping_built_by_update_keeps_its_order": """
        def main(n):
            d = {"k": 0}
            d.update({q: 1 for q in [n, 1]})
            return d, {**d, "z": 1}, list(d.keys()), [*d.values()], 1 in d.keys(), d.keys() & {1}, str(d.items())
        """,
    "an_index_of_the_wrong_kind": """
        def main(n, s):
            xs = [1, 2, 3]
            try:
                if n == 0:
                    xs.insert(s, 1)
                elif n == 1:
                    del xs[s]
                elif n == 2:
                    xs[s] = 1
                return range(s)
            except TypeError:
                return "type", abs(-n)
        """,
    "operands_of_the_wrong_kind": """
        def main(n, s):
            out = []
            for attempt in (
                lambda: list(enumerate([], s)),
                lambda: -[n],
                lambda: abs(s),
                lambda: object().x,
                lambda: [1] + (2,),
                lambda: Plain(n),
                lambda: list(zip(n)),
            ):
                try:
                    out.append(attempt())
                except (TypeError, AttributeError) as e:
                    out.append(type(e).__name__)
            return out
        class Plain:
            pass
        """,
    "texts_of_failed_unpacking": """
        def main(n):
            try:
                if n > 1:
                    x, y, *z = range(n - 1)
                else:
                    x, y = range(n * 3)
            except ValueError as e:
                return str(e)
            return x, y
        """,
    "bool_and_int_are_one_key": """
        def main(a, n):
            d = {1: "one", True: "true", 0: "zero"}
            return d.get(a), d.get(n), d
        """,
    "nan_and_negative_zero": """
        def main(a):
            nan = float("nan")
            x = 0.0 if a else -0.0
            return nan == nan, nan != nan, [nan] == [nan], nan in [nan], str(x), max(1.0, 2.5)
        """,
    "unhashable_keys": """
        def main(a):
            key = [] if a else ()
            try:
                return {key: 1}[()]
            except TypeError as e:
                return str(e)
        """,
    "eq_may_return_not_implemented": """
        class A:
            def __init__(self, v):
                self.v = v
            def __eq__(self, other):
                if not isinstance(other, A):
                    return NotImplemented
                return self.v == other.v
        class B:
            def __eq__(self, other):
                return True
        def main(n):
            return A(n) == A(1), A(n) == 1, A(1) != 1, A(1) == B(), A(n) != A(1), 3 == A(3)
        """,
    "arithmetic_may_return_not_implemented": """
        class M:
            def __init__(self, v):
                self.v = v
            def __add__(self, o):
                return M(self.v + o) if isinstance(o, int) else NotImplemented
            def __radd__(self, o):
                return self + o
            def __iadd__(self, o):
                self.v += o
                return self
            def __lt__(self, o):
                return self.v < o.v
            def __neg__(self):
                return M(-self.v)
            def __bool__(self):
                return self.v != 0
            def __len__(self):
                return 9
        def main(n):
            m = M(n)
            k = m
            m += 1
            try:
                bad = m + "x"
            except TypeError:
                bad = "type"
            return (m + 1).v, (1 + m).v, k is m, bad, m < M(2), M(2) > m, (-m).v, bool(M(n)), not m
        """,
    "format_specs": """
        def main(n, s, a):
            return f"{n:03d}|{s!r:>8}|{a}|{n:>{n + 2}}|{1.5:.2f}|{s or 'none':^6}|{n=}"
        """,
    "percent_and_format": """
        def main(n, s):
            return "%s-%d %r" % (s, n, s), "{} {x!r:>5} {0}".format(n, x=s), "{:,}".format(10000 + n)
        """,
    "text_methods": """
        def main(s):
            if s is None:
                return None
            return (s.upper(), s.split("_"), s.partition("_"), s.startswith(("fp", "a")), "_".join([s, s]),
                    s.replace("a", "b"), s[1:], s[::-1], len(s), s in "xfp8x", s.removeprefix("fp"), s * 2, s.find("p"))
        """,
    "text_of_containers": """
        def main(n, s, a):
            d = {"k": n}
            if a:
                d["l"] = [s]
            return str([n, s, (n,), ()]), repr({"x": {n: s}}), str(d), f"{d}", str({n}), str(set()), repr(frozenset({1}))
        """,
    "property_setters_on_guarded_objects": """
        class A:
            def __init__(self):
                self._x = 0
            @property
            def x(self):
                return self._x + 1
            @x.setter
            def x(self, v):
                if v < 0:
                    raise ValueError("negative")
                self._x = v * 2
        class B(A):
            x = 5
        def main(a, n):
            o = A() if a else B()
            o.x = n
            o.x += 1
            return o.x, o._x
        """,
    "class_attributes_written_under_a_guard": """
        class A:
            kind = "a"
        class B(A):
            pass
        def main(a, b):
            if a:
                A.kind = "changed"
            if b:
                B.kind = "own"
            x = B()
            return A.kind, B.kind, x.kind, A().kind, "kind" in vars(x)
        """,
    "a_guarded_class_attribute_hides_the_base_s": """
        class A:
            v = 1
            def f(self):
                return "a"
        class B(A):
            pass
        def main(a):
            if a:
                B.f = lambda self: "b"
                B.w = 3
            return B().f(), hasattr(B, "w"), getattr(B(), "w", None)
        """,
    "super_through_a_diamond": """
        class A:
            def go(self):
                return ["A"]
        class B(A):
            def go(self):
                return ["B", *super().go()]
        class C(A):
            def go(self):
                return ["C"] + super().go()
        class D(B, C):
            def go(self, extra=None):
                return ["D"] + super().go() + [extra]
        def main(a, n):
            kind = D if a else C
            return kind().go(), [c.__name__ for c in D.__mro__]
        """,
    "super_in_classes_made_by_a_function": """
        def make(base, n):
            class Made(base):
                tag = n
                def __init__(self, x):
                    super().__init__(x)
                    self.made = True
                @classmethod
                def build(cls):
                    return cls(n)
                @property
                def twice(self):
                    return super().twice + 1
            return Made
        class Base:
            def __init__(self, x):
                self.x = x
            @property
            def twice(self):
                return self.x * 2
        def main(a, n):
            made = make(Base, n)
            if a:
                made = make(made, n + 1)
            o = made.build()
            return o.x, o.made, o.twice, made.tag
        """,
    "init_subclass_and_class_getitem": """
        registry = {}
        class Base:
            def __init_subclass__(cls, name=None, **kwargs):
                super().__init_subclass__(**kwargs)
                registry[name or cls.__name__] = cls
            def __class_getitem__(cls, item):
                return cls
        class A(Base):
            pass
        class B(Base[int], name="b"):
            pass
        def main(s):
            return A.__name__, B.__name__
        """,
    "getattr_hooks": """
        class A:
            x = 1
            def __init__(self):
                self.log = []
            def __getattr__(self, name):
                if name.startswith("no"):
                    raise AttributeError(name)
                return name.upper()
            def __setattr__(self, name, value):
                object.__setattr__(self, name, [value] if name != "log" else value)
        def main(a):
            o = A()
            o.y = 2
            name = "nope" if a else "yes"
            return o.x, o.y, o.zed, getattr(o, name, None), hasattr(o, name)
        """,
    "setattr_and_delattr": """
        class A:
            z = 0
        def main(a, s):
            o = A()
            name = s or "z"
            setattr(o, name, 1)
            if a:
                delattr(o, name)
            return hasattr(o, name), o.z, getattr(o, name, "gone"), sorted(vars(o))
        """,
    "writes_through_dict_of_an_object": """
        class A:
            pass
        def main(a):
            o = A()
            o.__dict__.update(x=1, y=2)
            if a:
                vars(o)["z"] = 3
            return o.x + o.y, hasattr(o, "z"), dict(vars(o))
        """,
    "slots_of_spread_arguments": """
        def f(p, q=2, *rest, k=0, **more):
            return p, q, rest, k, more
        def main(a, n):
            xs = [1]
            if a:
                xs += [2, 3]
            d = {"k": n}
            if n > 1:
                d["extra"] = True
            e = {"k": 5} if a else {"m": 6}
            return f(*xs, **d), f(0, **e), f(*xs, *[n]), f(*range(n + 1))
        """,
    "wrong_arguments": """
        def f(p, q=2, *, k=0):
            return p, q, k
        def main(n):
            try:
                if n == 0:
                    return f()
                if n == 1:
                    return f(1, 2, 3)
                if n == 2:
                    return f(1, p=2)
                return f(1, z=3)
            except TypeError:
                return "type"
        """,
    "native_calls_with_spread_guarded_arguments": """
        def main(a, n):
            xs = (n, 2) if a else (n,)
            d = {"start": 10} if a else {}
            return max(*xs, 1), sum([1, 2], **d), [*enumerate("ab", **d)], dict(x=1, **d)
        """,
    "duplicate_keywords": """
        def f(**k):
            return k
        def main(a):
            d = {"x": 1} if a else {"y": 2}
            try:
                return f(x=0, **d)
            except TypeError:
                return "twice"
        """,
    "a_dataclass": """
        from dataclasses import dataclass, field, replace, asdict, fields
        @dataclass
        class P:
            x: int
            y: int = 2
            tags: list = field(default_factory=list)
            hidden: int = field(default=0, repr=False, compare=False)
            def __post_init__(self):
                self.hidden = self.x * 2
        @dataclass(frozen=True, order=True)
        class Q:
            u: int
            v: str = "v"
        @dataclass
        class R(P):
            z: int = 5
        def main(a, n):
            p = P(n) if a else P(x=n, y=1)
            p.tags.append(n)
            q = Q(n)
            try:
                q.u = 3
            except AttributeError as e:
                frozen = type(e).__name__
            d = {q: 1, Q(1): 2}
            r = R(1, z=n)
            return (p, P(n) == P(n), p == P(n, 2, [n], 9), repr(q), frozen, d[Q(n)], Q(1) < Q(n),
            replace(q, u=9),
                    asdict(p), [f.name for f in fields(r)], r, P(1) == R(1), str(r))
        """,
    "an_undecorated_subclass_of_a_dataclass": """
        from dataclasses import dataclass
        class Plain:
            w: int = 3
        @dataclass
        class P(Plain):
            x: int
        class Q(P):
            y: int = 4
            def __init__(self, *args):
                super().__init__(*args)
                self.extra = True
        class S(P):
            z: int = 5
        def main(n):
            return Q(n), S(n), S(n).z, P(n).w
        """,
    "a_named_tuple": """
        from typing import NamedTuple
        class P(NamedTuple):
            x: int
            y: int = 2
            @property
            def total(self):
                return self.x + self.y
        def main(a, n):
            p = P(n) if a else P(n, y=5)
            x, y = p
            return (p, p == (n, 2), p[0], p.total, p._replace(x=7), p._asdict(), isinstance(p, tuple), len(p),
                    [*p], p < (2, 0), {p: 1}.get((n, 2)), P._fields, p + (1,), str(p))
        """,
    "an_enum": """
        from enum import Enum, IntEnum, auto
        class Color(Enum):
            RED = 1
            GREEN = "g"
            CRIMSON = 1
            @property
            def lower(self):
                return self.name.lower()
            @classmethod
            def parse(cls, text):
                for m in cls:
                    if m.name == text:
                        return m
                return cls("g")
        class Size(IntEnum):
            S = 5
            M = auto()
            L = auto()
        class Kind(str, Enum):
            A = "a"
            B = "b"
        def main(n, s):
            c = Color.RED if n > 1 else Color.parse(s)
            z = Size.M if n else Size(5)
            try:
                k = Kind(s)
            except ValueError as e:
                k = str(e)
            return (c, c.lower, c.value, [m.name for m in Color], Color.CRIMSON is Color.RED, z, z + 1, z >
            Size.S,
                    z == 6, Size.L, Size["M"], k, k == "fp8", Kind.A == "a", str(Kind.B), f"{Kind.B}",
                    repr(Kind.A),
                    Kind("a") is Kind.A, str(z), f"{z}", len(Color), Color.RED in (Color.GREEN, c),
                    {Kind.A: 1}["a"],
                    sorted(Size), max(Size), list(Color.__members__), isinstance(z, int), Color.RED == 1,
                    "%s" % Kind.A,
                    "{}".format(Kind.A), Kind.A.upper(), Kind.A.value + "x", Color["RED"])
        """,
    "an_enum_with_a_constructor": """
        from enum import Enum
        class Op(Enum):
            ADD = ("+", 1)
            MUL = ("*", 2)
            def __init__(self, sign, rank):
                self.sign = sign
                self.rank = rank
        def main(a):
            op = Op.ADD if a else Op.MUL
            return op.sign, op.rank, op.value, op is Op(("+", 1)), op.name
        """,
    "a_cache_answers_once": """
        from functools import cache, lru_cache
        calls = []
        @cache
        def f(x):
            calls.append(x)
            return [x]
        class A:
            @lru_cache(maxsize=None)
            def g(self, k=1):
                calls.append("g")
                return k
        def main(a, n):
            one = f(n)
            if a:
                one.append("seen")
            two = f(1)
            o = A()
            return one is two, f(n), two, o.g(), o.g(), o.g(k=2), calls
        """,
    "a_generator_made_manager": """
        from contextlib import contextmanager
        log = []
        @contextmanager
        def managed(x):
            log.append(("enter", x))
            try:
                yield x + 1
            except KeyError:
                log.append("swallowed")
            finally:
                log.append("exit")
        @contextmanager
        def plain():
            log.append("in")
            yield
            log.append("out")
        def inner(n):
            with managed(n) as y, plain():
                if n == 1:
                    raise KeyError("k")
                if n == 2:
                    return "early"
                if n == 3:
                    raise ValueError("v")
                log.append(y)
            return "end"
        def main(n):
            try:
                got = inner(n)
            except ValueError:
                got = "value"
            return got, log
        """,
    "a_manager_class": """
        class Guard:
            def __init__(self, log, swallow):
                self.log, self.swallow = log, swallow
            def __enter__(self):
                self.log.append("enter")
                return self
            def __exit__(self, kind, value, trace):
                self.log.append(kind.__name__ if kind else None)
                return self.swallow
        def main(a, n):
            log = []
            for i in range(2):
                try:
                    with Guard(log, a) as g:
                        if n == 1:
                            raise ValueError("x")
                        if n == 2:
                            break
                        if n == 3:
                            continue
                        log.append("body")
                    log.append("after")
                except ValueError:
                    log.append("caught")
            return log
        """,
    "suppressed_exceptions": """
        import contextlib
        def main(n):
            out = []
            with contextlib.suppress(KeyError, IndexError):
                out.append([1, 2][n])
                out.append("fine")
            with contextlib.nullcontext(5) as five:
                out.append(five)
            return out
        """,
    "generators_run_as_they_are_asked": """
        log = []
        def numbers(n):
            log.append("start")
            for i in range(5):
                log.append(i)
                yield i * n
            log.append("end")
        def main(n):
            first = next(x for x in numbers(n) if x > 1 or x == 0)
            for x in numbers(2):
                log.append("got")
                if x > n:
                    break
            return first, log, any(x == n for x in numbers(1)), list(numbers(3)), sum(numbers(1)), len(log)
        """,
    "any_and_all_stop_early": """
        def main(n):
            xs = [0, 1, None]
            try:
                return any(x + 1 > n for x in xs), all(x + 1 > n for x in xs)
            except TypeError:
                return "type"
        """,
    "iterators_are_used_up": """
        def main(a, n):
            z = zip([1, 2, 3], "abc")
            it = iter([1, 2, 3])
            first = next(it)
            if a:
                next(it)
            m = map(lambda x: x + n, [1, 2])
            e = enumerate(["p", "q"], 1)
            return list(z), list(z), first, list(it), list(it), sorted(m), sum(m), dict(e), [*reversed([1, 2])]
        """,
    "next_with_default_and_stop_iteration": """
        def main(n):
            it = iter(range(n))
            out = [next(it, None), next(it, None)]
            try:
                out.append(next(it))
            except StopIteration:
                out.append("stop")
            return out
        """,
    "sorting": """
        def main(a, n):
            xs = [3, n, 1]
            ys = sorted(xs, reverse=a)
            xs.sort(key=lambda x: -x)
            pairs = sorted([(n, "b"), (1, "a")], key=lambda p: (p[0], p[1]))
            try:
                bad = sorted([1, "x"])
            except TypeError:
                bad = "type"
            return xs, ys, pairs, bad, sorted({"b": 1, "a": 2}), min(xs), max([(n, 1), (1, 2)]), min("ab", key=ord)
        """,
    "extremes_of_nothing": """
        def main(a):
            xs = [1] if a else []
            try:
                return max(xs), max(xs, default=0)
            except ValueError:
                return min(xs, default=None)
        """,
    "list_methods": """
        def main(a, n):
            xs = [1, 2, 3]
            xs.insert(n, "i")
            if a:
                xs.extend((n, n))
            got = xs.pop(n)
            ys = xs.copy()
            xs[0] = "z"
            xs += "ab"
            del xs[-1]
            ys[1:2] = [7, 8]
            xs.reverse()
            zs = xs
            zs *= 2
            return xs, ys, got, xs.index("a"), xs.count(n), zs is xs, [0] * n, xs[-2:], xs[n], 2 in xs
        """,
    "list_remove_and_missing_items": """
        def main(n):
            xs = [1, 2, 1]
            try:
                xs.remove(n)
                del xs[2]
            except (ValueError, IndexError) as e:
                return type(e).__name__, xs
            return xs
        """,
    "pop_at_a_guarded_place": """
        def main(a, n):
            xs = [1, 2, 3, 4]
            at = n if a else -1
            try:
                return xs.pop(at), xs.pop(), xs
            except IndexError:
                return "none"
        """,
    "sets": """
        def main(a, n):
            xs = {1, 2}
            only = {n}
            xs.add(only.pop())
            try:
                only.pop()
            except KeyError:
                xs.add(7)
            if a:
                xs.discard(1)
            xs |= {5}
            ys = xs & {1, 2, 3}
            try:
                xs.remove(3)
            except KeyError:
                xs.add("missing")
            xs -= {5}
            return xs, ys, xs - ys, len(xs), n in ys, ys <= xs, sorted(ys), xs == {1}, xs.issuperset(ys), {1} < {1, n}
        """,
    "set_comparisons": """
        def main(n):
            return {1, 2} == {2, 1}, frozenset([n]) == {1}, {n} <= {1, 2}, {1}.isdisjoint({n}), {frozenset({2}): n}
        """,
    "tuple_unpacking": """
        def main(a, n):
            first, *rest = [n, 1, 2]
            (p, q), r = (1, n), "r"
            *head, last = (1,)
            try:
                x, y = [1] if a else [1, 2]
            except ValueError:
                x, y = "bad", None
            p, q = q, p
            for i, (k, v) in enumerate({"x": n}.items()):
                first += i + v
            return first, rest, p, q, r, head, last, x, y
        """,
    "augmented_targets_are_evaluated_once": """
        log = []
        def at(x):
            log.append(x)
            return x
        def main(n):
            d = {"k": n}
            d[at("k")] += 2
            xs = [[1], 2]
            xs[at(0)] += [n]
            xs[at(1)] *= 3
            return d, xs, log
        """,
    "chained_comparison_and_short_circuit": """
        log = []
        def f(x):
            log.append(x)
            return x
        def main(a, n, s):
            r = 0 < f(n) < f(3) <= 3
            t = a and f("and") or f("or")
            u = f(s) or n
            v = f(1) if a else f(2)
            return r, t, u, v, not n, n == 1 != 2, log
        """,
    "isinstance_of_many": """
        class A: pass
        class B(A): pass
        def main(a, n, s):
            o = A() if a else B()
            return (isinstance(o, B), isinstance(n, (str, int)), isinstance(a, int), isinstance(s, str),
            type(o) is A,
                    issubclass(type(o), A), isinstance(o, (A, str)), isinstance(None, type(None)), type(n)
                    == int,
                    callable(A), callable(o), isinstance([], list), isinstance({}, dict), isinstance(A, type),
                    type(o).__name__, isinstance(1.0, float), isinstance((), tuple), isinstance(int | str, type))
        """,
    "partials": """
        from functools import partial
        def f(x, y, *, k=0):
            return x, y, k
        def main(a, n):
            g = partial(f, n, k=1)
            if a:
                g = partial(g, k=2)
            h = partial(max, 2)
            return g(5), g(5, k=9), h(n), g.func is f
        """,
    "numbers": """
        def main(n, a):
            try:
                q = 7 // n, 7 % n, divmod(-7, n), 2 ** -n
            except ZeroDivisionError as e:
                q = str(e)
            return (q, abs(-n), round(2.567, n), int("12", 8), float("1.5"), n << 2, ~n, n & 1 | 4, n ^ 3,
            -n // 2, +a, -a,
                    int(2.9), bool(n), str(n), hex(n), bin(n), 1 / 4, 3.0 == 3, True + n, int(True), min(n, 2), n.bit_length())
        """,
    "bad_operands": """
        def main(a, s):
            try:
                return (1 if a else "x") + 1, s + "y"
            except TypeError:
                return "type"
        """,
    "strings_to_numbers": """
        def main(s):
            try:
                return int(s)
            except ValueError:
                return "value"
            except TypeError:
                return "type"
        """,
    "early_returns_and_recursion": """
        def fact(n):
            if n <= 1:
                return 1
            return n * fact(n - 1)
        def main(n, a):
            if a:
                return fact(n)
            def even(k):
                return True if k == 0 else odd(k - 1)
            def odd(k):
                return False if k == 0 else even(k - 1)
            return even(n), fact(n + 2)
        """,
    "decorators": """
        import functools
        def twice(f):
            @functools.wraps(f)
            def inner(*args, **kwargs):
                return f(*args, **kwargs), f(*args, **kwargs)
            return inner
        def tagged(tag):
            def wrap(f):
                f.tag = tag
                return f
            return wrap
        @tagged("t")
        @twice
        def g(x, y=1):
            return x + y
        class A:
            @staticmethod
            def s(x):
                return x
            @classmethod
            def c(cls, x):
                return cls.__name__, x
            @twice
            def m(self):
                return self.v
            def __init__(self, v):
                self.v = v
        def main(n):
            return g(n), g(n, y=3), g.tag, A.s(n), A(1).c(n), A(n).m(), A.m(A(4)), g.__name__
        """,
    "functions_carry_attributes": """
        def f():
            return 1
        def main(a):
            if a:
                f.mark = 5
            return getattr(f, "mark", None), hasattr(f, "other")
        """,
    "copies": """
        import copy
        class A:
            def __init__(self, x):
                self.x = x
        def main(a, n):
            o = A([n])
            p = copy.copy(o) if a else copy.deepcopy(o)
            p.x.append(1)
            return o, p
        """,
    "aliasing_under_guards": """
        def main(a, b):
            x, y = [], []
            z = x if a else y
            z.append(1)
            if b:
                x = z
            x.append(2)
            return x, y, z, x is z
        """,
    "objects_as_keys_and_identity": """
        class A:
            pass
        class H:
            def __init__(self, v):
                self.v = v
            def __eq__(self, o):
                return self.v == o.v
            def __hash__(self):
                return hash(self.v)
        def main(n):
            p, q = A(), A()
            d = {p: 1}
            d[q] = 2
            return d[p], d.get(q), p == q, p in [q], p is not q
        """,
    "equal_objects_with_their_own_hash": """
        class H:
            def __init__(self, v):
                self.v = v
            def __eq__(self, o):
                return self.v == o.v
            def __hash__(self):
                return self.v
        class E:
            def __eq__(self, o):
                return True
        def main(n):
            d = {H(1): "one"}
            try:
                hash_less = {E(): 1}
            except TypeError:
                hash_less = "type"
            return d.get(H(n)), H(n) in d, hash_less
        """,
    "del_of_names_and_attributes": """
        class A:
            v = 1
        def main(a):
            x = A()
            x.v = 2
            if a:
                del x.v
            y = 3
            if not a:
                del y
            try:
                return x.v, y
            except UnboundLocalError:
                return x.v, "unbound"
        """,
    "del_of_what_is_not_there": """
        class A:
            pass
        def main(n):
            d, xs, o = {}, [1], A()
            try:
                if n == 0:
                    del d["x"]
                elif n == 1:
                    del xs[3]
                elif n == 2:
                    del o.x
                else:
                    del q
            except (KeyError, IndexError, AttributeError, NameError) as e:
                return type(e).__name__
        """,
    "module_state": """
        A = 1
        B = A + 1
        A = 10
        XS = [A]
        XS.append(B)
        for k in ("p", "q"):
            XS.append(k)
        def main(n):
            first = B
            return A, first, XS, k
        """,
    "module_names_rebound_after_use": """
        def kind():
            return NAME
        NAME = "first"
        TAKEN = kind()
        NAME = "second"
        def main(a):
            if a:
                x = NAME
            return TAKEN, NAME
        """,
    "nested_data_under_guards": """
        def main(a, b, n):
            d = {"l": [1, {"m": n}]}
            if a:
                d["l"][1]["m"] += 1
            if b:
                d["l"] = d["l"] + [d["l"][0]]
            d["l"][0] = (n, a)
            return d
        """,
    "lambda_and_map_filter": """
        def main(a, n):
            f = (lambda x: x + n) if a else (lambda x, y=2: x * y)
            return list(map(f, [1, 2])), list(filter(lambda x: x != n, [1, 2, 3])), list(filter(None, [0, n, ""]))
        """,
    "subscripts_of_objects": """
        class Box:
            def __init__(self):
                self.d = {}
            def __getitem__(self, k):
                return self.d[k]
            def __setitem__(self, k, v):
                self.d[k] = v
            def __delitem__(self, k):
                del self.d[k]
            def __contains__(self, k):
                return k in self.d
            def __iter__(self):
                return iter(self.d)
            def __len__(self):
                return len(self.d)
            def __call__(self, *args):
                return args
        def main(a, s):
            b = Box()
            b[s] = 1
            b["k"] = 2
            if a:
                del b["k"]
            try:
                got = b["k"]
            except KeyError:
                got = "no"
            return got, s in b, list(b), len(b), b(1, 2), bool(b), [x for x in b]
        """,
    "a_generator_method_as_iter": """
        class Tree:
            def __init__(self, *kids):
                self.kids = kids
            def __iter__(self):
                yield self
                for k in self.kids:
                    yield from k
        def main(n):
            t = Tree(Tree(), Tree(Tree()))
            count = 0
            for x in t:
                count += 1
                if count > n:
                    break
            return count, len(list(t))
        """,
    "subclasses_of_builtins": """
        class D(dict):
            def __missing__(self, key):
                return key * 2
        class L(list):
            def first(self):
                return self[0]
        class S(str):
            def shout(self):
                return self.upper() + "!"
        def main(n):
            d = D(a=1)
            d["b"] = n
            xs = L([n, 2])
            xs.append(3)
            return d["b"], d["q"], len(d), xs.first(), len(xs), list(xs), S("x").shout(), isinstance(d, dict), S("x") == "x"
        """,
    "default_dict_and_counter": """
        from collections import defaultdict, OrderedDict
        def main(a, n):
            d = defaultdict(list)
            d["x"].append(n)
            if a:
                d["y"]
            o = OrderedDict(p=1)
            return dict(d), len(d), d.get("z"), o, "y" in d
        """,
    "text_of_objects": """
        class A:
            def __str__(self):
                return "str"
            def __repr__(self):
                return "repr"
        class B(A):
            def __str__(self):
                return "b"
        def main(a):
            o = A() if a else B()
            return str(o), repr(o), f"{o} {o!r}", "%s %r" % (o, o), "{}".format(o), str([o]), str(A), f"{(o,)}"
        """,
    "while_over_a_shrinking_list": """
        def main(a, n):
            xs = [1, 2, 3]
            if a:
                xs.append(n)
            out = []
            while xs:
                x = xs.pop()
                if x == n:
                    continue
                out.append(x)
            return out
        """,
    "a_raise_inside_truth": """
        class T:
            def __init__(self, v):
                self.v = v
            def __bool__(self):
                if self.v == 1:
                    raise ValueError("no truth")
                return self.v > 1
        def main(n, a):
            x = T(n) if a else T(1)
            try:
                if x:
                    return "yes"
                return "no"
            except ValueError:
                return "raised"
        """,
    "a_raise_inside_equality": """
        class T:
            def __init__(self, v):
                self.v = v
            def __eq__(self, o):
                if self.v == 1:
                    raise ValueError("no")
                return self.v == o
        def main(n, a):
            x = T(n) if a else n
            try:
                return x == 2, x in [2, 3]
            except ValueError:
                return "raised"
        """,
    "descriptors": """
        class Field:
            def __init__(self, default):
                self.default = default
            def __set_name__(self, owner, name):
                self.name = "_" + name
            def __get__(self, obj, owner=None):
                if obj is None:
                    return self
                return getattr(obj, self.name, self.default)
            def __set__(self, obj, value):
                setattr(obj, self.name, value + 1)
        class A:
            x = Field(7)
        def main(a, n):
            o = A()
            if a:
                o.x = n
            return o.x, sorted(vars(o))
        """,
    "cached_property": """
        from functools import cached_property
        log = []
        class A:
            @cached_property
            def v(self):
                log.append(1)
                return [len(log)]
        def main(a):
            o = A()
            if a:
                o.v.append(9)
            return o.v, o.v is o.v, log, sorted(vars(o))
        """,
    "total_ordering": """
        from functools import total_ordering
        @total_ordering
        class V:
            def __init__(self, n):
                self.n = n
            def __eq__(self, o):
                return self.n == o.n
            def __lt__(self, o):
                return self.n < o.n
        def main(n):
            return V(n) <= V(1), V(n) > V(1), V(n) >= V(2), V(n) == V(1)
        """,
    "reduce_and_itertools": """
        import functools, itertools, operator
        def main(n):
            return (functools.reduce(lambda x, y: x + y, [1, n], 10), list(itertools.chain([1], (n,))),
                    list(itertools.product([1, n], "a")), operator.itemgetter(0)([n]), operator.attrgetter("real")(n))
        """,
    "math_functions": """
        import math
        def main(n):
            return math.ceil(n / 2), math.floor(-n / 2), math.gcd(n, 4), math.prod([n, 2]), math.inf > n, math.log2(n + 1)
        """,
    "a_namespace_of_plain_names": """
        import types
        def main(a, n):
            held = types.SimpleNamespace(a=a, n=[n])
            held.c = held.n[0]
            return held.a, held.c, hasattr(held, "d"), getattr(held, "d", 1)
        """,
    "regular_expressions": """
        import re
        def main(s):
            if s is None:
                return None
            m = re.match(r"([a-z]+)(\\d*)", s)
            return (m.group(1), m.groups()) if m else "no", re.sub("a", "b", s), bool(re.fullmatch("fp.", s))
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_python(name: str) -> None:
    text = dedent(PROGRAMS[name])
    found = re.search(r"^def main\((.*)\):", text, re.M)
    assert found is not None
    given: dict[str, Any] = {name: UNKNOWNS[name] for name in found[1].split(", ") if name}
    answer = check(text, given)
    assert not answer.widened
