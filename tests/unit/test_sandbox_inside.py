"""Parts of the supervisor that can be tried without one: messages, encoding, filters, tables, files."""

import errno
import json
import os
import socket
import struct
import threading
from collections import deque
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from best_agent.judge import answers as judge_answers
from best_agent.sandbox import contract, cores, layout
from best_agent.sandbox.inside import answers, channel, driver, meters, namespaces, scratch, seccomp, syscalls

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}


def test_the_descriptors_of_both_sides_are_the_contract_s():
    ours = (driver.FD_EVENT, driver.FD_GO, driver.FD_ANSWER)
    assert ours == (contract.FD_EVENT, contract.FD_GO, contract.FD_ANSWER)


# -- messages


def exchange(send):
    """What arrives of what `send` does with one end of a socket."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.settimeout(10)
        sender = threading.Thread(target=send, args=(theirs,))
        sender.start()
        try:
            return channel.receive(ours, blob_bytes=1 << 20)
        finally:
            sender.join()


@given(
    header=st.dictionaries(st.text(max_size=5), st.one_of(st.integers(), st.text(max_size=5), st.none())),
    blobs=st.lists(st.binary(max_size=2000), max_size=4),
)
def test_messages_arrive_as_they_were_sent(header, blobs):
    message = exchange(lambda peer: channel.send(peer, header, blobs))
    assert (message.header, list(message.blobs), message.fds) == (header, blobs, ())


def test_descriptors_travel_beside_a_large_message():
    reader, writer = os.pipe()
    message = exchange(lambda peer: channel.send(peer, {"a": "x" * 300_000}, [b"y" * 500_000], [writer]))
    os.write(message.fds[0], b"through")
    assert os.read(reader, 10) == b"through"
    for fd in (reader, writer, *message.fds):
        os.close(fd)


@pytest.mark.parametrize(
    "data",
    [
        struct.pack("!II", 1 << 30, 0),
        struct.pack("!II", 3, 0) + b"not",
        struct.pack("!II", 2, 0) + b"{}",
        struct.pack("!II", 28, 0) + b'{"header":{},"sizes":[99999]}'[:28],
        b"\x00\x00",
        b"",
        struct.pack("!II", 50, 0) + b"{",
    ],
)
def test_malformed_messages_are_errors(data):
    def send(peer):
        peer.sendall(data)
        peer.shutdown(socket.SHUT_WR)

    with pytest.raises((ValueError, KeyError, channel.ChannelClosedError)):
        exchange(send)


def test_a_message_larger_than_agreed_is_refused():
    text = json.dumps({"header": {}, "sizes": [1 << 19, (1 << 19) + 1]}).encode()
    with pytest.raises(ValueError, match="bytes"):
        exchange(lambda peer: peer.sendall(struct.pack("!II", len(text), 0) + text))


# -- answers

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(),
    st.binary(max_size=20),
    st.complex_numbers(),
)
hashables = st.one_of(st.integers(), st.text(max_size=5), st.tuples(st.integers(), st.text(max_size=3)))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(hashables, inner, max_size=4),
        st.sets(hashables, max_size=4),
        st.frozensets(hashables, max_size=4),
        st.lists(inner, max_size=3).map(deque),
        st.binary(max_size=5).map(bytearray),
        st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 3)),
    ),
    max_leaves=12,
)


def same(one, other):
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return repr(one) == repr(other)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, (list, tuple, deque)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return one == other


@given(values)
def test_the_judge_reads_what_the_driver_writes(value):
    assert same(judge_answers.decode(answers.encode(value)), value)


@given(values)
def test_an_echo_writes_the_same_amount(value):
    text = answers.encode(value)
    again = answers.encode(answers.decode(text))
    assert len(again) == len(text)


class Lazy(list):
    def __iter__(self):
        raise AssertionError("foreign code ran while an answer was encoded")


@pytest.mark.parametrize(
    "value", [Lazy(), [Lazy()], (Lazy(),), {1: Lazy()}, type("I", (int,), {})(3), print, object()]
)
def test_foreign_types_are_named_and_not_touched(value):
    assert b'{"o":"' in answers.encode(value)


def test_depth_is_bounded():
    value = []
    for _ in range(answers.DEPTH_AT_MOST - 1):
        value = [value]
    answers.encode(value)
    with pytest.raises(answers.UnencodableError):
        answers.encode([[[value]]])


def test_an_iterator_is_made_whole_and_nothing_else_is():
    assert answers.encode(answers.make_whole(iter([1, 2]))) == b'{"g":[1,2]}'
    assert answers.make_whole([1]) == [1]
    assert answers.encode(answers.make_whole({}.keys())) == b'{"o":"builtins.dict_keys"}'


# -- the system call filter, run by a small interpreter of BPF


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


# -- meters


@pytest.mark.parametrize("name", [b"a b", b") R 9 9", b"x\n) S", b"", b"((", b"\xff)"])
def test_a_process_may_have_any_name(name):
    tail = b"S 7 " + b" ".join(b"%d" % n for n in range(5, 53))
    found = meters.parse_stat(b"42 (" + name + b") " + tail)
    assert (found.state, found.parent) == ("S", 7)


def test_own_counters_can_be_read_from_outside():
    assert meters.stat(os.getpid()).state == "R"
    assert meters.cpu_clock_ns(os.getpid()) > 0
    assert meters.mapped_bytes(os.getpid()) > meters.resident(os.getpid()).now > 1 << 20
    assert meters.leads_process(os.getpid())
    gone = 1 << 30
    assert meters.stat(gone) is meters.resident(gone) is meters.mapped_bytes(gone) is None
    assert meters.descendants(gone) == []


# -- files


def test_emptying_a_folder_takes_everything_and_follows_nothing(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    box = tmp_path / "box"
    box.mkdir()
    deep = os.open(box, os.O_RDONLY)
    for _ in range(300):
        os.mkdir("d" * 100, dir_fd=deep)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = below
    os.close(deep)
    (box / "link").symlink_to(outside)
    (box / ".pulled-0").mkdir()
    os.mkfifo(box / "pipe")
    (box / "closed").mkdir(mode=0)
    scratch.empty(str(box))
    assert list(box.iterdir()) == []
    assert (outside / "kept").read_text() == "kept"


def test_only_plain_files_within_the_bound_are_collected(tmp_path):
    (tmp_path / "small").write_bytes(b"x" * 10)
    (tmp_path / "large").write_bytes(b"x" * 11)
    (tmp_path / "link").symlink_to(tmp_path / "small")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f").write_bytes(b"f")
    (tmp_path / "way").symlink_to(tmp_path / "sub")
    os.mkfifo(tmp_path / "pipe")
    names = ["small", "large", "link", "sub/f", "way/f", "pipe", "sub", "absent", "", "/etc/passwd", "../x"]
    found = scratch.collect(str(tmp_path), names, 10)
    assert found.keys() <= {"small", "sub/f"}
    assert found == {"small": b"x" * 10, "sub/f": b"f"}


def test_files_are_never_laid_over_others(tmp_path):
    (tmp_path / "a").symlink_to("/dev/null")
    with pytest.raises(FileExistsError):
        scratch.lay(str(tmp_path), {"a": b"x"}, None)


def test_links_are_shown_as_links_and_nothing_twice(tmp_path):
    (tmp_path / "real" / "bin").mkdir(parents=True)
    (tmp_path / "real" / "f").write_text("")
    (tmp_path / "link").symlink_to("real")
    top = str(tmp_path)
    found = namespaces.shown([f"{top}/link/bin", f"{top}/real/f", f"{top}/absent", f"{top}/real/bin/deeper"])
    assert [(item.path.removeprefix(top), item.link and item.link.removeprefix(top)) for item in found] == [
        ("/real/f", None),
        ("/real/bin", None),
        ("/link/bin", "/real/bin"),
    ]


# -- cores and layout


def test_a_core_is_given_to_one_at_a_time(tmp_path):
    allowed = os.sched_getaffinity(0)
    taken = []
    with cores.reserved((str(tmp_path),)) as first:
        assert first.number in allowed
        assert first.flags == ()

        def other():
            with cores.reserved((str(tmp_path),), wait_at_most_s=0.05) as second:
                taken.append(second)

        waiting = threading.Thread(target=other)
        waiting.start()
        waiting.join()
    assert taken[0].number != first.number or taken[0].flags == ("core-shared",)
    with cores.reserved((str(tmp_path),), wait_at_most_s=0) as again:
        assert again.flags == ()


def test_hostile_lock_files_are_not_followed(tmp_path):
    victim = tmp_path / "victim"
    for core in os.sched_getaffinity(0):
        (tmp_path / f"best-agent-core-{core}.lock").symlink_to(victim)
    with cores.reserved((str(tmp_path),)) as core:
        assert core.flags == ("core-not-locked",)
    assert not victim.exists()
    with cores.reserved((str(tmp_path / "absent"),)) as core:
        assert core.flags == ("core-not-locked",)
    for core in os.sched_getaffinity(0):
        (tmp_path / f"best-agent-core-{core}.lock").unlink()
        os.mkfifo(tmp_path / f"best-agent-core-{core}.lock")
    assert not cores.can_lock((str(tmp_path),))


def test_what_only_root_can_enter_is_recognised(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert layout.needs_privilege_to_read([str(closed)])
    assert not layout.needs_privilege_to_read(["/usr", "/absent/path"])


def test_the_supervisor_imports_the_standard_library_only():
    import subprocess
    import sys

    code = (
        f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n"
        "from best_agent.sandbox.inside import supervisor\n"
        "print([m for m in sys.modules if m.startswith('best_agent')"
        " and not m.startswith('best_agent.sandbox') and m != 'best_agent'])\n"
        "print('best_agent.sandbox.contract' in sys.modules, 'subprocess' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[0]) == []
    assert done.stdout.splitlines()[1] == "False False"
