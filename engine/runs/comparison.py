"""Comparing a stored sample with its graph, once that has changed: which instances a full draw would change.

The random numbers of an instance do not depend on the graph. So an instance changes only if its sources change or a row
that it reads. It is the same on both graphs up to the first changed row that it reads: whether it reads one can be told
from its arrays on either graph, and nothing else has to be stored.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import cast

import numpy as np

from csaw.engine.api.algorithm import VertexColumns
from csaw.engine.api.recorded import Request as Recorded
from csaw.engine.api.recorded import given_again, named
from csaw.engine.api.registry import Algo
from csaw.engine.api.starts import SourceKind
from csaw.engine.plan.dependence import Dependence, dependence, law_of
from csaw.engine.plan.options import RUN
from csaw.engine.plan.options import options as run_options
from csaw.engine.runs.job import DRAWS, Job
from csaw.engine.runs.virtual import ASKED, METHODS, Undrawn, prepared_as, reproduced, sources_again
from csaw.engine.samples import Samples, files, open_stored
from csaw.engine.samples.check import KIND, VIRTUAL, attributes_of
from csaw.engine.samples.identifiers import NOTHING
from csaw.engine.samples.layouts import Ragged
from csaw.engine.sources.digest import SourcesDigest, digest_of
from csaw.engine.sources.given_columns import IDS, read_columns
from csaw.engine.sources.given_sources import LABELS, TIMES, InStore
from csaw.engine.sources.sources import OF_TYPE, Sources
from csaw.partition import GraphStore, open_graph
from csaw.partition.arrays.replace import mend_alone
from csaw.partition.arrays.words import Words
from csaw.partition.base import arguments
from csaw.partition.base.parallel import processors
from csaw.partition.base.plain_data import OptionValue, Record, Values
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import shown
from csaw.partition.base.stages import stage
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import at_version, drawn_from

COMPARING = "comparing with the sample"
GONE = "the graph that the sample was drawn from is no longer there"
MOST_ROUNDS = 1000  # times that a list of sources may have been taken from its beginning
ROOM = 8  # entries of a table by original id for each vertex, at most


@dataclass(frozen=True)
class Comparison:
    """A sample, compared with the graph that it is brought up to date with.

    ``job`` draws it on that graph, ``before`` on the graph that it was drawn from; None where that one is gone.
    ``everything``: why every instance is to be drawn again; empty where the rows that it reads decide. ``changed``:
    bool [V + 1], which rows count as changed, the last entry False.
    """

    samples: Samples
    before: Job | None
    job: Job
    everything: str
    changed: np.ndarray
    reads: Dependence
    rows: int
    """How many rows have changed."""

    @property
    def instances(self) -> int:
        """The number of instances on the changed graph."""
        return self.job.plan.request.instances

    def again(self, first: int, last: int) -> np.ndarray:
        """bool [n]: which of the instances first .. last - 1 of the sample are to be drawn again."""
        layout, arrays, found = self.samples.layout, self.samples.group(first, last), self._other_sources(first, last)
        for vertices, counts in layout.rows_read(arrays, self.reads.depth):
            hits = self._marks(vertices)
            if isinstance(layout, Ragged):
                bounds = np.append(0, np.cumsum(layout.elements(arrays[counts])))
                upto = np.append(0, np.cumsum(hits))
                found |= upto[bounds[1:]] > upto[bounds[:-1]]
            else:
                found |= hits.reshape(last - first, -1).any(axis=1)
        return found

    def all_again(self) -> np.ndarray:
        """bool [instances]: which are to be drawn again; new ones are."""
        found = np.ones(self.instances, bool)
        if self.is_up_to_date or self.is_request:
            return ~found
        if self.everything or self.before is None:
            return found
        kept = min(self.before.plan.request.instances, self.instances)
        with stage(COMPARING, kept, "instances") as compared, ThreadPoolExecutor(processors()) as threads:
            starts = range(0, kept, self.samples.group_size)
            spans = [(start, min(start + self.samples.group_size, kept)) for start in starts]
            for (first, last), some in zip(spans, threads.map(self.again, *zip(*spans, strict=True)), strict=True):
                found[first:last] = some
                compared(last)
        return found

    @cached_property
    def _marks(self) -> "Marks":
        return Marks(self.samples, self.job.store, self.changed)

    def counts(self, again: np.ndarray) -> Record:
        """How many instances are drawn again and how many are kept, how many rows have changed, and why all are drawn,
        if they are.
        """
        drawn, kept = int(again.sum()), 0 if self.is_request else int((~again).sum())
        return {"drawn": drawn, "kept": kept, "rows": self.rows, "why": self.everything}

    @property
    def is_request(self) -> bool:
        """Whether the sample is a virtual one, of which only the request is brought up to date."""
        return isinstance(self.samples.source, Undrawn)

    @property
    def is_up_to_date(self) -> bool:
        """Whether the sample was drawn from this graph."""
        return self.before is not None and self.before.store.fingerprint == self.job.store.fingerprint

    def _other_sources(self, first: int, last: int) -> np.ndarray:
        assert self.before is not None
        before, now = (job.sources.take(first, last, flat=False) for job in (self.before, self.job))
        if before.shape != now.shape:
            return np.ones(last - first, bool)
        return np.asarray((before != now).reshape(last - first, -1).any(axis=1))


class Marks:
    """Which vertices are marked, by their ids in a sample of the graph ``store``."""

    def __init__(self, samples: Samples, store: GraphStore, marked: np.ndarray) -> None:
        self.samples, self.marked, self.ids = samples, marked, None
        ids = store.vertex_ids() if samples.ids == "original" else None
        if ids is None:
            return
        if samples.fill == NOTHING and ids.size and ids.min() >= 0 and ids.max() < ROOM * ids.size:
            self.marked = np.zeros(int(ids.max()) + 2, bool)
            self.marked[ids[marked[:-1]]] = True
        else:
            self.ids = ids

    def __call__(self, vertices: np.ndarray) -> np.ndarray:
        at = vertices if self.ids is None else self.samples.dense(vertices, self.ids)
        if at.size and not -1 <= int(at.min()) <= int(at.max()) < self.marked.size - 1:
            raise StoreError(f"{self.samples.path}: expected vertices of its graph, found others; {files.AGAIN}")
        return self.marked[at]  # what stands for no vertex is -1, the last entry


@reading(
    {
        "path": arguments.path("a sample store"),
        "graph": arguments.maybe(arguments.path("the graph store")),
        "version": arguments.maybe(arguments.whole()),
        "algo": arguments.simple,
    }
)
def compare(
    path: str | Path,
    graph: str | Path | None = None,
    version: int | None = None,
    /,
    *,
    algo: Algo | None = None,
    **options: OptionValue,
) -> Comparison:
    """Compare the graph of a stored sample with a later version of it, or with another graph store.

    Args:
        path: the sample store.
        graph: path of the graph store; by default that of the graph when it was sampled.
        version: number of the version of the graph store; by default the newest.
        algo: ``FILE.py:CLASS`` if its algorithm does not come with csaw.
        **options: ``sources``, if the sample does not have all of them; ``columns``, if it was drawn with columns of
            data; and options of a run that change no byte, such as ``device`` and ``memory``.

    Returns:
        The Comparison.

    Raises:
        OptionError: columns of data are missing, or the sample does not have all of its sources.
        StoreError: the sample is damaged, or there is no graph.
    """
    path = Path(path)
    mend_alone(path, KIND)
    said = attributes_of(path)
    samples = Samples(Undrawn(path, said)) if VIRTUAL in said else open_stored(path)
    return _compared(samples, *_jobs(samples, graph, version, algo, options))


def _jobs(
    samples: Samples,
    graph: str | Path | None,
    version: int | None,
    algo: Algo | None,
    options: Values,
    *,
    back: bool = False,
) -> tuple[Job | None, Job, str]:
    """The job of a sample on the graph that it was drawn from, None if that cannot be had, and on another version; and
    why it cannot be had. ``back``: the other version is an earlier one, and columns of data are those of the sample.
    """
    path, held, request = samples.path, samples.manifest.get("graph", {}), samples.manifest["request"]
    _refuse_others(path, request, options)
    where = held.get("path") if graph is None else graph
    if where is None:
        raise StoreError(f"{path} does not contain the path of its graph; give it with --graph")
    new = open_graph(at_version(where, version))
    old = _drawn_from(held.get("path") or where, request["fingerprint"]) or _drawn_from(where, request["fingerprint"])
    name = named(path, request, algo)
    given: Values = {one: request.get(one) for one in ASKED if request.get(one) is not None}
    given |= given_again(path, request, name) | options
    given |= _sources_of(samples, old or new) if options.get("sources") is None else {}
    data, other = _data_of(samples, options.get("columns"), old if back and old is not None else new)
    if old is None or other:
        why = f"the numbers of {other} have changed" if other else GONE
        return None, prepared_as(new, name, request, _as_asked(samples, new, name, given | data(new))), why
    before, given = reproduced(path, old, name, request, given | data(old))
    if before.sources.instances == prepared_as(old, name, request, _by_default(given)).sources.instances:
        given = _by_default(given)
    is_rule = str(given.get("sources")).startswith((OF_TYPE, "random:"))
    earlier = _of_earlier(before.sources, new) if back and not is_rule else {}
    return before, prepared_as(new, name, request, given | earlier | data(new)), ""


def _of_earlier(sources: Sources, store: GraphStore) -> Values:
    """The option ``sources`` for an earlier version, if a list has vertices that it lacks: others stand for these, so
    that their instances have other sources there.
    """
    if sources.listed is None or sources.listed.max() < store.vertices:
        return {}
    rows = sources.listed.reshape(-1, 1 + sources.are_links)
    new = (rows >= store.vertices).any(axis=1, keepdims=True)
    listed = np.where(new, 0 if new.all() else rows[np.argmin(new)], rows)
    ids = store.original_ids(listed.ravel().astype(store.id_dtype))
    times = None if sources.times is None else sources.times.listed
    beside: Values = {} if sources.labels is None else {LABELS: sources.labels}
    beside |= {} if times is None else {TIMES: InStore(times)}
    return {"sources": {IDS: ids} | beside if beside else ids.reshape(-1, 2) if sources.are_links else ids}


def _data_of(samples: Samples, given: object, store: GraphStore) -> tuple[Callable[[GraphStore], Values], str]:
    """A function that returns the option ``columns`` for ``store``, whose vertices have the numbers ``given``, or for a
    graph of its first ones; and the column in which the sample had other numbers, in words, empty if there is none.
    """
    wanted = samples.manifest["request"].get("columns", {})
    if not wanted:
        return lambda _: {}, ""
    if given is None:
        raise OptionError(
            f"{samples.path} was drawn with columns of vertex data, which it does not store: "
            f"{', '.join(map(shown, wanted))}; give them with --columns, with numbers for all vertices"
        )
    columns = read_columns(given, store)
    if set(columns.names) != set(wanted):
        raise OptionError(
            f"--columns: expected {', '.join(map(shown, wanted))}, with which {samples.path} was drawn, found "
            f"{', '.join(map(shown, columns.names))}"
        )
    table = cast(np.ndarray, columns.table)
    held = VertexColumns(columns.names, table[:, : samples.manifest["graph"]["vertices"]]).digests
    other = next((f"the column {shown(name)}" for name in wanted if held[name] != wanted[name]), "")
    rows = dict(zip(columns.names, table, strict=True))
    return lambda store: {"columns": {name: row[: store.vertices] for name, row in rows.items()}}, other


def _as_asked(samples: Samples, new: GraphStore, name: str, given: Values) -> Values:
    """The options of a sample of a graph that is gone: without its number of instances if it had as many as there are
    by default, and with its methods if they are others than by default.
    """
    request, graph = samples.manifest["request"], samples.manifest["graph"]
    job = prepared_as(new, name, request, _by_default(given))
    asked, said = SourcesDigest.parse(request["sources"]), SourcesDigest.parse(job.plan.request.sources)
    if asked.kind is not said.kind:
        raise OptionError(
            f"sources: expected those that {samples.path} was drawn from, {asked.kind}, found {said.kind}; leave them "
            "out"
        )
    if job.sources.instances_in(graph["vertices"], graph["edges"]) == request["instances"]:
        given = _by_default(given)
    found = files.plain(job.plan.request.as_dict())
    if any(found.get(one) != request.get(one) for one in METHODS):
        given = given | {one: request.get(one) for one in METHODS}
    return given


def _refuse_others(path: Path, request: Recorded, options: Values) -> None:
    """OptionError for an option that might change what was asked for."""
    known = {name for name, one in run_options().items() if one.group == RUN} | {"sources"}
    known |= {"columns"} if request.get("columns") else set()
    if others := [name for name in options if name not in known]:
        raise OptionError(
            f"{others[0]}: {path} keeps the options that it was drawn with; expected only {', '.join(sorted(known))}, "
            f"found {others[0]}; leave it out"
        )


def _by_default(given: Values) -> Values:
    """The options of a run with as many instances as there are by default."""
    return {name: value for name, value in given.items() if name != "instances"}


def _drawn_from(where: str | Path, fingerprint: object) -> GraphStore | None:
    """The version of a graph store that a sample was drawn from; None where it is gone."""
    try:
        store = open_graph(drawn_from(where, fingerprint))
    except StoreError:
        return None
    return store if store.fingerprint == fingerprint else None


def _compared(samples: Samples, before: Job | None, job: Job, gone: str) -> Comparison:
    grows = before is None or before.store.vertices != job.store.vertices
    reads = dependence(job.store, job.algorithm, job.plan, grows=grows)
    is_request = isinstance(samples.source, Undrawn)
    everything = "" if is_request else _why_everything(samples, before, job, gone) or reads.everything
    changed, rows = np.zeros(job.store.vertices + 1, bool), 0
    if not (everything or is_request):
        from csaw.partition.graph.changed_rows import changed_rows, with_edge_to  # brings Numba

        assert before is not None
        old, new = before.store.stored, job.store.stored  # a plan may cut or join partitions, and weigh edges anew
        held = {one.array for one in new.edge_columns}
        columns = [one for one in job.plan.needs.stored_columns if one.array in held]
        changed = changed_rows(old, new, columns, reads.relations)
        rows = int(changed.sum())
        if job.sources.edges:  # a link is the edge of a number, and behind a row that has grown this is another
            begins = [_rows_of(one).read_indptr()[: before.store.vertices] for one in (before, job)]
            changed[: before.store.vertices] |= begins[0] != begins[1]
        if reads.neighbors:
            changed = with_edge_to(new, changed)
    return Comparison(samples, before, job, everything, changed, reads, rows)


def _why_everything(samples: Samples, before: Job | None, job: Job, gone: str) -> str:
    """Why no instance can be kept, whatever rows it reads; empty if some may be."""
    if samples.manifest.get("draws") != DRAWS:
        return f"csaw {samples.manifest.get('version')} drew the sample with other random numbers"
    if before is None:
        return gone
    was, now = before.plan.request.as_dict(), job.plan.request.as_dict()
    counted = ("fingerprint", "instances", "group_size", "sources", "columns")
    if other := [one for one in was if one not in counted and was[one] != now.get(one)]:
        return f"{other[0]} is {now.get(other[0])} on this graph, and was {was[other[0]]}"
    if not _same_vertices(before.store, job.store):
        return "vertices have other numbers in this graph"
    laws = [law_of(_rows_of(one), one.algorithm, one.plan) for one in (before, job)]
    if laws[0] != laws[1]:
        return "the bounds of its biases have changed with the graph"
    if job.sources.kind is SourceKind.LINKS and before.sources.edges != job.sources.edges:
        return "links are drawn from all edges"
    if job.sources.are_links and before.store.multigraph != job.store.multigraph:  # their rows are searched otherwise
        return "edges are repeated in one of both graphs only"
    if before.sources.chances_of(0, 1) is not None and before.store.vertices != job.store.vertices:
        return "the chances of seeds depend on the number of vertices"
    return ""


def _rows_of(job: Job) -> GraphStore:
    """The graph from whose rows a job draws."""
    return job.store if job.rows is None else job.rows


def _same_vertices(old: GraphStore, new: GraphStore) -> bool:
    """Whether the vertices of ``old`` have the same numbers in ``new``, in a graph of the same kind."""
    kinds = [(one.directed, one.hook_columns) for one in (old, new)]
    if kinds[0] != kinds[1] or old.vertices > new.vertices:
        return False
    before, now = old.stored_ids(), new.stored_ids()
    if isinstance(before, Words) or isinstance(now, Words):
        return _same_words(before, now)
    first, second = (np.arange(old.vertices) if ids is None else ids[: old.vertices] for ids in (before, now))
    return bool(np.array_equal(first, second))


def _same_words(before: object, now: object) -> bool:
    """Whether string ids begin with those of an earlier version."""
    if not isinstance(before, Words) or not isinstance(now, Words):
        return False
    ends = now.offsets[: before.offsets.size]
    return bool(np.array_equal(before.offsets, ends) and np.array_equal(before.text, now.text[: int(ends[-1])]))


def _sources_of(samples: Samples, store: GraphStore) -> Values:
    """The option ``sources`` of a sample: a rule, or the list that its instances have taken."""
    said = SourcesDigest.parse(samples.manifest["request"]["sources"])
    virtual = sources_again(samples, store) if samples.is_virtual else {}
    if isinstance(virtual.get("sources"), str):
        return virtual
    if said.kind is not SourceKind.LIST:
        return {"sources": "all"} if said.kind is SourceKind.ALL else {}
    if store.types is not None and not (said.labels or said.times):
        for name in store.types.names:
            if digest_of(np.arange(*store.types.span(name), dtype=np.int64)) == said.digest:
                return {"sources": f"{OF_TYPE}{name}"}  # with those that the type has got since
    if virtual:
        return virtual
    listed, beside = _listed(samples, said, None if samples.ids != "original" else store.vertex_ids())
    if listed is None:
        raise OptionError(f"{samples.path} lacks some of its sources; give them with --sources, as when it was drawn")
    ids = store.original_ids(listed.astype(store.id_dtype))
    return {"sources": {IDS: ids} | beside if beside else ids.reshape(-1, 2) if samples.layout == "links" else ids}


def _listed(samples: Samples, said: SourcesDigest, ids: np.ndarray | None) -> tuple[np.ndarray | None, Values]:
    """The list of sources as dense ids, with labels and times; None where instances have not taken all of it."""
    layout, parts = samples.layout, [arrays for _, arrays in samples.iter_groups()]
    if not parts:
        return None, {}
    taken = np.concatenate([samples.dense(layout.sources(arrays)[0], ids) for arrays in parts])
    held = {name: np.concatenate([one[name].reshape(-1) for one in parts]) for name in _BESIDE if name in parts[0]}
    if "input_id" in held:
        _, first = np.unique(held["input_id"], return_index=True)
        sizes: Iterator[int] = iter([first.size])
    else:
        first = np.arange(taken.size)
        whole = (taken.size // k for k in range(1, MOST_ROUNDS) if taken.size % k == 0)
        again = np.flatnonzero(taken[1:] == taken[:1]) + 1  # where the list may begin once more, and not end
        sizes = chain(whole, again[:MOST_ROUNDS].tolist())
    for size in sizes:
        listed = np.ascontiguousarray(taken[first[:size]])
        if digest_of(listed) == said.digest:
            kinds = (LABELS, LABELS, np.asarray), (TIMES, "seed_time", InStore)
            wanted = {LABELS: said.labels, "seed_time": said.times}
            beside = {one: kind(held[of][first[:size]]) for one, of, kind in kinds if wanted[of] and of in held}
            return listed, beside
    return None, {}


_BESIDE = ("input_id", LABELS, "seed_time")


def changed_since(samples: Samples, version: int, /, *, algo: Algo | None = None, **options: OptionValue) -> np.ndarray:
    """The numbers of the instances that a sample of another version of the graph may not have in common with this one.

    Args:
        samples: stored samples.
        version: number of an earlier version of their graph store.
        algo: ``FILE.py:CLASS`` if their algorithm does not come with csaw.
        **options: as for :func:`compare`.

    Returns:
        int64, ascending: those that are other ones on the two versions, and perhaps a few that only read other rows;
        all of them, if no rows decide.

    Raises:
        OptionError: as for :func:`compare`; or the version is a later one.
        StoreError: as for :func:`compare`; or there is no such version.
    """
    own, other, gone = _jobs(samples, None, version, algo, options, back=True)
    if own is None:
        raise StoreError(f"{samples.path}: {gone}")
    if version > own.store.version:
        raise OptionError(
            f"since: {samples.path} is of version {own.store.version} of its graph; expected an earlier one, found "
            f"{version}"
        )
    return np.flatnonzero(_compared(samples, other, own, "").all_again())
