"""Two-line elements against the test vectors that come with sgp4."""

from importlib import resources

import numpy as np
import pytest

import poinsot as pt
from poinsot.environment.kepler import state_of

sgp4 = pytest.importorskip("sgp4")
ISS = """ISS (ZARYA)
1 25544U 98067A   08264.51782528 -.00002182  00000-0 -11606-4 0  2927
2 25544  51.6416 247.4627 0006703 130.5360 325.0288 15.72125391563537
"""


def vectors():
    """The positions and velocities [km, km/s] of Vallado's verification at the epochs of the elements, by number."""
    text = (resources.files("sgp4") / "tcppver.out").read_text()
    found, number = {}, ""
    for line in text.splitlines():
        words = line.split()
        if len(words) == 2:
            number = words[0]
        elif len(words) >= 7 and float(words[0]) == 0.0:
            found[number] = np.array(words[1:7], dtype=float)
    return found


def test_against_the_vectors_of_sgp4():
    """At its epoch every satellite of the verification on an ellipse above the ground is where sgp4's table says."""
    text = (resources.files("sgp4") / "SGP4-VER.TLE").read_text()
    known, checked = vectors(), 0
    for number in {line[2:7] for line in text.splitlines() if line.startswith("1 ")}:
        want = known.get(number.strip().lstrip("0"))
        if want is None:
            continue
        try:
            orbit = pt.load_tle(text, number)
        except ValueError:
            continue
        p, v = state_of(orbit.elements, pt.Earth().mu)
        np.testing.assert_allclose(p / 1e3, want[:3], atol=2e-7)  # the table has eight digits after the point
        np.testing.assert_allclose(v / 1e3, want[3:], atol=2e-9)
        checked += 1
    assert checked >= 25


def test_at_another_epoch_in_a_world(tmp_path):
    from sgp4.api import Satrec, jday

    path = tmp_path / "iss.tle"
    path.write_text(ISS)
    orbit = pt.load_tle(path, epoch="2008-09-20T20:00:00Z", pitch=0.1)
    satellite = Satrec.twoline2rv(*ISS.splitlines()[1:])
    _, p, v = satellite.sgp4(*jday(2008, 9, 20, 20, 0, 0.0))
    world = pt.World(earth=pt.Earth(epoch=orbit.epoch))
    world.add_body("iss", pt.Inertia.sphere(1000.0, 5.0), start=orbit)
    start = world.description.started()["iss"]
    np.testing.assert_allclose(start.position, 1e3 * np.array(p), atol=0.01)  # jday rounds to microseconds
    np.testing.assert_allclose(start.velocity, 1e3 * np.array(v), atol=1e-5)
    with pytest.raises(ValueError, match="but that of the world is"):
        pt.World(earth=pt.Earth(epoch="2008-09-21")).add_body("iss", pt.Inertia.sphere(1.0, 1.0), start=orbit)


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        (ISS.replace("2927", "2926"), None, "has the check sum 6, but its digits make 7"),
        (ISS.replace("2 25544", "2 25545"), None, "different catalogue numbers"),
        ("nothing\nat all\n", None, "there are no two-line elements"),
        (ISS, "ISS (ZARYB)", r"did you mean 'ISS \(ZARYA\)'"),
    ],
)
def test_elements_that_are_wrong(text, name, words):
    with pytest.raises(ValueError, match=words):
        pt.load_tle(text, name)


def test_a_file_that_is_not_there():
    with pytest.raises(FileNotFoundError, match="there is no file"):
        pt.load_tle("nowhere.tle")
