"""What the tests of commands share: the commands use the search that the tests have loaded."""

import pytest

import qa.resources


@pytest.fixture
def shared_search(monkeypatch, searcher, built_home):
    """Each command gets resources that hold the tests' search, and a data folder with its index."""
    resources = qa.resources.Resources

    def with_searcher(embedder, progress=None):
        return resources(progress=progress, searcher=searcher)

    monkeypatch.setenv("STICKLER_HOME", str(built_home))
    monkeypatch.setattr(qa.resources, "Resources", with_searcher)
