"""NVIDIA's `cuobjdump`: where it is, and how it is run on a library that may be hostile."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from ...report.errors import SourceError, UsageError
from ..archive import one_line

DISTRIBUTION = "nvidia-cuda-cuobjdump"
TIMEOUT = 300.0
"""Seconds for one library; the largest one of vLLM takes 3 on one core."""
MAX_EXTRACTED = 16 << 30
"""Bytes that one library may unpack to; vLLM's largest one unpacks to 0.9 GB."""
MAX_MEMORY = 8 << 30
"""Bytes of address space for the program; it maps the library and unpacks modules one by one."""

_NAME = "cuobjdump"
_NOTHING = "does not contain device code"
_LOOK = 0.25
"""Seconds between two looks at what was written."""


class ExtractionError(Exception):
    """The program gave up or was stopped; the text says why: what the library `has` or does."""


def cuobjdump() -> Path:
    """The program: of the distribution in this interpreter's environment, else the one on PATH.

    UsageError says how to install it where there is none.
    """
    found = _distributed() or shutil.which(_NAME)
    if found is None:
        raise UsageError(
            f"no {_NAME} is installed, and GPU code in shared libraries is asked for; "
            "pip install 'qtrace[binary]'"
        )
    return Path(found)


def extract(program: Path, library: Path, folder: Path) -> bool:
    """Write every cubin and every PTX text of a library into an empty folder; False where it has none.

    The library is only read, never loaded. ExtractionError where it cannot be read, unpacks to over
    MAX_EXTRACTED or takes over TIMEOUT; what was written until then stays for the caller to remove.
    """
    said = folder / "said"
    command = [str(program.absolute()), "-xelf", "all", "-xptx", "all", str(library.absolute())]
    with said.open("wb") as output:
        try:
            child = subprocess.Popen(
                command,
                cwd=folder,
                env={"LC_ALL": "C", "TMPDIR": str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_limited,
            )
        except OSError as problem:
            raise SourceError(
                f"{program}: cannot be started ({problem.strerror}); pip install 'qtrace[binary]'"
            ) from None
        try:
            _watch(child, folder)
        finally:
            _end(child)
    words = said.read_bytes()[-4096:].decode("utf-8", "replace")
    said.unlink()
    if child.returncode and _NOTHING in words:
        return False
    if child.returncode:
        raise ExtractionError(f"has GPU code that {_NAME} cannot read ({_why(words, child.returncode)})")
    return True


def _distributed() -> Path | None:
    with suppress(metadata.PackageNotFoundError):
        for file in metadata.files(DISTRIBUTION) or ():
            path = Path(os.fspath(file.locate()))
            if file.name == _NAME and os.access(path, os.X_OK):
                return path
    return None


def _watch(child: subprocess.Popen[bytes], folder: Path) -> None:
    """Wait for the end, and look from time to time at how much was written."""
    end = time.monotonic() + TIMEOUT
    while True:
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(_LOOK, max(0.0, end - time.monotonic())))
        if _size(folder) > MAX_EXTRACTED:
            raise ExtractionError(f"unpacks to over {MAX_EXTRACTED:,} bytes of GPU code")
        if child.returncode is not None:
            return
        if time.monotonic() >= end:
            raise ExtractionError(f"keeps {_NAME} busy for over {TIMEOUT:g} seconds")


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the program with all that it started."""
    if child.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def _size(folder: Path) -> int:
    with os.scandir(folder) as entries:
        return sum(_length(entry) for entry in entries)


def _length(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat(follow_symlinks=False).st_size
    except FileNotFoundError:
        return 0  # a temporary file of the program's own


def _limited() -> None:
    """In the child: no memory and no file without end."""
    for kind, limit in ((resource.RLIMIT_AS, MAX_MEMORY), (resource.RLIMIT_FSIZE, MAX_EXTRACTED)):
        _, hard = resource.getrlimit(kind)
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (limit, hard))


def _why(words: str, code: int) -> str:
    """The last line that the program said, without the name that the file has with us."""
    lines = [line for line in words.splitlines() if line.startswith(_NAME)]
    if not lines:
        return f"exit code {code}"
    return one_line(lines[-1].partition(":")[2].partition(" in '/")[0].strip())
