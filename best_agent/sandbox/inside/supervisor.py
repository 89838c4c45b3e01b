"""The supervisor: one process per session, the direct parent of every target.

It is told what to run over a socket that no target ever holds, and answers with what it saw. It reads
nothing that a target sends but single bytes of the handshake; the rest is passed on as bytes.
"""

import contextlib
import json
import os
import resource
import socket
import sys
from collections.abc import Callable, Sequence
from typing import Any, Final

from best_agent.sandbox.inside import (
    channel,
    confine,
    driver,
    ends,
    kernel,
    landlock,
    life,
    meters,
    namespaces,
    scratch,
    targets,
    watch,
    zygote,
)

_EXEC_RUNTIME_BYTES: Final = 64 << 20
"""Address space granted for a program's own code and libraries, which are mapped after the bound is set."""
_ALL_ADDRESSES: Final = 1 << 47
"""What a 64-bit process can address: no bound."""
_NS_PER_S: Final = 1_000_000_000
_BLOBS_AT_MOST: Final = 1 << 30
_FENCED_TICK_MS: Final = 5
"""How often to count what a program without a file system of its own has written."""
_TREE_TICK_MS: Final = 50
_WRITTEN_FACTOR: Final = 4
"""Files may be written over, so that more passes through `write` than lies on the disk."""
_DEVICES: Final = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")


