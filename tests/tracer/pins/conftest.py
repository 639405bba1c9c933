"""A user who has nothing: an own home, an own cache, no configuration of pip, no proxy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from indexes import Index, serving


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("PIP_", "GIT_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("QTRACE_CACHE", str(tmp_path / "cache"))
    for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Index]:
    """The index that pip is configured for."""
    with serving() as server:
        monkeypatch.setenv("PIP_INDEX_URL", f"{server.url}/simple")
        yield server
