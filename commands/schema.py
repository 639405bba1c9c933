"""Print the JSON Schema of a report, made from the types that qtrace itself writes and reads."""

from __future__ import annotations

import argparse
import json

from ..report.exits import Exit


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments."""


def run(args: argparse.Namespace) -> int:
    from ..report.codec import json_schema

    print(json.dumps(json_schema(), indent=2))
    return Exit.OK
