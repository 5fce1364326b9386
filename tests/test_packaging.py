"""The project installs: as a wheel into a fresh environment, and editable for work on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCES = {"xfuse": ROOT / "xfuse", "xfuse_dialects": ROOT / "dialects" / "xfuse_dialects"}
WHERE = "import json, xfuse, xfuse_dialects as d; print(json.dumps([xfuse.__file__, d.__file__]))"
TIME_LIMIT = 120

# Tests of one group share a worker under `--dist loadgroup`, and so build the wheel once.
one_worker = pytest.mark.xdist_group("packaging")


def run(*command: str | Path, cwd: Path) -> str:
    """Standard output of a command that succeeds, run without the caller's PYTHON* settings."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIME_LIMIT,
        check=False,
    )
    assert done.returncode == 0, f"{command} failed\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources: a build leaves files behind, and old ones would get in."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("xfuse", "dialects"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "wheel")
    run(*pip, "--no-index", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist", ".", cwd=source)
    (built,) = (source / "dist").glob("xfuse-*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Python of a fresh environment with the wheel in it; the dependencies are those of the running one."""
    environment = tmp_path_factory.mktemp("installed")
    run(sys.executable, "-m", "venv", "--without-pip", environment, cwd=environment)
    python = environment / "bin" / "python"
    pip = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python, "install")
    run(*pip, "--no-index", "--no-deps", wheel, cwd=environment)
    # A line in a .pth file adds a folder but does not run the .pth files in it: the editable install stays unseen.
    site = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=environment).strip()
    Path(site, "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


@one_worker
def test_wheel_holds_all(wheel: Path) -> None:
    """Every module, recipe file and typing mark is in the wheel, and nothing that is not ours."""
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        extra = [name for name in archive.namelist() if name.endswith("/entry_points.txt")]
        entry_points = archive.read(extra[0]).decode()
    expected = {
        f"{package}/{path.relative_to(folder).as_posix()}"
        for package, folder in SOURCES.items()
        for path in folder.rglob("*")
        if path.suffix in (".py", ".mlir") or path.name == "py.typed"
    }
    assert held == expected
    assert {"xfuse/py.typed", "xfuse_dialects/py.typed"} <= held
    assert any(name.startswith("xfuse/library/") and name.endswith(".mlir") for name in held), "no library/*.mlir"
    assert "[xdsl.universe]" in entry_points


@one_worker
@pytest.mark.parametrize("flags", [(), ("-P",)], ids=["outside the checkout", "-P inside the checkout"])
def test_plain_install_imports(installed: Path, tmp_path: Path, flags: tuple[str, ...]) -> None:
    """A plain install is complete: both packages come from it, together."""
    found = json.loads(run(installed, *flags, "-c", WHERE, cwd=ROOT if flags else tmp_path))
    environment = installed.parents[1]
    assert all(Path(file).is_relative_to(environment) for file in found), found


@one_worker
def test_plain_install_is_a_plugin(installed: Path, tmp_path: Path) -> None:
    """Stock xdsl-opt lists the passes, with nothing but the install to tell it."""
    shown = run(installed, "-c", "from xdsl.tools.xdsl_opt import main; main()", "--help", cwd=tmp_path)
    unwrapped = "".join(shown.split())  # long lists break at hyphens too
    for name in (
        "xfuse-fuse",
        "xfuse-outline",
        "xfuse-decompose",
        "convert-xfuse-to-linalg",
        "xfuse-mlir",
        "xfuse-report",
    ):
        assert name in unwrapped


@pytest.mark.parametrize("folder", [".", "dialects", "tests", "lit_tests", "/"])
def test_editable_install_imports(folder: str) -> None:
    """The editable install serves the checkout's files, whatever the working directory."""
    found = json.loads(run(sys.executable, "-c", WHERE, cwd=ROOT / folder))
    expected = [str(path / "__init__.py") for path in SOURCES.values()]
    assert found == expected, "run `make test`, or `pip install -e .` with this Python"
