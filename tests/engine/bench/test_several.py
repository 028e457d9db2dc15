"""Rows of several GPUs stand beside those of one."""

from types import SimpleNamespace

from csaw.engine.bench.networks import beside_one, of_one, with_gpus, with_ratios
from csaw.engine.bench.suites import ranking, traversal, triangles


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


def test_a_ratio_is_of_the_same_work():
    assert beside_one({"seconds": 2.0}, {"seconds": 3.0}) == {"note": "1.50 x one GPU"}
    assert beside_one({"seconds": 2.0}, None) == beside_one({"not_measured": ""}, {"seconds": 1.0}) == {}
    for suite in (ranking, traversal):
        for work in suite.OF_VERTEX:
            assert {of_one(f"{work}{more}", suite.OF_VERTEX) for more in ("", ", 2 GPUs", ", 2 GPUs, x")} == {work}
    rows = [{"work": "a", "seconds": 3.0}, {"work": "b", "seconds": 8.0}, {"work": "b, 2 GPUs", "seconds": 4.0}]
    assert list(with_ratios(rows, ["a", "b"])) == [*rows[:2], rows[2] | {"note": "2.00 x one GPU"}]


def test_only_a_work_of_several_gpus_is_set_beside_that_of_one():
    works = ("triangles", "triangles of each vertex", "triangles, masked product", "triangles, matching")
    assert [triangles._one(work) for work in works] == [""] * 4
    for work in works[:2]:
        assert {triangles._one(f"{work}, {where}") for where in ("2 GPUs", "16 GPUs", "2 GPUs, pooled")} == {work}
