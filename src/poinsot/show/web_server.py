"""The server of a page: plain HTTP on this machine, behind the gate; it tells the page where to go."""

import contextlib
import json
import queue
import select
import socket
import sys
import threading
import time as clock
import webbrowser
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from poinsot.show.gate import HOST, PORT, Gate, free_port
from poinsot.show.web_socket import ProtocolError, Socket, acceptance, message_in

BEAT = 0.5  # s between signs of life to a page: its end is noticed by then
PARTING = 3.0  # s that pages have to take note that the program ends
GRACE = 3.0  # s that a page may be disconnected, as for a reload, before a waiting program continues
LARGEST = 4096  # bytes that a page may send
Answer = Callable[[Mapping[str, str]], tuple[str, str]]
Talk = Callable[[Socket], None]


class PageServer:
    """Answers `answers[path](query) -> (kind, text)` for the whole address alone, and pushes orders to all pages.

    talk: handles the websocket of a page, in a thread of its own, until it returns. state: what the page told last;
    pages: how many are open; seen: whether there ever was one.
    """

    def __init__(
        self, answers: Mapping[str, Answer], host: str = HOST, port: int = PORT, talk: Talk | None = None
    ) -> None:
        self.answers, self.talk = answers, talk
        self._sockets: dict[Socket, socket.socket] = {}
        self.state: dict[str, Any] = {}
        self._heard_at = 0.0
        self.gate, self.over, self.seen = Gate(host), threading.Event(), threading.Event()
        self._queues: list[queue.SimpleQueue[str]] = []
        self._lock = threading.Lock()
        handler = type("PageHandler", (_Handler,), {"page": self})
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        kind = type("Server", (ThreadingHTTPServer,), {"daemon_threads": True, "address_family": family})
        self._server = kind((host, free_port(host, port)), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), name="poinsot viewer")
        self._thread.daemon = True
        self._thread.start()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """The whole address of the page."""
        return self.gate.address(self.port)

    @property
    def pages(self) -> int:
        """The number of open pages."""
        return len(self._queues) + len(self._sockets)

    def order(self, **what: Any) -> None:
        """Send an order to all pages, and to those that open later."""
        self.state.update(what)
        with self._lock:
            for waiting in self._queues:
                waiting.put(json.dumps(what))

    def heard(self, at: float, **state: Any) -> None:
        """Takes a page's message of its time `at` [ms]: requests come in threads, an older one may come later."""
        with self._lock:
            if at >= self._heard_at:
                self._heard_at = at
                self.state.update(state)

    def close(self) -> None:
        """Free the port and end the threads."""
        if self.over.is_set():
            return
        self.over.set()
        with self._lock:
            for waiting in self._queues:
                waiting.put("")
            for page, plain in self._sockets.items():
                with contextlib.suppress(OSError):
                    page.close()
                    plain.shutdown(socket.SHUT_RD)  # ends the thread that waits for its messages
        until = clock.monotonic() + PARTING
        while (self.pages or self._is_asked()) and clock.monotonic() < until:  # they are told that it ends
            clock.sleep(0.02)
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _is_asked(self) -> bool:
        """Whether a request waits that was not yet taken up."""
        return bool(select.select([self._server.socket], [], [], 0)[0])

    def speak(self, page: Socket, plain: socket.socket) -> None:
        """Talk with one page, until it is closed or the server is."""
        assert self.talk is not None
        with self._lock:
            if self.over.is_set():
                return
            self._sockets[page] = plain
        self.seen.set()
        try:
            self.talk(page)
        except (OSError, ProtocolError):
            pass  # the page was closed, or is no page of ours
        finally:
            with self._lock:
                del self._sockets[page]

    def wait(self) -> None:
        """Wait until the page has been opened and closed again, or Ctrl-C is pressed."""
        away = clock.monotonic()
        with contextlib.suppress(KeyboardInterrupt):
            while not self.over.is_set():
                if self.pages or not self.seen.is_set():
                    away = clock.monotonic()
                if clock.monotonic() - away > GRACE:
                    break
                clock.sleep(0.1)

    def stream(self, write: Callable[[str], None], gone: Callable[[], object]) -> None:
        """Orders for one page, until it is closed or the server is; then until it has taken note: `gone` waits for it,
        so that it asks for nothing that nobody answers."""
        waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        with self._lock:
            self._queues.append(waiting)
        self.seen.set()
        try:
            write("retry: 500\n\n")
            while not self.over.is_set():
                try:
                    order = waiting.get(timeout=BEAT)
                    write(f"data: {order}\n\n" if order else ":\n\n")
                except queue.Empty:
                    write(":\n\n")  # a sign of life, which fails if the page was closed
            write("event: over\ndata: {}\n\n")
            gone()
        except OSError:
            pass  # the page was closed
        finally:
            with self._lock:
                self._queues.remove(waiting)


