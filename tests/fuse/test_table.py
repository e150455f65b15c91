"""Tables on grids: np.interp, linear tables and splines, against SciPy."""

import itertools
import time

import numpy as np
import pytest
from fuse_laws import agrees, every_backend
from scipy.interpolate import CubicSpline, PchipInterpolator, RegularGridInterpolator

from poinsot.fuse import Table, fori_loop, gradient, jacobian, jvp, kernel, locate, once, vjp

EVEN, UNEVEN = np.linspace(-1, 2, 7), np.array([-1.0, -0.7, 0.1, 0.4, 1.3, 1.9, 2.0])
GRIDS = {
    "even": EVEN,
    "uneven": UNEVEN,
    "two points": np.array([0.0, 3.0]),
    "long": np.sort(np.tan(np.linspace(-1, 1, 33))),
}


def points(grid, rng, count=40, beyond=0.0):
    """Points within the grid, its knots among them, or as far beyond it as asked for."""
    inside = rng.uniform(grid[0] - beyond, grid[-1] + beyond, count)
    return np.concatenate([inside, grid])


def on_both_back_ends(table, *x):
    """The table in a kernel, which must give what it gives on plain arrays."""
    plain = table(*x)
    text = ",".join(["()"] * len(x)) + "->()"
    for backend, (got,) in every_backend(kernel(text)(lambda *x: table(*x)), *x):
        np.testing.assert_allclose(got, plain, rtol=1e-12, atol=1e-13 * np.nanmax(np.abs(plain)), err_msg=backend)
    return plain


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
@pytest.mark.parametrize("sides", [{}, {"left": -5.0, "right": 7.0}, {"left": 1.5}])
def test_interp(grid, sides, rng):
    values = rng.standard_normal(len(grid))
    x = points(grid, rng, beyond=1.0)
    agrees(lambda x: np.interp(x, grid, values, **sides), "()->()", x, rtol=1e-12)


def test_interp_of_traced_values_and_of_arrays(rng):
    agrees(lambda x, f: np.interp(x, UNEVEN, f), "(),(7)->()", points(UNEVEN, rng), rng.standard_normal(7), rtol=1e-12)
    agrees(lambda x: np.interp(x, EVEN, EVEN**2), "(4)->(4)", rng.uniform(-2, 3, (5, 4)), rtol=1e-12)


@pytest.mark.parametrize("kinds", ["e", "u", "ee", "eu", "uu", "eue"])
def test_linear_tables_against_scipy(kinds, rng):
    axes = [{"e": EVEN, "u": UNEVEN}[kind][: 7 - k] for k, kind in enumerate(kinds)]
    values = rng.standard_normal(tuple(map(len, axes)))
    x = np.stack([rng.uniform(axis[0], axis[-1], 50) for axis in axes])
    got = on_both_back_ends(Table(tuple(axes), values), *x)
    np.testing.assert_allclose(got, RegularGridInterpolator(axes, values)(x.T), rtol=1e-12, atol=1e-13)


def nested_spline(axes, values, x):
    """A spline along the last axis, then along the one before, ..., one point after the other."""
    if not axes:
        return values
    return CubicSpline(axes[0], [nested_spline(axes[1:], row, x[1:]) for row in values])(x[0])


@pytest.mark.parametrize("kinds", ["e", "u", "ee", "eu", "uue"])
def test_cubic_tables_against_scipy(kinds, rng):
    axes = [{"e": EVEN, "u": UNEVEN}[kind][: 7 - k] for k, kind in enumerate(kinds)]
    values = rng.standard_normal(tuple(map(len, axes)))
    x = np.stack([rng.uniform(axis[0], axis[-1], 12) for axis in axes])
    got = on_both_back_ends(Table(tuple(axes), values, "cubic"), *x)
    want = [nested_spline(axes, values, point) for point in x.T]
    np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("method", ["linear", "cubic"])
