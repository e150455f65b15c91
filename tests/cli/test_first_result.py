"""What a first result does not wait for: libraries that it does not need, and work that was done before."""

import json
import subprocess
import sys

HEAVY = ["xarray", "pandas", "dask", "distributed", "scipy", "pyarrow", "pint", "matplotlib", "jax", "torch"]
RUN = f"""if True:
    import json, sys
    from poinsot.cli import commands
    from poinsot.fuse import kernels
    traced, trace = [], kernels.Kernel._trace
    kernels.Kernel._trace = lambda self, *args: traced.append(self.__name__) or trace(self, *args)
    code = commands.main()
    print(json.dumps([code, traced, [name for name in {HEAVY} if name in sys.modules]]), file=sys.stderr)
"""


def test_a_second_run_loads_no_heavy_library_and_traces_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("POINSOT_CACHE", str(tmp_path / "cache"))
    told = []
    for out in ("a.nc", "b.nc"):
        command = [sys.executable, "-c", RUN, "run", "t-handle", "--set", "run.duration=1", "--html", "--out", out]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=True)
        told.append(json.loads(done.stderr.splitlines()[-1]))
    assert told[0][0] == told[1][0] == 0
    assert told[0][1]
    assert told[1][1] == []
    assert told[0][2] == told[1][2] == []
