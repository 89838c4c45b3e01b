"""A warmed Python inside the sandbox; each run of a function is a clone of it.

Clones are made with CLONE_PARENT: their parent is the supervisor, which can therefore wait for them and
read their clocks, and not this process. The zygote itself never runs foreign code.
"""

import ctypes
import gc
import importlib
import json
import os
import signal
import socket
import sys
import tracemalloc
from typing import Any, Final

from best_agent.sandbox.inside import confine, driver, kernel, meters, syscalls, targets

WARM: Final = (
    *("abc", "array", "bisect", "cmath", "collections", "contextlib", "copy", "dataclasses", "datetime"),
    *("enum", "functools", "heapq", "io", "itertools", "json", "math", "numbers", "operator", "random"),
    *("re", "string", "struct", "sys", "time", "types", "typing"),
)
"""Modules that solutions commonly import; loading them once keeps them out of each run."""
_REQUEST_BYTES: Final = 1 << 16
_FIRST_FREE_FD: Final = 6


def serve(orders: socket.socket, source: str, entry: str, confinement: confine.Confinement) -> None:
    """Clone a child for each order until the supervisor hangs up."""
    for name in WARM:
        importlib.import_module(name)
    for name in [name for name in sys.modules if name.partition(".")[0] == "best_agent"]:
        del sys.modules[name]
    gc.collect()
    gc.freeze()
    mapped = meters.mapped_bytes(os.getpid()) or 0
    while True:
        text, fds, _, _ = socket.recv_fds(orders, _REQUEST_BYTES, _FIRST_FREE_FD + 1)
        if not text:
            os._exit(0)
        order = json.loads(text)
        order["bounds"][_ADDRESS_BYTES] += mapped
        try:
            pid = _clone()
        except OSError as error:
            orders.send(json.dumps({"error": str(error)}).encode())
            pid = -1
        if pid == 0:
            orders.close()
            _become_target(order, list(fds), source, entry, confinement)
        if pid > 0:
            orders.send(json.dumps({"pid": pid}).encode())
        for fd in fds:
            os.close(fd)


_ADDRESS_BYTES: Final = confine.Bounds._fields.index("address_bytes")


def _clone() -> int:
    """`fork`, but the child is our parent's child."""
    python = ctypes.pythonapi
    number = syscalls.number("clone")
    python.PyOS_BeforeFork()
    # PyDLL keeps the interpreter's lock over the call, as PyOS_AfterFork_Child expects.
    flags = ctypes.c_ulong(kernel.CLONE_PARENT | signal.SIGCHLD)
    zero = ctypes.c_long(0)
    pid = int(
        ctypes.PyDLL(None, use_errno=True).syscall(ctypes.c_long(number or 0), flags, zero, zero, zero, zero)
    )
    if pid == 0:
        python.PyOS_AfterFork_Child()
        return 0
    python.PyOS_AfterFork_Parent()
    if pid < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return pid


def _become_target(
    order: dict[str, Any], fds: list[int], source: str, entry: str, confinement: confine.Confinement
) -> None:
    """Never returns."""
    trouble, ruleset = targets.take_places(fds, confinement.ruleset)
    try:
        confine.confine(confinement._replace(ruleset=ruleset), confine.Bounds(*order["bounds"]))
    except OSError as error:
        os.write(trouble, f"confine: {error}".encode())
        os._exit(1)
    kernel.close_all_above(_FIRST_FREE_FD - 1)
    if tracemalloc.is_tracing():
        tracemalloc.stop()
    stand_in = driver.STAND_INS.get(order["stand_in"])
    if stand_in is not None:
        source, entry = stand_in, "solve"
    driver.run(source, entry, traced=order["traced"], echo=order["stand_in"] == "echo")
