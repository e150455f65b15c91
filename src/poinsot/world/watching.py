"""How a world is watched and flown live: methods of `World`, done by the room `show`."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poinsot.show import Flight, Live
    from poinsot.world.builder import World


def live(world: "World", **options: Any) -> "Live":
    """Simulate it live in the browser, and interact with it; see `poinsot.show.live` for all options."""
    from poinsot.show import live

    return live(world, **options)


def fly(world: "World", **options: Any) -> "Flight":
    """Fly it live in the browser, from the cockpit or from outside; see `poinsot.show.fly` for all options."""
    from poinsot.show import fly

    return fly(world, **options)
