"""Thrust curves from .eng files."""

import numpy as np
import pytest

import poinsot as pt

TEXT = """; own figures
K1 66 700 0-6 2.96 4.9 Us and Co
   0.1 1500
   1.2 2100
   2.5 1700 ; a comment

   3.9 0.0
; the next
A2 18 70 P 0.01 0.02 Us
0.0 5.0
0.5 0.0
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "motor.eng"
        path.write_bytes(text.encode())
        return path

    return write


def test_a_file_is_read(written):
    motor = pt.load_eng(written(TEXT), "K1")
    assert (motor.name, motor.maker, motor.delays) == ("K1", "Us and Co", "0-6")
    assert (motor.diameter, motor.length) == pytest.approx((0.066, 0.7))
    assert (motor.propellant_mass, motor.total_mass) == (2.96, 4.9)
    np.testing.assert_allclose(motor.thrust.times, [0, 0.1, 1.2, 2.5, 3.9])
    np.testing.assert_allclose(motor.thrust.values, [0, 1500, 2100, 1700, 0])
    assert motor.impulse == pytest.approx(75 + 1980 + 2470 + 1190)
    second = pt.load_eng(written(TEXT.replace("\n", "\r\n")), name="A2")
    np.testing.assert_allclose(second.thrust.values, [5, 0])
    part = pt.SolidMotor("m", "b", thrust=motor.thrust, mass=2.96, radius=0.033, bore=0.01, length=0.6)
    assert part.impulse == motor.impulse


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TEXT, "holds the motors K1, A2; name= must be one of them, not None"),
        ("; nothing\n", "holds no motor"),
        ("K1 66 700 0-6 2.96\n", "line 1: expected a motor's name, diameter"),
        ("K1 66 700 0-6 5.0 4.9 Us\n", "line 1: motor 'K1' of 4.9 kg cannot hold 5 kg"),
        ("K1 -66 700 0-6 2.0 4.9 Us\n", "must be above zero"),
        ("K1 66 700 0-6 2.0 4.9 Us\n0.1 15 3\n", "line 2: expected a time"),
        ("K1 66 700 0-6 2.0 4.9 Us\n0.1 nan\n", "line 2: time and thrust must be finite"),
        ("K1 66 700 0-6 2.0 4.9 Us\n0.1 15\n0.2 16\n", "does not end with zero; the file seems cut off"),
        ("K1 66 700 0-6 2.0 4.9 Us\n0.2 15\n0.1 16\n0.3 0\n", "the times of motor 'K1' do not increase"),
    ],
)
def test_wrong_files(written, text, message):
    with pytest.raises(ValueError, match=message):
        pt.load_eng(written(text))


def test_a_missing_file():
    with pytest.raises(FileNotFoundError, match="there is no file"):
        pt.load_eng("nowhere.eng")
