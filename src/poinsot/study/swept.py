"""The results of a sweep: statistics, quantiles, influences; read from disk when they are needed."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poinsot._hints import file_hint
from poinsot._optional import require
from poinsot._types import Array
from poinsot._zarr import open_zarr
from poinsot.study.quantities import pick

FORMAT = 1  # of the store
NUMBERS = 2**23  # that are read at a time: 64 MB
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True, eq=False)
class Sweep:
    """A sweep on disk: `data`, an xarray.Dataset whose arrays are read when they are needed."""

    path: Path
    data: Any

    @property
    def n(self) -> int:
        """How many instances."""
        return int(self.data.sizes["batch"])

    @property
    def done(self) -> int:
        """How many instances are done."""
        done = self.data["done"].values == 1
        return int(np.sum(np.diff(np.minimum(np.arange(len(done) + 1) * self.data.attrs["chunk"], self.n))[done]))

    @property
    def broken(self) -> Array:
        """The numbers of the instances that broke down."""
        return np.flatnonzero(self.data["broken"].values == 1)

    @property
    def varied(self) -> dict[str, Array]:
        """The values of the varied numbers."""
        return {path: self.data[self._coordinate(path)].values for path in self.data.attrs["varied"]}

    def unit_of_varied(self, path: str) -> str:
        """The unit of a varied number, or of an entry of one, "box.com[0]"; empty if it is not known or has none."""
        whole = path if path in self.data.attrs["varied"] else path.partition("[")[0]
        return str(self.data[self._coordinate(whole)].attrs.get("units", ""))

    def _coordinate(self, path: str) -> str:
        return f"{path}.varied" if path in self.data.data_vars else path

    @property
    def outputs(self) -> list[str]:
        """The names of the outputs that were kept."""
        names = self.data.attrs.get("outputs", [])
        return [names] if isinstance(names, str) else [str(name) for name in names]

    def at_end(self, name: str) -> Array:
        """A quantity (n,) at the end, sweep.at_end("box.position.z"), or an output by its name."""
        if name in self.outputs:
            return np.asarray(self.data[name].values)
        return np.asarray(pick(self.data, name).isel(time=-1).values)

    def statistics(self, name: str) -> dict[str, float]:
        """Mean, standard deviation, range and quantiles of an output, or of a quantity at the end, if it is finite."""
        x = self.at_end(name)
        x = x[np.isfinite(x)]
        if not x.size:
            raise ValueError(f"{name!r} is finite in none of the {self.n} instances.")
        quantiles = {f"{100 * q:g} %": float(v) for q, v in zip(QUANTILES, np.quantile(x, QUANTILES), strict=True)}
        spread = float(np.std(x, ddof=1)) if x.size > 1 else 0.0
        return {"mean": float(np.mean(x)), "std": spread, "min": float(x.min()), **quantiles, "max": float(x.max())}

    def influences(self, name: str) -> dict[str, float]:
        """Spearman's rank correlation of an output, or of a quantity at the end, with each varied number."""
        x = self.at_end(name)
        finite, correlations = np.isfinite(x), {}
        for label, values in columns(self.varied).items():
            a, b = (_ranks(z[finite]) for z in (values, x))
            size = np.linalg.norm(a) * np.linalg.norm(b)
            correlations[label] = float(a @ b / size) if size > 0 else 0.0
        return correlations

    def quantiles(self, name: str, shares: tuple[float, ...] = QUANTILES) -> Array:
        """The quantiles (q, r) of a quantity over time, some records at a time."""
        array = pick(self.data, name)
        size = max(1, NUMBERS // self.n)
        pieces = []
        for start in range(0, array.sizes["time"], size):
            x = array.isel(time=slice(start, start + size)).values
            pieces.append(np.nanquantile(x, shares, axis=1))
        return np.concatenate(pieces, axis=1)

    def __iter__(self) -> Iterator[str]:
        return iter(map(str, self.data.data_vars))

    def __repr__(self) -> str:
        return f"<Sweep over {', '.join(self.varied)}: {self.done} of {self.n} instances done>"


def columns(varied: Mapping[str, Array]) -> dict[str, Array]:
    """The values (n,) of every single number that was varied, entries of arrays by "path[k]"."""
    return {
        path + "".join(f"[{k}]" for k in entry): values[(slice(None), *entry)]
        for path, values in varied.items()
        for entry in np.ndindex(values.shape[1:])
    }


def _ranks(x: Array) -> Array:
    """Ranks about their mean; equal values share theirs."""
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    mean = np.cumsum(counts) - (counts + 1) / 2
    ranks = mean[inverse]
    return ranks - ranks.mean() if ranks.size else ranks


def load_sweep(path: str | PathLike[str]) -> Sweep:
    """A sweep from its store; arrays are read when they are needed."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file '{path}'{file_hint(path)}")
    require("zarr", "zarr", "A sweep")
    try:
        data = open_zarr(path)
    except Exception as error:
        raise ValueError(f"'{path}' is not a sweep that was saved by Poinsot: {error}") from error
    if data.attrs.get("kind") != "sweep":
        raise ValueError(f"'{path}' is not a sweep that was saved by Poinsot.")
    if data.attrs["format"] > FORMAT:
        raise ValueError(f"'{path}' was written by Poinsot {data.attrs['poinsot']}, which is newer; update Poinsot.")
    return Sweep(path, data)
