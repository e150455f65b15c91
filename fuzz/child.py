"""The process in which one fuzzer runs: child.py NAME SEED SECONDS FINDINGS. It tells its parent of every trial."""

import sys
import time
import warnings

from run import run_trial


def main(name: str, seed: int, seconds: float, enough: int) -> None:
    warnings.simplefilter("ignore")
    end, done, findings = time.monotonic() + seconds, 0, 0
    while time.monotonic() < end and findings < enough:
        print(f"trial {seed + done}", flush=True)
        if not run_trial(name, seed + done):
            findings += 1
            print(f"finding {seed + done}", flush=True)
        done += 1


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4]))
