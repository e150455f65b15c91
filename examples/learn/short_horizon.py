"""Short-horizon actor-critic (Xu et al., 2022): a policy learnt by derivatives of the physics, in torch.

Many worlds go on for a short horizon under the policy; a value says what their ends are worth. As each control period
has derivatives, so has the sum of rewards over the horizon, by every weight of the policy, and the policy climbs along
them. The horizon is short so that these derivatives stay tame. The worlds go on where they are until their episode
ends; then they take the place of one of many starts.
"""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from networks import network
from torch import nn

import poinsot as pt


@dataclass(frozen=True)
class Settings:
    """How long, and how fast."""

    steps: int = 1_500_000  # control periods of all worlds together
    worlds: int = 128
    horizon: int = 24  # control periods between updates
    life: int = 200  # control periods until a world begins anew
    rate: float = 2e-3
    gamma: float = 0.98
    lam: float = 0.95
    epochs: int = 2  # of the value
    minibatches: int = 4
    width: int = 64
    spread: float = 0.22  # of the actions at first
    seed: int = 1


@dataclass(frozen=True)
class Game:
    """A task as tensors.

    period (x, action, k, p) -> x (n, nx), what is seen (n, no), rewards (n,), which are over and which broke down (n,)
    in the period k (n,) of their episodes; starts (seed) -> x, p, what is seen; an episode has `limit` periods.
    """

    period: Callable[..., tuple[torch.Tensor, ...]]
    starts: Callable[[int], tuple[torch.Tensor, ...]]
    limit: int
    actions: int


