"""Run the fuzzers: `python fuzz/run.py [names] --minutes 5 --seed 1`, or `make fuzz`.

Every trial has a number of its own, from which all of its random choices follow. A finding is printed with the command
that repeats that one trial: `python fuzz/run.py programs --trial 123456`. Each fuzzer runs in a process of its own, so
that a crash is a finding as well.
"""

import argparse
import importlib
import secrets
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
ENOUGH = 5  # findings, after which a fuzzer stops
TELL = 60.0  # s: how often a fuzzer says that it goes on
FUZZERS = {
    "programs": "random NumPy programs and their derivatives, against NumPy",
    "layouts": "strides, overlaps and batch shapes of arguments and results",
    "worlds": "random worlds with contact, loops and parts: ledger, symmetry, steps, methods, bits, files",
    "texts": "mutated scenario, URDF, MJCF and result files",
    "kills": "kill -9 and full disks during runs, streams and sweeps",
    "leaks": "memory, memory maps and open files over many worlds and runs",
}


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("names", nargs="*", choices=[*FUZZERS, []], help="fuzzers to run; by default all of them")
    arguments.add_argument("--minutes", type=float, default=1.0, help="how long each of them runs")
    arguments.add_argument("--seed", type=int, default=None, help="the first trial's number; by default a random one")
    arguments.add_argument("--trial", type=int, default=None, help="repeat one trial, in this process")
    options = arguments.parse_args()
    names = options.names or list(FUZZERS)
    if options.trial is not None:
        return 0 if all(run_trial(name, options.trial) for name in names) else 1
    seed = secrets.randbelow(2**48) if options.seed is None else options.seed
    print(f"seed {seed}, {options.minutes:g} minutes per fuzzer", flush=True)
    clean = [in_a_process(name, seed, options.minutes) for name in names]
    return 0 if all(clean) else 1


def run_trial(name: str, number: int) -> bool:
    """One trial; if it finds something, the traceback and the command that repeats it."""
    try:
        importlib.import_module(name).trial(np.random.default_rng(number))
    except Exception:
        traceback.print_exc()
        print(f"repeat it by: python fuzz/run.py {name} --trial {number}", flush=True)
        return False
    return True


def in_a_process(name: str, seed: int, minutes: float) -> bool:
    """The fuzzer in child processes, until its time is over; a line with how many trials it made.

    A trial that ends its process, by a crash or because it does not come to an end, is a finding; a new process goes on
    behind it.
    """
    started = time.monotonic()
    done, findings, left = 0, 0, 60 * minutes
    while left > 0 and findings < ENOUGH:
        trials, found, code = _child(name, seed + done, left, ENOUGH - findings)
        done, findings, left = done + trials, findings + found, 60 * minutes - (time.monotonic() - started)
        if code == 0:
            break
        findings, how = findings + 1, f"killed by signal {-code}" if code < 0 else f"ended with code {code}"
        print(f"{name}: {how}; repeat it by: python fuzz/run.py {name} --trial {seed + done - 1}", flush=True)
    seconds = time.monotonic() - started
    print(f"{name:10s} {done:8,d} trials in {seconds:6.0f} s, {findings} findings  ({FUZZERS[name]})", flush=True)
    return not findings


def _child(name: str, seed: int, seconds: float, enough: int) -> tuple[int, int, int]:
    """One child process: how many trials it began, how many findings it told of, and its exit code."""
    command = [sys.executable, str(HERE / "child.py"), name, str(seed), str(seconds), str(enough)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=HERE.parent)
    assert child.stdout is not None
    trials = findings = 0
    told = time.monotonic()
    for line in child.stdout:
        word, _, number = line.partition(" ")
        if word == "trial":
            trials = int(number) - seed + 1
            if time.monotonic() > told + TELL:
                told = time.monotonic()
                print(f"{name}: trial {trials:,d} of this process", flush=True)
        elif word == "finding":
            findings += 1
        else:
            print(line, end="", flush=True)
    return trials, findings, child.wait()


if __name__ == "__main__":
    sys.exit(main())
