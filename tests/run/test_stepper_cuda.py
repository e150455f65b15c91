"""A stepper on the GPU: the numbers of the processor, arrays of the user's own, episodes and noise in the kernel."""

import numpy as np
import pytest

import poinsot as pt

cp = pytest.importorskip("cupy", reason="the GPU needs CuPy")

N = 1000


def cart_pole():
    world = pt.World()
    world.add_body("cart", pt.Inertia.box(1.0, (0.3, 0.2, 0.1)), joint=pt.prismatic((1, 0, 0)))
    pole = pt.Pose(p=(0, 0, 0.5)) @ pt.Inertia.cylinder(mass=0.1, radius=0.02, height=1.0)
    world.add_body("pole", pole, parent="cart", joint=pt.revolute((0, 1, 0)))
    world.add_input("push", 0.0)
    world.add_motor("motor", "cart", pt.Input("push"))
    world.add(pt.Sensor("rate", "tachometer", "pole", sample=0.02, noise=1e-3, random_walk=1e-4))
    return world


def made(device, **options):
    sim = cart_pole().stepper(
        batch=N, step=2e-3, control_period=2e-2, vary={"pole.q[0]": pt.Normal(0.0, 0.05)}, duration=0.2,
        observe=["q", "v", "rate.out"], until=lambda t, scene: abs(scene.joint("pole")[0][0]) > 0.2, device=device,
        **options,
    )  # fmt: skip
    return sim, sim.reset(seed=3)


@pytest.mark.parametrize("autoreset", [False, True])
def test_the_numbers_of_the_processor(autoreset):
    (here, first), (there, first_there) = made("cpu", autoreset=autoreset), made("cuda", autoreset=autoreset)
    np.testing.assert_allclose(first_there.get(), first, rtol=1e-12, atol=1e-13)
    actions = np.random.default_rng(1).normal(size=(15, N, 1))
    for action in actions:
        expected, seen = here.step(action), there.step(cp.asarray(action))
        assert isinstance(seen, cp.ndarray)
        np.testing.assert_allclose(seen.get(), expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_array_equal(there.done.get(), here.done)
        np.testing.assert_array_equal(there.truncated.get(), here.truncated)


def test_arrays_of_the_users_own_are_not_copied():
    sim, _ = made("cuda")
    out = cp.zeros((N, 5))
    assert sim.step(cp.zeros((N, 1)), out=out) is out
    assert np.all(out.get()[:, 1] != 0)

    class Foreign:
        """An array of another library, which is known by dlpack alone."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    kept, before = sim.state, out.copy()
    foreign = Foreign(out)
    assert sim.step(Foreign(cp.ones((N, 1))), out=foreign) is foreign
    assert not np.array_equal(out.get(), before.get())  # written in place
    sim.state = kept
    np.testing.assert_array_equal(sim.step(cp.ones((N, 1))).get(), out.get())


def test_masks_states_and_errors():
    sim, first = made("cuda")
    for _ in range(12):
        sim.step(cp.zeros((N, 1)))
    over = sim.done
    assert over.any()
    fresh = sim.reset(where=over).get()
    assert np.all(fresh[over.get(), 2:4] == 0)
    kept = sim.state
    ahead = sim.step(cp.zeros((N, 1))).get()
    sim.state = kept
    np.testing.assert_array_equal(sim.step(cp.zeros((N, 1))).get(), ahead)
    wrong = cp.zeros((N, 1))
    wrong[7] = cp.nan
    with pytest.raises(ValueError, match=r"the action push of instance 7 is nan\. Nothing was stepped"):
        sim.step(wrong)
    with pytest.raises(ValueError, match=r"an action has the shape \(1000, 1\)"):
        sim.step(cp.zeros((N, 2)))
    assert np.array_equal(sim.reset(seed=3).get(), first.get())


def test_torch_and_jax_share_memory():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch has no GPU")
    sim, _ = made("cuda")
    out = torch.zeros((N, 5), dtype=torch.float64, device="cuda")
    assert sim.step(torch.ones((N, 1), dtype=torch.float64, device="cuda"), out=out) is out
    assert torch.all(out[:, 1] != 0)