@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_beyond_the_grid(method, grid, rng):
    values = rng.standard_normal(7)
    x = points(grid, rng, beyond=1.5)
    inside = (x >= grid[0]) & (x <= grid[-1])
    if method == "linear":
        reference = RegularGridInterpolator([grid], values, bounds_error=False, fill_value=None)
    else:
        reference = CubicSpline(grid, values)
    clamped = on_both_back_ends(Table((grid,), values, method, "clamp"), x)
    extended = on_both_back_ends(Table((grid,), values, method, "extrapolate"), x)
    with np.errstate(invalid="ignore"):
        missing = on_both_back_ends(Table((grid,), values, method, "nan"), x)
    exact = {"rtol": 1e-9, "atol": 1e-10}
    np.testing.assert_allclose(clamped, reference(np.clip(x, grid[0], grid[-1])), **exact)
    np.testing.assert_allclose(extended, reference(x), **exact)
    np.testing.assert_allclose(missing, np.where(inside, clamped, np.nan), **exact)


def test_splines_of_cubics_are_exact(rng):
    x, y = points(UNEVEN, rng), points(UNEVEN, rng)
    f = np.polynomial.Polynomial([1, -2, 3, 0.5])
    table = Table((UNEVEN, UNEVEN), f(UNEVEN)[:, None] * f(UNEVEN), "cubic", "extrapolate")
    np.testing.assert_allclose(on_both_back_ends(table, x, y), f(x) * f(y), rtol=1e-10, atol=1e-10)


def test_knots_are_met_exactly(rng):
    values = rng.standard_normal((7, 7))
    for method, outside in itertools.product(("linear", "cubic"), ("clamp", "extrapolate", "nan")):
        table = Table((EVEN, UNEVEN), values, method, outside)
        got = kernel("(),()->()")(table)(EVEN[:, None], UNEVEN)
        np.testing.assert_allclose(got, values, rtol=1e-14, atol=1e-15)


def test_arrays_of_points(rng):
    table = Table((EVEN, UNEVEN), rng.standard_normal((7, 7)), "cubic")
    x, y = rng.uniform(-1, 2, (6, 2, 3)), rng.uniform(-1, 2, (6, 3))
    got = kernel("(2,3),(3)->(2,3)")(table)(x, y)
    np.testing.assert_allclose(got, table(x, y[:, None]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_derivatives(grid, rng):
    values = rng.standard_normal(7)
    x = rng.uniform(-1, 2, 30)
    cubic = gradient(kernel("()->()")(Table((grid,), values, "cubic")))(x)
    np.testing.assert_allclose(cubic, CubicSpline(grid, values)(x, 1), rtol=1e-9, atol=1e-9)
    linear = gradient(kernel("()->()")(Table((grid,), values)))(x)
    slopes = (np.diff(values) / np.diff(grid))[np.searchsorted(grid, x) - 1]
    np.testing.assert_allclose(linear, slopes, rtol=1e-9, atol=1e-9)
    outside = gradient(kernel("()->()")(Table((grid,), values)))(np.array([-1.5, 2.5]))
    np.testing.assert_array_equal(outside, 0)  # clamped: the value does not change any more


@pytest.mark.parametrize("outside", ["clamp", "extrapolate", "nan", "error", "mirror"])
@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_the_slope_at_an_end_is_that_of_the_inside(grid, method, outside, rng):
    """Motions begin and end there. Forward and reverse, against SciPy."""
    values = rng.standard_normal(7)
    slopes = {
        "linear": (np.diff(values) / np.diff(grid))[[0, -1]],
        "cubic": CubicSpline(grid, values)(grid[[0, -1]], 1),
        "monotone": PchipInterpolator(grid, values)(grid[[0, -1]], 1),
    }
    wanted = np.zeros(2) if outside == "mirror" and method != "linear" else slopes[method]
    table = kernel("()->()")(Table(grid, values, method, outside))
    ends, one = grid[[0, -1]], np.ones(2)
    for value, slope in (jvp(table)(ends, one), vjp(table)(ends, one)):
        np.testing.assert_allclose(value, values[[0, -1]], rtol=1e-12)
        np.testing.assert_allclose(slope, wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
def test_slopes_at_the_corners_of_a_table_of_two_variables(method, rng):
    """Those of the table that goes on beyond its ends."""
    values, corners = rng.standard_normal((7, 7)), np.stack(np.meshgrid(EVEN[[0, -1]], UNEVEN[[0, -1]]), axis=-1)

    def slopes(outside):
        table = Table((EVEN, UNEVEN), values, method, outside)
        return jacobian(kernel("(2)->()")(lambda x: table(x[0], x[1])))(corners)

    np.testing.assert_allclose(slopes("clamp"), slopes("extrapolate"), rtol=1e-11, atol=1e-12)


def test_the_slope_of_interp_at_an_end_is_that_of_the_inside():
    f = kernel("()->()")(lambda x: np.interp(x, [0.0, 1.0, 3.0], [0.0, 2.0, 8.0]))
    np.testing.assert_allclose(gradient(f)(np.array([-1e-9, 0.0, 3.0, 3 + 1e-9])), [0.0, 2.0, 3.0, 0.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0.0, 1.0], [1.0, 2.0], "quintic"), "method 'quintic'"),
        (([0.0, 1.0], [1.0, 2.0], "linear", "wrap"), "outside='wrap'"),
        (([0.0, 0.0], [1.0, 2.0]), "axis 0 .* increasing"),
        (([1.0, 0.0], [1.0, 2.0]), "axis 0 .* increasing"),
        (([0.0], [1.0]), "axis 0 .* 2 or more"),
        (([0.0, 1.0, 2.0], [1.0, 2.0, 3.0], "cubic"), "axis 0 .* 4 or more"),
        (([0.0, 1.0], [1.0, 2.0, 3.0]), r"shape \(3,\)"),
        ((([0.0, 1.0], [0.0, 1.0, 2.0]), np.ones((3, 2))), r"shape \(3, 2\)"),
        ((([0.0, 1.0], [0.0, 0.0]), np.ones((2, 2))), "axis 1"),
        (([0.0, np.inf], [1.0, 2.0]), "axis 0 .* not finite"),
        (([0.0, 1.0], [np.nan, 2.0]), "values .* not finite"),
    ],
)
def test_construction_errors(arguments, words):
    with pytest.raises(ValueError, match=words):
        Table(*arguments)


