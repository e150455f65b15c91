"""Make docs/pictures/view-robots.png: robots of the package example-robot-data with their looks."""

import tempfile
import warnings
from importlib import metadata
from pathlib import Path

import poinsot as pt

PICTURES = Path(__file__).parents[1] / "pictures"
SIZE = (320, 214)
ROBOTS = (
    "talos_data/robots/talos_reduced.urdf", "panda_description/urdf/panda.urdf", "romeo_description/urdf/romeo.urdf",
    "anymal_b_simple_description/robots/anymal.urdf", "tiago_description/robots/tiago.urdf",
    "ur_description/urdf/ur5_robot.urdf", "hyq_description/robots/hyq_no_sensors.urdf",
    "so_arm_description/urdf/so100.urdf",
)  # fmt: skip


def main() -> None:
    from PIL import Image

    some = next(f for f in metadata.files("example-robot-data") or [] if f.name == "panda.urdf")
    folder = Path(str(some.locate())).resolve().parents[2]
    sheet = Image.new("RGB", (4 * SIZE[0], 2 * SIZE[1]))
    with tempfile.TemporaryDirectory() as place:
        for k, name in enumerate(ROBOTS):
            world = pt.World(gravity=(0, 0, -1e-9))  # it stands still
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                world.add_mechanism(pt.load_urdf(folder / name, mimic=False), prefix="the_")
            run = world.simulate(1e-3, 1e-3, ledger=False)
            path = Path(place) / "robot.png"
            run.snapshot(path, camera={"direction": (1.0, -1.2, 0.45)}, show=("bodies", "ground"), size=SIZE)
            with Image.open(path) as picture:
                sheet.paste(picture.convert("RGB"), (SIZE[0] * (k % 4), SIZE[1] * (k // 4)))
            print(name, flush=True)
    path = PICTURES / "view-robots.png"
    sheet.quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
