"""Names as plain text where they meet markup: Markdown, and the paths of a scene. (For HTML see `html.escape`.)"""

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")


def in_markdown(text: str) -> str:
    """Text that Markdown shows as it is: all ASCII punctuation is escaped (CommonMark 2.4), line ends are spaces."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split("\n")))


def in_path(name: str) -> str:
    """A name as one step of a path: viser's nodes a and a/b are parent and child, and a child moves with its parent."""
    return name.replace("%", "%25").replace("/", "%2F")
