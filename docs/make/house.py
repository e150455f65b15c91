"""Draw the house: the rooms of the source as a picture, docs/pictures/house.svg. An import only ever points upwards."""

from pathlib import Path

FLOORS = (
    ("the algebra", (("spatial", "rotations, poses, twists, inertia"), ("particles", "points and springs"))),
    (
        "the mechanics",
        (("body", "one rigid body, four formulations"), ("mechanism", "joints, trees; form/: what makes it fast")),
    ),
    (
        "what acts",
        (
            ("parts", "forces, springs, rotors, tanks, beams"),
            ("environment", "gravity, ground"),
            ("control", "laws, sensors, noise"),
        ),
    ),
    ("in time", (("integrate", "time-stepping schemes"), ("world", "bodies and parts: one state function"))),
    ("a run", (("run", "simulate, record, ledger"), ("study", "sweeps, sensitivities, linear models"))),
    (
        "for people",
        (
            ("files", "scenarios, robots, results"),
            ("show", "plots, viewer"),
            ("learn", "environments, bridges"),
            ("cli", "the command"),
        ),
    ),
)
ATTIC = (
    ("trace", "NumPy code on traced arrays"),
    ("graph", "scalar SSA graph, simplified"),
    ("derive", "forward and reverse"),
    ("math, plan", "sin, exp; registers"),
    ("llvm | cuda", "code for CPU and GPU"),
    ("kernels", "a NumPy ufunc"),
)
WIDTH, ROOF, FLOOR, MARGIN = 1000, 246, 74, 30
INK, PAPER, TINTS = "#22313f", "#ffffff", ("#e8f0f7", "#eef5ec", "#fdf3e1", "#f7ecec", "#efedf7", "#eaf4f4")
FONT = "font-family='Helvetica, Arial, sans-serif'"


def text(x: float, y: float, words: str, size: int, style: str = "", anchor: str = "middle") -> str:
    place = f"x='{x:.0f}' y='{y:.0f}' font-size='{size}' text-anchor='{anchor}'"
    return f"<text {place} fill='{INK}' {FONT} {style}>{words}</text>"


def room(x: float, y: float, width: float, height: float, name: str, words: str, tint: str) -> list[str]:
    place = f"x='{x:.0f}' y='{y:.0f}' width='{width:.0f}' height='{height:.0f}'"
    return [
        f"<rect {place} rx='5' fill='{tint}' stroke='{INK}'/>",
        text(x + width / 2, y + height / 2 - 4, name, 17, "font-weight='bold'"),
        text(x + width / 2, y + height / 2 + 17, words, 12),
    ]


def drawing() -> str:
    height = ROOF + FLOOR * len(FLOORS) + 2 * MARGIN
    left, right = MARGIN + 110, WIDTH - MARGIN
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' width='{WIDTH}' height='{height}'>",
        f"<rect width='{WIDTH}' height='{height}' fill='{PAPER}'/>",
        f"<path d='M {left - 24} {ROOF} L {left + 50} {MARGIN} L {right - 50} {MARGIN} L {right + 24} {ROOF} Z' "
        f"fill='#dfe8f1' stroke='{INK}' stroke-width='2'/>",
        text((left + right) / 2, 62, "fuse", 24, "font-weight='bold'"),
        text((left + right) / 2, 84, "the compiler: knows NumPy and machines, knows no physics", 13),
    ]
    for row, (y, inset) in enumerate(((100, 40), (172, 14))):
        chosen = ATTIC[row * 3 : row * 3 + 3]
        each = (right - left - 2 * inset) / len(chosen)
        for k, (name, words) in enumerate(chosen):
            parts += room(left + inset + k * each + 4, y, each - 8, 62, name, words, PAPER)
    for k, (title, rooms) in enumerate(FLOORS):
        y = ROOF + k * FLOOR
        parts.append(f"<rect x='{left}' y='{y}' width='{right - left}' height='{FLOOR}' fill='none' stroke='{INK}'/>")
        parts.append(text(left - 34, y + FLOOR / 2 + 4, title, 13, "font-style='italic'", "end"))
        each = (right - left) / len(rooms)
        for j, (name, words) in enumerate(rooms):
            parts += room(left + j * each + 6, y + 8, each - 12, FLOOR - 16, name, words, TINTS[k % len(TINTS)])
    bottom = ROOF + FLOOR * len(FLOORS)
    x = left - 14
    parts += [
        f"<path d='M {x} {bottom} L {x} {ROOF + 14}' stroke='{INK}' stroke-width='2'/>",
        f"<path d='M {x - 6} {ROOF + 22} L {x} {ROOF + 8} L {x + 6} {ROOF + 22} Z' fill='{INK}'/>",
        text((left + right) / 2, bottom + 24, "an import only ever points upwards", 13, "font-style='italic'"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "pictures" / "house.svg"
    target.write_text(drawing())
    print(target)
