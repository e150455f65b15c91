"""The websocket protocol, by the examples of RFC 6455 and a page that sends what it should not."""

import io
import struct

import pytest

from poinsot.show.web_socket import LARGEST, ProtocolError, Socket, acceptance, framed_message, unmasked


def test_the_handshake_of_the_standard():
    """Section 1.3."""
    assert acceptance("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_the_frames_of_the_standard():
    """Section 5.7."""
    assert framed_message(b"Hello", 1) == bytes.fromhex("810548656c6c6f")
    assert framed_message(bytes(256), 2)[:4] == bytes.fromhex("827e0100")
    assert framed_message(bytes(65536), 2)[:10] == bytes.fromhex("827f0000000000010000")
    assert unmasked(bytes.fromhex("7f9f4d5158"), bytes.fromhex("37fa213d")) == b"Hello"


def masked(data: bytes, first: int = 0x81) -> bytes:
    mask, n = b"\x01\x02\x03\x04", len(data)
    head = bytes([first, 0x80 | n]) if n < 126 else bytes([first, 0x80 | 126]) + struct.pack(">H", n)
    return head + mask + unmasked(data, mask)


def heard(*frames: bytes) -> tuple[Socket, list[bytes]]:
    sent: list[bytes] = []
    return Socket(io.BytesIO(b"".join(frames)).read, sent.append), sent


def test_texts_in_pieces_with_a_ping_between():
    page, sent = heard(
        masked(b"Hel", 0x01), masked(b"hi", 0x89), masked(b"lo", 0x80), masked(b"x" * 300), masked(b"", 0x88)
    )
    assert page.receive() == "Hello"
    assert sent == [bytes.fromhex("8a026869")]  # the pong
    assert page.receive() == "x" * 300
    assert page.receive() is None


@pytest.mark.parametrize(
    "frame",
    [b"\x81\x05Hello", masked(b"Hello", 0xC1), b"\x81\xff" + struct.pack(">Q", LARGEST + 1), masked(b"\xff\xfe")],
    ids=["not masked", "an extension", "too long", "not a text"],
)
def test_what_is_no_message_ends_it(frame):
    with pytest.raises(ProtocolError):
        heard(frame)[0].receive()


def test_a_page_that_is_gone():
    with pytest.raises(ConnectionError):
        heard(masked(b"Hello")[:4])[0].receive()


def test_many_pieces_are_not_kept_for_ever():
    pieces = [masked(b"x" * 60000, 0x01), masked(b"x" * 60000, 0x00)]
    with pytest.raises(ProtocolError, match="more than"):
        heard(*pieces)[0].receive()
