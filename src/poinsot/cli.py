"""The command `poinsot`."""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import poinsot
from poinsot.spatial import quaternion
from poinsot.t_handle import FreeSpin, spin, t_handle


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is 0 if all went well, 2 for bad input."""
    parser = argparse.ArgumentParser(
        prog="poinsot", description="Rigid-body dynamics as the text books write it.", epilog="example: poinsot run"
    )
    parser.add_argument("--version", action="version", version=f"poinsot {poinsot.__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("run", help="simulate the flipping T-handle and show what was conserved")
    parser.parse_args(arguments)
    return run()


def run() -> int:
    """Spin the T-handle for a minute, 60,000 steps of 1 ms."""
    body = t_handle()
    moments, axes = body.principal()
    omega = axes @ np.array([1e-3, 6.0, 1e-3])
    print(f"A T-handle of {1e3 * body.mass:.1f} g, principal moments {_list(1e7 * moments, '.0f')} g cm^2,")
    print(f"spun at {np.linalg.norm(omega):.1f} rad/s about its middle axis, almost: 60 s in steps of 1 ms.\n")
    motion = spin(body, omega, duration=60.0, step=1e-3, every=20)
    _picture(motion)
    flips = motion.flips()
    print(f"\nIt flipped {len(flips)} times, every {np.diff(flips).mean():.3f} s.\n")
    _ledger(motion)
    return 0


def _picture(motion: FreeSpin, width: int = 72, height: int = 9) -> None:
    """The spin about the middle axis over time, drawn with characters."""
    spin_rate = motion.angular_velocity[:, motion.spin_axis]
    at = np.linspace(0, len(spin_rate) - 1, width).astype(int)
    rows = np.rint((1 - spin_rate[at] / np.abs(spin_rate).max()) / 2 * (height - 1)).astype(int)
    plain = (sys.stdout.encoding or "ascii").lower() not in ("utf-8", "utf8")
    for row in range(height):
        label = {0: f"{spin_rate.max():+.1f}", height - 1: f"{spin_rate.min():+.1f}"}.get(row, "")
        line = "".join(("*" if plain else "●") if r == row else ("-" if row == height // 2 else " ") for r in rows)
        print(f"{label:>5} {line.rstrip()}")
    print(f"{'rad/s':>5} 0 s{motion.time[-1]:>{width - 5}.0f} s")


def _ledger(motion: FreeSpin) -> None:
    """What was conserved, to how many digits."""
    q, L, T = motion.orientation, motion.momentum, motion.energy
    L_again = quaternion.rotate(q, motion.angular_velocity @ motion.inertia.moment)
    rows = (
        ("energy", "J", T[0], T[-1], np.abs(T / T[0] - 1).max()),
        (
            "angular momentum",
            "kg m^2/s",
            np.linalg.norm(L),
            np.linalg.norm(L_again[-1]),
            np.linalg.norm(L_again - L, axis=1).max() / np.linalg.norm(L),
        ),
        ("|q|", "", 1.0, np.linalg.norm(q[-1]), np.abs(np.linalg.norm(q, axis=1) - 1).max()),
    )
    print(f"{'conserved':<18}{'start':>24}{'end':>24}   {'worst change':>12}")
    for name, unit, start, end, change in rows:
        print(f"{name:<18}{start:>16.9e} {unit:<8}{end:>16.9e} {unit:<8}{change:>12.1e}")


def _list(values: np.ndarray, form: str) -> str:
    return ", ".join(format(v, form) for v in values)


if __name__ == "__main__":
    sys.exit(main())
