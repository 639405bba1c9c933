"""What leaves the terminal interface: a place in an editor, a report in a file."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from textual.app import App, SuspendNotSupported

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


def edit(
    app: App[None], session: Session, site: Site | None, env: Mapping[str, str] = os.environ
) -> str | None:
    """Open a copy of the file at a place in $VISUAL or $EDITOR; what hinders it, if anything does.

    A copy, for the source may lie in an archive, and is the engine's own where it does not.
    """
    editor = env.get("VISUAL") or env.get("EDITOR")
    if site is None:
        return "this line has no place in the source"
    if not editor:
        return "no editor is set: export EDITOR=vi, or press y to copy the place"
    text = session.text(site.path)
    if text is None:
        return session.missing()
    with tempfile.TemporaryDirectory(prefix="qtrace-") as folder:
        path = Path(folder) / Path(site.path).name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o444)
        try:
            with app.suspend():
                done = subprocess.run(command(editor, path, site.line), check=False)
        except SuspendNotSupported:
            return "this terminal cannot be handed to an editor"
        except (OSError, ValueError) as error:
            return f"cannot start {editor}: {error}"
    return f"{editor} ended with {done.returncode}" if done.returncode else None


def export(session: Session, report: Report, name: str) -> Path:
    """Write the report; a relative name is below the folder that qtrace was started in."""
    path = Path(name).expanduser()
    session.export(report, path)
    return path
