"""A biped with closed loops in its legs, after Cassie: accelerations against Pinocchio's and MuJoCo's constraints."""

import warnings

import numpy as np
import pytest
from mechanism_peers import Pinocchio

import poinsot as pt
from poinsot.files import load_mjcf, to_mujoco
from poinsot.mechanism.assembling import assembled
from poinsot.mechanism.closures import closing_rows
from poinsot.mechanism.constrained import mobility, projected

mujoco = pytest.importorskip("mujoco")


def inertial(mass, at, size):
    moment = " ".join(f"{mass * size**2 * k:.6g}" for k in (1.0, 0.9, 0.4))
    return f'<inertial pos="{at}" mass="{mass}" diaginertia="{moment}"/>'


def leg(side, y):
    """Hip of three hinges, thigh, shin, tarsus and foot; a rod on a ball joint from thigh to heel, and one from a crank
    on the tarsus to the foot: the second ends of both are closed by `connect`."""

    def body(name, pos, joint, mass, at, size, inner=""):
        kind = joint if joint.startswith("<") else f'<joint name="{side}{name}" axis="{joint}"/>'
        return f'<body name="{side}-{name}" pos="{pos}">{kind}{inertial(mass, at, size)}{inner}</body>'

    plantar = body("plantar-rod", "0.055 0 -0.008", "0 1 0", 0.12, "0.18 0 0", 0.1)
    crank = body("foot-crank", "0.058 -0.034 0.02", "0 1 0", 0.13, "0.005 0 0", 0.03, plantar)
    foot = body("foot", "0.408 0 -0.04", "0 1 0", 0.15, "0.005 0 -0.05", 0.05)
    heel = body("heel-spring", "-0.01 0.02 -0.03", "0 1 0", 0.13, "0.05 0 0.01", 0.05)
    tarsus = body("tarsus", "0.434 0 0.04", "0 1 0", 0.78, "0.18 0 -0.03", 0.1, heel + crank + foot)
    shin = body("shin", "0.06 0 0.0475", "0 1 0", 0.58, "0.2 0 0.03", 0.1, tarsus)
    knee = body("knee", "0.12 0 0.0045", "0 1 0", 0.76, "0.02 0 0.01", 0.05, shin)
    achilles = body("achilles-rod", "0 0 0.045", "<joint type='ball'/>", 0.16, "0.25 0 0", 0.12)
    pitch = body("hip-pitch", "0.06 0 -0.09", "0 1 0", 5.5, "0.06 0 0", 0.12, achilles + knee)
    yaw = body("hip-yaw", "-0.07 0 0", "0 0 1", 2.0, "0 0 -0.03", 0.06, pitch)
    return body("hip-roll", f"0.02 {y} 0", "1 0 0", 1.8, "-0.02 0 0", 0.06, yaw)


HARD = 'solref="-1e-9 -1e-9" solimp="0.99999 0.99999 0.001"'


def closures(side):
    """Anchors in the frame of the first body; where they meet the second is up to the reference position."""
    ends = {"achilles": ("heel-spring", "achilles-rod", "0.11 0 0"), "plantar": ("plantar-rod", "foot", "0.35 0.03 0")}
    return "".join(
        f'<connect name="{side}-{name}" body1="{side}-{a}" body2="{side}-{b}" anchor="{anchor}" {HARD}/>'
        for name, (a, b, anchor) in ends.items()
    )


LEGS = leg("left", 0.135) + leg("right", -0.135)
BIPED = f"""<mujoco><option gravity="0 0 -9.81"/><worldbody>
  <body name="pelvis" pos="0 0 1"><freejoint/>{inertial(10.3, "0.05 0 0.03", 0.1)}{LEGS}</body>
</worldbody><equality>{closures("left")}{closures("right")}</equality></mujoco>"""


@pytest.fixture(scope="module")
def biped(tmp_path_factory):
    path = tmp_path_factory.mktemp("biped") / "biped.xml"
    path.write_text(BIPED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return load_mjcf(path), mujoco.MjModel.from_xml_path(str(path))


def states(mech, count):
    """Random states on the closures, near the reference position."""
    rng = np.random.default_rng(4)
    for _ in range(count):
        u = 0.15 * rng.standard_normal(mech.nv)
        q = assembled(mech, mech.closures, pt.mechanism.kinematics.integrate(mech, mech.neutral(), u))
        yield q, projected(mech, mech.closures, q, rng.standard_normal(mech.nv)).v, rng.standard_normal(mech.nv)


def test_accelerations_by_pinocchio(biped):
    """pin.constraintDynamics with a contact of three rows for every `connect`, to 1e-9."""
    pin = pytest.importorskip("pinocchio")
    mech, _ = biped
    here = mobility(mech, mech.closures, mech.neutral())  # the loops of the feet are planar: a row of each is redundant
    assert (here.degrees_of_freedom, here.rows, here.redundant) == (22, 12, 2)
    peer = Pinocchio(mech)

    def contact(closure):
        ends = []
        for name, X in ((closure.a, closure.placement_a), (closure.b, closure.placement_b)):
            joint, on_joint = peer.joints[mech.index(name)]
            ends += [joint, on_joint * pin.SE3(X.R, X.p)]
        return pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, peer.model, *ends, pin.ReferenceFrame.LOCAL)

    models = [contact(closure) for closure in mech.closures]
    datas = [model.createData() for model in models]
    pin.initConstraintDynamics(peer.model, peer.data, models, datas)
    for q, v, tau in states(mech, 3):
        settings = pin.ProximalSettings(1e-14, 1e-10, 20)
        theirs = pin.constraintDynamics(
            peer.model, peer.data, peer.q(q), peer.v(v), peer.v(tau), models, datas, settings
        )
        ours = pt.forward_dynamics(mech, q, v, tau)
        np.testing.assert_allclose(ours, peer.back(np.array(theirs)), rtol=0, atol=1e-9 * np.abs(ours).max())


def test_accelerations_by_mujoco(biped):
    """At rest, as its rows leave out J' v, and to its own accuracy: its equalities are soft by a part of 1e-5."""
    mech, model = biped
    data = mujoco.MjData(model)
    for q, _, tau in states(mech, 3):
        data.qpos[:], data.qvel[:] = to_mujoco(mech, q, np.zeros(mech.nv))
        mujoco.mj_forward(model, data)
        bias = data.qfrc_bias.copy()
        assert np.abs(data.efc_pos[:12]).max() < 1e-11
        data.qfrc_applied[:] = to_mujoco(mech, q, tau)[1]
        mujoco.mj_forward(model, data)
        ours = pt.forward_dynamics(mech, q, np.zeros(mech.nv), tau)
        theirs = data.qacc.copy()
        np.testing.assert_array_equal(data.qfrc_bias, bias)
        np.testing.assert_allclose(to_mujoco(mech, q, ours)[1], theirs, rtol=0, atol=2e-3 * np.abs(theirs).max())
        rows = closing_rows(mech, mech.closures, q, np.zeros(mech.nv))
        assert np.abs(rows.J @ ours).max() < 1e-9 * np.abs(ours).max()
