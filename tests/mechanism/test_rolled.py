"""Large trees: the recursions stay loops, whole or in part, and nothing else changes."""

from collections.abc import Callable

import numpy as np
import pytest
from trees import KINDS, random_inertia, random_joint, random_motion, random_placement, random_tree, same

import poinsot as pt
from poinsot._types import Array
from poinsot.fuse.graph.verify import verify
from poinsot.fuse.plan.budget import GPU, PROCESSOR, Budget, tracing_for
from poinsot.mechanism import book, dynamics
from poinsot.mechanism.form import canonical, division, tree, visits
from sparing import few

LOOPS_ONLY = Budget(0, 0, np.inf)  # everything that can stay in a loop does
HALF = Budget(0, 1500, np.inf)  # a few bodies are straight-line code beside the loops
UNWOUND = Budget(0, 0, np.inf, nearby_values=0)  # as loops alone, with little kept in memory
LEAST = Budget(0, 0, 0, recompute=True, nearby_values=0)  # and with nothing kept that can be computed
MACHINES = {"loops": LOOPS_ONLY, "half": HALF, "unwound": UNWOUND, "least": LEAST}
DYNAMICS = {"forward": pt.forward_dynamics, "inverse": pt.inverse_dynamics}


def compiled(mech: pt.Mechanism, function: Callable[..., Array], machine: Budget) -> pt.fuse.Kernel:
    """The kernel (q, v, x, F) -> (nv,), traced for a machine."""
    text = f"({mech.nq}),({mech.nv}),({mech.nv}),({len(mech)},6)->({mech.nv})"
    kernel = pt.kernel(text)(lambda q, v, x, F: function(mech, q, v, x, F))
    with tracing_for(machine):
        kernel.program()
    return kernel


def check(mech: pt.Mechanism, function: Callable[..., Array], machine: Budget, tolerance: float = 1e-11) -> None:
    """The kernel makes loops; the book's recursions in plain NumPy do not."""
    rng = np.random.default_rng(0)
    q, v, x = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    kernel = compiled(mech, function, machine)
    assert kernel.count()["loop"] > 0
    verify(kernel.program().graph)
    by_the_book = {pt.forward_dynamics: book.forward_dynamics, pt.inverse_dynamics: book.inverse_dynamics}[function]
    same(kernel(q, v, x, F), by_the_book(mech, q, v, x, F), tolerance)


def chain(n: int, kinds: list[str], branching: float = 0.0, **data: float) -> pt.Mechanism:
    rng = np.random.default_rng(n)
    links: list[pt.Link] = []
    for k in range(n):
        parent = links[rng.integers(k) if rng.random() < branching else -1].name if links else None
        joint = random_joint(rng, kinds[k % len(kinds)], **data)
        links.append(pt.Link(f"link{k}", random_inertia(rng), parent, joint, random_placement(rng)))
    return pt.Mechanism(tuple(links), gravity=rng.standard_normal(3))


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("machine", [LOOPS_ONLY, UNWOUND], ids=["loops", "unwound"])
@pytest.mark.parametrize("seed", few(range(6), {0, 1}))
def test_random_trees_of_all_joints(name, machine, seed):
    """With branches, fixed links, frames without mass and motors; rounding grows with the condition of M."""
    mech = random_tree(np.random.default_rng([7, seed]), 9)
    check(mech, DYNAMICS[name], machine, 1e-10)


@pytest.mark.parametrize("name", DYNAMICS)
@pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
@pytest.mark.parametrize(
    ("branching", "armature"), few([(0.0, 0.0), (0.3, 0.2), (0.0, 0.2), (0.3, 0.0)], {(0.0, 0.0), (0.3, 0.2)})
)
def test_simple_joints(name, machine, branching, armature):
    mech = chain(12, ["revolute", "prismatic", "helical", "universal", "cylindrical"], branching, armature=armature)
    check(mech, DYNAMICS[name], machine)


@pytest.mark.parametrize("kind", KINDS)
def test_chains_of_one_joint(kind):
    check(chain(6, [kind]), pt.forward_dynamics, LOOPS_ONLY)


def parts(mech: pt.Mechanism, machine: Budget) -> tuple[list[int], list[list[int]]]:
    """How a tree is split for a machine."""
    splits = []

    def look(q: Array) -> Array:
        splits.append(division.split(canonical.tree_of(mech), q))
        return q

    with tracing_for(machine):
        pt.kernel(f"({mech.nq})->({mech.nq})")(look).program()
    return splits[0]


