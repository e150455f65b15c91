"""Who may open a page: those who have its address, for this machine by name, and no page of another site."""

import http.client
import socket
import threading
from urllib.parse import urlsplit

import pytest
import runs_to_show

import poinsot as pt
from poinsot import show
from poinsot.show import server as web
from poinsot.show.gate import Gate

viser = pytest.importorskip("viser")
sockets = pytest.importorskip("websockets.sync.client")
exceptions = pytest.importorskip("websockets.exceptions")


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
    """Whether a websocket is accepted and sends the scene, or 403; the page of a run has a stream of orders instead."""
    if b"poinsot" in status(address, address.path)[1]:
        asked = {} if origin is None else {"Origin": origin}
        return {200: True, 403: False}[status(address, path.rstrip("/") + "/", Host=host or address.netloc, **asked)[0]]
    with socket.create_connection((address.hostname, address.port), timeout=10) as plain:
        try:
            with sockets.connect(
                f"ws://{host or address.netloc}{path}", sock=plain, origin=origin, compression=None,
                subprotocols=[f"viser-v{viser.__version__}"], max_size=None,
            ) as connection:  # fmt: skip
                return len(connection.recv(timeout=10)) > 16
        except exceptions.InvalidStatus as refused:
            return {403: False}[refused.response.status_code]


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
        assert gate.refusal(path, host, None) == ""
        assert gate.refusal(path, host, f"http://{host}") == ""
    assert "not served for the host" in gate.refusal(path, "evil.example", None)
    assert "lacks the token" in gate.refusal("/\udce9/", "localhost", None)  # bytes that are no text
    assert Gate("::1").address(80).startswith("http://[::1]:80/")


def test_other_servers_are_left_alone():
    """Only servers of Poinsot have a gate: websockets and viser are as before."""
    from websockets.asyncio import server as websockets

    serve = websockets.serve
    with viewed():
        assert websockets.serve is serve
        other = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            assert status(urlsplit(f"http://127.0.0.1:{other.get_port()}/"), "/")[0] == 200
        finally:
            web.stop(other)


def test_a_viser_that_goes_around_the_gate_is_not_used(monkeypatch):
    """Should viser open its port in another way, no page is served at all."""
    from contextlib import nullcontext

    before = set(threading.enumerate())
    monkeypatch.setattr(web, "guarding", nullcontext)
    with pytest.raises(RuntimeError, match=r"cannot be kept from others with viser [0-9.]+; install viser 1\.1"):
        web.start(port=0)
    assert not any(t.is_alive() for t in set(threading.enumerate()) - before)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"port": -1}, "port must be a whole number from 0 to 65535, not -1"),
        ({"port": 65536}, "port must be a whole number from 0 to 65535, not 65536"),
        ({"port": "8080"}, "port must be a whole number from 0 to 65535, not '8080'"),
        ({"host": "192.0.2.1"}, "cannot be served on the host '192.0.2.1'"),
        ({"host": "no.such.host.invalid"}, "cannot be served on the host 'no.such.host.invalid'"),
    ],
)
def test_bad_hosts_and_ports_are_errors(options, message):
    with pytest.raises(ValueError, match=message):
        web.start(**{"port": 0, **options})


def test_no_free_port(monkeypatch):
    monkeypatch.setattr(web, "TRIES", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"no port from {port} to {port} can be used on 127.0.0.1"):
            web.start(port=port)


def test_two_pages_side_by_side():
    """The second one has the next port, and closing it leaves the first."""
    with viewed() as one:
        port = urlsplit(one.url).port
        with show.view(
            runs_to_show.pendulum(), show=["bodies"], plots=[], port=port, browser=False, block=False
        ) as other:
            assert urlsplit(other.url).port > port
        assert status(urlsplit(one.url), urlsplit(one.url).path)[0] == 200


def test_without_a_browser_the_address_is_printed(monkeypatch, capsys):
    monkeypatch.setattr("webbrowser.open", lambda url: False)
    with show.view(runs_to_show.pendulum(), show=["bodies"], plots=[], port=0, browser=True, block=False) as viewer:
        assert capsys.readouterr().out == f"No browser could be opened: open {viewer.url} in one.\n"
