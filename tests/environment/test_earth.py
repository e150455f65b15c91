"""The Earth's gravitation and constants: laws of harmonic fields, derivatives, and NASA's check cases."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import earth as module

PLACES = [parent / "shared/refdata/flight/nesc" for parent in Path(__file__).parents]
REFERENCE = next((place for place in PLACES if place.is_dir()), None)
FIELDS = ["central", "J2", "J4"]
FOOT = 0.3048


def points(n=60):
    rng = np.random.default_rng(0)
    p = rng.normal(size=(n, 3))
    p *= (rng.uniform(6.36e6, 4.6e7, n) / np.linalg.norm(p, axis=1))[:, None]
    return np.concatenate([p, [[0, 0, 6.4e6], [0, 0, -7e6], [6.4e6, 0, 0]]])


@pytest.mark.parametrize("gravity", FIELDS)
def test_gravitation_and_its_gradient_are_derivatives_of_the_potential(gravity):
    earth, p = pt.Earth(gravity=gravity), points()
    slope = pt.gradient(pt.kernel("(3)->()")(earth.potential))
    curvature = pt.jacobian(pt.kernel("(3)->(3)")(earth.gravitation))
    g, G = earth.gravitation(p), earth.gravity_gradient(p)
    np.testing.assert_allclose(g, -slope(p), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(G, curvature(p), rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(pt.kernel("(3)->(3,3)")(earth.gravity_gradient)(p), G, rtol=1e-13, atol=1e-21)


@pytest.mark.parametrize("gravity", FIELDS)
def test_the_field_is_harmonic_and_turns_no_body_about_the_axis(gravity):
    earth, p = pt.Earth(gravity=gravity), points()
    G = earth.gravity_gradient(p)
    np.testing.assert_allclose(np.trace(G, axis1=-2, axis2=-1), 0, atol=1e-21)  # of 3e-6
    np.testing.assert_array_equal(G, np.swapaxes(G, -1, -2))
    torque = np.cross(p, earth.gravitation(p))[:, 2]
    np.testing.assert_allclose(torque, 0, atol=1e-8)  # of 6e7: angular momentum about z is conserved


def test_the_harmonics_against_their_sum_in_40_digits():
    import mpmath

    mpmath.mp.dps = 40
    earth = pt.Earth(gravity="J4")
    for p in points(12):
        x, y, z = map(mpmath.mpf, map(float, p))
        r = mpmath.sqrt(x * x + y * y + z * z)
        U = -mpmath.mpf(module.MU) / r
        for n, J in module.ZONAL.items():
            U += module.MU / r * J * (module.RADIUS / r) ** n * mpmath.legendre(n, z / r)
        assert abs(float(U) - earth.potential(p)) <= 4e-16 * abs(float(U))


def test_signs_of_the_harmonics():
    """J2: a mass weighs more at the equator's bulge than under central pull there; J3: the Earth is a pear."""
    equator, north, south = [6.4e6, 0, 0], [0, 0, 6.4e6], [0, 0, -6.4e6]
    central, flat, pear = (pt.Earth(gravity=gravity) for gravity in FIELDS)
    assert flat.gravitation(equator)[0] < central.gravitation(equator)[0] < 0
    assert central.gravitation(north)[2] < flat.gravitation(north)[2] < 0
    assert -pear.gravitation(north)[2] > pear.gravitation(south)[2]


def test_gravity_on_the_ellipsoid_is_normal_gravity():
    """Somigliana's formula for gravitation and the centrifugal part together, on an ellipsoid whose J3 is 0."""
    earth, latitude = pt.Earth(gravity="J4"), np.linspace(-1.5, 1.5, 21)
    p = earth.ecef(latitude, 0.7, 0.0)
    centrifugal = earth.rate**2 * p * [1, 1, 0]
    felt = np.linalg.norm(earth.gravitation(p) + centrifugal, axis=1)
    s2 = np.sin(latitude) ** 2
    normal = 9.7803253359 * (1 + 0.00193185265241 * s2) / np.sqrt(1 - 0.00669437999014 * s2)
    np.testing.assert_allclose(felt, normal, atol=2e-4)  # of 0.052 from equator to pole


def test_it_stands_still_or_turns():
    p = np.array([6.4e6, 1e5, 2e6])
    assert pt.Earth(rotating=False).rate == 0
    np.testing.assert_array_equal(pt.Earth(rotating=False).rotation(1e4), np.eye(3))
    turning = pt.Earth()
    v = turning.ground_velocity(p)
    np.testing.assert_allclose(v, np.cross([0, 0, turning.rate], p), rtol=1e-15)
    p_E, v_E = turning.to_earth(*turning.to_inertial(p, np.zeros(3), 500.0), 500.0)
    np.testing.assert_allclose(p_E, p, rtol=1e-14)
    np.testing.assert_allclose(v_E, 0, atol=1e-12)


