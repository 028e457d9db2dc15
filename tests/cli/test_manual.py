"""The manual page has every command, every option and the statuses, in roff that takes text as it is."""

import re
import subprocess

import click
import pytest
from click.testing import CliRunner
from helpers.machine import need_program

from csaw.cli import manual
from csaw.cli.main import cli


@pytest.fixture(scope="module")
def page():
    done = CliRunner().invoke(cli, ["--man"])
    assert done.exit_code == 0
    return done.stdout


def test_every_command_has_its_options(page):
    for context in manual.commands(cli.make_context("csaw", [], resilient_parsing=True)):
        section = page.partition(f"\n.SS {context.command_path}\n")[2].partition("\n.S")[0]
        assert section
        for param in context.command.get_params(context):
            if isinstance(param, click.Option) and not param.hidden:
                assert manual._roff(param.opts[-1]) in section, param.name


def test_no_line_of_text_is_a_request(page):
    requests = {"TH", "SH", "SS", "B", "I", "PP", "TP", "nf", "fi", "RS", "RE"}
    assert {line.split()[0][1:] for line in page.splitlines() if line.startswith(".")} == requests
    assert manual._roff(".a-b\\n") == "\\&.a\\-b\\en"
    assert not re.search(r"(?<!\\)-", page)


def test_groff_has_nothing_to_complain_about(page):
    done = subprocess.run(
        [need_program("groff"), "-man", "-Tutf8", "-ww"], input=page, capture_output=True, text=True, check=True
    )
    assert done.stderr == ""
    assert "--burn-prob" in re.sub(r".\x08|\x1b\[[0-9;]*m", "", done.stdout)
