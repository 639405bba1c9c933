"""What importing a module needs, itself and through others."""

from __future__ import annotations

from qtrace.tracer.imports import Imports
from qtrace.tracer.sources import Held, Source

FILES = {
    "pkg/__init__.py": "import always\n",
    "pkg/a.py": "import json, first as f\nfrom second.sub import (\n    name,\n    other,\n)\n"
    "from . import b\n",
    "pkg/b.py": '"""A text:\nimport nothing\n"""\nfrom .sub.c import thing\nif True:\n    import later\n',
    "pkg/sub/__init__.py": "try:\n    import perhaps\nexcept ImportError:\n    pass\n",
    "pkg/sub/c.py": "def run():\n    import inside\nfrom ..sub import d\nimport third.deep\n",
    "pkg/sub/d.py": "from .. import a  # a circle\n",
}


def outside(module: str) -> set[str]:
    imports = Imports(Source("pkg", Held({path: text.encode() for path, text in FILES.items()})))
    return set(imports.outside(module))


def test_imports_of_every_module_on_the_way_count() -> None:
    assert outside("pkg.a") == {"always", "json", "first", "second", "third"}


def test_imports_under_a_condition_or_in_a_function_or_a_text_do_not() -> None:
    assert outside("pkg.sub") == {"always"}
    assert not outside("pkg.b") & {"nothing", "later", "perhaps", "inside"}


def test_a_module_that_is_not_there_needs_only_what_lies_above_it() -> None:
    assert outside("pkg.none") == {"always"}


def test_what_stands_under_an_if_is_told_apart_with_its_line() -> None:
    imports = Imports(Source("pkg", Held({path: text.encode() for path, text in FILES.items()})))
    (some,) = imports.maybe("pkg.a")
    assert (some.module, some.line, some.needs.outside) == ("pkg.b", 5, frozenset({"later"}))
    assert imports.maybe("pkg.sub") == ()
