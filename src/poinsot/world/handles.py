"""Handles on what was added to a world."""

from dataclasses import fields, replace
from typing import TYPE_CHECKING

from poinsot.parts import Element

if TYPE_CHECKING:
    from poinsot.world.builder import World


class BodyHandle:
    """A handle on a body of a world: `body.add(part)` puts a part on it."""

    def __init__(self, world: "World", name: str) -> None:
        self.world, self.name = world, name

    def add(self, part: Element) -> "BodyHandle":
        """Put a part on this body; it is then called "body.part"."""
        if not isinstance(part, Element) or "body" not in {f.name for f in fields(part)}:
            raise TypeError(f"{part!r} is not a part of one body; add it to the world with world.add(...).")
        self.world.add(replace(part, name=f"{self.name}.{part.name}", body=self.name))  # type: ignore[call-arg]
        return self

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"<body {self.name!r}>"
