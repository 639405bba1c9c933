"""Which exceptions a library call may raise, where its documentation says."""

from __future__ import annotations

RAISES: dict[str, tuple[str, ...]] = {
    "os.path.": (),
    "os.access": (),
    "os.getenv": (),
    "os.getpid": (),
    "shutil.which": (),
    "platform.": (),
    "sys.": (),
    "inspect.signature": ("TypeError", "ValueError"),
    "inspect.getsource": ("OSError", "TypeError"),
    "ctypes.CDLL": ("OSError",),
    "importlib.import_module": ("ImportError",),
    "importlib.util.find_spec": ("ImportError", "ValueError"),
    "importlib.metadata.version": ("ImportError",),  # PackageNotFoundError is a ModuleNotFoundError
}
"""By the beginning of the symbol, the longest that fits; a class stands for those below it too."""


def raises(symbol: str) -> tuple[str, ...] | None:
    """Names of the builtin exceptions that a call may raise; None where nobody knows."""
    known = [prefix for prefix in RAISES if symbol.startswith(prefix)]
    return RAISES[max(known, key=len)] if known else None
