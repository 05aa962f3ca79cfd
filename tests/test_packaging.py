"""`pip install` of the wheel is enough: it is built here, and used in an environment of its own."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

import chatkit

ROOT = Path(__file__).parents[1]
GUIDED = sorted(file.name for file in (ROOT / "notebooks").glob("*.ipynb"))


def run(*command: str | Path, **options: object) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=100, **options
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built without a network by what is installed."""
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (made,) = folder.glob("*.whl")
    return made


def test_the_wheel_holds_the_package_and_the_guided_notebooks(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert wheel.name == f"chatkit-{chatkit.__version__}-py3-none-any.whl"
    assert {name.partition("/")[0] for name in names} == {
        "chatkit",
        f"chatkit-{chatkit.__version__}.dist-info",
        f"chatkit-{chatkit.__version__}.data",
    }
    held = [name.removeprefix("chatkit/") for name in names if name.startswith("chatkit/note")]
    assert sorted(n for n in held if n.endswith(".ipynb")) == [f"notebooks/{n}" for n in GUIDED]
    package = ROOT / "chatkit"
    code = {str(file.relative_to(ROOT)) for file in package.rglob("*.py")}
    static = {str(f.relative_to(ROOT)) for f in (package / "widgets/static").rglob("*.*")}
    assert code | static <= set(names)
    extension = f"chatkit-{chatkit.__version__}.data/data/share/jupyter/labextensions/chatkit/"
    assert sorted(n.removeprefix(extension) for n in names if n.startswith(extension)) == [
        "package.json",
        "static/saved.js",
    ]
    assert not any("chatkit/widgets/labextension" in name for name in names)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX")
def test_what_was_installed_from_the_wheel_opens_the_notebooks_and_the_sandbox(
    wheel: Path, tmp_path: Path
) -> None:
    place = tmp_path / "environment"
    venv.create(place, with_pip=False)
    python, command = place / "bin" / "python", place / "bin" / "chatkit"
    run(
        *(sys.executable, "-m", "pip", "--python", python, "install", "--no-deps", "--no-index"),
        *("--no-compile", "--disable-pip-version-check", wheel),
    )
    extension = place / "share/jupyter/labextensions/chatkit"
    described = json.loads((extension / "package.json").read_text("utf-8"))
    assert (extension / described["jupyterlab"]["_build"]["load"]).is_file()
    # What it depends on is here already; only chatkit is not, as its path is not followed.
    libraries = sysconfig.get_path("purelib")
    (installed,) = place.glob("lib/*/site-packages")
    (installed / "libraries.pth").write_text(libraries)
    clean = {"HOME": str(tmp_path), "PATH": f"{place / 'bin'}:/usr/bin:/bin"}

    code = "import chatkit; print(chatkit.__file__, chatkit.__version__); chatkit.connect()"
    first, second = run(python, "-c", code, env=clean, cwd=tmp_path).splitlines()
    assert first == f"{installed / 'chatkit' / '__init__.py'} {chatkit.__version__}"
    assert second.startswith("Connected to the sandbox")
    assert run(command, "--version", env=clean) == f"chatkit {chatkit.__version__}\n"
    message = run(command, "connections", env=clean)
    assert "`chatkit login NAME`" in message

    # `chatkit lab` up to the server, which another test starts.
    stub = tmp_path / "stub" / "jupyterlab"
    stub.mkdir(parents=True)
    (stub / "__init__.py").touch()
    (stub / "labapp.py").write_text("def main(argv): print(*argv, sep=chr(10))")
    env = clean | {"PYTHONPATH": str(stub.parent)}
    for arguments, folder in (([], "chatkit-notebooks"), (["shop/mine"], "shop/mine")):
        message = run(command, "lab", *arguments, env=env, cwd=tmp_path)
        opened = tmp_path / folder
        assert message.startswith(f"The guided notebooks are in {opened}.\n{opened}\n")
        assert "--LabApp.default_url=/lab/tree/0_start.ipynb" in message
        assert sorted(file.name for file in opened.glob("*.ipynb")) == GUIDED
        for file in opened.iterdir():
            if not file.name.startswith("."):
                assert file.read_bytes() == (ROOT / "notebooks" / file.name).read_bytes()
