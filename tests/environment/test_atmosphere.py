"""The standard atmosphere and atmospheres of one's own."""

import csv
from pathlib import Path

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment import atmosphere
from poinsot.environment.atmosphere import M_0, K, R, geopotential

PLACES = [parent / "shared/refdata/flight" for parent in Path(__file__).parents]
REFERENCE = next((place for place in PLACES if place.is_dir()), None)

# The standard's table I: geometric height [m], temperature [K], pressure [Pa], density [kg/m^3], sound [m/s],
# viscosity [Pa s].
PRINTED = np.array(
    [
        [-2000, 301.154, 1.2778e5, 1.4782, 347.89, 1.8515e-5],
        [0, 288.150, 1.01325e5, 1.2250, 340.29, 1.7894e-5],
        [5000, 255.676, 5.4048e4, 7.3643e-1, 320.55, 1.6282e-5],
        [10000, 223.252, 2.6500e4, 4.1351e-1, 299.53, 1.4577e-5],
        [20000, 216.650, 5.5293e3, 8.8910e-2, 295.07, 1.4216e-5],
        [30000, 226.509, 1.1970e3, 1.8410e-2, 301.71, 1.4753e-5],
        [50000, 270.650, 7.9779e1, 1.0269e-3, 329.80, 1.7037e-5],
        [70000, 219.585, 5.2209, 8.2829e-5, 297.06, 1.4377e-5],
    ]
)


def test_printed_values_of_the_standard():
    z, *want = PRINTED.T
    air = pt.US76().at(z)
    got = (air.temperature, air.pressure, air.density, air.speed_of_sound, air.viscosity)
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=6e-5)  # five digits are printed


def heights_and_air():
    z = np.sort(np.concatenate([np.linspace(-4000, 1e6, 200), np.linspace(0, 9e4, 200), atmosphere.BASES]))
    return z, pt.US76().at(z)


def test_kernels_and_plain_numbers_agree():
    z, air = heights_and_air()
    traced = pt.kernel("()->(5)")(lambda z: np.stack(quantities(pt.US76().at(z))))(z)
    np.testing.assert_allclose(traced.T, quantities(air), rtol=4e-14)


def quantities(air):
    return [air.temperature, air.pressure, air.density, air.speed_of_sound, air.viscosity]


@pytest.mark.parametrize("offset", [0.0, -20.0, 35.0])
def test_the_air_is_a_gas_at_rest_under_its_weight(offset):
    """p M = rho R T; without an offset dp/dH = -rho g_0, layer by layer and at their ends, to 1000 km."""
    z, standard = heights_and_air()
    air = pt.US76(offset).at(z)
    np.testing.assert_allclose(air.temperature, standard.temperature + offset, rtol=1e-14)
    np.testing.assert_array_equal(air.pressure, standard.pressure)
    low = z < 86e3
    np.testing.assert_allclose(air.density[low], (air.pressure * M_0 / (R * air.temperature))[low], rtol=1e-14)
    pressure = pt.gradient(pt.kernel("()->()")(lambda z: pt.US76().at(z).pressure))
    gravity = 9.80665 * (atmosphere.R_0 / (atmosphere.R_0 + z)) ** 2
    np.testing.assert_allclose(pressure(z), -standard.density * gravity, rtol=1e-11)


def test_it_is_continuous_at_the_ends_of_layers():
    ends = pt.US76().heights * atmosphere.R_0 / (atmosphere.R_0 - pt.US76().heights)
    below, above = (quantities(pt.US76().at(ends + step)) for step in (-1e-4, 1e-4))
    np.testing.assert_allclose(below, above, rtol=1e-7)


def test_atmospheres_and_offsets_can_be_made_in_kernels():
    f = pt.kernel("(),()->()")(lambda z, offset: pt.US76(offset).at(z).density)
    air = pt.US76(5.0).at(1000.0)
    np.testing.assert_allclose(f(1000.0, 5.0), air.density, rtol=1e-14)
    np.testing.assert_allclose(pt.gradient(f, wrt=1)(1000.0, 5.0), -air.density / air.temperature, rtol=1e-13)
    heights, temperatures = np.array([0.0, 1e3, 9e3]), [290.0, 285.0, 230.0]
    own = pt.kernel("()->()")(lambda z: pt.Atmosphere.table(heights, temperatures).at(z).pressure)
    np.testing.assert_allclose(own(500.0), pt.Atmosphere.table(heights, temperatures).at(500.0).pressure, rtol=1e-14)


def test_cheap_when_traced():
    f = pt.kernel("()->()")(lambda z: pt.US76().at(z).density)
    f(0.0)
    assert sum(f.count().values()) <= 90
    assert f.count()["exp"] == f.count()["log1p"] == 1


