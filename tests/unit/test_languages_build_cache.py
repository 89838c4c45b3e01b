"""The cache of compiled programs: private, whole or absent, bounded, shared by processes."""

import multiprocessing
import os
import time

import pytest

from best_agent.errors import UsageError
from best_agent.languages import build_cache


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("BEST_AGENT_CACHE", str(tmp_path / "cache"))
    return build_cache.builds_folder()


def test_what_is_stored_is_found_whole(folder):
    assert build_cache.find(folder, "key") is None
    path = build_cache.store(folder, "key", b"\x7fELF", executable=True)
    assert build_cache.find(folder, "key") == path
    assert path.read_bytes() == b"\x7fELF"
    assert os.access(path, os.X_OK)
    assert [entry.name for entry in folder.iterdir()] == ["key"]


def test_a_user_without_a_home_is_told_what_to_set(monkeypatch):
    for name in ("BEST_AGENT_CACHE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(build_cache.Path, "home", nobody)
    with pytest.raises(UsageError, match="set HOME or BEST_AGENT_CACHE"):
        build_cache.builds_folder()


def test_the_folder_is_for_its_owner_alone(folder):
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_a_folder_that_others_can_write_to_is_refused(tmp_path, monkeypatch, mode):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(mode)
    monkeypatch.setenv("BEST_AGENT_CACHE", str(shared))
    with pytest.raises(UsageError, match="not yours alone"):
        build_cache.builds_folder()


def test_a_place_that_is_no_folder_is_one_clear_line(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("BEST_AGENT_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(UsageError, match="BEST_AGENT_CACHE"):
        build_cache.builds_folder()


def test_the_users_cache_folder_is_taken_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.delenv("BEST_AGENT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert build_cache.cache_folder() == tmp_path / "xdg" / "best-agent"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/path")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert build_cache.cache_folder() == tmp_path / ".cache" / "best-agent"


def _aged(folder, name, size, days):
    path = build_cache.store(folder, name, b"x" * size, executable=True)
    then = time.time() - days * 86_400
    os.utime(path, (then, then))
    return path


def test_the_ones_used_least_recently_go_first_and_young_ones_stay(folder):
    old, older, oldest = (_aged(folder, f"age{days}", 100, days) for days in (1, 2, 3))
    young = _aged(folder, "young", 1000, 0)
    build_cache.prune(folder, keep_bytes=1150)
    assert [path.exists() for path in (young, old, older, oldest)] == [True, True, False, False]
    build_cache.prune(folder, keep_bytes=0)
    assert [path.exists() for path in (young, old)] == [True, False]


def test_being_used_makes_a_file_young_again(folder):
    path = _aged(folder, "key", 100, 5)
    build_cache.find(folder, "key")
    build_cache.prune(folder, keep_bytes=0)
    assert path.exists()


def test_a_folder_inside_is_left_alone(folder):
    (folder / "inside").mkdir()
    build_cache.prune(folder, keep_bytes=0)
    assert (folder / "inside").is_dir()


def _store_many(folder, letter):
    for _ in range(50):
        build_cache.store(folder, "same", letter * 200_000, executable=True)
        data = (folder / "same").read_bytes()
        assert len(data) == 200_000
        assert len(set(data)) == 1
        build_cache.prune(folder, keep_bytes=0)


def test_processes_that_store_the_same_at_once_never_see_a_part(folder):
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_store_many, args=(folder, letter)) for letter in (b"a", b"b", b"c")]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0, 0]
    assert [entry.name for entry in folder.iterdir()] == ["same"]


def test_one_maker_at_a_time_and_nobody_waits(folder):
    with build_cache.sole_maker(folder, "key") as first, build_cache.sole_maker(folder, "key") as second:
        assert (first, second) == (True, False)
    with build_cache.sole_maker(folder, "key") as third:
        assert third
