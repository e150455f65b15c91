"""The swing-up as a trajectory, by gradients through 500 steps: python examples/learn/trajectory.py

Minimises, over the pushes u_1 ... u_500, the distance of the end from standing upright at rest, plus some effort, by
L-BFGS. The derivative of each step is compiled; torch chains them.
"""

import time

import numpy as np
import torch
from swing_up import cart_pole

import poinsot as pt

STEPS, PERIOD = 500, 6e-3  # 3 s
LIMIT = 20.0  # N


def bridge():
    """One step as a differentiable function of torch tensors."""
    sim = cart_pole().stepper(step=3e-3, control_period=PERIOD, observe=["cart.q", "cart.v", "pole.q", "pole.v"])
    sim.reset()
    return pt.bridge.torch(sim)


def roll_out(period, pushes):
    """What is observed (500, 4) after each push (500,)."""
    x, seen = period.x, []
    for u in pushes:
        x, observed = period(x, u[None])
        seen.append(observed)
    return torch.stack(seen)


def loss_of(seen, pushes):
    x, v, angle, rate = seen[-1]
    end = 20.0 * (1.0 - torch.cos(angle)) + rate**2 + x**2 + v**2
    return end + 1e-3 * PERIOD * pushes.square().sum()


def optimise(report=print, iterations=60):
    """Pushes (500,), trajectory (500, 4), and the loss per evaluation."""
    period, losses, started = bridge(), [], time.process_time()
    t = PERIOD * torch.arange(STEPS, dtype=torch.float64)
    free = (0.3 * torch.sin(4.0 * t)).requires_grad_()
    optimiser = torch.optim.LBFGS([free], max_iter=iterations, max_eval=4 * iterations, line_search_fn="strong_wolfe")

    def evaluate():
        optimiser.zero_grad()
        pushes = LIMIT * torch.tanh(free)
        loss = loss_of(roll_out(period, pushes), pushes)
        loss.backward()
        losses.append(loss.item())
        if len(losses) % 20 == 1:
            report(f"evaluation {len(losses):3d}: loss {losses[-1]:9.4f}, {time.process_time() - started:5.1f} s")
        return loss

    optimiser.step(evaluate)
    with torch.no_grad():
        pushes = LIMIT * torch.tanh(free)
        return pushes.numpy(), roll_out(period, pushes).numpy(), np.array(losses)


if __name__ == "__main__":
    pushes, seen, losses = optimise()
    x, v, angle, rate = seen[-1]
    away = np.degrees(np.arccos(np.cos(angle)))
    print(f"loss {losses[0]:.2f} -> {losses[-1]:.4f} in {len(losses)} evaluations of 500 steps and their gradient")
    print(f"end: {away:.2f} deg from upright, {rate:.3f} rad/s; cart at {x:.3f} m, {v:.3f} m/s")
