"""Option values at their ends: each ends with a right sample, or with one sentence that names the option."""

import sys

import pytest
from helpers.limits import within

from csaw.cli import main

DIGITS, MANY = "9" * 30, "9" * 5000
SAMPLE = ["sample", "karate", "out.zarr", "--overwrite"]
FILES = {
    "latin.txt": b"1\n2 \xff\xfe\n",
    "square.txt": "1 ²\n".encode(),
    "long.txt": MANY.encode(),
    "big.txt": DIGITS.encode(),
}

OF_DATA = (
    "deepwalk.edge_bias is inf",
    "latin",
    "square",
    "long",
    "ask for fewer",
    "ask for smaller",
    "a sample has at most",
    "for samples in flight",
    "raise --memory",
)
"""What begins the words about files and memory, where the command was not used wrongly."""

REFUSED = [
    (["--sources", "latin.txt"], "latin.txt:2: expected vertex ids in UTF-8, found the bytes b'\\xff\\xfe"),
    (["--sources", "square.txt"], "square.txt:1: expected a vertex id, found '²'"),
    (["--sources", "long.txt"], "long.txt:1: expected a vertex id"),
    (["--sources", "big.txt"], f"vertex {DIGITS} is not in"),
    (["--sources", "random:²"], "--sources random:N: expected N from 1 to the graph's 34 vertices, found '²'"),
    (["--sources", "random:" + MANY], "--sources random:N: expected N"),
    (["--algo", "neighbor", "--fanout", DIGITS], "--fanout: expected -1 to 2^63 - 1, found 9999"),
    (["--algo", "neighbor", "--fanout", "1000000000000000000,9"], "ask for smaller ones (--fanout"),
    (["--algo", "saint-walk", "--frontier-size", str(2**62)], "ask for smaller ones (--frontier-size, --walk-length)"),
    (["--algo", "neighbor", "--fanout", ",".join(["2"] * 70)], "ask for smaller ones (--fanout"),
    (["--walk-length", "2147483647"], "--walk-length: expected 0 to 2147483646, found 2147483647"),
    (["--walk-length", DIGITS], "--walk-length: expected 0 to 2147483646"),
    (["--num-walks", "1000000000000"], "ask for fewer (--instances, --num-walks)"),
    (["--num-walks", DIGITS], "--num-walks: expected 1 to 2^63 - 1"),
    (["--instances", "9223372036854775807"], "a sample has at most"),
    (["--instances", DIGITS], "--instances: expected 1 to"),
    (["--seed", DIGITS], "--seed: expected 0 to 2^64 - 1"),
    (["--threads", "1000000000"], "--threads: expected 1 to 4096, found 1000000000"),
    (["--in-flight", "1000000000000000000"], "for samples in flight"),
    (["--in-flight", DIGITS], "--in-flight: expected 1 to"),
    (["--memory", "9" * 400], "expected a size such as 256MiB"),
    (["--memory", "1" + "0" * 300 + "T"], "expected a size such as 256MiB"),
    (["--memory", "²"], "expected a size such as 256MiB"),
    (["--memory", "0.5"], "from 1 byte"),
    (["--memory", "1"], "raise --memory"),
    (["--algo", "layer", "--neighbor-size", "9223372036854775807"], "raise --memory"),
    (["--algo", "random-node", "--frontier-size", DIGITS], "--frontier-size: expected 1 to 2^63 - 1"),
    (["--algo", "jump", "--jump-prob", "nan"], "--jump-prob: expected a finite number, 0 to 1, found nan"),
    (
        ["--algo", "forest-fire", "--burn-prob", "0.99999999999999999999"],
        "--burn-prob: expected a finite number, 0 to less than 1, found 1.0",
    ),
    (
        ["--algo", "neighbor", "--option", "fanout=²"],
        "--fanout: expected integers such as 25,10, or for each relation, such as writes=25,10, found '²'",
    ),
    (["--algo", "neighbor", "--option", "replace=maybe"], "--replace: expected true or false, found 'maybe'"),
    (["--edge-bias", "1/0"], "--edge-bias: 1 / 0 divides by zero"),
    (["--edge-bias", "~(e.dst == 3)"], "--edge-bias: ~(e.dst == 3): ~ is for integers; write not e.dst == 3"),
    (["--edge-bias", "e.weight % 0"], "--edge-bias: e.weight % 0 divides by zero"),
    (["--edge-bias", "(x := 5)"], "--edge-bias: := cannot be used here"),
    (["--edge-bias", "None"], "--edge-bias: expected 64-bit numbers, found None"),
    (["--edge-bias", "'a'"], "--edge-bias: expected 64-bit numbers, found 'a'"),
    (["--edge-bias", "e.weight < 3"], "found True or False; write 1.0 if ... else 0.0"),
    (["--edge-bias", "1e400"], "deepwalk.edge_bias is inf"),
    (["--edge-bias", "10000000000000000000"], "--edge-bias: expected 64-bit numbers"),
    (["--edge-bias", "1+" * 2000 + "1"], "with at most 1000 characters"),
    (["--edge-bias", "-" * 990 + "1"], "--edge-bias: expected an expression"),
    (["--edge-bias", "1\x00"], "--edge-bias: expected an expression"),
    (["--edge-bias", "e.weight)\n    return (1"], "--edge-bias: expected an expression"),
]


