"""LLVM text to an object file; several threads may do so side by side.

llvmlite lets one thread at a time into LLVM, which LLVM does not ask for where each has a context of its own. So the
long call, which emits an object file, is made through a handle of its own on llvmlite's library.
"""

import contextlib
import ctypes
import functools
import threading
from collections.abc import Iterator
from typing import Any

from poinsot.fuse.llvm import target

LONG = 1 << 18  # bytes of text: above that, passes of LLVM that gain no speed are left out, and it takes a third less
HASTY = 1 << 16  # the same for code that is used little
PIPELINE = "codegen -O2, -O1 if long, -O0 if hasty, as written"

_lock = threading.Lock()
_at_work = 0  # how many threads emit code


def target_machine(level: int = 2) -> Any:
    """A new one, of an optimisation level: an engine that loads code owns its target machine."""
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    host = target.host()
    return llvm.Target.from_default_triple().create_target_machine(
        cpu=host.name, features=host.features, opt=level, reloc="pic", codemodel="jitdefault", jit=True
    )


@contextlib.contextmanager
def as_written() -> Iterator[None]:
    """Without LLVM's machine scheduler: the values that it moves apart in long straight-line code would be spilled.

    The switch is LLVM's, for the whole process, so the last one who needs it resets it.
    """
    _switch(+1)
    try:
        yield
    finally:
        _switch(-1)


def _switch(more: int) -> None:
    global _at_work
    import llvmlite.binding as llvm

    with _lock:
        before, _at_work = _at_work, _at_work + more
        if not before or not _at_work:
            llvm.set_option("", f"-enable-misched={'true' if before else 'false'}")


def object_file(text: str, hasty: bool = False) -> bytes:
    """The machine code of a module; a long one that is `hasty` takes half as long, and has the same bits."""
    import llvmlite.binding as llvm

    machine = target_machine(2 if len(text) <= (HASTY if hasty else LONG) else 0 if hasty else 1)
    # A context of its own: LLVM's global one keeps the constants of every module for good, and is not for many threads.
    with (
        contextlib.closing(llvm.context.create_context()) as context,
        contextlib.closing(llvm.parse_assembly(text, context)) as module,
        as_written(),
    ):
        module.verify()
        return _emitted(machine, module)


def _emitted(machine: Any, module: Any) -> bytes:
    """`machine.emit_object(module)`, without llvmlite's lock."""
    library = _library()
    if library is None:
        content: bytes = machine.emit_object(module)
        return content
    error = ctypes.c_char_p()
    buffer = library.LLVMPY_TargetMachineEmitToMemory(machine, module, 1, ctypes.byref(error))
    if not buffer:
        raise RuntimeError((error.value or b"LLVM emitted no code").decode())
    try:
        return ctypes.string_at(library.LLVMPY_GetBufferStart(buffer), library.LLVMPY_GetBufferSize(buffer))
    finally:
        library.LLVMPY_DisposeMemoryBuffer(buffer)


@functools.cache
def _library() -> Any:
    """llvmlite's library, without its lock; None if it is not as it is known here."""
    from llvmlite.binding import ffi

    pointer = ctypes.c_void_p
    try:
        library = ctypes.CDLL(ffi.lib._name)
        for name, result, arguments in (
            ("TargetMachineEmitToMemory", pointer, (pointer, pointer, ctypes.c_int, ctypes.POINTER(ctypes.c_char_p))),
            ("GetBufferStart", pointer, (pointer,)),
            ("GetBufferSize", ctypes.c_size_t, (pointer,)),
            ("DisposeMemoryBuffer", None, (pointer,)),
        ):
            function = getattr(library, f"LLVMPY_{name}")
            function.restype, function.argtypes = result, arguments
    except (AttributeError, OSError):
        return None
    return library
