"""DeepGEMM's source at the commits that two releases of vLLM take, as a checkout."""

from __future__ import annotations

import tarfile
from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "deepgemm"
OLD, NEW = (
    "891d57b4db1071624b5c8fa0d1e51cb317fa709f",
    "a6b593d2826719dcf4892609af7b84ee23aaf32a",
)
"""That of 0.24.0, without kernels for compute capability 12.x, and that of 0.26.0, with them."""


def checkout(folder: Path, commit: str) -> Path:
    """The files of a commit below a folder, with the file of git that says which is checked out."""
    with tarfile.open(DATA / f"{commit}.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    (folder / ".git").mkdir()
    (folder / ".git" / "HEAD").write_text(f"{commit}\n")
    return folder
