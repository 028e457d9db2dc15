"""Shell completion of names of algorithms, datasets, measures and suites, in addition to options and files.

None of them imports a compiler.
"""

from collections.abc import Iterable

import click
from click.shell_completion import CompletionItem

Items = list[CompletionItem]
DEVICES = ("auto", "cpu", "cuda", "cuda:0", "cuda:0,1")


def algorithms(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names with their papers; if no name matches, paths for FILE.py:CLASS."""
    from csaw.engine.api import registry

    named = _named(((name, registry.find(name).paper) for name in registry.names()), incomplete)
    return named or _files(incomplete)


def graphs(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Paths and, once something is typed, names of datasets."""
    from csaw.datasets.spec import EXAMPLES

    generated = [("karate", "34 vertices"), *((f"{k}:", one) for k, one in EXAMPLES.items() if k != "karate")]
    return _files(incomplete) + (_named((*generated, *_catalog()), incomplete) if incomplete else [])


def datasets(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    return _named(_catalog(), incomplete)


def measures(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names after the last comma."""
    from csaw.engine.analytics import measure

    return _listed(measure.names(), incomplete)


def saved(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Names of measures, or a path: the two values of ``--save``."""
    return measures(ctx, param, incomplete) or _files(incomplete)


def suites(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    from csaw.engine.bench.suites import names

    return _listed((*names(), "all"), incomplete)


def devices(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    return _named(((name, "") for name in DEVICES), incomplete)


def sources(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    """Words; if none matches, paths."""
    return _named((("all", "every vertex"), ("random:", "random:N")), incomplete) or _files(incomplete)


def files(ctx: click.Context, param: click.Parameter, incomplete: str) -> Items:
    return _files(incomplete)


def _files(incomplete: str) -> Items:
    return [CompletionItem(incomplete, type="file")]


def _named(names: Iterable[tuple[str, str]], incomplete: str) -> Items:
    return [CompletionItem(name, help=said) for name, said in names if name.startswith(incomplete)]


def _listed(names: Iterable[str], incomplete: str) -> Items:
    before, comma, last = incomplete.rpartition(",")
    given = before.split(",")
    return [CompletionItem(f"{before}{comma}{n}") for n in names if n.startswith(last) and n not in given]


def _catalog() -> Iterable[tuple[str, str]]:
    from csaw.datasets.catalog import ENTRIES

    return ((entry.name, f"{entry.vertices:,} vertices, {entry.edges:,} edges") for entry in ENTRIES)


OF_OPTIONS = {"measures": measures, "device": devices, "sources": sources, "columns": files}
"""How options that the engine declares are completed, by name."""