def test_a_free_base_is_straight_line_code_and_its_limbs_are_not():
    mech = random_tree(np.random.default_rng(1), 12, kinds=["revolute"], base="free", heavy=True)
    machine = Budget(sum(division.costs_of(canonical.tree_of(mech))) - 1, 0, np.inf)
    straight, rest = parts(mech, machine)
    assert straight == [0]
    assert sorted(i for loop in rest for i in loop) == list(range(1, 12))
    check(mech, pt.forward_dynamics, machine)


@pytest.mark.parametrize("function", DYNAMICS.values(), ids=DYNAMICS)
def test_a_loop_over_joints_with_three_directions_has_no_room_for_six(function):
    """Its base on a free joint is straight-line code; what the loop keeps is that of three directions."""
    mech = random_tree(np.random.default_rng(1), 8, kinds=["spherical"], base="free", heavy=True, motors=False)
    costs = division.costs_of(canonical.tree_of(mech))
    machine = Budget(costs[0] + 1, 0, np.inf)
    straight, rest = parts(mech, machine)
    assert straight == [0]
    assert [sorted(loop) for loop in rest] == [list(range(1, 8))]
    check(mech, function, machine)
    assert parts(mech, LOOPS_ONLY) == ([], [list(range(8))])
    if function is pt.forward_dynamics:
        narrow, wide = (sum(compiled(mech, function, m).count().values()) for m in (machine, LOOPS_ONLY))
        assert narrow < 0.8 * wide  # although a body is written out beside the loops


def test_what_joints_do_not_transmit_is_zero():
    """Ia S = 0 (Featherstone 2008, section 7.2), exactly where S is made of columns of the identity; W^T S = 1, and the
    bias force along S is tau."""
    rng, joints = np.random.default_rng(3), (pt.revolute((0, 0, 1)), pt.spherical(), pt.translation(), pt.free())
    for joint in joints:
        mech = pt.Mechanism((pt.Link("one", random_inertia(rng), None, joint),))
        (body,) = tree.as_given(mech).bodies
        q, v = random_motion(rng, mech)[:2]
        here, tau, pA = body.at(q, v), rng.standard_normal(joint.nv), rng.standard_normal(6)
        IA = random_inertia(rng).spatial() + random_inertia(rng).spatial()
        W, u, Ia, pa = visits.inward(here, tau, IA, pA)
        S = here.S
        np.testing.assert_array_equal(Ia @ S, np.zeros(S.shape))
        np.testing.assert_array_equal(S.T @ W, np.eye(joint.nv))
        np.testing.assert_array_equal(S.T @ pa, tau)
        full = IA - IA @ S @ np.linalg.solve(S.T @ IA @ S, S.T @ IA)
        same(Ia, full, 1e-12)
        same(pa, pA + IA @ S @ u, 1e-12)
        same(S.T @ IA @ S @ u, tau - S.T @ pA, 1e-12)


def test_bodies_in_a_loop_at_known_places():
    """Their coordinates are numbers; what is traced are the velocities, or coordinates of other joints."""
    rng = np.random.default_rng(4)
    for known in (7, 6):
        mech = chain(7, ["spherical"], branching=0.3)
        q, v = random_motion(rng, mech)[:2]

        def accelerations(x, v, mech=mech, q=q):
            return pt.forward_dynamics(mech, np.concatenate([x, q[len(x) :]]), v, np.zeros(mech.nv))

        x = q[: 4 * (7 - known)]
        kernel = pt.kernel(f"({len(x)}),({mech.nv})->({mech.nv})")(accelerations)
        with tracing_for(LOOPS_ONLY):
            kernel.program()
        assert kernel.count()["loop"] > 0
        same(kernel(x, v), book.forward_dynamics(mech, q, v, np.zeros(mech.nv)), 1e-11)


@pytest.mark.parametrize(("kinds", "loops"), [(["spherical"], True), (["free"], True), (["revolute"], False)])
def test_reactions(kinds, loops):
    """Those of the book; in a loop, where links have frames and inertias of their own in canonical form."""
    mech = chain(7, kinds, branching=0.3)
    rng = np.random.default_rng(4)
    q, v, x = random_motion(rng, mech)
    F = rng.standard_normal((len(mech), 6))
    text = f"({mech.nq}),({mech.nv}),({mech.nv}),({len(mech)},6)->({len(mech)},6)"
    kernel = pt.kernel(text)(lambda q, v, x, F: np.stack(dynamics.reactions(mech, q, v, x, F)))
    with tracing_for(LOOPS_ONLY):
        kernel.program()
    assert (kernel.count()["loop"] > 0) == loops
    same(kernel(q, v, x, F), np.stack(book.newton_euler(mech, q, v, x, F)[0]), 1e-11)


