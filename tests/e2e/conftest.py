"""What the end-to-end tests share: they leave nothing in the user's cache."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory):
    """A cache folder that one session of tests shares, so that headers are precompiled once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BEST_AGENT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield
