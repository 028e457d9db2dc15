"""Rows of several GPUs stand beside those of one."""

from types import SimpleNamespace

from helpers.bench_works import replace_clocks, shown

from csaw.engine.bench.networks import beside_one, with_gpus
from csaw.engine.bench.suites import measures


def test_a_network_with_more_gpus_keeps_nothing_of_the_one_that_has_one():
    one = SimpleNamespace(others=(), shares=[(0, 9)], level_ranges=[(0, 9)], held={}, relatives=[], passing=["slot"])
    one.undirected, one.incoming = one, SimpleNamespace(others=(), held={}, _elsewhere=(), relatives=[], passing=[])
    made = with_gpus(one, ("second",))
    assert made.undirected is made
    assert made.others == made.incoming.others == ("second",)
    assert made.held is one.held
    assert made.passing == made.relatives == []
    assert not {"shares", "level_ranges", "_elsewhere"} & (vars(made) | vars(made.incoming)).keys()
    assert one.others == one.incoming.others == ()
    assert one.shares == [(0, 9)]


def test_a_network_whose_rows_take_turns_is_made_again_on_more_gpus():
    one = SimpleNamespace(others=(), held={}, passing=[])
    one.undirected, one.incoming = one, SimpleNamespace(others=(), held={}, passing=[])
    one.relatives = one.incoming.relatives = [one, one.incoming]
    made = with_gpus(one, ("second",))
    assert "incoming" not in vars(made)
    assert one.relatives == [one, one.incoming]


def test_a_ratio_is_of_the_same_work(tmp_path, monkeypatch):
    assert beside_one({"seconds": 2.0}, {"seconds": 3.0}) == {"note": "1.50 x one GPU"}
    assert beside_one({"seconds": 2.0}, None) == beside_one({"not_measured": ""}, {"seconds": 1.0}) == {}
    replace_clocks(monkeypatch, tmp_path)
    seconds = iter(range(1, 100))
    monkeypatch.setattr(measures, "measured_row", lambda context, network, title, *_: timed(title, next(seconds)))
    for suite, works in (("ranking", measures.RANKING), ("traversal", measures.TRAVERSAL)):
        rows = shown(f"csaw bench rmat:scale=9,weights=1 --suite {suite} --device cuda:0,1", 2)
        found = {row["work"]: row["seconds"] for row in rows}
        works = {name: work for name, work in works.items() if not work.on_host}
        assert set(works) < set(found)
        for row in rows:
            (alone,) = (one for one in works if row["work"] == one or row["work"].startswith(f"{one}, "))
            said = None if row["work"] == alone else f"{found[alone] / row['seconds']:.2f} x one GPU"
            assert row.get("note") == said


def timed(title, seconds):
    return {"work": title, "seconds": seconds, "rate": 1.0, "ran_on": "cuda"}


def test_only_a_work_of_several_gpus_is_set_beside_that_of_one(tmp_path, monkeypatch):
    replace_clocks(monkeypatch, tmp_path)
    rows = shown("csaw bench rmat:scale=9 --suite triangles --device cuda:0,1", 2)
    assert [row["work"] for row in rows if "note" not in row] == list(measures.OF_TRIANGLES)
    two = ("2 GPUs", "2 GPUs, pooled")
    assert [row["work"] for row in rows if "note" in row] == [
        f"{work}, {where}" for where in two for work in (measures.TRIANGLES, measures.OF_EACH)
    ]
