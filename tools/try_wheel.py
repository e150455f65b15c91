"""Try the wheel as a stranger would: in a new empty environment, outside of the checkout.

    python tools/try_wheel.py dist/poinsot-*.whl [--python python3.12] [--extras view]

It installs the wheel, imports it, runs the doctor, examples and a course, and prints the size of what was installed.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUN, COURSE = "t-handle", "dzhanibekov"
COURSES = "from poinsot.files.course_pages import courses; print(*courses())"
SCRIPTS = "Scripts" if os.name == "nt" else "bin"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--extras", default="view", help="installed after the plain wheel was tried; none with ''")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="poinsot-wheel-") as folder:
        tried(options.wheel.absolute(), options.python, options.extras, Path(folder))


def tried(wheel: Path, python: str, extras: str, folder: Path) -> None:
    """Install the wheel into an environment in this folder, and use it there."""
    subprocess.run([python, "-m", "venv", folder / "env"], check=True)
    own = folder / "env" / SCRIPTS
    packages = Path(
        said(folder, own / "python", "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    empty = size(packages)
    said(folder, own / "python", "-m", "pip", "install", "-q", wheel)
    place = said(folder, own / "python", "-c", "import poinsot; print(poinsot.__version__, poinsot.__file__)").strip()
    assert str(folder) in place, f"not the installed one: {place}"
    report = json.loads(said(folder, own / "poinsot", "doctor", "--no-browser", "--json"))
    assert report["works"], report
    listed = said(folder, own / "poinsot", "examples")
    assert RUN in listed, listed
    said(folder, own / "poinsot", "run", RUN)
    results = sorted(path.name for path in (folder / "results").iterdir())
    assert results == [f"{RUN}.html", f"{RUN}.nc"], results
    said(folder, own / "poinsot", "new", "spin")
    said(folder, own / "poinsot", "check", "spin.toml")
    names = courses(folder, own)
    print(f"{place.split()[0]} works in an empty environment, with {len(names)} courses;", end=" ")
    tell(packages, empty)
    if extras:
        said(folder, own / "python", "-m", "pip", "install", "-q", f"{wheel}[{extras}]")
        if "view" in extras.split(","):
            taken(folder, own, COURSE)
            print(f"The course {COURSE!r} runs;", end=" ")
        print(f"with [{extras}]", end=" ")
        tell(packages, empty)


def tell(packages: Path, empty: int) -> None:
    """The size of what was installed, and of its largest parts."""
    print(f"installed: {(size(packages) - empty) / 1e6:.0f} MB")
    for part, amount in parts(packages):
        print(f"  {amount / 1e6:6.1f} MB  {part}")


def courses(folder: Path, own: Path) -> list[str]:
    """Every course is in the wheel, is listed, and writes a notebook."""
    listed, names = said(folder, own / "poinsot", "course"), said(folder, own / "python", "-c", COURSES).split()
    assert COURSE in names, names
    assert all(name in listed for name in names), listed
    for name in names:
        said(folder, own / "poinsot", "course", name)
    return names


def taken(folder: Path, own: Path, name: str) -> None:
    """The code of a course, as its notebook has it."""
    cells = json.loads((folder / f"{name}.ipynb").read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code, name
    (folder / f"{name}.py").write_text("\n".join(code))
    said(folder, own / "python", f"{name}.py")


def said(folder: Path, *command: object) -> str:
    """What a command prints, run in this folder, without a word of this environment."""
    hidden = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    environment = {key: value for key, value in os.environ.items() if key not in hidden} | {"MPLBACKEND": "Agg"}
    done = subprocess.run([str(part) for part in command], cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


def size(folder: Path) -> int:
    """The bytes of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def parts(packages: Path, least: float = 1e6) -> list[tuple[str, int]]:
    """The packages that take most, with their shared libraries."""
    sizes: dict[str, int] = {}
    for path in packages.iterdir():
        name = path.name.split(".")[0].split("-")[0].lower()
        sizes[name] = sizes.get(name, 0) + (size(path) if path.is_dir() else path.stat().st_size)
    kept = [(name, amount) for name, amount in sizes.items() if amount >= least and name not in ("pip", "setuptools")]
    return sorted(kept, key=lambda pair: -pair[1])


if __name__ == "__main__":
    main()
