"""Summaries of outcomes that can be merged: moments, covariances, histograms, quantiles, extremes with who made them.

All that is kept are whole numbers: exact sums, and counts in bins whose edges are known beforehand. So a summary of
many instances has the same bits however they were cut into chunks, and in whatever order these were merged. That is
also why quantiles come from counts of numbers by their leading bits (as of HDR histograms and DDSketch), not from a
t-digest or KLL, whose content depends on the order: each is within 2^-16 of its value, relatively, of a true quantile.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from poinsot._types import Array
from poinsot.study.exact_sums import as_fraction, exact_sum

BITS = 16  # of the mantissa that tell bins of the sketch apart: 2^16 bins from each power of two to the next
SHIFT = 52 - BITS
EXTREMES = 5

Bins: TypeAlias = tuple[Array, Array]  # the numbers of bins that are not empty, rising, and how many are in each
NONE: Bins = (np.zeros(0, np.int64), np.zeros(0, np.int64))


@dataclass(eq=False)
class Summary:
    """Some outcomes, by name: how many instances, and what became of them.

    sums, products: exact, of the outcomes and of their pairs, where all outcomes are finite. bins: counts by leading
    bits. counts: of the histograms with these edges. least, most: (value, instance) of the extremes.
    """

    names: tuple[str, ...]
    edges: Mapping[str, Array] = field(default_factory=dict)
    n: int = 0
    finite: int = 0
    broken: int = 0
    sums: dict[str, int] = field(default_factory=dict)
    products: dict[tuple[str, str], int] = field(default_factory=dict)
    bins: dict[str, Bins] = field(default_factory=dict)
    counts: dict[str, Array] = field(default_factory=dict)
    least: dict[str, list[tuple[float, int]]] = field(default_factory=dict)
    most: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def add(self, outcomes: Mapping[str, Array], first: int, broken: int = 0) -> None:
        """Take the outcomes (n,) of the instances from number `first` on."""
        all_of = {name: np.asarray(outcomes[name], dtype=float) for name in self.names}
        size = len(next(iter(all_of.values())))
        whole = np.all([np.isfinite(x) for x in all_of.values()], axis=0)
        numbers = first + np.flatnonzero(whole)
        self.n, self.finite, self.broken = self.n + size, self.finite + len(numbers), self.broken + broken
        x = {name: value[whole] for name, value in all_of.items()}
        for k, a in enumerate(self.names):
            self.sums[a] = self.sums.get(a, 0) + exact_sum(x[a])
            for b in self.names[k:]:
                self.products[a, b] = self.products.get((a, b), 0) + exact_sum(x[a] * x[b])
            self.bins[a] = _together(self.bins.get(a, NONE), np.unique(_keys(x[a]), return_counts=True))
            if a in self.edges:
                self.counts[a] = self.counts.get(a, 0) + _histogram(x[a], self.edges[a])
            pairs = [(float(x[a][i]), int(numbers[i])) for i in _first(x[a])]
            self.least[a] = sorted([*self.least.get(a, []), *pairs])[:EXTREMES]
            pairs = [(float(x[a][i]), int(numbers[i])) for i in _first(-x[a])]
            self.most[a] = sorted([*self.most.get(a, []), *pairs], key=_from_above)[:EXTREMES]

    def merge(self, other: "Summary") -> None:
        """Take all that another summary holds."""
        self.n, self.finite, self.broken = self.n + other.n, self.finite + other.finite, self.broken + other.broken
        _count(self.sums, other.sums)
        _count(self.products, other.products)
        for name in self.names:
            self.bins[name] = _together(self.bins.get(name, NONE), other.bins.get(name, NONE))
            if name in other.counts:
                self.counts[name] = self.counts.get(name, 0) + other.counts[name]
            self.least[name] = sorted([*self.least.get(name, []), *other.least.get(name, [])])[:EXTREMES]
            both = [*self.most.get(name, []), *other.most.get(name, [])]
            self.most[name] = sorted(both, key=_from_above)[:EXTREMES]

    # What they tell.

    def mean(self, name: str) -> float:
        """The mean of the finite ones."""
        self._require(name)
        return float(as_fraction(self.sums[name]) / self.finite)

    def covariance(self) -> Array:
        """The covariances (k, k) of the outcomes, in their order, with n - 1; products are rounded once each."""
        self._require(self.names[0])
        k, n = len(self.names), self.finite
        C = np.zeros((k, k))
        for (a, b), total in self.products.items():
            i, j = self.names.index(a), self.names.index(b)
            means = as_fraction(self.sums[a]) * as_fraction(self.sums[b]) / n
            C[i, j] = C[j, i] = float((as_fraction(total) - means) / max(n - 1, 1))
        return C

    def std(self, name: str) -> float:
        """The standard deviation of the finite ones."""
        self._require(name)
        k = self.names.index(name)
        return float(np.sqrt(max(self.covariance()[k, k], 0.0)))

    def quantile(self, name: str, share: float | Sequence[float]) -> Any:
        """The value below which a share of the finite ones lies, within 2^-17 of it, relatively."""
        self._require(name)
        shares = np.atleast_1d(np.asarray(share, dtype=float))
        if not np.all((shares >= 0) & (shares <= 1)):
            raise ValueError(f"quantile of {name!r}: shares are between 0 and 1, not {share!r}.")
        keys, counts = self.bins[name]
        ends = np.cumsum(counts)
        rank = shares * (self.finite - 1)
        at = np.minimum(np.searchsorted(ends, rank, side="right"), len(keys) - 1)
        low, high = _value(keys[at]), _value(keys[at] + 1)
        within = (rank - (ends[at] - counts[at]) + 0.5) / counts[at]
        found = np.clip(low + (high - low) * within, self.least[name][0][0], self.most[name][0][0])
        return float(found[0]) if np.ndim(share) == 0 else found

    def _require(self, name: str) -> None:
        if name not in self.names:
            raise ValueError(f"there is no outcome {name!r}; there are {', '.join(self.names)}.")
        if not self.finite:
            raise ValueError(f"none of the {self.n} instances has finite outcomes.")

    # On disk.

    def to_bytes(self) -> bytes:
        """It as text; the same bytes for the same content."""
        data = {
            "names": self.names, "n": self.n, "finite": self.finite, "broken": self.broken,
            "sums": {k: str(v) for k, v in self.sums.items()},
            "products": [[a, b, str(v)] for (a, b), v in sorted(self.products.items())],
            "bins": {k: np.stack(v, axis=1).tolist() for k, v in self.bins.items()},
            "counts": {k: np.asarray(v).tolist() for k, v in self.counts.items()},
            "edges": {k: np.asarray(v).tolist() for k, v in self.edges.items()},
            "least": self.least, "most": self.most,
        }  # fmt: skip
        return json.dumps(data, sort_keys=True).encode()

    @classmethod
    def from_bytes(cls, text: bytes) -> "Summary":
        """The summary that `to_bytes` wrote."""
        d = json.loads(text)
        return cls(
            tuple(d["names"]), {k: np.array(v) for k, v in d["edges"].items()}, d["n"], d["finite"], d["broken"],
            {k: int(v) for k, v in d["sums"].items()}, {(a, b): int(v) for a, b, v in d["products"]},
            {k: _bins(v) for k, v in d["bins"].items()},
            {k: np.array(v) for k, v in d["counts"].items()},
            *({k: [(float(x), int(i)) for x, i in v] for k, v in d[key].items()} for key in ("least", "most")),
        )  # fmt: skip


def _from_above(pair: tuple[float, int]) -> tuple[float, int]:
    return (-pair[0], pair[1])


def _count(total: dict[Any, int], more: Mapping[Any, int]) -> None:
    for key, count in more.items():
        total[key] = total.get(key, 0) + count


def _together(a: Bins, b: Bins) -> Bins:
    """The bins of both."""
    keys, counts = (np.concatenate(two) for two in zip(a, b, strict=True))
    order = np.argsort(keys, kind="stable")
    keys, counts = keys[order], counts[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1 - np.abs(keys[:1])))
    return keys[first], np.add.reduceat(counts, first) if len(first) else counts


def _bins(pairs: Sequence[Sequence[int]]) -> Bins:
    keys, counts = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return np.ascontiguousarray(keys), np.ascontiguousarray(counts)


def _first(x: Array) -> Array:
    """Where the least values are, from the least on; of equal ones the first come first."""
    some = np.flatnonzero(x <= np.partition(x, EXTREMES)[EXTREMES]) if len(x) > EXTREMES else np.arange(len(x))
    return some[np.argsort(x[some], kind="stable")][:EXTREMES]


def _keys(x: Array) -> Array:
    """Bins that rise with x: the leading bits of a number, and for a negative one those of its opposite, reversed."""
    bits = np.ascontiguousarray(np.abs(x)).view(np.int64) >> SHIFT
    return np.where(x < 0, -1 - bits, bits)


def _value(keys: Array) -> Array:
    """The lower end of each bin."""
    size = np.where(keys < 0, -keys, keys).astype(np.int64) << SHIFT
    return np.where(keys < 0, -1.0, 1.0) * np.ascontiguousarray(size).view(float)


def _histogram(x: Array, edges: Array) -> Array:
    """Counts (k + 1,) below the first edge, between edges, and from the last on."""
    return np.bincount(np.searchsorted(edges, x, side="right"), minlength=len(edges) + 1)