def test_tables_are_frozen_copies_and_count_their_arguments():
    values = np.ones(7)
    table = Table(EVEN, values)
    values[0] = 5
    assert table(-1.0) == 1
    with pytest.raises(ValueError, match="read-only"):
        table.values[0] = 2
    with pytest.raises(TypeError, match="1 axes, but was called with 2"):
        table(0.0, 1.0)


def test_tables_can_be_made_inside_of_a_kernel():
    f = kernel("()->()")(lambda x: Table(EVEN, EVEN**2, "cubic")(x))
    np.testing.assert_allclose(f(np.array([0.3, 1.1])), [0.09, 1.21], rtol=1e-12)


@pytest.mark.parametrize("kinds", ["e", "u", "eu"])
def test_monotone_tables_against_scipy(kinds, rng):
    axes = [{"e": EVEN, "u": UNEVEN}[kind][: 7 - k] for k, kind in enumerate(kinds)]
    values = np.cumsum(rng.standard_normal(tuple(map(len, axes))), axis=0)
    x = np.stack([rng.uniform(axis[0], axis[-1], 40) for axis in axes])
    x[1:] = axes[-1][2]  # on a grid line, where it is PCHIP along the other axis
    got = on_both_back_ends(Table(tuple(axes), values, "monotone"), *x)
    line = values if len(kinds) == 1 else values[:, 2]
    np.testing.assert_allclose(got, PchipInterpolator(axes[0], line)(x[0]), rtol=1e-12, atol=1e-13)