class Served:
    """Something that a page shows: it is closed at the end of a `with`, and when the page is."""

    server: PageServer

    @property
    def url(self) -> str:
        """The address of the page."""
        return self.server.url

    def wait(self) -> None:
        """Wait until the page has been opened and closed again, or Ctrl-C is pressed; then close."""
        try:
            self.server.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Stop serving the page, which then says so."""
        self.server.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class _Handler(BaseHTTPRequestHandler):
    """One request; `page` is set by its server."""

    page: PageServer
    protocol_version = "HTTP/1.0"
    timeout = 30

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""

    def _allowed(self) -> str | None:
        """The path below the token; None if the request was refused, which it was told."""
        hosts, origins = self.headers.get_all("Host") or [], self.headers.get_all("Origin") or []
        why = self.page.gate.refusal(self.path, hosts, origins)
        if why:
            self._send(403, "text/plain", f"Refused: {why}\n")
            return None
        return self.path[1 + len(self.page.gate.token) :]

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Referrer-Policy", "no-referrer")  # the address is a secret
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self) -> None:
        path = self._allowed()
        if path is None:
            return
        parts = urlsplit(path)
        name, query = parts.path.strip("/"), {k: v[-1] for k, v in parse_qs(parts.query).items()}
        if name == "events":
            self._stream()
        elif name == "socket" and self.page.talk is not None:
            self._socket()
        elif name in self.page.answers:
            try:
                self._send(200, *self.page.answers[name](query))
            except ValueError as error:
                self._send(400, "text/plain", f"{error}\n")
        else:
            self._send(404, "text/plain", "There is nothing here.\n")

    def do_POST(self) -> None:
        path = self._allowed()
        if path is None:
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            told = (message_in(self.rfile.read(length)) if 0 <= length <= LARGEST else None) or {}
            time, playing, at = float(told["time"]), bool(told["playing"]), float(told.get("at", 0.0))
        except (ValueError, KeyError, TypeError, OverflowError):
            self._send(400, "text/plain", "This is not the state of a page.\n")
            return
        self.page.heard(at, time=time, playing=playing)
        self._send(200, "text/plain", "")

    def _socket(self) -> None:
        key = self.headers.get("Sec-WebSocket-Key", "")
        if self.headers.get("Upgrade", "").lower() != "websocket" or not key:
            self._send(400, "text/plain", "This address is for the websocket of a page.\n")
            return
        self.close_connection = True
        self.connection.settimeout(None)
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        self.wfile.write(f"{head}Sec-WebSocket-Accept: {acceptance(key)}\r\n\r\n".encode())
        self.page.speak(Socket(self.rfile.read, self.connection.sendall), self.connection)

    def _stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()

        def write(text: str) -> None:
            self.wfile.write(text.encode())
            self.wfile.flush()

        self.connection.settimeout(PARTING)
        self.page.stream(write, lambda: self.connection.recv(1))


def offer(page: Served, browser: bool | None, block: bool | None) -> None:
    """Open the browser and wait, if asked to; by default both in a program, and neither at a prompt."""
    at_prompt = hasattr(sys, "ps1") or "IPython" in sys.modules
    block = not at_prompt if block is None else block
    if browser or (browser is None and block):
        opened = webbrowser.open(page.url)
        if not opened and not block:
            print(f"No browser could be opened: open {page.url} in one.", flush=True)
    if block:
        print(f"Watch it at {page.url} (end with Ctrl-C, or by closing the page).", flush=True)
        page.wait()
