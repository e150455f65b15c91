"""Who may open a page: only requests with its token, for this machine by name, and not from pages of other sites."""

import errno
import ipaddress
import os
import secrets
import socket
from dataclasses import dataclass, field
from hmac import compare_digest
from urllib.parse import urlsplit

HOST = "127.0.0.1"
PORT = 8080
TRIES = 100  # ports, from the one that was asked for
WILDCARDS = ("", "0.0.0.0", "::")  # hosts that mean every address of this machine


@dataclass(frozen=True)
class Gate:
    """The host of a server, with the token that opens it: the first part of every path."""

    host: str
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    def address(self, port: int) -> str:
        """The address of the page, with the token."""
        host = "localhost" if self.host in WILDCARDS else f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{port}/{self.token}/"

    def refusal(self, path: str, hosts: list[str], origins: list[str]) -> str:
        """Why a request with these headers Host and Origin is refused; an empty text if it is not."""
        if len(hosts) != 1 or len(origins) > 1:
            return "a request has one Host, and one Origin at most."
        (host,) = hosts
        if not self._is_own(host):
            return f"this page is not served for the host {host!r}."
        if origins and origins[0] not in (f"http://{host}", f"https://{host}"):
            return f"this page is not served for pages of {origins[0]!r}."
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
        own = self.host
        if name == own.lower() or (name == "localhost" and (own in WILDCARDS or _is_loopback(own))):
            return True
        if own in WILDCARDS:
            return _is_address(name) or name in (socket.gethostname().lower(), socket.getfqdn().lower())
        return _is_loopback(own) and _is_loopback(name)


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _is_loopback(name: str) -> bool:
    return name == "localhost" or (_is_address(name) and ipaddress.ip_address(name).is_loopback)


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
