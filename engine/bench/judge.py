"""The last row of a suite: whether its claim holds in the other rows, and the machines of the figures compared."""

from csaw.engine.bench import suites
from csaw.engine.bench.bench_row import MACHINE, Published, Row, measured


def judged(suite: str, rows: list[Row], device: str) -> Row:
    """The row of a suite's verdict. ``device``: the machine that its other rows were measured on."""
    module = suites.load(suite)
    verdict = module.verdict(measured(rows, suite=suite))
    others = published(suite) if verdict.holds is not None else ()
    machines = "".join(f"; {one.whose}: on {one.machine}, here on {device}" for one in others)
    return {"suite": suite, "claim": module.CLAIM, "holds": verdict.holds, "found": f"{verdict.found}{machines}"}


def judged_again(rows: list[Row]) -> list[Row]:
    """The rows of an earlier run with the verdicts that its suites give today."""
    device = next(row["device"] for row in rows if row["suite"] == MACHINE)
    return [judged(row["suite"], rows, device) if "claim" in row else row for row in rows]


def published(suite: str) -> tuple[Published, ...]:
    """The figures of others that a suite's claim is about."""
    return getattr(suites.load(suite), "PUBLISHED", ())
