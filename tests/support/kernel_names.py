"""Names of kernels as recorders printed them: the tables of tests/data/kernel_names."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

DATA = Path(__file__).parent.parent / "data" / "kernel_names"


def _table(name: str) -> list[dict[str, str]]:
    text = gzip.decompress((DATA / f"{name}.tsv.gz").read_bytes()).decode()
    return list(csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE))


ENGINE = _table("engine")
OTHERS = _table("others")
WHEELS = _table("wheels")
RECORDED = sorted({row["name"] for row in (*ENGINE, *OTHERS)})
