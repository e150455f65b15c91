"""The documentation site: `make docs` builds it with Sphinx from the pages beside this file, into site/.

It works from a folder, without a server or a connection: search, dark mode and equations need nothing from outside.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from poinsot import __version__  # noqa: E402

project = "Poinsot"
author = "The Poinsot developers"
project_copyright = "the Poinsot developers, Apache-2.0"
release = version = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode", "sphinx_copybutton"]
extensions += ["mathml", "reference", "tables"]  # in _ext
exclude_patterns = ["_ext", "_static", "make", "pictures"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = False

# Pages are written for any Markdown viewer: headings are link targets, equations stand between dollars.
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
suppress_warnings = ["myst.xref_missing"]  # links to files of the source; tests/test_docs.py checks that they exist

html_theme = "furo"
html_title = f"Poinsot {version}"
html_static_path = ["_static"]
html_css_files = ["math-font.css", "site.css"]
# A page that was opened from a folder may not read the others, from which the results of a search quote.
QUOTES = 'if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;'
html_js_files = [(None, {"body": QUOTES, "priority": 900})]
html_math_renderer = "mathml"
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style, pygments_dark_style = "friendly", "github-dark"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings state shapes and units
autodoc_default_options = {"members": True, "undoc-members": False}
copybutton_prompt_text = r">>> |\$ "
copybutton_prompt_is_regexp = True
