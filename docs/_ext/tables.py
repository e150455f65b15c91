"""Long names in tables may break behind a dot, a slash or an underscore, so that the columns fit the page."""

import re
from html import escape
from typing import Any

from docutils import nodes

LONG = 16  # characters; shorter names stay in one piece


def break_names(app: Any, doctree: Any, page: str) -> None:
    if app.builder.format != "html":
        return
    for table in doctree.findall(nodes.table):
        for literal in list(table.findall(nodes.literal)):
            text = literal.astext()
            if len(text) > LONG:
                pieces = re.findall(r"[^._/]*[._/]+|[^._/]+", text)
                spans = "<wbr>".join(f'<span class="pre">{escape(piece)}</span>' for piece in pieces)
                html = f'<code class="docutils literal notranslate">{spans}</code>'
                literal.replace_self(nodes.raw("", html, format="html"))


def setup(app: Any) -> dict[str, Any]:
    app.connect("doctree-resolved", break_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
