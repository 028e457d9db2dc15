"""Options are declared once: the command line has them because they exist, and Python is told the same about their
values.
"""

import inspect

import click
import pytest
from click.testing import CliRunner
from helpers.graphs import random_store

import csaw
from csaw.cli.commands.sample import sample as command
from csaw.cli.main import cli
from csaw.engine import prepare
from csaw.engine.api import registry
from csaw.engine.plan.options import BASELINES, RunOptions, options
from csaw.partition.errors import CsawError, OptionError


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return random_store(tmp_path_factory.mktemp("options") / "g.zarr", vertices=30, edges=90)


WRONG = [
    ("collision", "nonsense", "--collision: expected one of bipartite, repeated, updated, found 'nonsense'"),
    ("select", "nonsense", "--select: expected one of uniform"),
    ("ids", "nonsense", "--ids: expected one of original, dense"),
    ("residency", "nonsense", "--residency: expected one of"),
    ("transit_parallel", "nonsense", "--transit-parallel: expected one of"),
    ("layout", "nonsense", "--layout: expected one of"),
    ("detect", "nonsense", "--detect: expected one of"),
    ("seed", -1, r"--seed: expected 0 to 2\^64 - 1, found -1"),
    ("seed", 0.5, "--seed: expected an integer, found 0.5"),
    ("threads", 0, "--threads: expected 1 to 4096"),
    ("in_flight", 0, "--in-flight: expected"),
    ("instances", 0, "--instances: expected"),
    ("memory", "lots", "--memory: expected a size such as 256MiB or 4G"),
    ("memory", 0, "--memory: expected"),
    ("ids", 3, "--ids: expected a word, found 3"),
    ("weighted", "perhaps", "--weighted: expected true or false"),
    ("fanout", "25;10", "--fanout"),
    ("nonsense", 1, "--nonsense is not an option"),
]


@pytest.mark.parametrize(("name", "value", "said"), WRONG, ids=[f"{n}={v}" for n, v, _ in WRONG])
def test_python_is_told_what_the_command_line_is_told(store, name, value, said):
    with pytest.raises(OptionError, match=said):
        prepare(store, "neighbor", device="cpu", **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("device", None),
        ("device", 3),
        ("policy", 3),
        ("sources", b"all"),
        ("sources", 2.5),
        ("sources", "nothing"),
        ("instances", 2.5),
    ],
)
def test_values_of_another_kind_are_refused_in_a_sentence(store, name, value):
    with pytest.raises(CsawError, match="expected"):
        prepare(store, "deepwalk", **({"device": "cpu"} | {name: value}))


def test_an_algorithm_has_a_name(store):
    with pytest.raises(CsawError, match="--algo: expected the name"):
        prepare(store, None, device="cpu")


def test_text_is_as_good_as_a_value(store):
    job = prepare(store, "neighbor", device="cpu", fanout="3,2", memory="1GiB", seed="7", in_flight="5")
    assert job.algorithm.fanout == (3, 2)
    assert (job.plan.budget_bytes, job.plan.request.seed, job.plan.batch) == (1 << 30, 7, 5)


def params(*arguments):
    with command.make_context("sample", ["g", "o", *arguments]) as ctx:
        return {param.name: param for param in command.get_params(ctx)}


def test_every_option_is_on_the_command_line_with_its_choices():
    found = params()
    for name, one in options().items():
        assert found[name].group == one.group
        assert not one.choices or tuple(found[name].type.choices) == one.choices
    for name in registry.names():
        assert registry.find(name).options().keys() <= found.keys()


@pytest.mark.parametrize("name", registry.names())
def test_help_for_an_algorithm_shows_its_options_and_no_others(name):
    said = CliRunner().invoke(cli, ["sample", "--algo", name, "--help-all"]).output
    own = said.partition(f"Options of {name}:")[2].partition("\n\n")[0]
    shown = {word.strip(",") for word in own.split() if word.startswith("--") and not word.startswith("--no-")}
    assert shown == {"--" + key.replace("_", "-") for key in registry.find(name).options()}
    assert BASELINES in said


OWN = """
from csaw.engine.algorithm import Walk, option

class Mine(Walk):
    strength: float = option(1.0, help="how much hubs count", low=0)

    def edge_bias(self, e):
        return e.dst_degree ** self.strength
"""


def test_an_option_of_ones_own_algorithm_is_on_the_command_line(tmp_path):
    (tmp_path / "mine.py").write_text(OWN)
    algo = f"{tmp_path / 'mine.py'}:Mine"
    assert "--strength FLOAT" in CliRunner().invoke(cli, ["sample", "--algo", algo, "--help"]).output
    assert params("--algo", algo, "--strength", "2")["strength"].type is click.FLOAT
    done = CliRunner().invoke(
        cli, ["sample", "karate", "o.zarr", "--algo", algo, "--strength", "2", "--dry-run", "--json", "--device", "cpu"]
    )
    assert '"strength": 2.0' in done.output


@pytest.mark.parametrize("name", ["seed", "memory", "threads", "sources", "overwrite", "out", "json"])
def test_an_option_of_ones_own_algorithm_has_a_name_of_its_own(tmp_path, store, name):
    (tmp_path / "mine.py").write_text(OWN.replace("strength", name))
    said = f"Mine.{name}: every run has an option of this name; choose another one"
    with pytest.raises(OptionError, match=said):
        prepare(store, f"{tmp_path / 'mine.py'}:Mine", device="cpu")


def test_names_of_commands_are_those_of_the_command():
    given = {param.name for param in command.params} | {*inspect.signature(csaw.sample).parameters}
    shipped = {name for one in registry.names() for name in registry.find(one).options()}
    assert given - {*options(), *shipped, "options"} <= registry.OF_COMMANDS


def test_prepare_says_what_each_option_means():
    lines = inspect.getdoc(prepare).splitlines()
    for name, one in options().items():
        text, _, default = one.help.partition(" [default: ")
        [line] = [line for line in lines if line.startswith(f"{name}: {text}")]
        assert all(repr(str(choice)) in line for choice in one.choices)
        assert "<" not in line
        assert one.interval in line
        assert default.removesuffix("]") in line
    assert RunOptions().policy.batching


@pytest.mark.parametrize("expression", ["e.weight # as it is", "(e.weight #)\n)", "e.weight\n"])
def test_an_expression_may_end_in_a_comment_or_a_line_end(expression):
    bias = registry.find("biased", expression).edge_bias
    assert bias.csaw_source.endswith("return e.weight\n")


def test_an_expression_too_deep_to_compile_is_an_option_error():
    with pytest.raises(OptionError, match="--edge-bias: expected an expression such as"):
        registry.find("biased", "(" * 400 + "1" + ")" * 400)


def test_the_earlier_name_of_an_option_still_works():
    assert RunOptions.of({"batch_size": 5, "p": 1})[0].in_flight == RunOptions.of({"in_flight": 5})[0].in_flight == 5
    with pytest.raises(OptionError, match="--batch-size is the earlier name of --in-flight; give only one of them"):
        RunOptions.of({"batch_size": 5, "in_flight": 6})
