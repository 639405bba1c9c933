"""`qtrace static` as people run it: a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).parent.parent.parent / "docs" / "examples" / "llama-3.1-8b-fp8"


def qtrace(*args: str, seed: str = "0") -> subprocess.CompletedProcess[str]:
    """Run from another folder, so that the checkout's own folders are on no path."""
    env = {**os.environ, "PYTHONHASHSEED": seed, "COLUMNS": "100"}
    command = [sys.executable, "-P", "-m", "qtrace", "static", *args]
    return subprocess.run(command, capture_output=True, text=True, env=env, cwd="/", check=False)