def test_monotone_tables_keep_their_shape(rng):
    """Between two knots the value stays between theirs, where a spline overshoots; products of lines are exact."""
    steps = np.array([0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0])
    x = np.linspace(-1, 2, 400)
    assert np.ptp(Table(UNEVEN, steps, "cubic")(x)) > 1.05
    stays = Table(UNEVEN, steps, "monotone")(x)
    assert stays.min() == 0
    assert stays.max() <= 1 + 1e-15
    assert np.all(np.diff(stays) >= -1e-15)
    saddle = Table((UNEVEN, EVEN), UNEVEN[:, None] * EVEN, "monotone", "extrapolate")
    p = rng.uniform(-2, 3, (2, 30))
    np.testing.assert_allclose(on_both_back_ends(saddle, *p), p[0] * p[1], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
@pytest.mark.parametrize("grid", [EVEN, UNEVEN], ids=["even", "uneven"])
def test_periodic_and_mirrored_axes(method, grid, rng):
    values = rng.standard_normal(7)
    values[-1] = values[0]
    x = rng.uniform(-1, 2, 30)
    ring = Table(grid, values, method, "periodic")
    here = on_both_back_ends(ring, x)
    for turns in (-2, 1, 5):
        np.testing.assert_allclose(on_both_back_ends(ring, x + 3 * turns), here, rtol=1e-12, atol=1e-12)
    if method == "cubic":
        np.testing.assert_allclose(here, CubicSpline(grid, values, bc_type="periodic")(x), rtol=1e-11, atol=1e-12)
    mirror = Table(grid, values + grid, method, "mirror")
    here = on_both_back_ends(mirror, x)
    for image in (2 * 2 - x, -2 - x, x + 6):
        np.testing.assert_allclose(on_both_back_ends(mirror, image), here, rtol=1e-11, atol=1e-12)
    if method != "linear":  # no corner at the ends
        for table, end in ((ring, -1.0), (mirror, -1.0), (mirror, 2.0)):
            slope = gradient(kernel("()->()")(table))(np.array([end - 1e-9, end + 1e-9]))
            np.testing.assert_allclose(*slope, rtol=0, atol=1e-6)


def test_outside_is_chosen_per_axis(rng):
    values = rng.standard_normal((7, 7))
    table = Table((EVEN, UNEVEN), values, "linear", ("clamp", "nan"))
    with np.errstate(invalid="ignore"):
        got = on_both_back_ends(table, np.array([-5.0, 0.3, 5.0]), np.array([0.4, 2.5, 1.3]))
    np.testing.assert_allclose(got, [values[0, 3], np.nan, values[-1, 4]], rtol=1e-14)


@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
def test_several_outputs_on_one_grid(method, rng):
    values = rng.standard_normal((7, 7, 2, 3))
    table = Table((EVEN, UNEVEN), values, method)
    x, y = rng.uniform(-1, 2, (2, 5))
    assert table.shape == (2, 3)
    got = kernel("(),()->(2,3)")(table)(x, y)
    assert got.shape == (5, 2, 3)
    np.testing.assert_allclose(got, table(x, y), rtol=1e-12, atol=1e-12)
    for j, k in np.ndindex(2, 3):
        np.testing.assert_allclose(got[:, j, k], Table((EVEN, UNEVEN), values[..., j, k], method)(x, y), rtol=1e-11)
    rows = kernel("(4),()->(4,2,3)")(table)(x[:4], y[0])
    np.testing.assert_allclose(rows, table(x[:4], y[0]), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("outside", ["clamp", "extrapolate", "nan", "periodic", "mirror", "error"])
@pytest.mark.parametrize("grid", [EVEN, UNEVEN, np.tan(np.linspace(-1, 1, 64))], ids=["even", "uneven", "long"])
def test_nan_in_gives_nan_out(grid, outside):
    table = Table(grid, np.cos(grid - (grid[0] + grid[-1]) / 2), "linear", outside)
    x = np.array([np.nan, grid[0], np.nan])
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(np.isnan(on_both_back_ends(table, x)), [True, False, True])


def test_an_error_outside_of_the_grid():
    table = Table((EVEN, UNEVEN), np.ones((7, 7)), "linear", ("clamp", "error"))
    with pytest.raises(ValueError, match=r"axis 1 of the table goes from -1 to 2, but was asked at 2\.5"):
        table(np.array([9.0, 0.0]), np.array([1.0, 2.5]))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(kernel("(),()->()")(table)(0.0, np.array([1.0, 2.5])), [1, np.nan])


def test_infinite_points(rng):
    values = rng.standard_normal(7)
    for grid in (EVEN, UNEVEN):
        got = on_both_back_ends(Table(grid, values), np.array([-np.inf, np.inf]))
        np.testing.assert_array_equal(got, values[[0, -1]])


@pytest.mark.parametrize("count", [2, 3, 23, 24, 25, 47, 48, 90, 200])
def test_cells_of_uneven_axes_of_any_length(count, rng):
    grid = np.cumsum(rng.uniform(0.1, 2, count))
    x = np.concatenate([grid, np.nextafter(grid, -np.inf), np.nextafter(grid, np.inf), [grid[0] - 1, grid[-1] + 1]])
    cells = kernel("()->()")(lambda x: locate(x, grid)[0] * 1.0)(x)
    np.testing.assert_array_equal(cells, np.clip(np.searchsorted(grid, x, side="right") - 1, 0, count - 2))
    np.testing.assert_array_equal(cells, locate(x, grid)[0])


def test_large_tables_are_data_for_the_compiler(rng):
    """A table of 200,000 values took ten seconds to trace and compile when each was a number in a text."""
    values = rng.standard_normal((60, 60, 60))
    table = Table((np.arange(60.0),) * 3, values)
    start = time.process_time()
    got = kernel("(),(),()->()")(table)(*np.array([[3.0, 59.0], [0.0, 59.0], [7.0, 58.0]]))
    assert time.process_time() - start < 4
    np.testing.assert_array_equal(got, [values[3, 0, 7], values[59, 59, 58]])
    single = kernel("(),(),()->()")(table)(*np.array([[3.0], [0.0], [7.0]], np.float32))
    np.testing.assert_array_equal(single, np.float32(values[3, 0, 7]))


def test_operations_of_look_ups():
    """Stored counts: an even axis, an uneven one, three dimensions of each method."""
    grids = {"even": EVEN, "uneven": UNEVEN}

    def operations(method, *kinds):
        table = Table(tuple(grids[kind] for kind in kinds), np.ones((7,) * len(kinds)), method)
        f = kernel(",".join(["()"] * len(kinds)) + "->()")(table)
        f(*np.zeros(len(kinds)))
        return sum(f.count().values())

    assert operations("linear", "even") <= 20
    assert operations("linear", "uneven") <= 29  # two for the slopes at the ends
    assert operations("linear", "even", "even", "even") <= 82
    assert operations("cubic", "even", "even", "even") <= 360  # slopes at the ends of each axis


@pytest.mark.parametrize(
    ("outside", "words"),
    [
        ("mirrored", "outside='mirrored' .* did you mean 'mirror'"),
        (("clamp",), "2 axes need one each"),
        (("clamp", "wrap"), "outside='wrap'"),
        (("clamp", "periodic"), "axis 1 of the table is periodic, but the values at its two ends differ"),
    ],
)
def test_errors_of_outside(outside, words):
    with pytest.raises(ValueError, match=words):
        Table((EVEN, UNEVEN), np.add.outer(EVEN, UNEVEN), "linear", outside)


@pytest.mark.parametrize("method", ["linear", "cubic", "monotone"])
def test_some_arguments_may_be_plain_numbers(method, rng):
    table, x = Table((EVEN, UNEVEN), rng.standard_normal((7, 7)), method), rng.uniform(-1, 2, 9)
    for number in (0.3, -1.0, 2.0, 9.0):
        np.testing.assert_allclose(kernel("()->()")(lambda x, n=number: table(x, n))(x), table(x, number), rtol=1e-12)
        np.testing.assert_allclose(kernel("()->()")(lambda x, n=number: table(n, x))(x), table(number, x), rtol=1e-12)
    constant = kernel("()->()")(lambda x: x + table(0.3, 0.7))
    np.testing.assert_allclose(constant(1.0), 1 + table(0.3, 0.7), rtol=1e-14)


def test_tables_in_loops_and_functions(rng):
    table = Table((EVEN, UNEVEN), rng.standard_normal((7, 7)), "cubic")
    look_up = once(lambda x, y: table(x, y) + table(y, x))

    def walk(x, y):
        return fori_loop(5, lambda i, z: 0.5 * z + 0.2 * look_up(z, y) + 0.1 * table(z, 0.1 * i), x)

    x, y = rng.uniform(-1, 2, (2, 12))
    z = x
    for i in range(5):
        z = 0.5 * z + 0.2 * (table(z, y) + table(y, z)) + 0.1 * table(z, 0.1 * i)
    f = kernel("(),()->()")(walk)
    np.testing.assert_allclose(f(x, y), z, rtol=1e-12)
    h = 1e-6
    slopes = (f(x + h, y) - f(x - h, y)) / (2 * h)
    np.testing.assert_allclose(gradient(f, wrt=0)(x, y), slopes, rtol=1e-6, atol=1e-8)


def test_how_far_beyond_the_grid():
    table = Table((EVEN, UNEVEN), np.ones((7, 7)))
    x = np.array([-1.5, -1.0, 0.3, 2.0, 7.0])
    first, second = table.beyond(x, x[::-1])
    np.testing.assert_array_equal(first, [-0.5, 0, 0, 0, 5])
    np.testing.assert_array_equal(second, [5, 0, 0, 0, -0.5])
    traced = kernel("(),()->(2)")(lambda x, y: np.stack([*table.beyond(x, y)]))(x, x[::-1])
    np.testing.assert_array_equal(traced, np.stack([first, second], -1))
