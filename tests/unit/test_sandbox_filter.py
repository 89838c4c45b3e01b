"""The system call filter, run by a small interpreter of BPF, and the table of numbers it is built from."""

import errno
import os
import struct
from pathlib import Path

import pytest

from best_agent.sandbox.inside import seccomp, syscalls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def verdict(program, name_or_number, *arguments, arch=None):
    here = syscalls.architecture()
    number = syscalls.number(name_or_number) if isinstance(name_or_number, str) else name_or_number
    words = [*arguments, *(0,) * (6 - len(arguments))]
    data = struct.pack("<IIQ6Q", number, arch or here.audit_arch, 0, *words)
    accumulator = position = 0
    while True:
        code, jump_true, jump_false, value = program[position]
        position += 1
        if code == 0x20:
            accumulator = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            return value
        else:
            holds = {0x15: accumulator == value, 0x35: accumulator >= value, 0x45: bool(accumulator & value)}[
                code
            ]
            position += jump_true if holds else jump_false


ALLOW, KILL = 0x7FFF0000, 0x80000000
REFUSED = 0x00050000 | errno.EPERM
one = seccomp.program(one_process=True, may_exec=False, signals_to=77, shared_files=False, own_pid=77)
many = seccomp.program(one_process=False, may_exec=True, signals_to=None, shared_files=True, own_pid=77)


@pytest.mark.skipif(syscalls.architecture() is None, reason="no filter for this machine")
class TestFilter:
    def test_another_abi_is_killed(self):
        assert verdict(many, "kill", arch=0x40000003) == KILL  # i386
        if syscalls.architecture().x32_bit is not None:
            assert verdict(many, 0x40000000 + 1) == KILL

    @pytest.mark.parametrize("name", seccomp.REFUSED)
    def test_what_is_refused_is_refused_for_all(self, name):
        if syscalls.number(name) is not None:
            assert verdict(one, name) == verdict(many, name) == REFUSED

    def test_attributes_of_shared_files_are_left_alone(self):
        for name in seccomp.REFUSED_ON_SHARED_FILES:
            if syscalls.number(name) is not None:
                assert (verdict(one, name), verdict(many, name)) == (ALLOW, REFUSED)

    def test_limits_are_set_for_itself_only(self):
        for program in (one, many):
            assert verdict(program, "prlimit64", 0) == verdict(program, "prlimit64", 77) == ALLOW
            assert verdict(program, "prlimit64", 78) == verdict(program, "prlimit64", 1) == REFUSED

    @pytest.mark.parametrize("number", [0, 1, 3, 5, 8, 10, 11, 12, 24, 39, 231])
    def test_ordinary_calls_pass(self, number):
        if os.uname().machine == "x86_64":
            assert verdict(one, number) == verdict(many, number) == ALLOW

    def test_threads_pass_and_processes_do_not(self):
        thread, process, user_namespace = 0x3D0F00, 0x01200011, 0x10000011
        assert (verdict(one, "clone", thread), verdict(one, "clone", process)) == (ALLOW, REFUSED)
        assert (verdict(many, "clone", process), verdict(many, "clone", user_namespace)) == (ALLOW, REFUSED)
        assert verdict(one, "clone", thread | 0x10000000) == REFUSED
        assert verdict(many, "clone3") == verdict(one, "clone3") == 0x00050000 | errno.ENOSYS
        assert (verdict(one, "execve"), verdict(many, "execve")) == (REFUSED, ALLOW)

    def test_signals_reach_the_target_itself_only(self):
        assert (verdict(one, "kill", 77, 9), verdict(one, "kill", 78, 9)) == (ALLOW, REFUSED)
        assert verdict(one, "kill", 0xFFFFFFFF, 9) == REFUSED
        assert (verdict(one, "tgkill", 77, 80, 6), verdict(one, "tkill", 77)) == (ALLOW, REFUSED)
        assert verdict(many, "kill", 78, 9) == ALLOW  # Landlock decides

    def test_arguments_around_the_meters_are_refused(self):
        for program in (one, many):
            assert verdict(program, "prctl", 41) == REFUSED
            assert verdict(program, "prctl", 15) == ALLOW
            assert verdict(program, "mmap", 0, 4096, 3, 0x22) == ALLOW
            assert verdict(program, "mmap", 0, 4096, 3, 0x40022) == REFUSED
            assert verdict(program, "madvise", 0, 4096, 25) == REFUSED
            assert verdict(program, "madvise", 0, 4096, 4) == ALLOW
            assert verdict(program, "fcntl", 3, 8, 1) == REFUSED
            assert verdict(program, "fcntl", 3, 1) == ALLOW
            assert verdict(program, "openat", 0, 0, 0o20200002) == 0x00050000 | errno.EOPNOTSUPP
            assert verdict(program, "openat", 0, 0, 0o200000) == ALLOW
            assert verdict(program, "openat", 0, 0, 0o1101) == ALLOW  # O_WRONLY | O_CREAT | O_TRUNC
            assert verdict(program, "openat", 0, 0, 0o1000) == REFUSED  # O_RDONLY | O_TRUNC
            assert verdict(program, "fcntl", 3, 1031, 1 << 20) == REFUSED

    def test_jumps_stay_inside(self):
        for program in (one, many):
            assert len(program) < 4096
            for position, step in enumerate(program):
                assert max(step.jump_true, step.jump_false) < 256
                assert position + 1 + max(step.jump_true, step.jump_false) <= len(program)


@pytest.mark.parametrize("machine", list(HEADERS))
def test_numbers_are_those_of_the_kernel_headers(machine):
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"no {header}")
    column = syscalls.ARCHITECTURES[machine].column
    found = {}
    for line in header.read_text().splitlines():
        words = line.split()
        if len(words) == 3 and words[0] == "#define" and words[1].startswith("__NR") and words[2].isdigit():
            found.setdefault(words[1].partition("_NR_")[2] or words[1].partition("3264_")[2], int(words[2]))
    for name, numbers in syscalls._NUMBERS.items():
        if name in found or numbers[column] is None:  # headers may be older than a call
            assert numbers[column] == found.get(name), name