def test_altitudes_of_pressure_and_density():
    z = np.linspace(-2000, 85e3, 300)
    air = pt.US76().at(z)
    for f, x in ((atmosphere.pressure_altitude, air.pressure), (atmosphere.density_altitude, air.density)):
        np.testing.assert_allclose(f(x), geopotential(z), rtol=1e-12, atol=1e-8)
        np.testing.assert_allclose(pt.kernel("()->()")(f)(x), geopotential(z), rtol=1e-12, atol=1e-8)


def test_a_table_of_the_standard_is_the_standard():
    z = atmosphere.R_0 * atmosphere.BASES / (atmosphere.R_0 - atmosphere.BASES)
    standard = pt.US76().at(z)
    own = pt.Atmosphere.table(z, standard.temperature)
    given = pt.Atmosphere.table(z, standard.temperature, standard.pressure)
    x = np.linspace(0, 70e3, 100)
    for air in (own.at(x), given.at(x)):
        np.testing.assert_allclose(quantities(air), quantities(pt.US76().at(x)), rtol=1e-12)


def test_a_table_meets_its_pressures():
    """Measured pressures need not be those of air at rest."""
    z, T, p = np.array([100.0, 1500, 3000, 9000]), np.array([290.0, 284, 284, 230]), np.array([1e5, 8.4e4, 7.1e4, 3e4])
    air = pt.Atmosphere.table(z, T, p).at(z)
    np.testing.assert_allclose(air.pressure, p, rtol=1e-14)
    np.testing.assert_allclose(air.temperature, T, rtol=1e-15)
    np.testing.assert_allclose(air.density, p * M_0 / (R * T), rtol=1e-14)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: pt.US76(-200.0), "offset=-200.0 K leaves no temperature: the lowest is 186"),
        (lambda: pt.Atmosphere.table([0, 1e3, 5e2], [290, 280, 270]), "heights .* must rise, but 1000 is followed by"),
        (lambda: pt.Atmosphere.table([0, 1e3], [290, 280], [1e5, 1e5]), "pressures .* must fall"),
        (lambda: pt.Atmosphere.table([0, 1e3], [290, 0]), "temperatures .* more than 0"),
        (lambda: pt.Atmosphere.table([0, 1e3], [290]), "2 heights and 1 temperatures"),
        (lambda: pt.Atmosphere.table([0], [290]), "heights .* two or more"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_construction_errors(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.skipif(REFERENCE is None, reason="the reference data are not here")
def test_against_an_evaluation_of_the_standards_equations():
    with (REFERENCE / "atmosphere/us76.csv").open() as file:
        rows = np.array([[float(x) for x in row.values()] for row in csv.DictReader(file)])
    air = pt.US76().at(rows[:, 0])
    got = np.stack([air.temperature, air.pressure, air.density], -1)
    low = rows[:, 0] <= 86e3
    np.testing.assert_allclose(got[low], rows[low, 1:4], rtol=1e-13)
    np.testing.assert_allclose(air.speed_of_sound[low], rows[low, 4], rtol=1e-13)
    np.testing.assert_allclose(got[~low], rows[~low, 1:4], rtol=0.006)


@pytest.mark.skipif(REFERENCE is None, reason="the reference data are not here")
def test_the_air_of_nasas_flights():
    with (REFERENCE / "nesc/Atmos_05_sim_04.csv").open() as file:
        rows = list(csv.DictReader(file))
    column = {name: np.array([float(row[name]) for row in rows]) for name in ("altitudeMsl_ft", "airDensity_slug_ft3")}
    slug_per_cubic_foot = 14.593902937206364 / 0.3048**3
    density = pt.US76().at(column["altitudeMsl_ft"] * 0.3048).density
    np.testing.assert_allclose(density, column["airDensity_slug_ft3"] * slug_per_cubic_foot, rtol=3e-7)


def test_layers_of_the_standard_in_closed_form():
    """In the troposphere (T/T_0)^(K/L), in the layer above it an exponential."""
    z = np.array([0.0, 4000.0, 10000.0])
    T = 288.15 - 6.5e-3 * geopotential(z)
    np.testing.assert_allclose(pt.US76().at(z).pressure, 101325 * (T / 288.15) ** (K / 6.5e-3), rtol=1e-14)
    H = geopotential(15e3)
    want = 101325 * (216.65 / 288.15) ** (K / 6.5e-3) * np.exp(-K * (H - 11e3) / 216.65)
    np.testing.assert_allclose(pt.US76().at(15e3).pressure, want, rtol=1e-14)
