"""Tables from CSV files: units, rows in any order, several values, and what is wrong with a file."""

import itertools

import numpy as np
import pytest
import xarray

import poinsot as pt

ALPHA, MACH = np.array([-5.0, 0.0, 10.0, 20.0]), np.array([0.2, 0.9])


def written(path, head="alpha [deg],mach,CL,height [ft]", rows=None):
    points = itertools.product(ALPHA, MACH)
    rows = [f"{a},{m},{0.1 * a * m},{1000 * m}" for a, m in points] if rows is None else rows
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_columns_become_axes_and_values_in_si(tmp_path):
    path = written(tmp_path / "cl.csv")
    table = pt.load_table(path, ["alpha", "mach"], ["CL"], outside={"alpha": "extrapolate", "mach": "nan"})
    np.testing.assert_allclose(table.axes[0], np.radians(ALPHA), rtol=1e-15)
    np.testing.assert_allclose(table.values, 0.1 * np.outer(ALPHA, MACH), rtol=1e-14, atol=1e-16)
    assert table.outside == ("extrapolate", "nan")
    both = pt.load_table(path, ["alpha", "mach"])
    assert both.shape == (2,)
    np.testing.assert_allclose(both(np.radians(5.0), 0.2), [0.1, 200 * 0.3048], rtol=1e-13)


def test_rows_in_any_order_and_units_from_the_call(tmp_path):
    rows = [f"{a},{m},{a + m}" for a, m in itertools.product(ALPHA, MACH)]
    path = written(tmp_path / "t.csv", "alpha,mach,CL", rows[::-1])
    table = pt.load_table(path, {"mach": "1", "alpha": "deg"}, {"CL": "%"}, "cubic" if len(MACH) > 3 else "linear")
    np.testing.assert_allclose(table(0.9, np.radians(10.0)), 0.109, rtol=1e-14)


@pytest.mark.parametrize(
    ("head", "rows", "axes", "words"),
    [
        ("alpha,mach,CL", ["1,2,3"], ["alfa"], "there is no column 'alfa'; did you mean 'alpha'"),
        ("alpha [dge],CL", ["1,2", "2,3"], ["alpha"], "column 'alpha': there is no unit 'dge'"),
        ("alpha,CL", ["1,2", "2,x"], ["alpha"], "row 3, column 'CL': 'x' is not a number"),
        ("alpha,CL", ["1,2", "2"], ["alpha"], "row 3 has 1 entries; the first row has 2"),
        ("alpha,mach,CL", ["1,1,2", "1,2,2", "2,1,3"], ["alpha", "mach"], "alpha = 2, mach = 2 .* has 0 rows"),
        ("alpha,CL", ["1,2", "1,3"], ["alpha"], "alpha = 1 .* has 2 rows"),
        ("alpha,alpha", ["1,2"], ["alpha"], "first row must name the columns"),
        ("alpha,CL", [], ["alpha"], "numbers must follow"),
        ("alpha,CL", ["1,2", "2,3"], [], "a table needs one axis"),
        ("alpha,CL", ["1,2", "nan,3"], ["alpha"], "axis 0 of the table contains numbers that are not finite"),
    ],
)
def test_errors_name_the_place(tmp_path, head, rows, axes, words):
    path = written(tmp_path / "t.csv", head, rows)
    with pytest.raises(ValueError, match=words) as caught:
        pt.load_table(path, axes)
    assert "t.csv" in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        pt.load_table(tmp_path / "no.csv", ["alpha"])


def test_netcdf(tmp_path):
    lift = xarray.DataArray(0.1 * np.outer(MACH, ALPHA), coords=[("mach", MACH), ("alpha", ALPHA)], name="CL")
    data = xarray.Dataset({"CL": lift, "height": 1000 * lift, "other": ("k", [1.0, 2.0])})
    data["alpha"].attrs["units"], data["height"].attrs["units"] = "deg", "ft"
    data.to_netcdf(tmp_path / "t.nc", engine="h5netcdf")
    table = pt.load_table(tmp_path / "t.nc", ["alpha", "mach"])
    np.testing.assert_allclose(table(np.radians(5.0), 0.9), [0.45, 450 * 0.3048], rtol=1e-13)
    with pytest.raises(ValueError, match="there is no coordinate 'alfa'; did you mean 'alpha'"):
        pt.load_table(tmp_path / "t.nc", ["alfa"])


def test_outside_names_axes(tmp_path):
    with pytest.raises(ValueError, match="outside names 'alpa', which is not an axis; did you mean 'alpha'"):
        pt.load_table(written(tmp_path / "cl.csv"), ["alpha", "mach"], outside={"alpa": "nan"})