def test_velocity_relative_to_the_air():
    """What stands on the Earth feels the wind from ahead; what is carried by it feels none."""
    earth, t, wind = pt.Earth(), 4321.0, np.array([12.0, -7.0, 1.0])
    p_E = earth.ecef(0.8, -1.3, 2000.0)
    for moves, feels in ((0.0, -1.0), (1.0, 0.0), (3.0, 2.0)):
        p_I, v_I = earth.to_inertial(p_E, earth.ned(p_E) @ (moves * wind), t)
        felt = earth.ned(p_I).T @ earth.velocity_in_air(p_I, v_I, wind)
        np.testing.assert_allclose(felt, feels * wind, atol=1e-12)


def test_the_sphere_has_the_same_latitude_everywhere():
    earth = pt.Earth(model="sphere", gravity="central")
    place = earth.geodetic(earth.ecef(0.5, 0.2, 1e3))
    np.testing.assert_allclose(place, (0.5, 0.2, 1e3), rtol=1e-11)
    np.testing.assert_allclose(np.linalg.norm(earth.ecef(0.5, 0.2, 0.0)), 6371007.1809, rtol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"model": "wgs85"}, "model='wgs85' of the Earth: there are 'wgs84', 'sphere'; did you mean 'wgs84'?"),
        ({"gravity": "J3"}, "gravity='J3' of the Earth: there are 'central', 'J2', 'J4'"),
        ({"rotating": 7e-5}, "rotating=7e-05 of the Earth must be True or False"),
        ({"mu": -1.0}, "mu=-1.0 m"),
    ],
)
def test_construction_errors(arguments, words):
    with pytest.raises(ValueError, match="of the Earth") as caught:
        pt.Earth(**arguments)
    assert words in str(caught.value)


@pytest.mark.skipif(REFERENCE is None, reason="the NESC check cases are not here")
def test_constants_and_fields_of_nasa():
    constants = json.loads((REFERENCE / "cases.json").read_text())["constants"]
    assert constants["mu_m3_s2"] == module.MU
    assert constants["J2"] == module.ZONAL[2]
    assert constants["omega_rad_s"] == module.RATE
    assert constants["sphere_radius_m"] == module.SPHERE.a
    assert (constants["earth_radius_m"], 1 / constants["inverse_flattening"]) == (module.WGS84.a, module.WGS84.f)


@pytest.mark.skipif(REFERENCE is None, reason="the NESC check cases are not here")
@pytest.mark.parametrize(("case", "options"), [("10", {}), ("05", {"model": "sphere", "gravity": "central"})])
def test_places_and_gravitation_along_flights_of_nasa(case, options):
    earth = pt.Earth(**options)
    with (REFERENCE / f"Atmos_{case}_sim_04.csv").open() as file:
        rows = list(csv.DictReader(file))
    column = {name: np.array([float(row[name]) for row in rows]) for name in rows[0] if rows[0][name]}
    p_I = np.stack([column[f"eiPosition_ft_{axis}"] for axis in "XYZ"], -1) * FOOT
    v_I = np.stack([column[f"eiVelocity_ft_s_{axis}"] for axis in "XYZ"], -1) * FOOT
    p_E, v_E = earth.to_earth(p_I, v_I, column["time"])
    place = earth.geodetic(p_E)
    np.testing.assert_allclose(np.degrees(place.latitude), column["latitude_deg"], atol=1e-10)
    np.testing.assert_allclose(np.degrees(place.longitude), column["longitude_deg"], atol=1e-10)
    np.testing.assert_allclose(
        place.height / FOOT, column["altitudeMsl_ft"], rtol=0, atol=5e-5
    )  # as many digits as there
    v_N = np.einsum("...ji,...j->...i", earth.ned(p_E), v_E)
    feet = np.stack([column[f"feVelocity_ft_s_{axis}"] for axis in "XYZ"], -1)
    np.testing.assert_allclose(v_N / FOOT, feet, atol=1e-6)
    g = np.linalg.norm(earth.gravitation(p_I), axis=1) / FOOT
    np.testing.assert_allclose(g, column["localGravity_ft_s2"], rtol=1e-9)


def test_without_the_gradient_a_body_is_pulled_like_a_point():
    """The torque on a long body vanishes, and what is left is the pull on its centre of mass."""
    rod = pt.Inertia.box(10.0, (0.1, 0.2, 30.0))
    start = {"position": (7e6, 1e6, 2e6), "orientation": (0.8, 0.6, 0, 0)}
    rates = {}
    for gradient in (True, False):
        world = pt.World(earth=pt.Earth(gradient=gradient))
        world.add_body("rod", rod, **start)
        rates[gradient] = world.derivative(0.0, world.start()).v
    assert np.abs(rates[True][:3]).max() > 1e-7
    np.testing.assert_array_equal(rates[False][:3], 0.0)
    R = world.scene()["rod"].pose.R
    np.testing.assert_allclose(R @ rates[False][3:], pt.Earth().gravitation(start["position"]), rtol=1e-14)
