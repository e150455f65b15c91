"""Laws that hold for any world: free bodies, particles, trees of all joints, springs and forces between any points."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from mechanism_peers import Pinocchio
from trees import SEEDS, along, pool, random_inertia, random_state, rate
from world_models import close

import poinsot as pt
from poinsot.run import ledger
from poinsot.spatial import motion, quaternion
from poinsot.world import State

Rng = np.random.Generator
WORLDS = 5  # of each kind: building one costs more than its laws


def random_world(rng: Rng, central: bool) -> pt.World:
    """One or two free bodies and particles, a tree, and springs, forces, contact and motors at random points."""
    gravity = pt.CentralGravity(mu=20.0, centre=(0, 0, -9.0)) if central else 5 * rng.standard_normal(3)
    world = pt.World(gravity=gravity)
    for k in range(rng.integers(1, 3)):
        world.add_body(
            f"body{k}",
            random_inertia(rng),
            position=rng.standard_normal(3),
            orientation=quaternion.normalize(rng.standard_normal(4)),
            velocity=rng.standard_normal(3),
            angular_velocity=rng.standard_normal(3),
        )
        world.add_particle(f"point{k}", 0.2 + rng.random(), rng.standard_normal(3), rng.standard_normal(3))
    tree = pool(int(rng.integers(1, 4)), int(rng.integers(6)))
    parent = "body0" if rng.random() < 0.5 else None
    world.add_mechanism(tree, *random_state(rng, tree), prefix="tree_", parent=parent)
    names = [*world.description.bodies, "world"]
    for k in range(5):
        a, b = rng.choice(len(names), 2, replace=False)
        points = {"point_a": 0.3 * rng.standard_normal(3), "point_b": 0.3 * rng.standard_normal(3)}
        world.add_spring(f"spring{k}", names[a], names[b], *rng.uniform((1, 0, 0), (20, 1, 0.5)), **points)
    body = names[rng.integers(len(names) - 1)]
    axes = str(rng.choice(["world", "body"]))
    world.add_force("force", body, rng.standard_normal(3), point=rng.standard_normal(3), axes=axes)
    world.add_torque("torque", body, rng.standard_normal(3))
    world.add_contact("feet", "body0", 0.3 * rng.standard_normal((3, 3)), stiffness=30.0, friction=0.5, slip=0.1)
    moved = [name for name, b in world.description.bodies.items() if b.hinge.nv]
    joint = moved[rng.integers(len(moved))]
    nv = world.description.bodies[joint].hinge.nv
    world.add_motor("motor", joint, rng.standard_normal(nv))
    world.add_feedback("servo", joint, rng.uniform(0, 2, nv), 0.3)
    return world


@cache
def a_world(seed: int, central: bool) -> pt.World:
    return random_world(np.random.default_rng([seed, central]), central)


def over_worlds(test):
    return settings(max_examples=30)(given(st.integers(0, WORLDS - 1), st.booleans(), SEEDS)(test))


def random_instant(world: pt.World, rng: Rng) -> State:
    return State(*random_state(rng, world.mechanism), np.zeros(0))


@over_worlds
def test_conserved_quantities_change_by_the_inflow(k, central, seed):
    """d/dt (mass, momentum, angular momentum, energy) = the sum over all sources, at any instant."""
    world = a_world(k, central)
    system, state = world.system(), random_instant(world, np.random.default_rng(seed))
    moved = system.motion(0.0, state)
    feet = [moved.scene["body0"].point(p)[2] for p in world.description.elements["feet"].points]
    assume(np.abs(feet).min() > 0.02)  # no foot that touches down within the differences
    path = along(world.mechanism, state.q, state.v, moved.vdot)

    def conserved(t: float) -> np.ndarray:
        q, v = path(t)
        at = system.motion(0.0, State(q, v, np.zeros(0)))
        return ledger.conserved_quantities(at.scene, at.effects)

    inflow = ledger.inflow_rates(system, moved)
    close(rate(conserved, 3e-4), inflow.sum(axis=0), 1e-9)


@over_worlds
def test_accelerations_against_pinocchio(k, central, seed):
    """The whole world as one tree, with the forces of all elements as Pinocchio's external forces."""
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    world = a_world(k, central)
    state = random_instant(world, np.random.default_rng(seed))
    moved, mech = world.motion(state), world.mechanism
    external = np.array([moved.wrenches.get(link.name, np.zeros(6)) for link in mech.links])
    expected = Pinocchio(mech).forward_dynamics(state.q, state.v, moved.tau, external)
    condition = np.linalg.cond(pt.mass_matrix(mech, state.q))
    close(world.derivative(0.0, state).v, expected, max(1e-10, 1e-14 * condition))


@over_worlds
def test_springs_pull_equally_at_both_ends(k, central, seed):
    """Forces and torques between bodies of the world sum to zero; the ledger counts on it."""
    world = a_world(k, central)
    moved = world.motion(random_instant(world, np.random.default_rng(seed)))
    for name, element in world.description.elements.items():
        if isinstance(element, pt.Spring) and element.internal:
            wrenches = moved.effects[name].wrenches.items()
            total = sum(motion.wrench_in_frame(moved.scene[body].pose, F) for body, F in wrenches)
            close(total, np.zeros(6), 1e-12)


@over_worlds
def test_reactions_balance_every_body(k, central, seed):
    """Newton and Euler for each body on its own: the rate of its momentum is all that acts on it."""
    world = a_world(k, central)
    state = random_instant(world, np.random.default_rng(seed))
    moved, mech = world.motion(state), world.mechanism
    reactions = moved.reactions()
    path = along(mech, state.q, state.v, moved.vdot)

    def momenta(t: float) -> np.ndarray:
        scene = world.scene(State(*path(t), np.zeros(0)))
        return np.array([[*scene[b.name].angular_momentum, *scene[b.name].momentum] for b in mech.links])

    total = np.zeros((len(mech), 6))
    for i, link in enumerate(mech.links):
        X = moved.scene.poses[i]
        total[i] += motion.wrench_in_frame(X, reactions[i] + moved.wrenches.get(link.name, np.zeros(6)))
        if link.inertia is not None:
            weight = link.inertia.mass * mech.gravity
            total[i] += np.concatenate([np.cross(X @ link.inertia.com, weight), weight])
        if mech.parents[i] >= 0:
            total[mech.parents[i]] -= motion.wrench_in_frame(X, reactions[i])
    close(rate(momenta, 1e-3), total, 1e-9)


@pytest.mark.parametrize(("k", "central"), [(0, False), (1, False), (2, True)])
def test_ledger_of_random_worlds(k, central):
    """From end to end, compiled: RK4 at a fine step leaves a residual near rounding."""
    run = a_world(k, central).simulate(0.2, 1e-4)
    assert run.stop.reason == "duration"
    assert run.ledger.relative_residual.max() < 1e-6  # contact sets in with a corner
