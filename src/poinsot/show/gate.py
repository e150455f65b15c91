"""Who may open a page: only requests with its token, for this machine by name, and not from pages of other sites."""

import contextlib
import ipaddress
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from hmac import compare_digest
from typing import Any
from urllib.parse import urlsplit

WILDCARDS = ("", "0.0.0.0", "::")  # hosts that mean every address of this machine
_starting = threading.Lock()


class Gate(str):
    """The host of a server, with the token that opens it.

    It is a string so that viser hands it on to `websockets`, where `guarding` recognises it. The token is the first
    part of the path: viser's page opens its websocket at its own address without the query.
    """

    token: str
    closed: bool  # whether it stands before a server: nothing passes unseen

    def __new__(cls, host: str) -> "Gate":
        gate = super().__new__(cls, host)
        gate.token, gate.closed = secrets.token_urlsafe(24), False
        return gate

    def address(self, port: int) -> str:
        """The address of the page, with the token."""
        host = "localhost" if self in WILDCARDS else f"[{self}]" if ":" in self else str(self)
        return f"http://{host}:{port}/{self.token}/"

    def refusal(self, path: str, host: str, origin: str | None) -> str:
        """Why a request is refused; an empty text if it is not."""
        if not self._is_own(host):
            return f"this page is not served for the host {host!r}."
        if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
            return f"this page is not served for pages of {origin!r}."
        first = path.partition("?")[0].removeprefix("/").partition("/")[0]
        if not compare_digest(first.encode(errors="replace"), self.token.encode()):
            return "the address lacks the token of this page: use the whole address that the program prints."
        return ""

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this machine, with any port, as tunnels have: a foreign name may be a foreign
        site's that was pointed at this machine."""
        try:
            name = (urlsplit(f"//{host}").hostname or "").lower()
        except ValueError:
            return False
        if name == self.lower() or (name == "localhost" and (self in WILDCARDS or _is_loopback(self))):
            return True
        if self in WILDCARDS:
            return _is_address(name) or name in (socket.gethostname().lower(), socket.getfqdn().lower())
        return _is_loopback(self) and _is_loopback(name)

    def guard(self, serve: Callable[[Any, Any], Any] | None) -> Callable[[Any, Any], Any]:
        """The `process_request` of websockets that refuses, or hands on to `serve` with the token taken off."""
        self.closed = True

        def process_request(connection: Any, request: Any) -> Any:
            headers = request.headers
            hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
            several = "a request has one Host, and one Origin at most." if len(hosts) != 1 or len(origins) > 1 else ""
            why = several or self.refusal(request.path, hosts[0], origins[0] if origins else None)
            if why:
                return connection.respond(403, f"Refused: {why}\n")
            response = serve and serve(connection, replace(request, path=request.path[1 + len(self.token) :] or "/"))
            if response is not None:
                response.headers["Referrer-Policy"] = "no-referrer"  # the address is a secret
            return response

        return process_request


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


@contextlib.contextmanager
def guarding() -> Iterator[None]:
    """While a viser server starts inside this block, its gate is put before it; other servers are left alone.

    Viser has no option for this: it calls `websockets.asyncio.server.serve(handler, host, port, process_request=...)`
    from a thread of its own before its constructor returns.
    """
    from websockets.asyncio import server as websockets

    with _starting:
        serve = websockets.serve

        def guarded(handler: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
            if isinstance(host, Gate):
                options["process_request"] = host.guard(options.get("process_request"))
            return serve(handler, host, port, **options)

        websockets.serve = guarded  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            websockets.serve = serve  # type: ignore[misc]
