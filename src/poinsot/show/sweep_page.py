"""A sweep as one page: its statistics, quantiles over time, histograms of final values, and what influences them."""

from collections.abc import Sequence
from html import escape
from io import StringIO
from typing import Any

import numpy as np

from poinsot._optional import require
from poinsot.show.plot_style import COLOURS, INK, STYLE
from poinsot.show.quantiles import PANELS, quantile_plot, require_some
from poinsot.study.quantities import names, pick, unit_of, with_unit
from poinsot.study.swept import Sweep

LOOK = """body { font: 15px/1.5 system-ui, sans-serif; color: #1c2733; max-width: 68rem; margin: 2rem auto }
table { border-collapse: collapse; margin: 1rem 0 } td, th { padding: 0.2rem 0.8rem; text-align: right }
td:first-child, th:first-child { text-align: left } th { border-bottom: 1px solid #b8c2cc; font-weight: 600 }
svg { max-width: 100%; height: auto }"""


def sweep_page(sweep: Sweep, what: Sequence[str] | None = None) -> str:
    """The page in HTML: one file that needs nothing else. what: quantities; by default those that `poinsot info` tells
    of."""
    require_some(sweep)
    known = names(sweep.data)
    chosen = list(what or [name for name in known if ".position." in name or name.endswith(".q")] or known)[:PANELS]
    statistics = {with_unit(name, unit_of(pick(sweep.data, name), name)): sweep.statistics(name) for name in chosen}
    influences = {name: sweep.influences(name) for name in chosen}
    broken = f" {len(sweep.broken):,} of them broke down." if len(sweep.broken) else ""
    title = escape(f"Sweep {sweep.path.stem}")
    parts = [
        f"<p>{sweep.done:,} of {sweep.n:,} instances, over {escape(', '.join(sweep.varied))}.{broken}</p>",
        _table("final value", statistics, "{:.4g}"),
        _table("rank correlation with", influences, "{:+.2f}"),
        _svg(quantile_plot(sweep, chosen)),
        _svg(histograms(sweep, chosen)),
    ]
    head = f'<meta charset="utf-8"><title>{title}</title><style>{LOOK}</style>'
    return f"<!doctype html><html><head>{head}</head><body><h1>{title}</h1>{''.join(parts)}</body></html>\n"


def histograms(sweep: Sweep, what: Sequence[str]) -> Any:
    """A matplotlib figure: a histogram of the final value of each quantity, over all instances that are finite."""
    plt = require("matplotlib.pyplot", "view", "plotting")
    with plt.rc_context(STYLE):
        figure, axes = plt.subplots(1, len(what), figsize=(3.4 * len(what), 2.6), squeeze=False, layout="constrained")
        for ax, name in zip(axes[0], what, strict=True):
            x, unit = sweep.at_end(name), unit_of(pick(sweep.data, name), name)
            x = x[np.isfinite(x)]
            bins = int(np.clip(np.sqrt(x.size), 5, 60))
            ax.hist(x, bins=bins if np.ptp(x) > 1e-12 * np.abs(x).max() else 1, color=COLOURS[0], alpha=0.7)
            ax.set_title(with_unit(name, unit), fontsize=10, color=INK)
            ax.set_xlabel("final value")
        axes[0, 0].set_ylabel("instances")
    return figure


def _table(head: str, rows: dict[str, dict[str, float]], form: str) -> str:
    columns = list(next(iter(rows.values())))
    heads = "".join(f"<th>{escape(text)}</th>" for text in (head, *columns))
    lines = [
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{form.format(row[k])}</td>' for k in columns)}</tr>"
        for name, row in rows.items()
    ]
    return f"<table><tr>{heads}</tr>{''.join(lines)}</table>"


def _svg(figure: Any) -> str:
    """A figure as markup, its text as outlines."""
    plt = require("matplotlib.pyplot", "view", "plotting")
    text = StringIO()
    with plt.rc_context({"svg.fonttype": "path"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return text.getvalue()[text.getvalue().index("<svg") :]
