"""Build the wheel from what git knows, in a folder of its own, and check that it holds every source file.

The copy keeps build leftovers of the checkout out of the wheel, and shows that the files in git are enough.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = ("tests/", "benchmarks/", ".ci/")


def listed(*patterns: str) -> list[str]:
    """Files in the checkout that git has or would take."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    out = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in out.splitlines() if (ROOT / name).is_file()]


def build(folder: Path) -> set[str]:
    """Names in the wheel that is built from a copy in `folder`."""
    for name in listed():
        copy = folder / "source" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    subprocess.run([*command, str(folder / "source")], check=True)
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        built = build(Path(folder))
    wanted = {f"qtrace/{name}" for name in listed("*.py", "py.typed") if not name.startswith(LEFT_OUT)}
    wrong = [f"missing: {name}" for name in sorted(wanted - built)]
    wrong += [f"unwanted: {name}" for name in sorted(built - wanted) if name.endswith(".py")]
    print(*(wrong or [f"the wheel holds all {len(wanted)} source files"]), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