@pytest.fixture
def csaw(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["csaw", *arguments])
        with within(60), pytest.raises(SystemExit) as end:
            main.main()
        return end.value.code, capsys.readouterr().err

    return call


@pytest.mark.parametrize(("options", "said"), REFUSED, ids=[" ".join(options)[:40] for options, _ in REFUSED])
def test_what_cannot_be_is_refused_in_a_sentence(csaw, options, said):
    code, printed = csaw(*SAMPLE, *options)
    assert code == (1 if said.startswith(OF_DATA) else 2), printed
    assert said in printed
    assert "Traceback" not in printed


@pytest.mark.parametrize(
    "options",
    [["--fanout", MANY], ["--seed", MANY], ["--p", "²"], ["--option", "seed=3"], ["--fanout", "1,,2"]],
    ids=lambda o: " ".join(o)[:20],
)
def test_wrong_usage_is_said(csaw, options):
    code, printed = csaw(*SAMPLE, *options)
    assert code == 2
    assert options[0] in printed


def test_what_is_at_an_end_and_can_be_is_drawn(csaw):
    fire = ["--algo", "forest-fire", "--unweighted", "--sources", "random:2"]
    for options in (
        ["--seed", str(2**64 - 1), "--walk-length", "0"],
        ["--seed", "0", "--threads", "4096", "--memory", str(2**63 - 1), "--walk-length", "1"],
        [*fire, "--burn-prob", "0.999999999999", "--depth", "65535"],
        [*fire, "--burn-prob", "1e-300"],
    ):
        code, printed = csaw(*SAMPLE, *options)
        assert code == 0, printed


def test_text_that_was_given_is_counted_as_it_was_typed(csaw):
    assert "(5000 characters)" in csaw(*SAMPLE, "--edge-bias", "x" * 5000)[1]


def test_an_option_of_no_name_is_wrong_usage(csaw):
    for given in ("=", "=3", "p"):
        code, printed = csaw(*SAMPLE, "--option", given)
        assert code == 2
        assert f"expected NAME=VALUE, found '{given}'" in printed


def test_a_group_of_zarr_without_attributes_is_called_no_store(csaw, tmp_path):
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "zarr.json").write_text('{"zarr_format": 3, "node_type": "group"}')
    said = "is not a csaw store: its zarr.json has no attributes; make one with csaw partition"
    assert said in csaw("info", str(tmp_path / "foreign"))[1]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--option", "walk_length=3", "--walk-length", "4"], "--option walk_length=3 and --walk-length 4 contradict"),
        (["--walk-length", "4", "--option", "walk-length=3"], "--option walk_length=3 and --walk-length 4 contradict"),
        (["--option", "walk_length=x", "--walk-length", "4"], "--option walk_length=x and --walk-length 4 contradict"),
        (
            ["--option", "walk-length=3", "--option", "walk_length=4"],
            "walk_length=3 and walk_length=4; give only one of",
        ),
        (
            ["--algo", "neighbor", "--option", "fanout=2,3", "--fanout", "3,2"],
            "--option fanout=2,3 and --fanout 3,2 contradict each other; give only one of them",
        ),
        (["--algo", "neighbor", "--option", "replace=no", "--replace"], "replace=no and --replace contradict"),
        (["--algo", "node2vec", "--option", "p=.25", "--p", "0.5"], "--option p=.25 and --p 0.5 contradict"),
        (["--algo", "snowball", "--option", "depth=none", "--depth", "2"], "--option depth=none and --depth 2 contra"),
    ],
)
def test_an_option_has_one_value(csaw, options, said):
    code, printed = csaw(*SAMPLE, *options)
    assert code == 2
    assert said in printed


@pytest.mark.parametrize(
    "options",
    [
        ["--option", "walk_length=4", "--walk-length", "4"],
        ["--option", "walk-length=4", "--option", "walk_length=4"],
        ["--algo", "neighbor", "--option", "fanout=2,3", "--fanout", "2,3"],
        ["--algo", "neighbor", "--option", "replace=true", "--replace", "--fanout", "2"],
        ["--algo", "node2vec", "--option", "p=.50", "--p", "0.5"],
    ],
)
def test_the_same_value_may_be_said_twice(csaw, options):
    code, printed = csaw(*SAMPLE, *options)
    assert code == 0, printed
