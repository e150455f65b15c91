"""Flights near the round Earth: terrain that turns with it, a sphere that touches it, trails over the ground."""

import numpy as np
import pytest

import poinsot as pt
from poinsot.show.marks import Path, Surface
from poinsot.show.replay import picture_of
from poinsot.show.surroundings import surroundings_of
from poinsot.show.vehicles import main_vehicle, vehicles_of

LATITUDE, LONGITUDE = 0.8, 0.15


def hills(latitude, longitude):
    return 300.0 + 200.0 * np.sin(2e3 * (latitude - LATITUDE)) * np.cos(2e3 * (longitude - LONGITUDE))


@pytest.fixture(scope="module")
def flight():
    """900 m high, 60 m/s to the north, 20 m/s to the east."""
    world = pt.World(earth=pt.Earth(), ground=hills)
    start = pt.Start(latitude=LATITUDE, longitude=LONGITUDE, altitude=900.0, velocity_ned=(60.0, 20.0, 0.0))
    world.add_body("plane", pt.Inertia.box(900.0, (7.0, 9.0, 1.2)), start=start)
    return world.simulate(4.0, 1e-2, every=0.1, ledger=False)


@pytest.fixture(scope="module")
def picture(flight):
    return picture_of(flight)


def test_terrain_has_the_heights_of_its_function_at_every_time(picture):
    """Its vertices, turned back by the rotation of the Earth, lie at the heights above the ellipsoid."""
    relief = next(m for m in picture.layer("ground") if isinstance(m, Surface))
    earth, some = pt.Earth(), relief.triangles.vertices[::997]
    for k in (0, -1):
        R = pt.spatial.quaternion.to_matrix(relief.track.wxyz[k])
        world = some @ R.T + relief.track.position[k]
        for p in world:
            place = earth.geodetic(earth.rotation(picture.records.time[k]).T @ p)
            assert place.height == pytest.approx(hills(place.latitude, place.longitude), abs=1e-3)
    assert relief.haze


def test_the_sphere_touches_the_ellipsoid_below_the_flight(picture):
    """Heights above it are those above the ellipsoid: to a centimetre below the path, to metres 30 km away."""
    around = surroundings_of(picture, main_vehicle(vehicles_of(picture)))
    globe, earth = around.globe, pt.Earth()
    assert around.kind == "orbit"
    assert globe["low"]
    for step, close in ((0.0, 1e-6), (200.0, 1e-2), (30e3, 2.0)):
        p = np.asarray(earth.ecef(picture.below.latitude + step / 6.37e6, LONGITUDE, 500.0))
        assert np.linalg.norm(p - globe["centre"]) - globe["radius"] == pytest.approx(500.0, abs=close)
    assert globe["sunk"] > 0


def test_a_trail_is_the_path_over_the_ground(picture):
    """Not that through space, which is 300 m/s longer here."""
    (trail,) = [m for m in picture.layer("trails") if isinstance(m, Path)]
    length = np.linalg.norm(np.diff(trail.points, axis=0), axis=1).sum()
    assert length == pytest.approx(4.0 * np.hypot(60, 20), rel=0.08)  # it falls a little
    world = trail.track.position + pt.spatial.quaternion.rotate(trail.track.wxyz, trail.points)
    assert np.allclose(world, picture.records.centres[:, 0, 0], atol=1e-6)


def test_an_orbit_has_no_place_below_it():
    world = pt.World(earth=pt.Earth(), ground=hills)
    world.add_body("craft", pt.Inertia.box(9.0, (1, 1, 1)), position=(6.9e6, 0, 0), velocity=(0, 7.6e3, 0))
    picture = picture_of(world.simulate(20.0, 1.0, ledger=False))
    assert picture.below is None
    assert not any(isinstance(m, Surface) for m in picture.layer("ground"))


def test_the_page_shows_speed_and_course_over_the_ground(visit, flight, tmp_path):
    page = visit(flight.to_html(tmp_path / "flight.html", plots=[]).as_uri(), offline=True)
    page.evaluate("poinsot.show(0)")
    shown = page.evaluate("poinsot.readings()")
    assert shown["speed"] == pytest.approx(np.hypot(60, 20), rel=1e-6)
    assert shown["track"] == pytest.approx(np.degrees(np.arctan2(20, 60)), abs=0.01)
    assert shown["height"] == pytest.approx(900.0, abs=0.01)
    assert shown["velocity"] == flight["plane"].velocity.values[0].tolist()  # the run's, in its axes
    ahead = np.array(page.evaluate("poinsot.stage.view.forward"))
    east, north, up = pt.show.below.below(picture_of(flight)).axes.T
    assert abs(ahead @ up) < 0.5
    assert ahead @ (3 * north + east) > 0  # from behind, along its course over the ground
    sky = page.evaluate(
        "(() => { const s = poinsot.stage, g = s.renderer.getContext(), p = new Uint8Array(4); s.draw(0);"
        " g.readPixels(5, g.drawingBufferHeight - 5, 1, 1, g.RGBA, g.UNSIGNED_BYTE, p); return [...p]; })()"
    )
    assert sky[2] > 150  # blue, not black
    assert sky[2] > sky[0] + 20
