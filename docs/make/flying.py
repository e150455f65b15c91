"""Make the pictures of docs/flying.md: the scripted pilot of the tests takes off, and the page is photographed."""

import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "show"))
from pilots import Pilot  # noqa: E402

from poinsot.files.scenario import load_scenario  # noqa: E402
from poinsot.show.chromium import tab  # noqa: E402

READINGS = "(({position, velocity, ...r}) => ({...r, position, velocity}))(poinsot.readings())"
PICTURES = ROOT / "docs" / "pictures"
scenario = load_scenario(ROOT / "examples" / "circuit.toml")

options = {"port": 0, "browser": False, "block": False}
with scenario.world.fly(step=scenario.options["step"], **scenario.fly, **options) as flight, tab() as page:
    size = {"width": 1280, "height": 720, "deviceScaleFactor": 1, "mobile": False}
    page.call("Emulation.setDeviceMetricsOverride", **size)
    page.call("Page.navigate", url=flight.url)
    page.wait("window.poinsot?.player.drawn > 3")
    pilot = Pilot()
    page.evaluate("poinsot.player.say({speed: 1})")

    def until(done) -> None:
        while not done(seen := page.evaluate(READINGS)):
            flight.page.ask(lambda: flight.stick.press(sorted(pilot.keys(seen))))

    def photograph(name: str, look: str) -> None:
        flight.page.ask(lambda: setattr(flight.page.loop, "paused", True))
        page.evaluate(look)
        time.sleep(1.0)
        (PICTURES / name).write_bytes(page.picture())
        flight.page.ask(lambda: setattr(flight.page.loop, "paused", False))

    until(lambda r: r["altitude"] > 8)
    photograph("fly-outside.png", "poinsot.player.look({kind: 'chase', azimuth: 0.35})")
    page.evaluate("poinsot.player.look({kind: 'chase'})")
    until(lambda r: pilot.phase == "crosswind turn" and r["roll"] < -0.35)
    photograph("fly-cockpit.png", "poinsot.player.look({kind: 'cockpit'})")
    page.evaluate("poinsot.player.look({kind: 'chase'})")
    until(lambda r: r["altitude"] > 80)
    photograph("fly-gauges.png", "poinsot.player.instruments()")
