"""The scratch folder, what is shown of the host, locks of cores: on hostile contents."""

import os
import threading

import pytest

from best_agent.sandbox import cores, layout
from best_agent.sandbox.inside import namespaces, scratch


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
