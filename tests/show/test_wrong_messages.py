"""Messages that no page of ours sends: the world goes on, and the page is told what was wrong."""

import json
import socket
import struct
import time
from urllib.parse import urlsplit

import numpy as np
import pytest
from runs_to_show import eventually

import poinsot as pt
from poinsot.show.live_page import UNREAD, WAITING, Outbox
from poinsot.show.web_socket import message_in, unmasked

HUGE = 10**400
WRONG = [
    {"speed": float("nan")}, {"speed": HUGE}, {"speed": "fast"}, {"speed": None}, {"speed": [1]},
    {"set": ["drive", 0, HUGE]}, {"set": ["drive", 1e308, 1.0]}, {"set": ["drive", 5, 1.0]},
    {"set": ["drive", 0, "x"]},
    {"set": ["hand", 0, 1.0]}, {"set": 3}, {"set": [[], {}, 0]}, {"set": ["box.mass", 0, -1.0]}, {"set": ["drive"]},
    {"set": ["drive", 0, float("inf")]}, {"press": ["a"]}, {"press": {}, "down": 1},
    {"grab": ["box", [0, 0, HUGE], [0, 0, 0]]}, {"grab": [[], 1, 2]}, {"grab": "box"},
    {"grab": ["box", [0, 0, 0], [0]]},
    {"push": ["box", [HUGE, 0, 0]]}, {"push": ["box"]}, {"push": {}}, {"push": ["box", [float("nan"), 0, 0]]},
    {"seq": HUGE}, {"seq": -1}, {"seq": 1e999}, {"take": []}, {"layer": {}}, {"step": []}, {"nothing": None}, {},
]  # fmt: skip


@pytest.fixture(scope="module")
def live():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(2.0, (0.4, 0.3, 0.2)))
    world.add_input("drive", 0.0)
    world.add_force("jet", "box", lambda t, scene: scene.input("drive") * np.array([0.0, 1.0, 0.0]))
    with world.live(free=["box.mass"], port=0, browser=False, block=False) as live:
        yield live


class Client:
    """A page that speaks the protocol by hand."""

    def __init__(self, url: str) -> None:
        at = urlsplit(url)
        self.plain = socket.create_connection((at.hostname, at.port), timeout=20)
        lines = (f"GET {at.path}socket HTTP/1.1", f"Host: {at.netloc}", "Upgrade: websocket", "Sec-WebSocket-Key: a")
        self.plain.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        assert b"101" in self.plain.recv(4096)

    def send(self, text: str | bytes) -> None:
        data, mask = text.encode() if isinstance(text, str) else text, b"\x07\x03\x02\x01"
        n = len(data)
        size = bytes([0x80 | n]) if n < 126 else bytes([0x80 | 126]) + struct.pack(">H", n)
        self.plain.sendall(b"\x81" + size + mask + unmasked(data, mask))


@pytest.fixture
def client(live):
    made = Client(live.url)
    assert eventually(lambda: live.page.pilot is not None)
    yield made
    made.plain.close()
    assert eventually(lambda: live.page.pilot is None)


def goes_on(live) -> bool:
    t = live.t
    return eventually(lambda: live.t > t) and live.page.problem == ""


def test_wrong_messages_stop_nothing(live, client):
    for said in WRONG:
        client.send(json.dumps(said))
    client.send(json.dumps({"seq": 41}))
    assert eventually(lambda: live.page.seen == 41)
    assert goes_on(live)
    assert np.all(np.isfinite(live.y))
    assert live.page.loop.speed == 1.0


def test_what_is_no_message_is_left_out(live, client):
    for text in ("[" * 60000, "9" * 6000, '{"a":' * 9000, "[]", "3", "null", "", '"x"', "{", "NaN"):
        assert message_in(text) is None
        client.send(text)
    client.send(json.dumps({"seq": 42}))
    assert eventually(lambda: live.page.seen == 42)
    assert goes_on(live)


def test_a_flood_of_messages_waits(live, client):
    """A page is not read on before what it said was heard, and what comes meanwhile does not keep the world."""
    for k in range(20 * WAITING):
        client.send(json.dumps({"set": ["drive", 0, "x"], "seq": k}))
        if k % WAITING == 0:
            assert live.page.jobs.qsize() <= 2 * WAITING + 8
    assert goes_on(live)
    assert eventually(lambda: live.page.seen == 20 * WAITING - 1)


def test_a_page_that_takes_nothing_is_given_up():
    """It does not read: what it is told does not pile up."""

    class Deaf:
        def send(self, message):
            time.sleep(3600)

    box = Outbox(Deaf())
    for _ in range(3 * UNREAD):
        box.put("x")
    assert len(box.texts) <= UNREAD + 1
