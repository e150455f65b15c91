"""A viser server without output, on the local machine by default."""

import contextlib
import io
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from poinsot._optional import require

HOST = "127.0.0.1"
PORT = 8080
FOV = 0.7  # rad: less than viser's, for less distortion


def start(host: str = HOST, port: int = PORT, title: str = "Poinsot") -> Any:
    """A server on this port, or on the next free one."""
    viser = require("viser", "view", "the viewer")
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # a browser may disconnect early
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=host, port=port, label=title, verbose=False)
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(42, 111, 151))
    server.scene.set_up_direction("+z")
    return server


@contextlib.contextmanager
def serving(**options: Any) -> Iterator[Any]:
    """A server that is stopped at the end."""
    server = start(**options)
    try:
        yield server
    finally:
        stop(server)


def stop(server: Any) -> None:
    """Close all connections, free the port, end the threads."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def aim(server: Any, view: Mapping[str, Any]) -> None:
    """Set the camera of new pages."""
    first = server.initial_camera
    first.up, first.look_at, first.position = view["up"], view["look_at"], view["position"]
    first.fov = FOV


def url(server: Any) -> str:
    return f"http://{server.get_host()}:{server.get_port()}"
