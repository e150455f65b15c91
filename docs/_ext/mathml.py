"""Equations as MathML, which browsers show by themselves: no script, and nothing to load."""

from html import escape
from typing import Any

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def visit_inline(writer: Any, node: Any) -> None:
    writer.body.append(convert(node.astext()))
    raise SkipNode


def visit_block(writer: Any, node: Any) -> None:
    label = f' id="{escape(node["ids"][0])}"' if node.get("ids") else ""
    writer.body.append(f'<div class="equation"{label}>{convert(node.astext(), display="block")}</div>')
    raise SkipNode


def setup(app: Any) -> dict[str, Any]:
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
