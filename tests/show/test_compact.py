"""Arrays for the page: unpacked by a second implementation, they are what was packed."""

import base64
import json
import zlib

import numpy as np
import pytest
import runs_to_show
from hypothesis import given
from hypothesis import strategies as st

from poinsot.show import replay
from poinsot.show.cameras import camera_of, fixed_view
from poinsot.show.compact import Packer
from poinsot.show.document import document
from poinsot.show.vehicles import main_vehicle, vehicles_of


def unpacked(text):
    """The arrays of a document, as web/unpack.js has them, but in NumPy."""
    doc = json.loads(text)
    raw = zlib.decompress(base64.b64decode(doc["data"]))
    found = []
    for a in doc["arrays"]:
        count = int(np.prod(a["shape"]))
        kind = np.dtype("uint64" if a["kind"] == "steps" else a["kind"])
        block = np.frombuffer(raw, np.uint8, count * kind.itemsize, a["at"]).reshape(kind.itemsize, count)
        values = np.ascontiguousarray(block.T).view(kind.newbyteorder("<")).ravel()
        if a["kind"] == "steps":
            signed = (values >> 1).astype(np.int64) ^ -(values & 1).astype(np.int64)
            columns = signed.reshape(-1, a["shape"][0])
            values = (np.cumsum(np.cumsum(columns, axis=1), axis=1) * a["step"]).T
        found.append(values.reshape(a["shape"]))
    return doc, found


@given(st.integers(1, 40), st.integers(1, 3), st.floats(1e-9, 1e9), st.floats(1e-7, 1e-2), st.integers(0, 2**31))
def test_what_is_packed_comes_back(records, columns, size, step, seed):
    """Motions to half a step, other arrays to the last bit; equal ones are stored once."""
    random = np.random.default_rng(seed)
    a = size * np.cumsum(random.normal(size=(records, columns)), axis=0)
    packer = Packer()
    k, exact = packer.steps(a, step * size), packer.exact(a, "float64")
    assert packer.exact(a.copy(), "float64") == exact
    _, arrays = unpacked(packer.document({}))
    assert np.abs(arrays[k] - a).max() <= 0.5 * step * size * (1 + 1e-6)
    assert np.array_equal(arrays[exact], a)


def test_a_position_far_away_keeps_the_digits_of_its_body():
    """6400 km from the origin a step of a micrometre is exact; the browser's doubles hold such whole numbers."""
    a = 6.4e6 + np.linspace(0.0, 1.0, 7)[:, None]
    packer = Packer()
    packer.steps(a, 1e-6)
    doc, (back,) = unpacked(packer.document({}))
    assert np.abs(back - a).max() < 1e-6
    assert np.abs(np.rint(a / doc["arrays"][0]["step"])).max() < 2**53


def test_a_hundred_bodies_are_small():
    """60 s of 100 bodies at 30 records per second."""
    t = np.linspace(0.0, 60.0, 1800)[:, None]
    phase = np.arange(100)
    angle = 0.3 * t + phase
    q = np.stack([np.cos(angle), np.sin(angle), 0 * angle, 0 * angle], axis=-1)
    p = np.stack([np.sin(t + phase), np.cos(0.7 * t + phase), 0.1 * t + 0 * phase], axis=-1)
    packer = Packer()
    packer.steps(p, 1e-6), packer.steps(q, 2.0**-20)
    assert len(packer.document({})) < 3e6  # 10 MB as doubles, 13 MB as text


def test_text_of_a_document_cannot_end_its_script():
    text = Packer().document({"name": "</script><!--\u2028"})
    assert "<" not in text
    assert "\u2028" not in text
    assert json.loads(text)["name"] == "</script><!--\u2028"


def content(run, **options):
    picture = replay.picture_of(run)
    doc, arrays = unpacked(document(run, picture, np.arange(len(run.time)), 1.0, ("bodies",), **options))
    return picture, doc, arrays


