"""The picture of docs/learning.md: learning curves of two tasks, and a swing-up by gradients. It takes minutes."""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import poinsot as pt

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "learn"))
try:
    import attitude
    import swing_up
    import trajectory
    from ppo import evaluate
except ImportError as error:
    raise SystemExit(f"{error}. This picture needs torch and gymnasium: pip install 'poinsot[learn,torch]'") from error

BLUE, RED, GREY = "#2b6cb0", "#c05621", "#8d99ae"
plt.rcParams.update({"font.size": 11, "axes.spines.top": False, "axes.spines.right": False})


def draw_curve(axes: plt.Axes, name: str, task, best: float) -> None:
    """The return of episodes while learning, and of fresh ones with what was learnt."""
    agent, curve = task.learn(report=lambda line: None)
    returns = evaluate(task.environment(64), agent)
    print(f"{name}: return {returns.mean():.1f} +- {returns.std():.1f}, worst {returns.min():.1f}, of {best:g}")
    if task is attitude:
        angles = np.degrees(attitude.final_errors(agent))
        print(f"  {angles.mean():.2f} deg from the target at the end, worst {angles.max():.2f} deg")
    axes.plot(curve[:, 0] / 1e6, curve[:, 1], color=BLUE, lw=1.4)
    axes.axhline(returns.mean(), color=RED, lw=1.2, ls="--")
    axes.annotate("64 fresh episodes", (curve[-1, 0] / 1e6, returns.mean()), (0, 5), color=RED, ha="right",
                  textcoords="offset points")  # fmt: skip
    axes.set(xlabel="control periods [million]", ylabel="return of an episode", ylim=(None, best * 1.02))
    axes.set_title(name, loc="left", fontsize=11)
    axes.grid(True, color="#e8ecf1", lw=0.8)


def draw_trajectory(axes: plt.Axes) -> None:
    pushes, seen, losses = trajectory.optimise(report=lambda line: None)
    angle = seen[-1, 2]
    away = np.degrees(np.arccos(np.cos(angle)))
    print(
        f"trajectory: loss {losses[0]:.2f} -> {losses[-1]:.4f} in {len(losses)} gradients, {away:.2f} deg from upright"
    )
    t = trajectory.PERIOD * np.arange(1, len(pushes) + 1)
    axes.plot(t, np.degrees(seen[:, 2]), color=BLUE, lw=1.6)
    axes.plot(t, 5.0 * pushes, color=GREY, lw=1.1)
    upright = 360.0 * round(angle / (2 * np.pi))
    axes.axhline(upright, color=RED, lw=1.0, ls="--")
    axes.annotate("upright", (0.05, upright), (0, -13), color=RED, textcoords="offset points")
    axes.text(0.05, 230.0, "angle of the pole [deg]", color=BLUE)
    axes.text(1.25, -48.0, "push [0.2 N]", color=GREY)
    axes.set(xlabel="time [s]")
    axes.set_title("Swing-up by gradients through 500 steps", loc="left", fontsize=11)
    axes.grid(True, color="#e8ecf1", lw=0.8)


def main() -> None:
    pt.set_threads(1)
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 3.9), constrained_layout=True)
    draw_curve(axes[0], "Swing-up by PPO", swing_up, swing_up.LIMIT / swing_up.PERIOD)
    draw_curve(axes[1], "Attitude with three wheels by PPO", attitude, attitude.LIMIT / attitude.PERIOD)
    draw_trajectory(axes[2])
    path = ROOT / "docs" / "pictures" / "learning.png"
    figure.savefig(path, dpi=110)
    print(path)


if __name__ == "__main__":
    main()
