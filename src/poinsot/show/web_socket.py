"""Messages to and from a page: the websocket protocol (RFC 6455), as much of it as a page of ours needs."""

import base64
import hashlib
import json
import struct
import threading
from collections.abc import Callable
from typing import Any

GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # of RFC 6455, section 4.2.2
TEXT, BINARY, CLOSE, PING, PONG = 1, 2, 8, 9, 10
LARGEST = 65536  # bytes of a message from a page


class ProtocolError(Exception):
    """The bytes that came are not a message of a websocket, or too long a one."""


def message_in(text: str | bytes) -> dict[str, Any] | None:
    """The message in a text, by name; None if it is none: not JSON, nested too deeply, or something else than names."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return said if isinstance(said, dict) else None


def acceptance(key: str) -> str:
    """The value of Sec-WebSocket-Accept for a Sec-WebSocket-Key."""
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


def framed_message(data: bytes, opcode: int) -> bytes:
    """One message as one unmasked frame, as a server sends it (section 5.2)."""
    n = len(data)
    head = bytes([0x80 | opcode])
    if n < 126:
        return head + bytes([n]) + data
    return head + (struct.pack(">BH", 126, n) if n < 65536 else struct.pack(">BQ", 127, n)) + data


def unmasked(data: bytes, mask: bytes) -> bytes:
    """The bytes of a client, whose byte i was combined with byte i modulo 4 of its mask."""
    whole = (mask * (len(data) // 4 + 1))[: len(data)]
    return (int.from_bytes(data, "big") ^ int.from_bytes(whole, "big")).to_bytes(len(data), "big")


class Socket:
    """One end of a websocket, after the handshake: `send` from any thread, `receive` from one."""

    def __init__(self, read: Callable[[int], bytes], write: Callable[[bytes], object]) -> None:
        self._read, self._write = read, write
        self._sending = threading.Lock()

    def send(self, message: str | bytes) -> None:
        """Send a text, or bytes."""
        data, opcode = (message.encode(), TEXT) if isinstance(message, str) else (message, BINARY)
        self._put(data, opcode)

    def close(self) -> None:
        """Tell the page that nothing more will come."""
        self._put(struct.pack(">H", 1001), CLOSE)

    def _put(self, data: bytes, opcode: int) -> None:
        with self._sending:
            self._write(framed_message(data, opcode))

    def receive(self) -> str | None:
        """The next text of the page; None at its end. Pings are answered, other messages left out."""
        whole = b""
        while True:
            final, opcode, data = self._frame()
            if opcode == CLOSE:
                return None
            if opcode == PING:
                self._put(data, PONG)
            if opcode in (0, TEXT, BINARY):
                whole += data
                if len(whole) > LARGEST:
                    raise ProtocolError(f"a message has more than {LARGEST} bytes.")
                if final:
                    try:
                        return whole.decode()
                    except UnicodeDecodeError as error:
                        raise ProtocolError("a message is not UTF-8.") from error

    def _frame(self) -> tuple[bool, int, bytes]:
        first, second = self._bytes(2)
        n = second & 0x7F
        if n > 125:
            n = int.from_bytes(self._bytes(2 if n == 126 else 8), "big")
        if n > LARGEST or not second & 0x80 or first & 0x70:
            raise ProtocolError("a frame is too long, not masked, or of an extension.")
        mask = self._bytes(4)
        return bool(first & 0x80), first & 0x0F, unmasked(self._bytes(n), mask)

    def _bytes(self, n: int) -> bytes:
        data = self._read(n) if n else b""
        if len(data) < n:
            raise ConnectionError("the page is gone.")
        return data
