"""Record what a real engine holds: `python tests/engine/record.py ENGINE_PYTHON OUT.json [QUESTION,...]`

The questions are those of torch.cpu that are answered "no", as on a machine without the feature.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from serving import checkpoints, observed
from variants import VARIANTS


def main(python: str, out: str, hidden: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        checkpoints(Path(python), base, sorted({v.checkpoint for v in VARIANTS.values()}))
        found = {}
        for name, variant in VARIANTS.items():
            scratch = base / f"run-{name}"
            scratch.mkdir()
            found[name] = observed(
                Path(python), base / variant.checkpoint, variant.arguments, scratch, hidden
            )
            print(name, json.dumps(found[name])[:300], flush=True)
            if "refused" in found[name]:
                Path(f"{out}.{name}.log").write_text((scratch / "engine.log").read_text())
    Path(out).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
