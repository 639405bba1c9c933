"""pip's configuration is read as pip itself reads it."""

from __future__ import annotations

import ensurepip
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pinning import refused

from qtrace.report.errors import UsageError
from qtrace.tracer.pins import pip_settings
from qtrace.tracer.pins.pip_settings import settings

FILES = {
    "machine": "[global]\nindex-url = https://m.example\ntrusted-host = a.example\n  b.example:8080\n",
    "old": "[global]\nindex-url = https://old.example/simple\ntimeout = 7\n",
    "user": "[global]\nindex_url = https://user.example\n[install]\nfind-links =\n    /one\n    /two\n",
    "install": "[install]\nindex-url = https://install.example/simple\n[list]\nindex-url = https://list.example\n",
    "named": "[global]\nindex-url = https://named.example\nextra-index-url = https://x https://y\n",
    "empty": "[global]\nindex-url =\ncert =\n",
}
PLACES = {
    "machine": "xdg/pip/pip.conf",
    "old": "home/.pip/pip.conf",
    "user": "home/.config/pip/pip.conf",
    "install": "home/.config/pip/pip.conf",
    "empty": "home/.config/pip/pip.conf",
    "named": "named.conf",
}


def laid_out(root: Path, *names: str) -> dict[str, str]:
    """A user with these files, as environment variables."""
    for name in names:
        path = root / PLACES[name]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FILES[name])
    env = {k: v for k, v in os.environ.items() if not k.startswith("PIP_")}
    env |= {"HOME": str(root / "home"), "XDG_CONFIG_DIRS": str(root / "xdg")}
    return env | ({"PIP_CONFIG_FILE": str(root / "named.conf")} if "named" in names else {})


def pip_says(env: dict[str, str]) -> dict[str, str]:
    """What pip takes each option of `pip install` to be."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    rows = re.findall(r"^(global|install|:env:)\.([\w-]+)='(.*)'$", done.stdout, re.M)
    ordered = sorted(rows, key=lambda row: ("global", "install", ":env:").index(row[0]))
    return {name: value.encode().decode("unicode_escape") for _, name, value in ordered if value}


@pytest.mark.parametrize(
    ("files", "variables"),
    [
        (("machine", "old", "user"), {}),
        (("machine", "old"), {"PIP_INDEX_URL": "https://variable.example", "PIP_NO_INDEX": "0"}),
        (("machine", "install", "named"), {"PIP_EXTRA_INDEX_URL": "", "PIP_CERT": "/c.pem"}),
        (("machine", "empty", "named"), {}),
    ],
    ids=["user", "variable", "section", "named"],
)
def test_every_option_is_what_pip_takes_it_to_be(
    tmp_path: Path, files: tuple[str, ...], variables: dict[str, str]
) -> None:
    env = laid_out(tmp_path, *files) | variables
    said = pip_says(env)
    found = settings(env)
    assert found.index_urls[0] == said["index-url"]
    assert found.index_urls[1:] == tuple(said.get("extra-index-url", "").split())
    assert found.find_links == tuple(said.get("find-links", "").split())
    assert found.trusted == tuple(said.get("trusted-host", "").split())
    assert found.timeout == float(said.get("timeout", 15))
    assert found.cert == (said.get("cert") or env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE"))


def test_the_null_device_means_no_file(tmp_path: Path) -> None:
    env = laid_out(tmp_path, "machine", "user") | {"PIP_CONFIG_FILE": os.devnull}
    assert settings(env).find_links == ()
    assert settings(env).index_urls == (pip_settings.pip_default(),)


def test_an_environment_without_pip_asks_the_one_that_comes_with_python(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bundled = list((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
    own = pip_settings.pip_default()
    monkeypatch.setitem(sys.modules, "pip._internal.models.index", None)
    assert pip_settings.pip_default() == (own if bundled else None)


def test_no_index_leaves_no_index(tmp_path: Path) -> None:
    env = laid_out(tmp_path, "machine") | {"PIP_NO_INDEX": "true", "PIP_FIND_LINKS": "/a /b"}
    assert (settings(env).index_urls, settings(env).find_links) == ((), ("/a", "/b"))


def test_a_file_that_is_broken_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "pip.conf"
    for text in (b"index-url = x\n", b"[global\n", b"\xff\xfe"):
        broken.write_bytes(text)
        with pytest.raises(UsageError, match="pip's configuration cannot be read"):
            settings({"PIP_CONFIG_FILE": str(broken)})
    monkeypatch.setenv("PIP_CONFIG_FILE", str(broken))
    assert refused("1.2.0").startswith(f"{broken}: pip's configuration")