def game(world: pt.World, actions, seen, reward, over, limit: float, device: str = "cpu", **options) -> Game:
    """A game of functions (t, scene), in a world whose inputs `actions` are set between -1 and 1, for `limit` [s]."""

    def ended(t, scene):
        return np.where(over(t, scene), 1.0, 0.0)

    sim = world.stepper(observe=[seen, reward, ended], inputs=actions, device=device, **options)

    @cache
    def starts(seed: int) -> tuple[torch.Tensor, ...]:
        observed = sim.reset(seed=seed)
        observed = observed.get() if hasattr(observed, "get") else observed
        x, p, observed = (torch.tensor(np.array(a), device=device) for a in (sim.state.x, sim.state.p, observed))
        return x, p, observed[:, :-2].float()

    starts(0)
    bridge, length = pt.bridge.torch(sim), sim.substeps * sim.step_length

    def period(x: torch.Tensor, action: torch.Tensor, k: torch.Tensor, p: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, observed, broken = bridge.checked(x, action.double(), k.double() * length, p)
        over = (observed[:, -1].detach() > 0) | broken
        return x, observed[:, :-2].float(), observed[:, -2].float(), over, broken

    return Game(period, starts, round(limit / length), len(sim.action_labels))


class Agent(nn.Module):
    """A policy tanh(mean(seen) + spread * noise), and a value."""

    def __init__(self, inputs: int, outputs: int, settings: Settings) -> None:
        super().__init__()
        self.mean = network(inputs, outputs, settings.width, 0.01, nn.ELU)
        self.log_spread = nn.Parameter(torch.full((outputs,), float(np.log(settings.spread))))
        self.value = network(inputs, 1, settings.width, 1.0, nn.ELU)

    def policy(self) -> list[nn.Parameter]:
        return [*self.mean.parameters(), self.log_spread]

    def explore(self, seen: torch.Tensor) -> torch.Tensor:
        mean = self.mean(seen)
        return torch.tanh(mean + self.log_spread.exp() * torch.randn_like(mean))

    def act(self, seen: torch.Tensor) -> torch.Tensor:
        """The action without noise."""
        with torch.no_grad():
            return torch.tanh(self.mean(seen))


class Worlds:
    """Worlds under way: their states x and numbers p, what is seen, in which period of their episodes."""

    def __init__(self, game: Game, settings: Settings) -> None:
        self.game, self.life, self.pool, self.broken = game, settings.life, game.starts(settings.seed), 0
        if settings.worlds > len(self.pool[0]):
            raise ValueError(f"there are {len(self.pool[0])} starts, too few for {settings.worlds} worlds.")
        self.x, self.p, self.seen = (a[: settings.worlds].clone() for a in self.pool)
        self.age = torch.zeros(settings.worlds, device=self.x.device)
        self.left = torch.randint(1, settings.life, (settings.worlds,)).to(self.x.device)

    def step(self, action: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Rewards, and which episodes are over, of one period."""
        self.x, self.seen, reward, over, broken = self.game.period(self.x, action, self.age, self.p)
        if not torch.isfinite(reward).all():
            k = int((~torch.isfinite(reward)).nonzero()[0, 0])
            raise ValueError(f"the reward of world {k} is {reward[k].item()}; where it breaks down, end the episode.")
        self.age, self.left, self.broken = self.age + 1, self.left - 1, self.broken + int(broken.sum())
        return reward, over

    def go_on(self, over: torch.Tensor) -> None:
        """Forget how they came here; where episodes are over, begin new ones from any of the starts."""
        over = over | (self.left <= 0)
        chosen = torch.randint(len(self.pool[0]), (int(over.sum()),)).to(over.device)
        self.x, self.seen = self.x.detach().clone(), self.seen.detach().clone()
        for mine, start in zip((self.x, self.p, self.seen), self.pool, strict=True):
            mine[over] = start[chosen]
        self.age[over], self.left[over] = 0, self.life


def roll_out(worlds: Worlds, agent: Agent, target: nn.Module, settings: Settings):
    """The mean of sum_k gamma^k r_k + gamma^H V(end), with its derivatives; where it is over; and rows for the value.

    Rows (H, n): what was seen, the reward, whether the episode went on before and after it, and what was seen then.
    """
    goes_on, gained, rows = torch.ones(len(worlds.x), device=worlds.x.device), 0.0, []
    for k in range(settings.horizon):
        before, lasted = worlds.seen.detach(), goes_on
        reward, over = worlds.step(agent.explore(worlds.seen))
        gained, goes_on = gained + settings.gamma**k * lasted * reward, lasted * ~over
        rows.append((before, lasted * reward.detach(), lasted, goes_on, worlds.seen.detach()))
    gained = gained + settings.gamma**settings.horizon * goes_on * target(worlds.seen)[:, 0]
    return gained.mean(), goes_on == 0, [torch.stack(column) for column in zip(*rows, strict=True)]


def goals(rewards, goes_on, values, settings):
    """TD(lambda): y_t = r_t + gamma ((1 - lambda) V(s_{t+1}) + lambda y_{t+1}), as long as it goes on; (T, n)."""
    found, last = torch.empty_like(rewards), values[-1]
    for t in reversed(range(len(rewards))):
        last = rewards[t] + settings.gamma * goes_on[t] * ((1 - settings.lam) * values[t] + settings.lam * last)
        found[t] = last
    return found


def fit_value(agent, target, optimiser, rows, settings) -> None:
    """Some epochs of least squares; then the target follows."""
    seen, rewards, counts, goes_on, following = rows
    with torch.no_grad():
        wanted = goals(rewards, goes_on, target(following)[..., 0], settings).flatten()
    seen, counts = seen.flatten(0, 1), counts.flatten()
    for _ in range(settings.epochs):
        for part in torch.randperm(len(seen)).to(seen.device).chunk(settings.minibatches):
            error = (counts[part] * (agent.value(seen[part])[:, 0] - wanted[part]).square()).mean()
            descend(optimiser, error, agent.value.parameters())
    with torch.no_grad():
        for slow, fast in zip(target.parameters(), agent.value.parameters(), strict=True):
            slow.lerp_(fast, 0.8)


def descend(optimiser, loss, weights) -> None:
    """One step along the derivatives, cut to length 1; they must be finite."""
    optimiser.zero_grad()
    loss.backward()
    if not torch.isfinite(nn.utils.clip_grad_norm_(weights, 1.0)):
        raise ValueError("the derivatives of the return are not finite; is the reward smooth where the worlds were?")
    optimiser.step()


def train(game: Game, settings: Settings, report=print, every: int = 20):
    """The agent, and its curve: (steps, processor time [s], mean return without noise) after each `every` updates."""
    per_update, curve, started = settings.horizon * settings.worlds, [], time.process_time()
    updates = settings.steps // per_update
    if updates < 1:
        raise ValueError(f"{settings.steps} steps are less than one update takes, {per_update}.")
    torch.manual_seed(settings.seed)
    torch.set_num_threads(1)
    worlds = Worlds(game, settings)
    agent = Agent(worlds.seen.shape[1], game.actions, settings).to(worlds.x.device)
    target = copy.deepcopy(agent.value)
    of_policy, of_value = (torch.optim.Adam(w, betas=(0.7, 0.95)) for w in (agent.policy(), agent.value.parameters()))
    for k in range(1, updates + 1):
        for optimiser in (of_policy, of_value):
            optimiser.param_groups[0]["lr"] = settings.rate * max(0.05, 1.0 - k / updates)
        gained, over, rows = roll_out(worlds, agent, target, settings)
        descend(of_policy, -gained / settings.horizon, agent.policy())
        fit_value(agent, target, of_value, rows, settings)
        worlds.go_on(over)
        if k % every == 0 or k == updates:
            spent, mean = time.process_time() - started, float(evaluate(game, agent, seed=500, episodes=64).mean())
            curve.append((k * per_update, spent, mean))
            broken = f", {worlds.broken} worlds broke down" if worlds.broken else ""
            report(f"{k * per_update:9,d} periods, return {mean:7.1f}, {spent:6.1f} s{broken}")
    return agent, np.array(curve)


def evaluate(game: Game, agent: Agent, seed: int = 1000, episodes: int = 256) -> np.ndarray:
    """The returns (n,) of whole episodes from the first starts of a seed, with actions that have no noise."""
    x, p, seen = (a[:episodes] for a in game.starts(seed))
    total, goes_on = torch.zeros(len(x), device=x.device), torch.ones(len(x), device=x.device)
    with torch.no_grad():
        for k in range(game.limit):
            x, seen, reward, over, _ = game.period(x, agent.act(seen), torch.tensor(k, device=x.device), p)
            total, goes_on = total + goes_on * reward, goes_on * ~over
    return total.cpu().numpy()
