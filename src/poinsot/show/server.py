"""A viser server without output, on the local machine by default."""

import contextlib
import errno
import io
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from typing import Any

from poinsot._optional import require
from poinsot.show.gate import Gate, guarding

HOST = "127.0.0.1"
PORT = 8080
TRIES = 100  # ports, from the one that was asked for
FOV = 0.7  # rad: less than viser's, for less distortion


def start(host: str = HOST, port: int = PORT, title: str = "Poinsot") -> Any:
    """A server on this port, or on the next free one, that answers only to those who know its address."""
    viser = require("viser", "view", "the viewer")
    gate, port = Gate(host), free_port(host, port)
    logging.getLogger("websockets.server").setLevel(logging.CRITICAL)  # a browser may disconnect early
    with guarding(), contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host=gate, port=port, label=title, verbose=False)
    if not gate.closed:
        stop(server)
        raise RuntimeError(f"the page cannot be kept from others with viser {viser.__version__}; install viser 1.1.")
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=(42, 111, 151))
    server.scene.set_up_direction("+z")
    return server


def free_port(host: str, port: int) -> int:
    """The first port from this one on that is free on a host; 0 leaves the choice to the system."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port <= 65535:
        raise ValueError(f"port must be a whole number from 0 to 65535, not {port!r}.")
    last = min(port + TRIES, 65536)
    for candidate in range(port, last):
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(
                host or None, candidate, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            with socket.socket(family, kind, protocol) as probe:
                if os.name == "posix":
                    probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(place)
                return candidate
        except (OSError, UnicodeError) as error:
            if getattr(error, "errno", None) not in (errno.EADDRINUSE, errno.EACCES):
                raise ValueError(
                    f"a page cannot be served on the host {host!r} ({error}); use '127.0.0.1' for this machine alone, "
                    "or '0.0.0.0' for the network."
                ) from error
    raise OSError(f"no port from {port} to {last - 1} can be used on {host}; choose another one, or 0 for any.")


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
    """The address of the page, with the token that opens it."""
    return str(server.get_host().address(server.get_port()))