class Supervisor:
    """A session as seen from inside."""

    def __init__(self, harness: socket.socket, config: dict[str, Any], files: dict[str, bytes]) -> None:
        self.harness = harness
        self.config = config
        self.files = files
        self.box: str = config["box"]
        self.function = config["source"] is not None
        self.writable = config["handshakes"] == 0
        self.strict = config["isolation"] == "strict"
        self.confinement = self._confinement()
        self.orders: socket.socket | None = None
        self.zygote = 0
        self.wake = life.WakeUp() if self.writable else None
        if self.function:
            self._start_zygote()

    def _confinement(self) -> confine.Confinement:
        config = self.config
        if config["isolation"] == "none":
            return confine.Confinement(None, None, False, False, True)
        rules = [(path, landlock.READ) for path in config["readable"]]
        rules += [(path, landlock.DEVICE) for path in _DEVICES]
        everything = landlock.all_rights(landlock.abi())
        rules.append((self.box, everything if self.writable else landlock.READ))
        if self.strict and not self.function:
            rules.append(("/proc", landlock.READ))
        return confine.Confinement(
            landlock.ruleset(rules),
            None if self.strict else config["target_uid"],
            config["keep_read"],
            landlock.abi() < landlock.ABI_SCOPES,
            not self.strict,
        )

    def _start_zygote(self) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.zygote = os.fork()
        if self.zygote == 0:
            try:
                self.harness.close()
                ours.close()
                os.chdir(self.box)
                zygote.serve(theirs, self.config["source"], self.config["entry"], self.confinement)
            finally:
                os._exit(1)
        theirs.close()
        self.orders = ours

    def serve(self) -> None:
        """Run what the harness asks for until it hangs up."""
        while True:
            try:
                message = channel.receive(self.harness, blob_bytes=_BLOBS_AT_MOST)
            except channel.ChannelClosedError:
                return
            try:
                header, blobs = self.run(message.header, message.fds[0])
            except Exception as error:  # noqa: BLE001  (last words of a process whose stderr nobody reads)
                header, blobs = {"error": f"{type(error).__name__}: {error}"}, []
            finally:
                for fd in message.fds:
                    with contextlib.suppress(OSError):
                        os.close(fd)
            channel.send(self.harness, header, blobs)

    def run(self, order: dict[str, Any], stdin: int) -> tuple[dict[str, Any], list[bytes]]:
        """One run: everything made anew, nothing left behind.

        Raises:
            OSError: the supervisor failed.
            RuntimeError: the target could not be confined.
        """
        if self.writable:
            self._prepare_scratch()
        with contextlib.ExitStack() as stack:
            ours = ends.Ends(stack, handshakes=self.config["handshakes"] > 0)
            feed = stdin if self.function else None
            given = ours.targets(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC) if self.function else stdin)
            if self.function:
                stack.callback(os.close, given[0])
            target = self._start(order, given)
            stack.callback(target.close)
            ours.close_targets()
            watcher = watch.Watch(
                target, self._plan(order, feed), ours.sinks(order), ours.event, ours.go, self.harness.fileno()
            )
            try:
                watcher.run()
            finally:
                end = target.finish()
                if isinstance(target, life.Tree):
                    target.sweep(everybody=self.strict)
            trouble = os.read(ours.trouble, 4096).decode("utf-8", "replace")
            if trouble.startswith("confine"):
                raise RuntimeError(trouble)
            watcher.drain()
        report = _report(watcher, end, trouble)
        collected = {}
        if self.writable:
            collected = scratch.collect(self.box, self.config["collect"], order["scratch_bytes"])
            scratch.empty(self.box)
        report["collected"] = list(collected)
        empty = watch.Sink(-1, 0, None)
        blobs = [bytes(watcher.sinks.get(name, empty).data) for name in ("answer", "stdout", "stderr")]
        return report, [*blobs, *collected.values()]

    def _prepare_scratch(self) -> None:
        scratch.empty(self.box)
        scratch.lay(self.box, self.files, self.confinement.target_uid)

    def _bounds(self, order: dict[str, Any]) -> confine.Bounds:
        # In strict isolation the supervisor counts too, its zygote, and what waits beside it.
        beside = (1 if self.strict else 0) + (1 if self.function else 0)
        beside += 1 if self.strict and self.config["target_uid"] is None else 0
        processes: int | None = order["processes"] + beside
        if self.config["isolation"] == "none":
            processes = None
        elif not self.strict and self.confinement.target_uid is None:
            processes = order["processes"] + meters.tasks_of(os.getuid())
        address_bytes = order["memory_bytes"] + (0 if self.function else _EXEC_RUNTIME_BYTES)
        return confine.Bounds(
            core=order["core"],
            cpu_ns=order["cpu_ns"],
            address_bytes=address_bytes if self.config["address_space"] else _ALL_ADDRESSES,
            file_bytes=order["scratch_bytes"],
            processes=processes,
            one_process=self.config["handshakes"] > 0,
            may_exec=not self.function,
        )

    def _start(self, order: dict[str, Any], fds: Sequence[int]) -> life.Life:
        bounds = self._bounds(order)
        if self.orders is None:
            os.chdir(self.box)
            argv, env = self.config["argv"], self.config["env"]
            tree = self.wake is not None
            pid = targets.start(argv, env, fds, self.confinement, bounds, traced=tree)
            return life.Tree(pid, self.wake) if self.wake is not None else life.Single(pid)
        text = json.dumps({"bounds": bounds, "traced": order["traced"], "stand_in": order["stand_in"]})
        socket.send_fds(self.orders, [text.encode()], list(fds))
        answer = self.orders.recv(4096)
        if not answer:
            raise RuntimeError("the warmed interpreter ended")
        reply = json.loads(answer)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return life.Single(int(reply["pid"]))

    def _plan(self, order: dict[str, Any], feed: int | None) -> watch.Plan:
        return watch.Plan(
            expected=driver.ROUNDS if self.function else b"RD" * self.config["handshakes"],
            cpu_ns=order["cpu_ns"],
            wall_ns=order["wall_ns"],
            feed=feed,
            tree=self.writable,
            resident=self.function and not order["traced"],
            at_ready=None if self.function else self._tighten(order["memory_bytes"]),
            usage=self._usage(order) if self.writable else None,
            tick_ms=_FENCED_TICK_MS if self.writable and not self.strict else _TREE_TICK_MS,
        )

    def _usage(self, order: dict[str, Any]) -> Callable[[life.Life], watch.Stop | None]:
        """Limits of a whole tree, and of the disk where no file system of its own bounds it."""
        files = order["scratch_bytes"]
        written = _WRITTEN_FACTOR * files + order["output_bytes"] + order["stderr_bytes"]
        memory = order["memory_bytes"] + _EXEC_RUNTIME_BYTES
        alone = not self.config["address_space"]

        def usage(target: life.Life) -> watch.Stop | None:
            if isinstance(target, life.Tree) and target.resident_bytes(alone=alone) > memory:
                return "memory"
            if self.strict or not isinstance(target, life.Tree):
                return None
            # What was unlinked but is still open shows in what was written only.
            if target.written_bytes() > written or scratch.used_bytes(self.box) > files:
                return "scratch"
            return None

        return usage

    def _tighten(self, memory_bytes: int) -> Callable[[int], None]:
        """At the measured call the bound counts from what is mapped then."""

        def tighten(pid: int) -> None:
            mapped = meters.mapped_bytes(pid)
            if mapped is None:
                return  # it is gone
            bound = mapped + memory_bytes
            with contextlib.suppress(ProcessLookupError), kernel.real_user(self.confinement.target_uid):
                resource.prlimit(pid, resource.RLIMIT_AS, (bound, bound))

        return tighten


