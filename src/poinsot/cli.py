"""The command `poinsot`."""

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import poinsot
from poinsot import t_handle
from poinsot.integrate.single import Trajectory
from poinsot.spatial import Inertia, quaternion


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
    body = t_handle.t_handle()
    moments, _ = body.principal()
    print(f"A T-handle of {1e3 * body.mass:.1f} g, principal moments {_list(1e7 * moments, '.0f')} g cm^2,")
    print(f"spun at {np.linalg.norm(t_handle.SPIN):.1f} rad/s about its middle axis, almost: 60 s in steps of 1 ms.\n")
    motion = t_handle.spin()
    _picture(motion.time, motion.angular_velocity[:, 0])
    flips = t_handle.flips(motion)
    print(f"\nIt flipped {len(flips)} times, every {np.diff(flips).mean():.3f} s.\n")
    _ledger(body, motion)
    return 0


def _picture(time: np.ndarray, rate: np.ndarray, width: int = 72, height: int = 9) -> None:
    """A spin rate over time, drawn with characters."""
    at = np.linspace(0, len(rate) - 1, width).astype(int)
    rows = np.rint((1 - rate[at] / np.abs(rate).max()) / 2 * (height - 1)).astype(int)
    dot = "●" if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else "*"
    for row in range(height):
        label = {0: f"{rate.max():+.1f}", height - 1: f"{rate.min():+.1f}"}.get(row, "")
        line = "".join(dot if r == row else "-" if row == height // 2 else " " for r in rows)
        print(f"{label:>5} {line}".rstrip())
    print(f"{'rad/s':>5} 0 s{time[-1]:>{width - 5}.0f} s")


def _ledger(body: Inertia, motion: Trajectory) -> None:
    """What was conserved, to how many digits."""
    q, omega = motion.orientation, motion.angular_velocity
    L = quaternion.rotate(q, omega @ body.moment)
    size = np.linalg.norm(L[0])
    T = 0.5 * np.sum(omega * (omega @ body.moment), axis=-1)
    length = np.linalg.norm(q, axis=1)
    rows = (
        ("energy", "J", T[0], T[-1], np.abs(T / T[0] - 1)),
        ("angular momentum", "kg m^2/s", size, np.linalg.norm(L[-1]), np.linalg.norm(L - L[0], axis=1) / size),
        ("|q|", "", length[0], length[-1], np.abs(length - 1)),
    )
    print(f"{'conserved':<18}{'start':>24}{'end':>24}   {'worst change':>12}")
    for name, unit, start, end, change in rows:
        print(f"{name:<18}{start:>16.9e} {unit:<8}{end:>16.9e} {unit:<8}{change.max():>12.1e}")


def _list(values: np.ndarray, form: str) -> str:
    return ", ".join(format(v, form) for v in values)


if __name__ == "__main__":
    sys.exit(main())
