"""Result files that are known to be whole before HDF5 reads them: damaged ones can keep that library busy without end.

A NetCDF file of ours ends in a seal: a magic word, the number of bytes before it, and their SHA-256. HDF5 notes in its
first block where its data ends, and ignores what follows; a program that changes the file cuts the seal off. A file
without a seal is read to its end by a process of its own, with a time limit, before it is read here.
"""

import hashlib
import struct
import subprocess
import sys
from pathlib import Path
from typing import BinaryIO

SEAL = struct.Struct("<16sQ32s")  # magic word, length, SHA-256
MAGIC = b"\nPoinsot seal 1\n"
HDF5 = b"\x89HDF\r\n\x1a\n"
PIECE = 2**20  # bytes that are hashed at a time
SECONDS, RATE = 20.0, 2e7  # to read a file without a seal: so long, and one more second for so many bytes
PROBE = """
import sys, h5py
def read(_, item):
    list(item.attrs.items())
    for piece in item.iter_chunks() if isinstance(item, h5py.Dataset) and item.chunks else ():
        item[piece]
with h5py.File(sys.argv[1], "r") as file:
    read("/", file)
    file.visititems(read)
"""


def seal(path: Path) -> None:
    """Append the seal to a finished file."""
    with path.open("r+b") as file:
        length = file.seek(0, 2)
        digest = _digest(file, length)
        file.seek(length)
        file.write(SEAL.pack(MAGIC, length, digest))


def require_whole(path: Path) -> None:
    """ValueError if a file is not what was written, or if HDF5 cannot read it within a time limit."""
    if path.is_dir():
        raise ValueError(f"'{path}' is a folder, not a run saved by Poinsot; only .zarr is one.")
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - SEAL.size))
        tail = file.read()
        if len(tail) == SEAL.size and tail.startswith(MAGIC):
            _, length, digest = SEAL.unpack(tail)
            if length != size - SEAL.size or _digest(file, length) != digest:
                raise ValueError(f"'{path}' is damaged: it does not have the checksum with which it was written.")
            return
        file.seek(0)
        wrong = _structure(file.read(64), size)
    if wrong := wrong or _unreadable(path, SECONDS + size / RATE):
        raise ValueError(f"'{path}' is not a run saved by Poinsot, or is damaged: {wrong}.")


def _digest(file: BinaryIO, length: int) -> bytes:
    """The SHA-256 of the first bytes of a file."""
    file.seek(0)
    digest = hashlib.sha256()
    while length > 0 and (piece := file.read(min(length, PIECE))):
        digest.update(piece)
        length -= len(piece)
    return digest.digest()


def _structure(head: bytes, size: int) -> str:
    """The fault of the first block (HDF5 File Format Specification, II.A); empty if there is none."""
    if not head.startswith(HDF5) or len(head) < 64:
        return "it is not an HDF5 file"
    if head[8] > 3:
        return f"the version of its first block is {head[8]}"
    end = struct.unpack_from("<Q", head, {0: 40, 1: 44}.get(head[8], 28))[0]
    return f"it has {size:,} bytes, and its first block says {end:,}" if end != size else ""


def _unreadable(path: Path, seconds: float) -> str:
    """Why another process could not read a file to its end in this time; empty if it could."""
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", PROBE, str(path.absolute())], capture_output=True, text=True, timeout=seconds
        )
    except subprocess.TimeoutExpired:
        return f"HDF5 did not come to its end in {seconds:.0f} s"
    if done.returncode < 0:
        return f"HDF5 crashed on it (signal {-done.returncode})"
    lines = done.stderr.strip().splitlines() or ["HDF5 cannot read it"]
    return lines[-1].rstrip(".") if done.returncode else ""