def _report(watcher: watch.Watch, end: life.End, trouble: str) -> dict[str, Any]:
    target, status = watcher.target, end.status
    cpu_ns = int((end.usage.ru_utime + end.usage.ru_stime) * _NS_PER_S) - target.start.cpu_ns
    if isinstance(target, life.Tree):
        cpu_ns += int(target.orphans_cpu_s * _NS_PER_S)
    return {
        "steps": [[step.cpu_ns, step.minor_faults, step.wall_ns, step.resumed_ns] for step in watcher.steps],
        "expected": len(watcher.plan.expected),
        "stopped": watcher.stopped,
        "exit_code": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        "cpu_ns": max(0, cpu_ns),
        "minor_faults": max(0, end.usage.ru_minflt - target.start.minor_faults),
        "wall_ns": watcher.ended_ns - target.start.wall_ns,
        "peak_bytes": target.peak_bytes,
        "resident": [list(step.resident) for step in watcher.steps if step.resident is not None],
        "trouble": trouble,
        "memory_ran_out": watcher.memory_ran_out(),
        "cut": [name for name, sink in watcher.sinks.items() if sink.cut],
    }


def _isolate(config: dict[str, Any]) -> None:
    if config["engine"] == "namespaces":
        namespaces.enter(
            root=config["root"],
            readable=config["readable"],
            scratch_bytes=config["scratch_bytes"],
            target_uid=config["target_uid"],
        )
    elif config["engine"] == "plain" and config["target_uid"] is not None:
        os.chown(config["box"], config["target_uid"], config["target_uid"])
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)
    if config["isolation"] != "none":
        kernel.prctl(kernel.PR_SET_DUMPABLE, 0)


def main(descriptor: int) -> None:
    """Serve the harness on an inherited socket; never returns."""
    harness = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    os.umask(0o022)
    try:
        message = channel.receive(harness, blob_bytes=_BLOBS_AT_MOST)
        config = message.header
        _isolate(config)
        files = dict(zip(config["files"], message.blobs, strict=True))
        supervisor = Supervisor(harness, config, files)
        channel.send(harness, {"ready": True, "landlock": landlock.abi()})
    except (OSError, ValueError) as error:
        channel.send(harness, {"error": (error.strerror if isinstance(error, OSError) else "") or str(error)})
        sys.exit(1)
    with contextlib.suppress(channel.ChannelClosedError):
        supervisor.serve()
    if config["engine"] == "plain":
        # The harness does so too, unless it was killed.
        with contextlib.suppress(OSError):
            scratch.empty(config["box"])
            os.rmdir(config["box"])
            os.rmdir(config["root"])
    # The first process of a pid namespace takes all others with it; elsewhere the zygote sees our end
    # of its socket close.
    os._exit(0)
