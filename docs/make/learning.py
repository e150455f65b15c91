"""The pictures of docs/learning.md: learning curves, a swing-up by gradients, and a quadruped that learns to walk.

It takes minutes; `python docs/make/learning.py tasks`, or `walk`, makes those of one part.
"""

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
    import walk
    from ppo import evaluate
    from short_horizon import evaluate as evaluate_walk
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


SEEDS = (1, 2, 3)
PICTURES = ROOT / "docs" / "pictures"
SIDE = {"kind": "chase", "body": "trunk", "distance": 1.5, "azimuth": 1.1, "elevation": 0.22}


def learn_to_walk() -> tuple:
    """The agent of the first seed, and the curves of all."""
    agents, curves = [], []
    for seed in SEEDS:
        task, agent, curve = walk.learn(report=lambda line: None, seed=seed)
        returns = evaluate_walk(task, agent)
        print(f"seed {seed}: return {returns.mean():.1f} +- {returns.std():.1f}, worst {returns.min():.1f}")
        print(f"  {np.sum(returns < 500)} of {len(returns)} below 500; {curve[-1, 1]:.0f} s")
        agents.append(agent)
        curves.append(curve)
    return agents[0], curves


def draw_walk(run: pt.Run, curves: list) -> None:
    """What they learn over what they have seen; which feet of the quadruped are on the ground."""
    figure, axes = plt.subplots(1, 2, figsize=(11.5, 3.6), constrained_layout=True, width_ratios=(1, 1.15))
    for curve in curves:
        axes[0].plot(curve[:, 0] / 1e6, curve[:, 2], color=BLUE, lw=1.3)
    axes[0].text(0.45, 930, "three seeds", color=BLUE)
    axes[0].set(xlabel="control periods [million]", ylabel="return of an episode", ylim=(0, 1250))
    axes[0].set_title("A quadruped learns to walk", loc="left", fontsize=11)
    axes[0].grid(True, color="#e8ecf1", lw=0.8)
    data = run.data.sel(time=slice(5.0, 6.6))
    for row, leg in enumerate(("rr", "fl", "rl", "fr")):
        down = data[f"{leg}-foot-ground.force"].values[:, 2] > 0
        axes[1].fill_between(data.time, row + 0.1, row + 0.9, where=down, color=(BLUE, RED)[row // 2], lw=0, step="mid")
    axes[1].set(yticks=np.arange(4) + 0.5, yticklabels=("right hind", "left fore", "left hind", "right fore"))
    axes[1].set(xlabel="time [s]", xlim=(5.0, 6.6), ylim=(0, 4))
    axes[1].set_title("Feet on the ground at 1 m/s", loc="left", fontsize=11)
    figure.savefig(PICTURES / "learning-walk.png", dpi=110)


def film(run: pt.Run) -> None:
    """It trots at 1 m/s, shown at half the speed."""
    path = PICTURES / "learning-walk.gif"
    run.animate(path, SIDE, show=("bodies", "ground"), size=(320, 200), fps=12, start=5.0, end=6.6, speed=0.5)
    print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


def walk_part() -> None:
    agent, curves = learn_to_walk()
    run = walk.play(agent)
    for begin, end in ((2.0, 4.0), (5.0, 7.0), (8.0, 11.0)):
        print({name: round(float(value), 3) for name, value in walk.gait(run, begin, end).items()})
    draw_walk(run, curves)
    film(run)


def tasks_part() -> None:
    figure, axes = plt.subplots(1, 3, figsize=(13.5, 3.9), constrained_layout=True)
    draw_curve(axes[0], "Swing-up by PPO", swing_up, swing_up.LIMIT / swing_up.PERIOD)
    draw_curve(axes[1], "Attitude with three wheels by PPO", attitude, attitude.LIMIT / attitude.PERIOD)
    draw_trajectory(axes[2])
    figure.savefig(PICTURES / "learning.png", dpi=110)


def main() -> None:
    pt.set_threads(1)
    parts = {"tasks": tasks_part, "walk": walk_part}
    for name in sys.argv[1:] or parts:
        parts[name]()


if __name__ == "__main__":
    main()
