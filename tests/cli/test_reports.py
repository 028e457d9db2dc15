"""What a plan, a run and a store say to people: headings, the names that ``--help`` uses, units.

JSON keeps plain values.
"""

import json
import logging
import re
from dataclasses import asdict, replace

import pytest
from click.testing import CliRunner

from csaw.cli.console import CurrentStderr, say
from csaw.cli.main import cli
from csaw.cli.reports import sections as report
from csaw.cli.reports.run import TIMES, options_of, plan_sections, run_sections
from csaw.engine.api import registry
from csaw.engine.plan.options import options
from csaw.engine.plan.rates import Rates

DRY = ["sample", "karate", "out.zarr", "--algo", "node2vec", "--p", "0.5", "--device", "cpu", "--dry-run"]


@pytest.fixture
def said(tmp_path, monkeypatch):
    """What a command prints, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*line):
        done = CliRunner().invoke(cli, line, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.stdout

    return run


def sections(text):
    """Headings, each with its lines by name; without the line above a plan."""
    found = {}
    for block in re.split(r"\n ?\n", text.strip()):
        heading, *lines = block.splitlines()
        assert not heading.startswith(" ")
        if block.endswith(" Nothing is written."):
            continue
        assert all(line.startswith("  ") for line in lines), block
        found[heading] = dict(line.strip().split("  ", 1) for line in lines)
    return {head: {name: text.strip() for name, text in lines.items()} for head, lines in found.items()}


def test_no_bias_by_weight_is_shown_in_time():
    for strategy, bias in (("last", "none"), (None, "weight")):
        _, lines = options_of("neighbor", {"bias": "weight", "time_strategy": strategy})
        assert dict(lines)["--bias"] == bias


def test_options_that_are_times_are_those_that_algorithms_declare():
    every = [one for name in registry.names() for one in registry.find(name).options().items()]
    assert set(TIMES) == {name for name, declared in every if declared.reads == "time"}


@pytest.mark.parametrize(
    ("form", "rows", "first", "last"),
    [
        (
            "--time-format iso",
            "1,2,2026-11-25T20:15",
            "1,795,637,700 (2026-11-25T20:15:00Z)",
            "0 (1970-01-01T00:00:00Z)",
        ),
        ("--time-decimals 2", "1,2,20.5", "2,050 (20.50)", "0 (0.00)"),
        ("--time-format numbers", "1,2,2050", "2,050", "0"),
    ],
)
def test_plans_and_samples_show_times_as_the_input_has_them(said, tmp_path, form, rows, first, last):
    (tmp_path / "g.csv").write_text(f"{rows}\n2,1,{rows.split(',')[2]}\n")
    said("partition", "g.csv", "g.zarr", "--time-column", "3", *form.split())
    times = ["--start-time", rows.split(",")[2], "--last-time", "0", "--direction", "backward"]
    line = ["sample", "g.zarr", "s.zarr", "--algo", "temporal", "--walk-length", "2", *times]
    planned = sections(said(*line, "--dry-run"))
    said(*line)
    for found in (planned, sections(said("info", "s.zarr").split("\n\nDifferent")[0])):
        assert found["Options of temporal"]["--start-time"] == first
        assert found["Options of temporal"]["--last-time"] == last


def test_a_plan_names_options_as_the_help_does_and_gives_sizes_in_units(said):
    plan, help = sections(said(*DRY)), said("sample", "--algo", "node2vec", "--help-all")
    for name in [name for lines in plan.values() for name in lines if name.startswith("--")]:
        assert f"  {name} " in help, name
    assert {heading for heading in plan if f"{heading}:" in help} == plan.keys() - {
        "Memory",
        "Expected time",
        "Rates of this machine, per second",
    }
    assert plan["Options of node2vec"]["--p"] == "0.5"
    assert all(size.split()[1] in ("B", "KiB", "MiB", "GiB", "TiB") for size in plan["Memory"].values())
    assert all(value and value[0] not in "{[(" for lines in plan.values() for value in lines.values())


@pytest.mark.parametrize(
    ("options", "made"),
    [
        ("--algo node2vec --walk-length 8", "34 walks of at most 8 steps, about 2.5 KiB, on the CPU in about "),
        ("--algo ppr", "34 walks, about "),
        ("--algo minibatch --fanout 3", "1 mini-batch, about "),
        ("--residency disk --memory 60MiB", "the graph is streamed from disk. Nothing is written."),
    ],
)
def test_a_plan_begins_with_what_comes_of_it(said, options, made):
    first = said("sample", "karate", "out.zarr", "--device", "cpu", "--dry-run", *options.split()).splitlines()[0]
    assert made in first
    assert ("; the graph fits in memory. Nothing is written." in first) is ("disk" not in options)


def test_a_plan_says_the_layout_of_the_graph_and_the_form_of_the_sample_apart(said):
    text, plain = sections(said(*DRY)), json.loads(said(*DRY, "--json"))
    run = next(lines for heading, lines in text.items() if "--layout" in lines)
    assert run["--layout"] == plain["graph_layout"] == "csr"
    assert text["Output"]["form of the sample"] == plain["sample_layout"] == "walks"
    assert "layout" not in plain


def test_a_plan_says_what_streaming_takes_and_why_nothing_is_faster():
    plan = {
        "device": "cuda:0",
        "budget_bytes": 8 << 30,
        "graph_bytes": 5 << 30,
        "policy": {"batching": False},
        "host_bytes": 1 << 20,
        "fixed": {"offsets": 3 << 20, "table_scratch": 0},
        "pieces": 37,
        "piece_bytes": 64 << 20,
        "expected": {"transfers": 1234, "bytes": 3 << 30, "loading_seconds": 0.0625, "seconds": 2.5},
        "refused": {"resident": "too large"},
        "rates": asdict(replace(Rates(), assumed=("bus_reads",))),
        "ways": {"the CPU": "too small", "GPU 0 (none) streamed": 2.5},
    }
    request = {"algorithm": "deepwalk", "parameters": {}, "sources": f"list {32 * '0'} x 2", "weighted": False}
    found = {heading: dict(lines) for heading, lines in plan_sections("g.zarr", request, plan)}
    assert found["Expected of streaming"] == {
        "pieces that the graph is brought in": "37",
        "largest piece": "64 MiB",
        "loads of partitions": "1,234",
        "loaded": "3 GiB",
    }
    assert found["Expected time"] == {"loading the graph": "62.5 ms", "whole command, warm": "2.5 s"}
    assert found["Where it could run"] == {"the CPU": "too small", "GPU 0 (none) streamed": "2.5 s expected"}
    rates = found["Rates of this machine, per second"]
    assert rates["copying to a GPU"] == "47 GiB"
    assert rates["random reads of a GPU over the bus, of 512 MiB"] == "600 M, assumed"
    assert found["Faster residencies that cannot be used"] == {"--residency resident": "too large"}
    assert found["Memory of each GPU"] == {
        "--gpu-memory": "8 GiB",
        "graph": "5 GiB",
        "host memory for partitions, at most": "1 MiB",
        "offsets of rows, 8 bytes a vertex": "3 MiB",
    }
    assert found["Baselines of the papers, for comparison"] == {"--batching": "off"}
    assert found["What to sample"]["--sources"] == f"a list of vertices (digest {32 * '0'}); 2 for each instance"


def test_a_summary_gives_sizes_times_and_rates_in_units_and_leaves_out_what_never_happened():
    results = {
        "sampled_edges": 0,
        "dead_ends": 0,
        "bytes_written": 1536,
        "sampling_seconds": 0.002,
        "run_seconds": 61.26,
        "seps_sampling": 4e6,
        "seps_run": 131.0,
        "draws": 7,
        "collisions": 0,
        "transfers": 0,
        "transfer_bytes": 0,
    }
    found = {heading: dict(lines) for heading, lines in run_sections(results, "w.zarr")}
    assert found == {
        "Result": {"sample": "w.zarr", "sampled edges": "0", "dead ends": "0", "written": "1.5 KiB"},
        "Time": {
            "sampling": "2 ms",
            "rate of sampling": "4 M edges/s",
            "whole run": "61.3 s",
            "rate of the whole run": "131 edges/s",
        },
        "Time that the plan expected": {},
        "Where it could run": {},
        "Selection of neighbors": {"random draws": "7"},
        "Loading of the graph": {},
    }


def test_every_figure_of_a_plan_and_of_a_run_has_a_line(said):
    """A figure that is new appears in the JSON; here it is missed until it has a name for people."""
    from csaw.cli.reports import run as runs
    from csaw.engine import execute, prepare

    said("datasets", "generate", "karate", "k.zarr")
    job = prepare("k.zarr", "deepwalk", walk_length=2, device="cpu")
    results = execute(job, "w.zarr")
    groups = (
        runs.REQUEST,
        runs.PLACE,
        runs.MEMORY,
        runs.PIECES,
        runs.HOST,
        runs.BUDGETS["cpu"],
        runs.FORM,
        runs.METHODS,
        runs.DONE,
        runs.SPEED,
        runs.EXPECTED_OF_RUN,
        runs.SELECTION,
        runs.LOADING,
    )
    known = {line.key for group in groups for line in group}
    shown_otherwise = {
        "algorithm",
        "parameters",
        "policy",
        "expected",
        "refused",
        "plan",
        "fixed",
        "fixed_bytes",
        "rates",
        "strategies",
        "larger",
        "ways",
    }
    assert (job.plan.request.as_dict() | job.plan.as_dict() | results).keys() - shown_otherwise <= known
    assert {line.key for line in runs.POLICY} == job.plan.as_dict()["policy"].keys() <= options().keys()

    ran = sections(said("info", "w.zarr"))
    assert ran["Sample"] | {"size on disk": ""} == {
        "path": "w.zarr",
        "form of the sample": "walks",
        "instances": "34",
        "sampled edges": "68",
        "fewest edges of an instance": "2",
        "mean edges of an instance": "2.0",
        "most edges of an instance": "2",
        "walks that ended early": "0",
        "--ids": "original",
        "groups of instances": "1",
        "size on disk": "",
    }
    assert ran["Options of deepwalk"] == {"--walk-length": "2", "--num-walks": "1"}
    assert ran["Time"]["rate of sampling"].endswith("edges/s")


@pytest.mark.parametrize(
    ("line", "became"), [("1 2", "each adds 1 to the weight of its edge"), ("1 2 3", "their weights are added")]
)
def test_the_closing_lines_say_what_sums_of_repeated_edges_are(tmp_path, line, became):
    path = tmp_path / "g.txt"
    path.write_text(f"{line}\n{line}\n")
    done = CliRunner().invoke(cli, ["partition", str(path), str(tmp_path / "g.zarr"), "--duplicates", "sum"])
    assert done.exit_code == 0
    assert became in done.output


def test_info_says_what_a_graph_is_and_what_it_was_made_of(said, tmp_path):
    (tmp_path / "g.txt").write_text("# two rows\n1 2\n2 1\n2 2\n2 2\n")
    said("partition", "g.txt", "g.zarr")
    found = sections(said("info", "g.zarr").split("\nPartitions")[0])
    assert found["Graph"]["stored edges"] == "3"
    assert found["Graph"]["directed"] == "yes"
    assert found["Graph"]["weighted"] == "no"
    made = found["Input"]
    assert made["lines of comments"] == "1"
    assert made["repeated edges merged into others"] == "1"
    assert made["edges with a reverse edge"] == "100 %"


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (report.size, 0, "0 B"),
        (report.size, 5 << 40, "5 TiB"),
        (report.size, float("nan"), "nan"),
        (report.seconds, 0.0, "0 s"),
        (report.seconds, 2.5e-6, "2.5 µs"),
        (report.seconds, 12345.0, "12,345 s"),
        (report.seconds, "long", "long"),
        (report.rate, 21.2e9, "21.2 G edges/s"),
        (report.share, 0.125, "12.5 %"),
        (report.plain, (25, 10), "25,10"),
        (report.plain, True, "on"),
        (report.plain, 1e-250, "1e-250"),
        (report.yes, False, "no"),
        (report.mean, 1234567.25, "1,234,567.2"),
    ],
)
def test_a_value_is_written_with_its_unit(write, value, text):
    assert write(value) == text


def test_algorithms_stand_under_the_form_of_their_samples_with_defaults_and_ranges(said):
    text, plain = said("algorithms"), json.loads(said("algorithms", "--json"))
    walks, hops, subgraphs = text.split("Neighbor samples:")[0], text.split("Neighbor samples:")[1], text
    assert "  deepwalk (Perozzi et al., KDD 2014)\n" in walks
    assert "  neighbor (" in hops.split("Subgraphs:")[0]
    assert "  forest-fire (" in subgraphs.split("Subgraphs:")[1]
    assert all(f"\n  {name} (" in text for name in plain)
    assert "[default: 0.7; 0 to less than 1]" in text
    assert "[default: off]" in text
    assert "False" not in text


def test_verify_puts_what_is_certain_before_what_is_judged_by_chance(said):
    said("sample", "karate", "w.zarr", "--walk-length", "2", "--device", "cpu")
    rules, law = said("verify", "w.zarr").split("Law of the algorithm\n")
    assert rules.startswith("Files and rules\n")
    assert "p = " not in rules
    *checks, summary, hint = law.splitlines()
    assert all("p = " in line or "not tested" in line for line in checks)
    assert summary.startswith("w.zarr: all checks passed")
    assert "would detect" not in law.removesuffix(f"{hint}\n")
    assert "--verbose" in hint
    assert "would detect" in said("verify", "w.zarr", "--verbose")


@pytest.mark.parametrize("name", registry.names())
def test_help_begins_with_the_options_of_the_algorithm(said, name):
    text, own = said("sample", "--algo", name, "--help"), registry.find(name)
    before = " ".join(text.partition("\n\n  GRAPH is a graph store")[0].split())
    assert f"by {name} (" in before
    for key, one in own.options().items():
        assert f" --{key.replace('_', '-')} " in before
        assert one.help.partition(" [default: ")[0][1:] in before
    assert "Options of" not in text.partition("GRAPH is a graph store")[2]


def test_the_first_screen_of_help_has_what_each_algorithm_takes(said, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    screen = said("sample", "--help").splitlines()[:45]
    listed = " ".join(" ".join(screen).partition("explains:")[2].split())
    for name in registry.names():
        flags = " ".join(re.findall(rf"(?<![-\w]){name}(?:, [a-z0-9-]+)* ((?:--[a-z-]+ ?)+)", listed))
        assert set(flags.split()) == {f"--{key.replace('_', '-')}" for key in registry.find(name).options()}
    assert not any(line.endswith("-") for line in screen)


def test_help_of_sample_gives_default_and_range_in_one_bracket_and_itself_under_output(said):
    help = " ".join(said("sample", "--help-all").split())
    assert "] [" not in help
    assert "--help" in help.split("Output:")[1].split("Baselines of the papers")[0]
    assert "--verbose" in help.split("Output:")[1].split("Baselines of the papers")[0]


def test_a_table_and_the_log_give_a_terminal_nothing_to_obey(capsys):
    report.print_table("", ("", ""), [("FAIL", "no vertex \x1b[2Jx")])
    assert capsys.readouterr().out == "  FAIL  no vertex \\x1b[2Jx\n"
    record = logging.makeLogRecord({"levelno": logging.INFO, "msg": "%s", "args": ("\x1b[2Jx",)})
    assert CurrentStderr().format(record) == "\\x1b[2Jx"


def test_lines_show_what_a_terminal_obeys_as_escapes(capsys):
    """Also what no text in UTF-8 can be."""
    say("found \x1b[2J and \ud800")
    assert capsys.readouterr().out == "found \\x1b[2J and \\ud800\n"


@pytest.mark.parametrize(
    "line",
    [
        ("partition", "edges.txt", "out.zarr"),
        ("partition", "edges.txt", "out.zarr", "--partitions", "2"),
        ("sample", "karate", "out.zarr", "--walk-length", "5", "--device", "cpu"),
        ("export", "karate", "out.csv"),
    ],
)
def test_the_size_that_is_said_is_that_of_the_files(said, tmp_path, line):
    (tmp_path / "edges.txt").write_text("".join(f"{v} {(v * v + 1) % 97}\n" for v in range(97)))
    text = said(*line)
    out = tmp_path / line[2]
    files = [out] if out.is_file() else [file for file in out.rglob("*") if file.is_file()]
    assert f"in {line[2]} ({report.size(sum(file.stat().st_size for file in files))})" in text
