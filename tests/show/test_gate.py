"""Who may open a page: those who have its address, for this machine by name, and no page of another site."""

import http.client
import socket
from urllib.parse import urlsplit

import pytest
import runs_to_show

import poinsot as pt
from poinsot import show
from poinsot.show.gate import Gate


def viewed():
    return show.view(runs_to_show.pendulum(), show=["bodies"], plots=[], port=0, browser=False, block=False)


def live():
    world = pt.World(gravity=(0.0, 0.0, 0.0))
    world.add_body("box", pt.Inertia.box(1.0, (0.4, 0.3, 0.2)))
    return show.live(world, free=["box.mass"], show=["bodies"], port=0, browser=False, block=False)


@pytest.fixture(scope="module", params=[viewed, live])
def address(request):
    """The address of a page of a run, and of a live world."""
    with request.param() as page:
        yield urlsplit(page.url)


def status(address, path, **headers):
    """The status and text of an answer."""
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.putrequest("GET", path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, text


def shakes_hands(address, path, host=None, origin=None):
    """Whether the websocket of a live page, or the page itself of a run, is given, or refused with 403."""
    asked = {"Host": host or address.netloc} | ({} if origin is None else {"Origin": origin})
    if status(address, f"{address.path}socket")[0] == 404:
        return {200: True, 403: False}[status(address, path.rstrip("/") + "/", **asked)[0]]
    with socket.create_connection((address.hostname, address.port), timeout=10) as plain:
        key = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
        lines = [f"{name}: {value}" for name, value in {**asked, **key}.items()]
        plain.sendall("\r\n".join([f"GET {path.rstrip('/')}/socket HTTP/1.1", *lines, "", ""]).encode())
        answer = plain.makefile("rb")
        code = int(answer.readline().split()[1])
        if code == 101:
            assert b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in b"".join(answer.readline() for _ in range(4))
            assert answer.read(2)[0] in (0x81, 0x82)  # its first message
        return {101: True, 403: False}[code]


def test_the_page_is_served_to_those_who_have_its_address(address):
    code, text = status(address, address.path)
    assert code == 200
    assert b"<!doctype html>" in text
    assert shakes_hands(address, address.path, origin=f"http://{address.netloc}")
    assert shakes_hands(address, address.path.rstrip("/"), origin=f"http://{address.netloc}")
    assert shakes_hands(address, address.path)  # a program, not a browser
    assert status(address, address.path, Host=f"localhost:{address.port}")[0] == 200
    assert status(address, address.path, Host="localhost:9999")[0] == 200  # through a tunnel


@pytest.mark.parametrize("path", ["/", "/index.html", "/?token=x", "/wrong/", "//", "/../", "/%2e%2e/"])
def test_without_the_token_nothing_is_served(address, path):
    code, text = status(address, path)
    assert code == 403
    assert b"lacks the token of this page" in text
    assert not shakes_hands(address, path, origin=f"http://{address.netloc}")


def test_a_part_of_the_token_is_not_enough(address):
    token = address.path.strip("/")
    assert len(token) == 32
    for wrong in (token[:-1], token + "x", token[:-1] + "~", token.swapcase()):
        assert status(address, f"/{wrong}/")[0] == 403
        assert not shakes_hands(address, f"/{wrong}/")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil", "10.0.0.1", "[", ""],
)
def test_another_host_is_refused(address, host):
    """A foreign name may be one that was pointed at this machine (DNS rebinding)."""
    code, text = status(address, address.path, Host=host)
    assert code == 403
    assert b"is not served for the host" in text
    if host not in ("", "["):
        assert not shakes_hands(address, address.path, host=host)
        assert not shakes_hands(address, address.path, host=host, origin=f"http://{host}")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "file://", "http://127.0.0.1"])
def test_another_origin_is_refused(address, origin):
    """A page elsewhere that learned the address can neither read the scene nor move sliders."""
    assert not shakes_hands(address, address.path, origin=origin)
    code, text = status(address, address.path, Origin=origin)
    assert code == 403
    assert b"is not served for pages of" in text


def test_every_page_has_its_own_token():
    with viewed() as one, viewed() as other:
        assert urlsplit(one.url).path != urlsplit(other.url).path
        assert status(urlsplit(one.url), urlsplit(other.url).path)[0] == 403


def test_other_files_of_the_server_stay_where_they_are(address):
    for path in ("../__init__.py", "%2e%2e/__init__.py", "..%5c__init__.py", "nothing.js"):
        assert status(address, address.path + path)[0] == 404


def test_a_server_that_is_open_to_the_network_answers_to_addresses_and_own_names():
    gate = Gate("0.0.0.0")
    path = f"/{gate.token}/"
    assert gate.address(80) == f"http://localhost:80{path}"
    for host in ("192.168.1.7:80", "localhost", "[::1]:80", socket.gethostname()):
        assert gate.refusal(path, [host], []) == ""
        assert gate.refusal(path, [host], [f"http://{host}"]) == ""
    assert "not served for the host" in gate.refusal(path, ["evil.example"], [])
    assert "one Host" in gate.refusal(path, ["localhost", "localhost"], [])
    assert "lacks the token" in gate.refusal("/\udce9/", ["localhost"], [])  # bytes that are no text
    assert Gate("::1").address(80).startswith("http://[::1]:80/")
