"""Bench rows as lines of text for a terminal."""

from csaw.engine.bench import suites
from csaw.engine.bench.bench_row import MACHINE, Row, ceiling_text, goal_text, limits_text, met_text, share_text, spread
from csaw.partition.base.quoting import format_size, short

HOLDS = {True: "holds here", False: "does not hold here", None: "cannot be said here"}
NAME_WIDTH = 46


def line(row: Row, before: Row | None = None) -> str:
    """The text of one row, under a heading if it begins a suite or a graph. ``before``: the row before it."""
    heads = [row.get(name, "") for name in ("suite", "graph")]
    old = [before.get(name, "") for name in ("suite", "graph")] if before else []
    said = _said(row)
    if heads == old or row["suite"] == MACHINE or "claim" in row:
        return said
    size = f": {row['vertices']:,} vertices, {row['stored_edges']:,} stored edges" if "vertices" in row else ""
    return f"\n{heads[0]}{', ' + heads[1] if heads[1] else ''}{size}\n{said}"


def _said(row: Row) -> str:
    if "claim" in row:
        return f"  claim: {row['claim']}\n  {HOLDS[row['holds']]}: {row['found']}"
    if "not_measured" in row:
        return f"  {row['work']:<{NAME_WIDTH}}  not measured: {row['not_measured']}"
    if "rate" not in row:
        return f"{machine(row)}, Python {row['python']}"
    range_ = f"({spread(row)})"
    return f"  {row['work']:<{NAME_WIDTH}}{short(row['rate'], row['unit']):>18} {range_:<20} {', '.join(_details(row))}"


def machine(row: Row) -> str:
    """The text of a run's first row, about the machine."""
    return f"{row['device']}, {row['threads']} threads, load {row['load']} before it began, csaw {row['csaw']}"


def _details(row: Row) -> list[str]:
    """The details that a terminal shows beside a figure's rate."""
    said = []
    if "seconds" in row:
        said.append(f"{1e3 * row['seconds']:,.4g} ms")
    if beside := ceiling_text(row):
        said.append(beside)
    if "bytes_per_second" in row:
        said.append(short(row["bytes_per_second"], "bytes/s"))
    if "of_plain_write" in row:
        said.append(share_text(row["of_plain_write"], "a plain write"))
    said += [f"{row[name]:.3g} {name.replace('_an_edge', '')} an edge" for name in row if name.endswith("_an_edge")]
    if row.get("times", 1.0) != 1.0:  # 1 is the baseline itself
        said.append(_times(row["times"], row["times_of"]))
    if row.get("efficiency", 1.0) != 1.0:
        said.append(f"efficiency {row['efficiency']:.2f}")
    if "of_processors" in row:
        said.append(f"{row['of_processors']:.2f} by seconds of processors")
    if "expected_seconds" in row:
        said.append(f"{row['expected_seconds']:.3g} s expected")
    if "transfers" in row:
        said.append(f"{row['transfers']:,.0f} transfers, {format_size(round(row['transfer_bytes']))}")
    if "of_expected" in row:
        said.append(f"{row['of_expected']:.2f} times the expected {format_size(row['expected_bytes'])}")
    if "of_limit" in row:
        said.append(f"{100 * row['of_limit']:.0f} % of it copies or kernels alone")
    if "peak_mib" in row:
        said.append(f"peak {row['peak_mib']:,} MiB")
    if row.get("limits"):
        said.append(limits_text(row))
    if row.get("goal"):
        said.append(" ".join(filter(None, ("goal", goal_text(row, row["unit"]), met_text(row)))))
    return said + ([row["note"]] if "note" in row else [])


def _times(times: float, other: str) -> str:
    return f"{times:.3g} times as fast as {other}" if times > 1 else f"{other} is {1 / times:.3g} times as fast"


def listing() -> str:
    """Every suite with its claim."""
    found = [(name, suites.load(name)) for name in suites.names()]
    width = max(len(name) for name, _ in found)
    return "\n".join(f"{name:<{width}}  {suite.claim}" for name, suite in found)
