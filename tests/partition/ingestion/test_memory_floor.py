"""What ``--memory`` of ``csaw partition`` promises: a floor that help and errors agree on."""

import pytest

from csaw.cli.commands.partition import partition as command
from csaw.partition import IngestOptions
from csaw.partition.base.quoting import parse_size
from csaw.partition.errors import BudgetError


def test_help_says_the_least_budget_and_what_comes_on_top():
    said = next(option.help for option in command.params if option.name == "memory")
    least = parse_size(said.split("at least ")[1].split(";")[0])
    assert "another 300 MiB and 30 bytes a vertex" in said  # which a slow test of a store's content measures
    assert IngestOptions(memory=least).memory == least
    with pytest.raises(BudgetError, match="at least 16MiB"):
        IngestOptions(memory=least - 1)
