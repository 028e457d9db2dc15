"""Progress: each stage has a name, a number, a count and a rate of its own, in lines as wide as the terminal."""

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import time

import pytest
from click.testing import CliRunner

from csaw.cli.main import cli
from csaw.partition.base import progress, stages
from csaw.partition.base.progress import line, plain
from csaw.partition.base.stages import Stage, course, stage, step, tell, unseen

WIDTHS = [40, 80, 200]


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until its ``now`` is set."""

    class Clock:
        now = 100.0

    monkeypatch.setattr(stages.time, "monotonic", lambda: Clock.now)
    return Clock


def test_a_stage_has_a_count_and_a_rate_of_its_own(clock):
    with Stage("reading", 4 << 30, "bytes") as reading:
        clock.now += 10
        reading(2 << 30)
        assert line(reading, 200).endswith("50 %  2 GiB of 4 GiB  205 MiB/s  0:00:10 left")
        with stage("sorting edges", 100, "edges") as sorting:
            clock.now += 1
            assert "/s" not in line(sorting, 200)
            clock.now += 3
            sorting(40)
            assert line(sorting, 200).endswith("40 %  40 of 100 edges  10 edges/s  0:00:06 left")
        with stage("writing") as writing:
            clock.now += 61
            assert line(writing, 200) == "writing  0:01:01"
        assert reading.seconds == 10
        clock.now += 10
        reading(3 << 30)
        assert "154 MiB/s" in line(reading, 200)
        reading.begin("sampling", 8, "instances")
        assert line(reading, 200).endswith("0 %  0 of 8 instances  0:00:00")


def test_stages_are_numbered_in_their_course():
    with Stage("preparing") as command, course("reading", "sorting", "writing"):
        assert command.heading == "preparing"
        command.begin("reading", 5, "bytes")
        assert command.heading == "step 1 of 3: reading"
        with stage("writing") as writing, stage("compiling") as compiling:
            assert (writing.heading, compiling.heading) == ("step 3 of 3: writing", "compiling")
        with course("files", "graph", word="check"), stage("graph") as graph, stage("sorting") as sorting:
            assert (graph.heading, sorting.heading) == ("check 2 of 2: graph", "step 2 of 3: sorting")
    assert command.heading == "reading"
    with course("writing"), stage("writing") as alone:
        assert alone.heading == "writing"
    with Stage("measuring") as command, course(of=3):
        step(2)
        with stage("loading") as loading:
            assert (command.heading, loading.heading) == ("step 2 of 3: measuring", "loading")


def test_what_is_done_beside_the_stage_that_is_shown_is_not_shown():
    heard = []

    def aside():
        with stage("aside"):
            tell(5, 9, "laws")
            return stages.current().name

    with stages.hearing(lambda now: heard.append((now.name, now.done))), stage("pass", 10, "walks") as shown:
        assert unseen(aside)() == "pass"
        shown(3)
        tell(4, 10, "walks")
    assert heard == [("pass", 0), ("pass", 3), ("pass", 4)]


STAGES = {
    "counted": ("step 2 of 4: sampling", 646_181, "instances", [0, 1, 323_000, 646_181]),
    "bytes": ("reading", 5 << 40, "bytes", [0, 1, 900, 3 << 20, 5 << 40]),
    "endless": ("fetching", 0, "bytes", [0, 1023, 1 << 20, 7 << 30]),
    "unknown": ("generating", 0, "edges", [0, 12, 10**12]),
    "named": ("writing", 0, "", [0]),
    "long": (f"measuring triangles of {'a' * 90}.zarr", 2**62, "sources of betweenness", [0, 5, 2**62]),
}


@pytest.mark.parametrize("width", [*range(20, 60, 3), *WIDTHS])
@pytest.mark.parametrize("kind", STAGES)
def test_a_line_has_its_share_in_any_width(clock, kind, width):
    name, total, unit, counts = STAGES[kind]
    with Stage(name, total, unit) as shown:
        for done in counts:
            clock.now += 3
            shown(done)
            text = line(shown, width)
            assert len(text) <= width
            assert text.startswith(name[: width - 20])
            assert not total or f"{100 * done // total} %" in text
            assert "bytes" not in text
            assert not (kind == "long" and width < 100) or "\u2026" in text


def test_more_room_says_more(clock):
    bar = 12 * "\u2501" + 18 * "\u2500"
    with Stage("step 2 of 3: sampling", 1000, "walks") as shown:
        clock.now += 10
        shown(400)
        assert [line(shown, width) for width in WIDTHS] == [
            "step 2 of 3: sampling 40 % 0:00:15 left",
            "step 2 of 3: sampling  40 %  400 of 1,000 walks  40 walks/s  0:00:15 left",
            f"step 2 of 3: sampling  {bar}  40 %  400 of 1,000 walks  40 walks/s  0:00:15 left",
        ]


@pytest.mark.parametrize(
    ("stage", "done", "said"),
    [
        (("reading", 3 << 30, "bytes"), 1 << 30, "reading: 1 GiB of 3 GiB (33 %), 512 MiB/s"),
        (("reading", 3000, "bytes"), 1, "reading: 1 B of 2.9 KiB (0 %), 0 B/s"),
        (("fetching", 0, "bytes"), 5 << 20, "fetching: 5 MiB, 2.5 MiB/s"),
        (("sampling", 4000, "walks"), 1000, "sampling: 1,000 of 4,000 (25 %) walks, 500/s"),
        (("generating", 0, "edges"), 1000, "generating: 1,000 edges, 500/s"),
    ],
)
def test_a_line_of_a_file(clock, stage, done, said):
    with Stage(*stage) as shown:
        clock.now += 2
        shown(done)
        assert plain(shown) == said


def test_away_from_a_terminal_what_is_counted_is_a_line_now_and_then(clock, capsys):
    with progress.progress("sampling", total=100, unit="walks") as update:
        for now, done in ((1.0, 10), (2.5, 25), (3.0, 30), (10.0, 100)):
            clock.now = 100 + now
            update(done)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "csaw: sampling: 25 of 100 (25 %) walks, 10/s",
        "csaw: sampling: 100 of 100 (100 %) walks, 10/s",
    ]


def test_stages_that_follow_are_lines_with_rates_of_their_own(clock, capsys):
    with progress.progress("preparing") as shown, course("reading", "sorting"):
        shown.begin("reading", 1 << 30, "bytes")
        clock.now += 4
        shown(1 << 30)
        with stage("sorting", 50, "edges") as sorting:
            clock.now += 5
            sorting(25)
    assert capsys.readouterr().err.splitlines() == [
        "csaw: step 1 of 2: reading: 1 GiB of 1 GiB (100 %), 256 MiB/s",
        "csaw: step 2 of 2: sorting: 25 of 50 (50 %) edges, 5/s",
    ]


def test_steps_that_differ_by_their_numbers_alone_are_lines_now_and_then(clock, capsys):
    doings = (
        "degree of 1.zarr",
        "degree of 2.zarr",
        *(f"s1.zarr, instance {k} of 4" for k in range(4)),
        "end",
    )
    with progress.steps("measuring") as update:
        for now, doing in zip([0.1, 0.2, 0.3, 1.9, 2.25, 2.4, 2.5], doings, strict=True):
            clock.now = 100 + now
            update(doing)
    assert [said.removeprefix("csaw: measuring ") for said in capsys.readouterr().err.splitlines()] == [
        "degree of 1.zarr",
        "degree of 2.zarr",
        "s1.zarr, instance 0 of 4",
        "s1.zarr, instance 3 of 4",
        "end",
    ]


def test_how_far_a_step_is_is_said_and_not_in_the_next_one(clock, capsys):
    with progress.steps("measuring") as update, course(of=2):
        step(1)
        update("hops of g.zarr")
        clock.now += 4
        tell(64, 200, "sources of hops")
        step(2)
        update("degree of g.zarr")
        clock.now += 4
        assert "sources" not in line(stages.current(), 200)
    assert capsys.readouterr().err.splitlines() == [
        "csaw: step 1 of 2: measuring hops of g.zarr",
        "csaw: step 1 of 2: measuring hops of g.zarr: 64 of 200 (32 %) sources of hops, 16/s",
        "csaw: step 2 of 2: measuring degree of g.zarr",
    ]


def test_what_is_waited_for_is_a_line_at_once_or_when_it_lasts(monkeypatch, capsys):
    """As soon as kernels are compiled, and other waits when they last."""
    monkeypatch.setattr(progress, "QUIET_SECONDS", 0.05)
    with progress.progress("preparing"):
        for _ in range(2):
            with stage(stages.COMPILING), stage("a moment"):
                pass
        with stage(stages.LOADING):
            time.sleep(0.3)
    assert capsys.readouterr().err.splitlines() == [f"csaw: {stages.COMPILING}", f"csaw: {stages.LOADING}"]


def test_progress_can_be_off(capsys):
    with progress.progress("sampling", total=4, unit="walks", enabled=False) as update:
        update(4)
        assert stages.current() is None
    assert capsys.readouterr() == ("", "")


def test_a_terminal_shows_the_stage_that_is_current(monkeypatch, capsys):
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr(sys, "stderr", screen)
    with progress.progress("sampling", total=4, unit="walks") as update:
        update(1)
        time.sleep(0.3)
        with stage("writing"):
            time.sleep(0.3)
    assert "25 %" in screen.getvalue()
    assert "writing" in screen.getvalue().partition("25 %")[2]
    assert capsys.readouterr().out == ""


COMMANDS = {
    "generate": ["datasets", "generate", "rmat:scale=8,times=0..50", "made.zarr"],
    "partition": ["partition", "rows.txt", "graph.zarr", "--overwrite", "--time-column", "3"],
    "partition words": ["partition", "words.txt", "words.zarr"],
    "partition, cut": ["partition", "rows.txt", "cut.zarr", "--partitioner", "random", "--partitions", "2"],
    "sample": ["sample", "graph.zarr", "walks.zarr", "--walk-length", "5"],
    "sample subgraphs": ["sample", "graph.zarr", "fires.zarr", "--algo", "forest-fire"],
    "sample targets": ["sample", "graph.zarr", "targets.zarr", "--target", "5", "--walk-length", "5"],
    "verify": ["verify", "walks.zarr"],
    "verify subgraphs": ["verify", "fires.zarr"],
    "verify targets": ["verify", "targets.zarr"],
    "verify a graph": ["verify", "graph.zarr"],
    "evaluate": ["evaluate", "graph.zarr", "walks.zarr", "--measures", "degree,triangles,hops", "--refresh"],
    "evaluate windows": ["evaluate", "graph.zarr", "--measures", "degree,core", "--windows", "3", "--refresh"],
    "list": ["evaluate", "graph.zarr", "--write-list", "triangles", "--out", "triangles.csv"],
    "export": ["export", "walks.zarr", "walks.txt"],
    "export a graph": ["export", "graph.zarr", "graph.csv"],
}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("place")
    rows = "".join(f"{a * a % 97} {a * 7 % 89} {a}\n" for a in range(600))
    (folder / "rows.txt").write_text(rows)
    (folder / "words.txt").write_text(re.sub(r"(\d+) (\d+) \d+", r"a\1 b\2", rows))
    return folder


def test_commands_say_where_they_are_at_any_width(place, monkeypatch):
    monkeypatch.chdir(place)
    seen = {}

    def hear(now):
        for width in WIDTHS:
            text = line(now, width)
            assert len(text) <= width, (name, text)
            assert not now.total or f"{100 * now.done // now.total} %" in text, (name, text)
            assert "bytes" not in text, (name, text)
        seen[name].append((now.heading, now.done, now.total, now.unit))

    for name, words in COMMANDS.items():
        seen[name] = []
        with stages.hearing(hear):
            ended = CliRunner().invoke(cli, words)
        assert ended.exit_code == 0, (name, ended.output)
        assert not stages.current(), name
    for name, heard in seen.items():
        steps = [tuple(map(int, found.groups())) for one in heard if (found := NUMBERED.match(one[0]))]
        assert len({of for _, of in steps}) <= 1, (name, steps)
        assert [number for number, _ in steps] == sorted(number for number, _ in steps), (name, steps)
        assert (len(steps) > 0) is (name not in ALONE), (name, heard)
        counted = {(heading, total) for heading, done, total, _ in heard if total and done == total}
        assert counted or name in ("verify a graph", "evaluate", "evaluate windows"), (name, heard)


NUMBERED = re.compile(r"(?:step|check) (\d+) of (\d+): ")
ALONE = ("verify a graph", "list", "export", "export a graph")  # a single stage, or none


@pytest.mark.parametrize("width", WIDTHS)
def test_a_real_terminal_has_no_line_that_is_too_long(tmp_path, width):
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    given = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    given |= {"TERM": "xterm", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    words = [sys.executable, "-m", "csaw.cli", "datasets", "generate", "rmat:scale=18", "g.zarr"]
    child = subprocess.Popen(words, cwd=tmp_path, env=given, stdout=subprocess.DEVNULL, stderr=other)
    os.close(other)
    read = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        read += piece
    os.close(main)
    assert child.wait(60) == 0
    drawn = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", read.decode())
    lines = [text for text in re.split(r"[\r\n]+", drawn) if text]
    assert max(map(len, lines)) <= width
    assert any(re.search(r"step \d of 4: .*\d %", text) for text in lines)