def test_the_document_of_a_run():
    run = runs_to_show.pendulum()
    picture, doc, arrays = content(run)
    assert np.array_equal(arrays[doc["times"]], run.time)
    assert np.allclose(arrays[doc["positions"]], picture.records.positions[:, 0], atol=1e-6 * picture.unit)
    q = arrays[doc["rotations"]]
    assert np.all(np.sum(q[1:] * q[:-1], axis=-1) > 0)  # continuous in sign
    assert np.allclose(np.abs(np.sum(q * picture.records.wxyz[:, 0], axis=-1)), 1.0, atol=1e-5)
    assert np.array_equal(arrays[doc["exact"]["velocity"]][:, 0], run["upper"].velocity.values)
    assert [row[0].split()[0] for row in doc["ledger"]["rows"]] == ["mass", "momentum", "angular", "energy"]
    assert doc["camera"]["kind"] == "fixed"  # it is not small against its path
    assert doc["world"]["kind"] == "studio"
    assert doc["events"] == []


def test_cameras_by_words():
    picture = replay.picture_of(runs_to_show.pendulum())
    vehicles = vehicles_of(picture)
    assert main_vehicle(vehicles).body == 0
    assert camera_of(picture, vehicles, "chase lower") == {"kind": "chase", "body": 1}
    assert camera_of(picture, vehicles, "lower from upper") == {"kind": "from", "body": 1, "other": 0}
    assert camera_of(picture, vehicles, "cockpit") == {"kind": "cockpit", "body": 0}
    assert camera_of(picture, vehicles, follow="lower", attached=True) == {"kind": "cockpit", "body": 1}
    table = {"kind": "orbit", "body": "lower", "distance": 3, "azimuth": 1}
    assert camera_of(picture, vehicles, table) == {"kind": "orbit", "body": 1, "distance": 3.0, "azimuth": 1.0}
    view = camera_of(picture, vehicles, {"position": (1, 2, 3), "look_at": (0, 0, 1)})
    assert (view["kind"], view["position"], view["look_at"]) == ("fixed", [1, 2, 3], [0, 0, 1])


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ("chse", "camera 'chse' is not known; did you mean 'chase'"),
        ("chase lowr", "there is no body 'lowr'; did you mean 'lower'"),
        ("lower from nowhere", "camera 'lower from nowhere' is not known"),
        ("lower from lower", "from another body, not from itself"),
        ("", "camera '' is not known"),
        ({"kind": "orbit", "body": "x"}, "there is no body 'x'"),
        ({"kind": "orbit", "distance": -1}, "distance of a camera must be a finite number, above 0"),
        ({"kind": "orbit", "distance": "far"}, "distance of a camera must be a finite number"),
        ({"kind": "orbit", "speed": 1}, "not speed"),
        ({"kind": "drone"}, "of the kind 'drone' is not known"),
        ((1, 2), "direction of a camera must be three finite numbers"),
        ((0, 0, 0), "direction of a camera must not be zero"),
        ({"position": "near"}, "position of a camera must be three finite numbers, not 'near'"),
        ({"nearness": 1}, "not {'nearness'}"),
    ],
)
def test_bad_cameras_are_errors_before_any_work(camera, message):
    picture = replay.picture_of(runs_to_show.pendulum())
    with pytest.raises(ValueError, match=message):
        camera_of(picture, vehicles_of(picture), camera)


def test_a_camera_looks_at_the_picture():
    picture = replay.picture_of(runs_to_show.pendulum())
    view = fixed_view(picture)
    assert np.allclose(view["look_at"], picture.centre)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fps": 0}, "fps must be a positive number of records per second, not 0"),
        ({"fps": -1.0}, "not -1.0"),
        ({"speed": float("nan")}, "speed must be positive, not nan"),
        ({"show": "forcs"}, "there is no layer 'forcs'; did you mean 'forces'"),
        ({"plots": ["enrgy"]}, "'enrgy' cannot be recorded; did you mean 'energy'"),
    ],
)
def test_bad_options_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        replay.html(runs_to_show.pendulum(), **options)


def test_unknown_surroundings():
    with pytest.raises(ValueError, match="surroundings must be one of studio, field, orbit, not 'moon'"):
        content(runs_to_show.pendulum(), surroundings="moon")
