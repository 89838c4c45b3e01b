"""best-agent: time and memory of a change, measured against a baseline."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from best_agent.worker.api import workload as workload

__version__ = "0.1.0"

__all__ = ["__version__", "workload"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (the protocol of module attributes)
    """`from best_agent import workload`, loaded only where it is used."""
    if name == "workload":
        from best_agent.worker.api import workload

        return workload
    raise AttributeError(f"module 'best_agent' has no attribute '{name}'")
