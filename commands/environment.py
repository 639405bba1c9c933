"""Environment variables as a report may show them: a value may be a secret, a name, a path or an address."""

from __future__ import annotations

import re

SHOWN = re.compile(r"(VLLM|CUDA)_\w+")
"""Names whose values are shown."""
HIDDEN = re.compile(
    r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH"
    r"|HOST|ADDR|URL|PATH|ENDPOINT"
    r"|(?<![^_])(IPS?|URIS?|MASTER|NODES?|SERVERS?|USER|HOME|ROOT|DIRS?|DIRECTORY|FOLDERS?|FILES?)(?![^_])",
    re.I,
)
"""Words in a name that keep its value hidden all the same: secrets, places in a network, places on a disk."""
HARMLESS = re.compile(r"-?\w*|[\w,=+]+|[a-zA-Z_]+(-[a-zA-Z_]+)+|\d+\.\d+")
"""Values that can be no path, no host and no address."""


def shown(setting: str) -> str:
    """`NAME=VALUE` where the value may be shown, else `NAME=(hidden)`."""
    name, _, value = setting.partition("=")
    visible = SHOWN.fullmatch(name) and not HIDDEN.search(name) and HARMLESS.fullmatch(value)
    return setting if visible or value == "?" else f"{name}=(hidden)"
