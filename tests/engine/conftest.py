"""Graphs that tests of several rooms draw from, made once."""

import pytest
from helpers.relations import random_graph


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    """The random graph of several types, in one partition."""
    return random_graph(tmp_path_factory.mktemp("typed"))


@pytest.fixture(scope="session")
def pieces(tmp_path_factory):
    """The same graph in four partitions."""
    return random_graph(tmp_path_factory.mktemp("pieces"), partitions=4)
