"""Proximal policy optimisation (Schulman et al., 2017) for vector environments, in torch.

A Gaussian policy and a value, two small networks; advantages by GAE(lambda); the clipped surrogate objective. Episodes
that are cut off by their time limit go on in the value: what follows them is estimated, not zero.
"""

import time
from dataclasses import dataclass

import numpy as np
import torch
from networks import network
from torch import nn


@dataclass(frozen=True)
class Settings:
    """How long, and how fast."""

    steps: int = 1_000_000  # of all instances together
    horizon: int = 64  # control periods between updates
    epochs: int = 6
    minibatches: int = 4
    rate: float = 1e-3
    gamma: float = 0.99
    lam: float = 0.95
    clip: float = 0.2
    entropy: float = 0.0
    width: int = 64
    seed: int = 1


class Agent(nn.Module):
    """A policy N(mean(obs), exp(log_std)^2) for actions between -1 and 1, and a value."""

    def __init__(self, inputs: int, outputs: int, width: int) -> None:
        super().__init__()
        self.mean, self.value = network(inputs, outputs, width, 0.01, nn.Tanh), network(inputs, 1, width, 1.0, nn.Tanh)
        self.log_std = nn.Parameter(torch.full((outputs,), -0.5))

    def policy(self, seen: torch.Tensor) -> torch.distributions.Normal:
        return torch.distributions.Normal(self.mean(seen), self.log_std.exp(), validate_args=False)

    def act(self, seen: np.ndarray) -> np.ndarray:
        """The action without noise."""
        with torch.no_grad():
            return self.mean(torch.as_tensor(seen)).clamp(-1, 1).numpy()


def advantages(rewards, values, following, ends, settings):
    """GAE: A_t = sum_k (gamma lambda)^k delta_{t+k}, with delta_t = r_t + gamma V(s_{t+1}) - V(s_t); all (T, n)."""
    deltas, found, last = rewards + settings.gamma * following - values, torch.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        last = deltas[t] + settings.gamma * settings.lam * (1.0 - ends[t]) * last
        found[t] = last
    return found


def collect(env, agent, seen, settings):
    """A horizon of experience: observations, actions, log probabilities, rewards, values, values that follow, ends."""
    rows = []
    for _ in range(settings.horizon):
        with torch.no_grad():
            policy = agent.policy(torch.as_tensor(seen))
            action = policy.sample()
            before, after = (seen, action, policy.log_prob(action).sum(-1)), env.step(action.numpy())
        seen, reward, terminated, truncated, info = after
        ends = terminated | truncated
        following = np.where(ends[:, None], info["final_obs"], seen) if ends.any() else seen
        rows.append((*before, reward, following, terminated, ends))
    columns = [
        torch.as_tensor(np.stack([np.asarray(x) for x in c]), dtype=torch.float32) for c in zip(*rows, strict=True)
    ]
    obs, actions, logs, rewards, following, terminated, ends = columns
    with torch.no_grad():
        values, next_values = agent.value(obs)[..., 0], agent.value(following)[..., 0] * (1.0 - terminated)
    found = advantages(rewards, values, next_values, ends, settings)
    return seen, (obs, actions, logs, found, found + values), (rewards, ends)


def update(agent, optimiser, batch, settings, generator):
    """Some epochs of the clipped objective over shuffled minibatches."""
    obs, actions, logs, found, returns = (x.reshape(-1, *x.shape[2:]) for x in batch)
    for _ in range(settings.epochs):
        for part in torch.randperm(len(obs), generator=generator).chunk(settings.minibatches):
            policy, a = agent.policy(obs[part]), found[part]
            ratio = (policy.log_prob(actions[part]).sum(-1) - logs[part]).exp()
            a = (a - a.mean()) / (a.std() + 1e-8)
            gain = torch.minimum(ratio * a, ratio.clamp(1 - settings.clip, 1 + settings.clip) * a).mean()
            error = (agent.value(obs[part])[..., 0] - returns[part]).square().mean()
            loss = 0.5 * error - gain - settings.entropy * policy.entropy().sum(-1).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimiser.step()


def train(env, settings: Settings, report=print):
    """The agent, and its curve: (steps, mean return of the episodes that ended) per update."""
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(settings.seed)
    sizes = env.single_observation_space.shape[0], env.single_action_space.shape[0]
    agent = Agent(*sizes, settings.width)
    optimiser = torch.optim.Adam(agent.parameters(), eps=1e-5)
    seen, _ = env.reset(seed=settings.seed)
    updates = settings.steps // (settings.horizon * env.num_envs)
    running, curve, started = np.zeros(env.num_envs), [], time.process_time()
    for k in range(updates):
        for group in optimiser.param_groups:
            group["lr"] = settings.rate * (1.0 - k / updates)
        seen, batch, (rewards, ends) = collect(env, agent, seen, settings)
        update(agent, optimiser, batch, settings, generator)
        finished = []
        for reward, end in zip(rewards.numpy(), ends.numpy().astype(bool), strict=True):
            running += reward
            finished += running[end].tolist()
            running[end] = 0.0
        if finished:
            curve.append(((k + 1) * settings.horizon * env.num_envs, float(np.mean(finished))))
            if len(curve) % 10 == 0:
                report(f"{curve[-1][0]:9,d} steps, return {curve[-1][1]:8.2f}, {time.process_time() - started:5.1f} s")
    return agent, np.array(curve)


def evaluate(env, agent: Agent, seed: int = 1000) -> np.ndarray:
    """The returns (n,) of the first episodes of the instances, with actions that have no noise."""
    seen, _ = env.reset(seed=seed)
    total, alive = np.zeros(env.num_envs), np.ones(env.num_envs, dtype=bool)
    while alive.any():
        seen, reward, terminated, truncated, _ = env.step(agent.act(seen))
        total += reward * alive
        alive &= ~(terminated | truncated)
    return total
