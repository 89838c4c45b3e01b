"""The program that the user's interpreter is started with: loads the worker and serves requests.

It is run as a file, so that nothing of ours needs to be installed where the user's code lives.
"""

import os
import sys
from typing import Any

_PACKAGE = "_best_agent_worker"


def _load() -> Any:  # noqa: ANN401  (a module that is known only at run time)
    here = os.path.dirname(os.path.abspath(__file__))
    # A program's own folder comes first on the path; the names in this one would hide those of others.
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != here]
    import importlib.util

    spec = importlib.util.spec_from_file_location(
        _PACKAGE, os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None and spec.loader is not None  # noqa: PT018  (one fact: the file is there)
    package = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = package
    spec.loader.exec_module(package)
    return importlib.import_module(_PACKAGE + ".serve")


if __name__ == "__main__":
    _load().main()
