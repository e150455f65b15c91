"""Vehicles on the GPU: the same worlds, the same motion."""

import numpy as np
import pytest

import poinsot as pt

cupy = pytest.importorskip("cupy", reason="the GPU needs CuPy")


def vehicle() -> pt.World:
    """A hull with a wheel, a tank that drains into a jet, and a soft wing that may break off."""
    world = pt.World()
    hull = world.add_body("hull", pt.Inertia.box(40.0, (1.0, 0.8, 0.6)), angular_velocity=(0.2, -0.3, 0.5))
    hull.add(pt.Rotor("wheel", axis=(1, 0, 0), inertia=0.1, speed=50.0, torque=0.4, friction=1e-3))
    hull.add(pt.Tank("fuel", capacity=20.0, contents=15.0, size=(0.4, 0.4, 0.5), settles=True))
    hull.add(
        pt.Thruster("jet", tank="fuel", thrust=300.0, exhaust_speed=900.0, direction=(0, 0.1, 1), point=(0, 0, -0.3))
    )
    stub = world.add_body("stub", pt.Inertia.box(1.0, (0.2, 0.1, 0.1)), hull, pt.free(), placement=(0.6, 0, 0))
    stub.add(pt.Cut("root"))
    stub.add(pt.Limit("limit", cut="root", bending=20.0, then="part"))
    world.add_beam(pt.Beam("wing", 1.5, EI=60.0, GJ=40.0, mass_per_length=1.0, polar=0.01, n=3), stub, (0.1, 0, 0))
    return world


def test_gpu_and_cpu_agree():
    world = vehicle()
    vary = {"hull.fuel.contents": np.linspace(5.0, 18.0, 64), "stub.limit.bending": np.linspace(2.0, 12.0, 64)}
    cpu, gpu = (world.simulate(0.5, 5e-4, vary=vary, device=device) for device in ("cpu", "cuda"))
    n = cpu.compiled.system.nq + cpu.compiled.system.nv
    np.testing.assert_array_equal(gpu.limits["stub.limit"]["latched"], cpu.limits["stub.limit"]["latched"])
    assert 0 < cpu.limits["stub.limit"]["latched"].sum() < 64
    np.testing.assert_allclose(gpu.y[-1, :, :n], cpu.y[-1, :, :n], rtol=1e-11, atol=1e-11)
