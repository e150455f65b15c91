"""Mutated files of every kind that is read. Bad input is an error that says so, soon, and never a traceback."""

import atexit
import faulthandler
import shutil
import signal
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

import poinsot as pt
from poinsot.files import ScenarioError
from poinsot.files.seals import SEAL
from samples import SAMPLES
from trial import Finding

Rng = np.random.Generator
EXAMPLES = Path(__file__).parents[1] / "examples"
SECONDS = 60  # for one file, on a busy machine
UNSEALED = 0.05  # of the result files have no seal: HDF5 reads them in a process of its own, which takes a while
WORDS = (
    "nan inf -inf 1e400 -1e400 1e-400 0 -0 -1 1e308 5e-324 99999999999999999999 9.9e999 true false [] {} [[]] '' \"\" "
    '"1 m" "30 deg" "1 parsec" "-5 kg" "x**99" "0/0" "\'" [1,2] [1,2,3,4] {a=1} world . .. ../x é 漢 \\u0000'
).split()


@contextmanager
def time_limit() -> Iterator[None]:
    """The process ends, with a traceback, if this takes longer: also within a library that never returns to Python."""
    faulthandler.register(signal.SIGALRM, chain=True)  # and then what a signal does by default: it kills
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)


def mutated(rng: Rng, text: str) -> str:
    """The text after one to three random changes of the kinds that people and programs make."""
    for _ in range(int(rng.integers(1, 4))):
        lines = text.split("\n")
        k = int(rng.integers(len(lines)))
        way = rng.integers(9)
        tokens = lines[k].replace("=", " = ").replace('"', ' " ').replace(",", " , ").split(" ")
        j = int(rng.integers(len(tokens)))
        word = WORDS[rng.integers(len(WORDS))]
        if way == 0:
            lines[k] = ""
        elif way == 1:
            lines.insert(k, lines[rng.integers(len(lines))])
        elif way == 2:
            other = int(rng.integers(len(lines)))
            lines[k], lines[other] = lines[other], lines[k]
        elif way in (3, 4, 5):
            tokens[j] = word
            lines[k] = " ".join(tokens).replace(' " ', '"')
        elif way == 6:
            place = int(rng.integers(len(text) + 1))
            text = text[:place] + chr(int(rng.integers(1, 0x250))) + text[place:]
            continue
        elif way == 7:
            a, b = sorted(int(x) for x in rng.integers(len(text) + 1, size=2))
            text = text[:a] + text[min(b, a + 40) :]
            continue
        else:
            lines[k] = lines[k] * int(rng.integers(2, 200))
        text = "\n".join(lines)
    return text


@cache
def scenarios() -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in sorted(EXAMPLES.glob("*.toml"))]


@cache
def result_files() -> dict[str, bytes]:
    """One small saved run in each format that is one file."""
    world = pt.World()
    body = world.add_body("box", pt.Inertia.box(mass=1.0, size=(0.1, 0.2, 0.3)), angular_velocity=(1.0, 2.0, 3.0))
    body.add(pt.Rotor("wheel", axis=(0, 0, 1), inertia=0.01, speed=10.0))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        world.simulate(0.02).save(path)
        return {".nc": path.read_bytes()}


def clean(error: BaseException) -> bool:
    """Whether an error is one that a user can read: of a known kind, with words, from our own checks."""
    text = str(error)
    return bool(text.strip()) and "Traceback" not in text and "0x7f" not in text


def attempt(what: str, load: Callable[[], object], allowed: tuple[type[BaseException], ...]) -> None:
    with time_limit():
        try:
            load()
        except allowed as error:
            if not clean(error):
                raise Finding(f"{what}: an error without words: {error!r}") from error


@cache
def folder() -> Path:
    """A folder of this process, with copies of the files that examples name."""
    path = Path(tempfile.mkdtemp(prefix="fuzz-texts-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    for other in EXAMPLES.iterdir():
        if other.is_file() and other.suffix != ".toml":
            shutil.copy(other, path)
    return path


def damaged(rng: Rng, content: bytes) -> bytes:
    """The bytes of a file after random changes."""
    raw = bytearray(content)
    for _ in range(int(rng.integers(1, 20))):
        raw[rng.integers(len(raw))] = rng.integers(256)
    return bytes(raw[: rng.integers(len(raw))] if rng.random() < 0.3 else raw)


def trial(rng: Rng) -> None:
    way = rng.random()
    if way < 0.6:
        name, text = scenarios()[rng.integers(len(scenarios()))]
        path = folder() / "scenario.toml"
        path.write_text(mutated(rng, text), encoding="utf-8", errors="surrogatepass")
        attempt(name, lambda: pt.load_scenario(path), (ScenarioError,))
    elif way < 0.9:
        name = list(SAMPLES)[rng.integers(len(SAMPLES))]
        file, text, read = SAMPLES[name]
        path = folder() / file
        path.write_text(mutated(rng, text), encoding="utf-8", errors="surrogatepass")
        attempt(name, lambda: read(path), (ValueError, OSError))
    else:
        suffix, content = next(iter(result_files().items()))
        path = folder() / f"run{suffix}"
        if rng.random() < UNSEALED:
            content = content[: -SEAL.size]
        path.write_bytes(damaged(rng, content))
        attempt("result", lambda: pt.load_run(path).data, (ValueError, OSError))
