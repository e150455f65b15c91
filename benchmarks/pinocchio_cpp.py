"""Pinocchio's algorithms in a loop in C++, built here, with the machine code of the wheel `pin` and without Python.

Prints the processor time that an instance takes of a batch of 4096, and the error against the reference of the
benchmarks. The models are those of the other rows, copied joint by joint. Needs g++ or clang++, and Eigen's headers
(`pip install cmeel-eigen`, or a package of the system). Nothing is left behind.

python benchmarks/pinocchio_cpp.py              # the algorithms as the wheel has them
python benchmarks/pinocchio_cpp.py --native     # compiled for this processor, which takes many minutes
"""

import argparse
import atexit
import ctypes
import os
import shutil
import site
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from free_top import processor_time

SOURCE = r"""
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea.hpp>

using namespace pinocchio;
using Given = Eigen::Ref<const Eigen::VectorXd>;
using Row = Eigen::Map<const Eigen::VectorXd>;
using Rows = Eigen::Map<const Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>;

// Joint by joint: its parent, kind, axis (3), placement (rotation 9, position 3), and mass, centre (3) and inertia (9).
extern "C" void *model(int joints, double gravity, const int *parent, const int *kind, const double *axis,
                       const double *place, const double *body) {
  Model *model = new Model;
  model->gravity.linear() = Eigen::Vector3d(0, 0, gravity);
  for (int i = 0; i < joints; i++, axis += 3, place += 12, body += 13) {
    const SE3 X(Rows(place), Eigen::Vector3d(place + 9));
    JointModel joint;
    if (kind[i] == 0) joint = JointModelFreeFlyer();
    else if (kind[i] == 1) joint = JointModelRX();
    else if (kind[i] == 2) joint = JointModelRY();
    else if (kind[i] == 3) joint = JointModelRZ();
    else joint = JointModelRevoluteUnaligned(Eigen::Vector3d(axis));
    const auto id = model->addJoint(parent[i], joint, X, "joint" + std::to_string(i));
    model->appendBodyToJoint(id, Inertia(body[0], Eigen::Vector3d(body + 1), Eigen::Matrix3d(Rows(body + 4))),
                             SE3::Identity());
  }
  return model;
}

// One instance after the other; rows of q, v and x; rows or matrices of out.
extern "C" void work(void *given, int algorithm, long count, const double *q, const double *v, const double *x,
                     double *out) {
  const Model &model = *static_cast<Model *>(given);
  Data data(model);
  const long nq = model.nq, n = model.nv;
  for (long i = 0; i < count; i++) {
    const Given qi = Row(q + i * nq, nq), vi = Row(v + i * n, n), xi = Row(x + i * n, n);
    if (algorithm == 0) Eigen::Map<Eigen::VectorXd>(out + i * n, n) = rnea(model, data, qi, vi, xi);
    else if (algorithm == 1) Eigen::Map<Eigen::MatrixXd>(out + i * n * n, n, n) = crba(model, data, qi);
    else Eigen::Map<Eigen::VectorXd>(out + i * n, n) = aba(model, data, qi, vi, xi);
  }
}
"""
ALGORITHMS = ("rnea", "crba", "aba")
KINDS = ("JointModelFreeFlyer", "JointModelRX", "JointModelRY", "JointModelRZ", "JointModelRevoluteUnaligned")
FLAGS = "-std=c++17 -DNDEBUG -fPIC -shared -w -DBOOST_MPL_LIMIT_LIST_SIZE=30 -DBOOST_MPL_LIMIT_VECTOR_SIZE=30".split()
FLAGS += ["-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]  # as its own build has them
WHEEL = ("-O2", "-DPINOCCHIO_ENABLE_TEMPLATE_INSTANTIATION")  # the algorithms are those that the wheel's library has
NATIVE = ("-O3", "-march=native")  # they are compiled here


def folders(below: str) -> list[str]:
    """The folders of this name below the prefixes of the wheels."""
    places = dict.fromkeys([*sys.path, *site.getsitepackages()])
    found = [Path(place) / "cmeel.prefix" / below for place in places]
    return [str(path) for path in found if path.is_dir()]


@cache
def library(native: bool) -> ctypes.CDLL:
    """The source above, compiled."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        raise SystemExit("no C++ compiler: install g++ or clang++")
    eigen = [*folders("include/eigen3"), *(p for p in ("/usr/include/eigen3",) if Path(p).is_dir())]
    if not eigen:
        raise SystemExit("no headers of Eigen: pip install cmeel-eigen")
    folder = Path(tempfile.mkdtemp(prefix="poinsot-pinocchio-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    source, target = folder / "loop.cpp", folder / "loop.so"
    source.write_text(SOURCE)
    includes = [f"-I{path}" for path in [*folders("include"), *eigen]]
    links = [word for path in folders("lib") for word in (f"-L{path}", f"-Wl,-rpath,{path}")]
    links = [] if native else [*links, "-lpinocchio_default"]
    command = [compiler, *FLAGS, *(NATIVE if native else WHEEL), *includes, str(source), "-o", str(target), *links]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode:
        lines = [line for line in built.stderr.splitlines() if "error" in line] or built.stderr.splitlines()
        raise RuntimeError(f"{compiler}: {lines[0] if lines else 'failed'}")
    made = ctypes.CDLL(str(target))
    made.model.restype = ctypes.c_void_p
    made.model.argtypes = [ctypes.c_int, ctypes.c_double, *[ctypes.c_void_p] * 5]
    made.work.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_long, *[ctypes.c_void_p] * 4]
    return made


def copied(model: Any, native: bool) -> int:
    """A model of the package `pinocchio`, joint by joint, in C++; there it stays."""
    joints = range(1, model.njoints)  # the first is the universe
    kinds = [model.joints[i].shortname() for i in joints]
    axes = [
        model.joints[i].extract().axis if kind.endswith("Unaligned") else np.zeros(3)
        for i, kind in zip(joints, kinds, strict=True)
    ]
    places = [[*model.jointPlacements[i].rotation.ravel(), *model.jointPlacements[i].translation] for i in joints]
    bodies = [[Y.mass, *Y.lever, *Y.inertia.ravel()] for Y in (model.inertias[i] for i in joints)]
    whole = [np.array(x, np.int32) for x in ([model.parents[i] for i in joints], list(map(KINDS.index, kinds)))]
    arrays = [*whole, *(np.array(x, float) for x in (axes, places, bodies))]
    return library(native).model(len(joints), model.gravity.linear[2], *(x.ctypes.data for x in arrays))


def loop(model: Any, native: bool, name: str, *args: np.ndarray) -> Callable[[], np.ndarray]:
    """A function that runs an algorithm over the rows of q, v and x, and returns its results, (batch, ...)."""
    work_, there, (q, v, x) = library(native).work, copied(model, native), [np.ascontiguousarray(a) for a in args]
    batch, n = v.shape
    out = np.empty((batch, n, n) if name == "crba" else (batch, n))

    def work() -> np.ndarray:
        work_(there, ALGORITHMS.index(name), batch, *(a.ctypes.data for a in (q, v, x, out)))
        return out

    return work


def main() -> None:
    from cases.mechanisms import ROBOTS, error, expected, from_pin, to_pin

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--native", action="store_true", help="compile them for this processor; takes many minutes")
    native, start = parser.parse_args().native, time.perf_counter()
    library(native)
    print(f"compiled in {time.perf_counter() - start:.0f} s with {' '.join(NATIVE if native else WHEEL)}")
    for robot in ROBOTS.values():
        model, _, args = to_pin(robot)
        for name in ALGORITHMS:
            work = loop(model, native, name, *args)
            out = work().copy()
            if name == "crba":  # it fills the upper triangle alone, column by column
                out = np.tril(out) + np.swapaxes(np.tril(out, -1), -1, -2)
            wrong = error(from_pin(robot, out), expected(robot, name))
            took = min(processor_time(work) for _ in range(20)) / len(args[0])
            print(f"{robot.name:9} {name:5} {1e9 * took:7.0f} ns, error {wrong:.0e}")


if __name__ == "__main__":
    main()
