"""Make the pictures of docs/examples.md with the command itself, one per scenario in examples/."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


def poinsot(*arguments: str, folder: str) -> None:
    """Run the command; exit code 1 is allowed, as one example exceeds a structural limit."""
    code = subprocess.run([sys.executable, "-m", "poinsot.cli", *arguments], cwd=folder, check=False).returncode
    assert code in (0, 1), arguments


with tempfile.TemporaryDirectory() as folder:
    for path in sorted((ROOT / "examples").glob("*.toml")):
        poinsot("run", str(path), "--quiet", "--plot", "--out", f"{path.stem}.nc", folder=folder)
        shutil.copy(Path(folder, f"{path.stem}.png"), PICTURES / f"example-{path.stem}.png")
    rocket = str(ROOT / "examples" / "rocket.toml")
    poinsot("sweep", rocket, "--quiet", "--out", "sweep.zarr", "--no-plot", folder=folder)
    picture = str(PICTURES / "sweep.png")
    poinsot("plot", "sweep.zarr", "rocket.position.x", "rocket.velocity.z", "--out", picture, folder=folder)
