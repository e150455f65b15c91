"""Make the pictures of docs/gallery.md: python docs/make/gallery.py [NAME ...]"""

import sys
import warnings
from pathlib import Path

import poinsot as pt

DOCS = Path(__file__).parents[1]
EXAMPLES = DOCS.parent / "examples"
SIZE = (512, 320)
COLOURS = 220  # of a picture: it stays below 60 kB
# The time [s] of each picture.
TIMES = {
    "attitude-control": 62.0, "breaking-wing": 0.5, "double-pendulum": 3.0, "fighter": 8.5, "figure-eight": 2.0,
    "flexible-aircraft": 4.6, "fuel-transfer": 20.0, "glider": 6.7, "gravity-gradient": 700.0, "heavy-top": 1.5,
    "model-rocket": 16.0, "propeller-plane": 1.6, "reaction-wheel": 10.0, "robot-arm": 2.5, "rocket": 2.0,
    "rolling-disc": 4.0, "satellite": 600.0,
    "spinning-book": 4.0, "t-handle": 9.0, "trampoline": 1.2, "tumbling-box": 0.8,
    "circuit": 12.0, "dominoes": 0.35, "gripper": 1.9, "humanoid": 0.95, "marble-run": 1.6, "newtons-cradle": 0.48,
    "quadruped": 0.8, "spinning-coin": 1.0, "stack": 0.8, "straight-line": 1.0, "tippe-top": 1.4,
    "two-stage-rocket": 1.8,
}  # fmt: skip

MORE = {"tumbling-box": "+exposures"}  # what a picture has beside the default layers, as the page says


def main() -> None:
    from PIL import Image

    for name in sys.argv[1:] or TIMES:
        scenario = pt.load_scenario(EXAMPLES / f"{name}.toml")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a wing is meant to break
            run = scenario.run(progress=False)
        path, show = DOCS / "pictures" / f"gallery-{name}.png", scenario.show
        t = min(TIMES[name], float(run.time[-1]))
        camera, layers = show.get("camera"), MORE.get(name, show.get("layers"))
        run.snapshot(path, t, camera, show=layers, surroundings=show.get("surroundings"), size=SIZE)
        with Image.open(path) as picture:
            picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB", flush=True)


if __name__ == "__main__":
    main()
