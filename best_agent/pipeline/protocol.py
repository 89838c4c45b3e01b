"""Protocols: which limits, meter, flags and comparison a judgement uses together."""

from dataclasses import dataclass

from best_agent.errors import UsageError


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """A named way of judging; the words of `--protocol`."""

    name: str
    optimisation: str
    normalise_memory: bool
    """True: peak memory of the call. False: cumulative faults, as the public harness reads them."""
    exact_output: bool
    """True: standard output is compared byte for byte, whatever the task says."""
    ignore_exit_status: bool
    reference_minimum: bool
    """True: a cell of a reference's grid counts only if every easier cell does, as for a candidate's."""
    process_cpu_ns: int | None
    """CPU bound of the whole process, where the protocol has one."""


DEFAULT = Protocol(
    name="default",
    optimisation="-O2",
    normalise_memory=True,
    exact_output=False,
    ignore_exit_status=False,
    reference_minimum=True,
    process_cpu_ns=None,
)
BEST_2026 = Protocol(
    name="best-2026",
    optimisation="-O0",
    normalise_memory=False,
    exact_output=True,
    ignore_exit_status=True,
    reference_minimum=False,
    process_cpu_ns=2_000_000_000,
)
PROTOCOLS = {protocol.name: protocol for protocol in (DEFAULT, BEST_2026)}


def get(name: str) -> Protocol:
    """The protocol of that name.

    Raises:
        UsageError: there is none.
    """
    if name not in PROTOCOLS:
        raise UsageError(f"there is no protocol '{name}'; the protocols are: {', '.join(PROTOCOLS)}")
    return PROTOCOLS[name]
