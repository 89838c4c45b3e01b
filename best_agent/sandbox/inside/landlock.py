"""Landlock: which files a target may touch, and that it reaches no process outside of its own domain."""

import ctypes
import os
import stat
from collections.abc import Iterable
from typing import Final

from best_agent.sandbox.inside import kernel

# linux/landlock.h
_CREATE_RULESET_VERSION: Final = 1
_RULE_PATH_BENEATH: Final = 1
_FS_EXECUTE: Final = 1 << 0
_FS_WRITE_FILE: Final = 1 << 1
_FS_READ_FILE: Final = 1 << 2
_FS_READ_DIR: Final = 1 << 3
_FS_TRUNCATE: Final = 1 << 14
_FS_IOCTL_DEV: Final = 1 << 15
_NET_BIND_AND_CONNECT: Final = 1 << 0 | 1 << 1
_SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS: Final = 1 << 0 | 1 << 1

# Rights that each version of the interface added; a kernel refuses rights that it does not know.
_FS_RIGHTS_BY_ABI: Final = ((1, 13), (2, 14), (3, 15), (5, 16))
_ABI_NETWORK: Final = 4
ABI_SCOPES: Final = 6

READ: Final = _FS_EXECUTE | _FS_READ_FILE | _FS_READ_DIR
_ON_FILES: Final = _FS_EXECUTE | _FS_WRITE_FILE | _FS_READ_FILE | _FS_TRUNCATE | _FS_IOCTL_DEV
DEVICE: Final = _FS_READ_FILE | _FS_WRITE_FILE


class _RulesetAttributes(ctypes.Structure):
    _fields_ = (
        ("handled_access_fs", ctypes.c_uint64),
        ("handled_access_net", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def abi() -> int:
    """The kernel's version of the interface; 0 where it has none or it is switched off."""
    try:
        return kernel.syscall(
            "landlock_create_ruleset", None, ctypes.c_size_t(0), ctypes.c_uint32(_CREATE_RULESET_VERSION)
        )
    except OSError:
        return 0


def all_rights(version: int) -> int:
    """Every right on files that a version of the interface knows."""
    bits = max(count for since, count in _FS_RIGHTS_BY_ABI if since <= version)
    return (1 << bits) - 1


def ruleset(rules: Iterable[tuple[str, int]]) -> int:
    """A descriptor of rules (path, rights); paths that are missing grant nothing.

    Everything that no rule grants is denied; so are the network, abstract sockets and signals to
    processes outside, as far as the kernel knows them.

    Raises:
        OSError: the kernel has no Landlock.
    """
    version = abi()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    rights = all_rights(version)
    attributes = _RulesetAttributes(
        rights,
        _NET_BIND_AND_CONNECT if version >= _ABI_NETWORK else 0,
        _SCOPE_ABSTRACT_SOCKETS_AND_SIGNALS if version >= ABI_SCOPES else 0,
    )
    descriptor = kernel.syscall(
        "landlock_create_ruleset",
        ctypes.byref(attributes),
        ctypes.c_size_t(_known_size(version)),
        ctypes.c_uint32(0),
    )
    for path, access in rules:
        _allow(descriptor, path, access & rights)
    return descriptor


def _known_size(version: int) -> int:
    """Bytes of the attributes that a version of the interface knows."""
    fields = 3 if version >= ABI_SCOPES else 2 if version >= _ABI_NETWORK else 1
    return fields * ctypes.sizeof(ctypes.c_uint64)


def _allow(descriptor: int, path: str, access: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(place).st_mode):
            access &= _ON_FILES
        rule = _PathBeneath(access, place)
        kernel.syscall(
            "landlock_add_rule",
            ctypes.c_int(descriptor),
            ctypes.c_int(_RULE_PATH_BENEATH),
            ctypes.byref(rule),
            ctypes.c_uint32(0),
        )
    finally:
        os.close(place)


def restrict(descriptor: int) -> None:
    """Put this thread and all it starts under the rules, for good. Needs no_new_privs."""
    kernel.syscall("landlock_restrict_self", ctypes.c_int(descriptor), ctypes.c_uint32(0))
