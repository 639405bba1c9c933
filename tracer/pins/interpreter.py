"""Where an interpreter keeps its packages: asked of it without running anything that is installed there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ...report.errors import UsageError
from ..archive import one_line

TIMEOUT = 60
MAX_LINES = 10_000

# `-I -S`: no variables of ours, no start-up files, no `.pth` (whose lines may be programs), no site-packages
# on the path. What `site` would have put there is computed with its own functions, which run nothing.
QUESTION = """
import json, os, site, sys
beside = os.path.dirname(os.path.abspath(sys.executable))
homes = [f for f in (beside, os.path.dirname(beside)) if os.path.isfile(os.path.join(f, "pyvenv.cfg"))]
prefixes, shared = [sys.prefix, sys.exec_prefix], True
if homes:
    text = open(os.path.join(homes[0], "pyvenv.cfg"), encoding="utf-8").read().lower().replace(" ", "")
    shared = "include-system-site-packages=true" in text
    prefixes = homes[:1] + ([sys.base_prefix, sys.base_exec_prefix] if shared else [])
paths = ([site.getusersitepackages()] if shared else []) + site.getsitepackages(prefixes)
print(json.dumps(list(dict.fromkeys(paths))))
"""


def search_path(python: str | None) -> list[str]:
    """The folders in which an interpreter finds packages; of this one where none is named."""
    if python is None:
        return [path for path in sys.path if path]
    folders = _asked(python)
    return [*folders, *(path for folder in folders for path in _pth(Path(folder)))]


def _asked(python: str) -> list[str]:
    shown = one_line(python, 200)
    found = shutil.which(python)
    if found is None:
        raise UsageError(f"--python {shown}: there is no such program")
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    command = [os.path.abspath(found), "-I", "-S", "-c", QUESTION]  # noqa: PTH100 - a link stays what it is
    try:
        done = subprocess.run(
            command,
            env=env,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT,
            check=True,
        )
        folders = json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise UsageError(f"--python {shown}: gave no answer in {TIMEOUT} seconds") from None
    except (OSError, subprocess.CalledProcessError, ValueError) as problem:
        raise UsageError(f"--python {shown}: is no Python that can be asked ({_why(problem)})") from None
    if not isinstance(folders, list) or not all(isinstance(folder, str) for folder in folders):
        raise UsageError(f"--python {shown}: is no Python that can be asked")
    return folders


def _why(problem: Exception) -> str:
    if isinstance(problem, subprocess.CalledProcessError):
        return f"exit code {problem.returncode}"
    return one_line(getattr(problem, "strerror", None) or "no answer")


def _pth(folder: Path) -> Iterator[str]:
    """Folders that `.pth` files name; lines that are programs are left alone."""
    try:
        files = sorted(folder.glob("*.pth"))
        lines = [
            line for file in files for line in file.read_text("utf-8", "replace").splitlines()[:MAX_LINES]
        ]
    except OSError:
        return
    for line in lines:
        path = folder / line.strip()
        if (
            line.strip()
            and not line.startswith(("#", "import ", "import\t"))
            and "\0" not in line
            and path.is_dir()
        ):
            yield str(path)