def test_the_end_of_a_chain_is_the_loop():
    mech = chain(12, ["revolute"])
    straight, rest = parts(mech, HALF)
    assert len(rest) == 1
    assert [*straight, *rest[0]] == list(range(12))
    costs = division.costs_of(canonical.tree_of(mech))
    assert (
        HALF.straight_line_beside_loops - costs[-1] < sum(costs[i] for i in straight) <= HALF.straight_line_beside_loops
    )


@pytest.mark.parametrize("base", [None, "free"])
def test_costs_are_about_the_operations(base):
    """As they are estimated from a body of each sort; the first one contributes nothing to the world."""
    mech = random_tree(np.random.default_rng(1), 12, kinds=["revolute"], base=base, heavy=True)
    kernel = pt.kernel(f"({mech.nq}),({mech.nv}),({mech.nv})->({mech.nv})")(lambda *x: pt.forward_dynamics(mech, *x))
    np.testing.assert_allclose(sum(division.costs_of(canonical.tree_of(mech))), sum(kernel.count().values()), rtol=0.05)


def test_what_is_chosen_for_each_machine():
    """Small trees become straight-line code, large ones stay in loops; on the GPU there is something between."""
    arm, tree30, chain200 = (chain(n, ["revolute"]) for n in (7, 30, 200))
    for machine in (PROCESSOR, *GPU.values()):
        assert parts(arm, machine) == (list(range(7)), [])
        assert parts(chain200, machine) == ([], [list(range(200))])
    assert parts(tree30, PROCESSOR)[1] == []
    straight, rest = parts(tree30, GPU[4])
    assert min(len(straight), len(rest[0])) > 5


@pytest.mark.parametrize("machine", [LOOPS_ONLY, UNWOUND])
def test_chains_copy_nothing(machine):
    """Where a tree has many branches, no chain gathers an array that another one has left."""
    mech = random_tree(np.random.default_rng(1), 20, kinds=["revolute"], heavy=True)
    with tracing_for(machine):
        kernel = pt.kernel("(n),(n),(n)->(n)")(lambda *x: pt.forward_dynamics(mech, *x))
        loops = list(kernel.program(n=20).graph.subgraphs())
    assert len(loops) == 6  # three sweeps, over chains and along them
    assert not any(node.op == "array" for loop in loops for node in loop.live())


def test_code_does_not_grow_with_the_tree():
    """Per body only the writing of its output is added."""

    def count(n: int, function: Callable[..., Array]) -> int:
        mech = chain(n, ["revolute"])
        return sum(pt.kernel("(n),(n),(n)->(n)")(lambda *x: function(mech, *x)).count(n=n).values())

    for function, most in ((pt.forward_dynamics, 800), (pt.inverse_dynamics, 500)):
        small, large = count(100, function), count(140, function)
        assert large - small <= 2 * 40
        assert large < most


def test_free_gravity_keeps_the_canonical_form():
    mech = chain(5, ["revolute"])
    fixed = pt.kernel("(n),(n),(n)->(n)")(lambda q, v, tau: pt.forward_dynamics(mech, q, v, tau))
    free = pt.kernel("(n),(n),(n),(3)->(n)")(
        lambda q, v, tau, g: pt.forward_dynamics(pt.Mechanism(mech.links, g), q, v, tau)
    )
    q, v, tau = np.random.default_rng(0).standard_normal((3, 5))
    same(free(q, v, tau, mech.gravity), fixed(q, v, tau), 1e-13)
    assert sum(free.count(n=5).values()) < 1.1 * sum(fixed.count(n=5).values())


def test_numbers_left_free_in_a_loop():
    """The numbers of the description lie in memory then, and are read where tables would be."""
    mech = chain(6, ["revolute", "spherical"])

    def heavier(mass: Array) -> pt.Mechanism:
        last = mech.links[-1]
        assert last.inertia is not None
        inertia = pt.Inertia(mass, last.inertia.com, last.inertia.moment)
        return pt.Mechanism((*mech.links[:-1], pt.Link(last.name, inertia, last.parent, last.joint, last.placement)))

    kernel = pt.kernel(f"({mech.nq}),({mech.nv}),({mech.nv}),()->({mech.nv})")(
        lambda q, v, tau, mass: pt.forward_dynamics(heavier(mass), q, v, tau)
    )
    with tracing_for(LOOPS_ONLY):
        assert kernel.count()["loop"] == 3
    q, v, tau = random_motion(np.random.default_rng(0), mech)
    same(kernel(q, v, tau, 2.5), pt.forward_dynamics(heavier(2.5), q, v, tau), 1e-11)
