"""What leaves the terminal interface: a place in an editor, a report in a file."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

from textual.app import App, SuspendNotSupported

from ..report.errors import UsageError
from ..report.model import Report
from ..report.predicate import Site
from .session import Session

PLACES = {
    "code": "-g {path}:{line}",
    "codium": "-g {path}:{line}",
    "subl": "{path}:{line}",
    "hx": "{path}:{line}",
}
"""How editors are told a line, that do not take `+line path`."""


def command(editor: str, path: Path, line: int) -> list[str]:
    """The command line that opens a place."""
    program, *options = shlex.split(editor)
    given = PLACES.get(Path(program).stem, "+{line} {path}").split()
    return [program, *options, *(part.format(path=path, line=line) for part in given)]


def edit(app: App[None], folder: Path, site: Site, text: str, editor: str) -> str | None:
    """Open a copy of a file, which lies in `folder` until the app ends, at a place in an editor; what hinders
    it, if anything does. A copy, for the source may lie in an archive, and is the engine's own where it does
    not.
    """
    try:
        path = folder / Path(site.path).name
        path.unlink(missing_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o444)
        argv = command(editor, path, site.line)
        with app.suspend():
            return _run(argv, editor)
    except SuspendNotSupported:
        return "this terminal cannot be handed to an editor"
    except (OSError, ValueError) as error:
        return f"cannot open the source in {editor}: {error}"


def _run(argv: list[str], editor: str) -> str | None:
    """Nothing may be raised while the app is suspended: it would not come back."""
    try:
        done = subprocess.run(argv, check=False)
    except (OSError, ValueError) as error:
        return f"cannot start {editor}: {error}"
    return f"{editor} ended with {done.returncode}" if done.returncode else None


def export(session: Session, report: Report, name: str) -> Path:
    """Write the report; a relative name is below the folder that qtrace was started in."""
    try:
        path = Path(name).expanduser()
        session.export(report, path)
    except (OSError, RuntimeError, ValueError) as error:
        raise UsageError(f"cannot write {name[:80]}: {error}") from error
    return path
