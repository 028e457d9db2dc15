"""Shards: processes that draw a part of one sample each and know nothing of each other, as the tasks of an array job.

The last one seals the store.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from csaw.engine.runs.job import Job, backends_of, manifest, stored_as
from csaw.engine.runs.summary import Times, summed_up
from csaw.engine.samples import check, files, open_stored
from csaw.engine.samples.place import partial_of
from csaw.engine.samples.seal import draft_sizes
from csaw.engine.samples.writer import SharedWriter, named
from csaw.engine.schedule.workers import Totals, sample_groups
from csaw.partition import open_graph
from csaw.partition.base.kernel_time import Stopwatch, compiled
from csaw.partition.base.plain_data import Record
from csaw.partition.base.quoting import quoted
from csaw.partition.base.stages import LOADING, SAMPLING, WRITING, course
from csaw.partition.base.version import VERSION
from csaw.partition.errors import OptionError, StoreError
from csaw.partition.graph.versions import drawn_from

MOST_SHARDS = 10**6
SEALED = "another process seals the sample"


@dataclass(frozen=True)
class Shard:
    """Part ``number`` of ``parts`` of a sample: consecutive groups."""

    number: int
    parts: int

    @classmethod
    def of(cls, text: str) -> Self:
        """The shard that a text such as ``3/8`` names; OptionError where it names none."""
        number, slash, parts = text.partition("/") if isinstance(text, str) else ("", "", "")
        digits = all(each.isascii() and each.isdigit() and len(each) < 10 for each in (number, parts))
        if not (slash and digits and int(number) < int(parts) <= MOST_SHARDS):
            raise OptionError(f"--shard: expected I/N with I from 0 to N - 1, such as 0/8 to 7/8, found {quoted(text)}")
        return cls(int(number), int(parts))

    def groups(self, of: int) -> range:
        """The shard's groups of a sample of so many."""
        return range(of * self.number // self.parts, of * (self.number + 1) // self.parts)

    def __str__(self) -> str:
        return f"{self.number}/{self.parts}"


def draw_shard(job: Job, out: str | Path, shard: Shard, progress: Callable[[int], None] | None = None) -> Record:
    """Draw a shard of a job into the store that all shards write, and seal it if nothing is missing then.

    Args:
        job: what :func:`prepare` returned; every shard has the same request.
        out: path of the sample store, on a file system that all shards see.
        shard: which part to draw. Groups of it that are there already stay.
        progress: called with the number of finished instances of the shard, each time that it grows.

    Returns:
        A summary: that of the whole sample if this shard sealed it, otherwise that of this shard, with the number of
        groups ``left`` to other shards.

    Raises:
        StoreError: another run has begun at ``out``, or has the place for itself.
        CsawError: as for :func:`execute`.
    """
    watch, before = Stopwatch(), compiled()
    with course(LOADING, SAMPLING, WRITING), SharedWriter(out, manifest(job), **stored_as(job)) as writer:
        own = shard.groups(writer.groups)
        if writer.finished:
            return {"shard": str(shard), "resumed": "nothing was missing", "left": 0}
        writer.find(own)
        size, missing = max(1, job.plan.at_a_time // writer.group_size), len(set(own) - writer.done)
        working = Stopwatch()
        try:
            totals = Totals()
            if missing:
                with backends_of(job, -(-missing // size)) as (backends, losses):
                    totals = sample_groups(backends, job.sources, writer, size, progress, losses, own)
        except StoreError:
            if not writer.ended:  # otherwise its groups were drawn by another, which may remove what this one writes
                raise
            return _of_shard(writer, shard, totals) | {"resumed": SEALED, "left": 0}
        worked, sealing = working.read(), Stopwatch()
        said = _of_shard(writer, shard, totals) | {"groups_drawn": missing}
        if not missing:  # the edges of groups that were there are not counted again
            del said["sampled_edges"]
        if missing and not writer.ended:
            writer.report(str(shard).replace("/", "-of-"), said | {"totals": asdict(totals), "seconds": worked.whole})
        if left := len(writer.missing()):
            return said | {"left": left}

        def results() -> Record:
            times = Times(watch.read(), worked, sealing.read(), compiled() - before)
            return summed_up(job, writer, _totals(writer), times, counted=_are_counted(writer)) | _of_all(writer)

        sealed = writer.seal_alone(results)
        return open_stored(out).results if sealed else said | {"left": 0, "resumed": SEALED}


def _of_shard(writer: SharedWriter, shard: Shard, totals: Totals) -> Record:
    own = shard.groups(writer.groups)
    return {
        "version": VERSION,
        "shard": str(shard),
        "instances": sum(map(writer.rows, own)),
        "groups": len(own),
        "all_groups": writer.groups,
        "sampled_edges": totals.edges,
        "bytes_written": writer.bytes_written,
        "sampling_seconds": round(totals.seconds, 6),
    }


def _totals(writer: SharedWriter) -> Totals:
    """The counts of all shards that have ended, and the largest of their times."""
    totals = Totals()
    for said in writer.reports():
        totals.add(Totals(**said["totals"]))
    return totals


def _are_counted(writer: SharedWriter) -> bool:
    """Whether the shards that have ended drew all groups: one that was killed has left no counts."""
    return sum(said.get("groups_drawn", 0) for said in writer.reports()) == writer.groups


def _of_all(writer: SharedWriter) -> Record:
    """Return the part of a sample's summary that is about its shards.

    The number of edges is that of the groups, whoever drew them.
    """
    reports, sizes = writer.reports(), draft_sizes(writer)
    shown = [{name: value for name, value in said.items() if name != "totals"} for said in reports]
    edges = {} if sizes is None else {"sampled_edges": sizes["edges"]}
    return edges | {"bytes_written": sum(said["bytes_written"] for said in reports), "shards": shown}


def seal_sample(out: str | Path, graph: str | Path | None = None) -> Record:
    """Seal a sample all of whose groups are there, after their checksums are compared.

    Args:
        out: the path that the sample will have.
        graph: path of its graph store; by default the place where it was.

    Returns:
        The summary of the sample.

    Raises:
        StoreError: groups are missing or damaged, which it names; there is no such sample; the graph is missing or
            another; or a run has the place for itself.
    """
    path, watch = Path(out), Stopwatch()
    partial = partial_of(path)
    if not (partial / "zarr.json").exists():
        check.attributes_of(path)  # says what is there instead
        return {"resumed": "nothing was missing"} | open_stored(path).results
    with _opened(path, files.read_record(partial / "zarr.json"), graph) as writer:
        if missing := writer.missing():
            raise StoreError(
                f"{partial}: {named(missing)} missing, out of {writer.groups:,}; run {_unfinished(writer, missing)} "
                "again, or csaw sample --resume"
            )

        def results() -> Record:
            sealing = round(watch.read().whole, 6)
            return {"version": VERSION, "instances": writer.instances, "sealing_seconds": sealing} | _of_all(writer)

        sealed = writer.seal_alone(results, check=True)
        return open_stored(path).results if sealed else {"resumed": SEALED}


def _unfinished(writer: SharedWriter, missing: list[int]) -> str:
    """The shards whose groups are missing, as far as those that have ended tell how many there are."""
    parts = {Shard.of(said["shard"]).parts for said in writer.reports()}
    if len(parts) != 1:
        return "the unfinished shards"
    of = parts.pop()
    shards = [
        f"--shard {shard}"
        for shard in (Shard(number, of) for number in range(of))
        if set(missing) & set(shard.groups(writer.groups))
    ]
    return " and ".join(shards) if len(shards) <= 4 else f"{', '.join(shards[:4])} and {len(shards) - 4:,} more"


def _opened(path: Path, node: Record, graph: str | Path | None) -> SharedWriter:
    """The writer of an unfinished sample, as that says of itself what it is."""
    try:
        said = node["attributes"]
        manifest, layout, ids = said["manifest"], said["layout"], said["manifest"]["request"]["ids"]
        where, wanted = graph or manifest["graph"]["path"], manifest["request"]["fingerprint"]
        counts = {"instances": int(said["instances"]), "group_size": int(said["group_size"])}
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(
            f"{partial_of(path)}/zarr.json: expected the description of a sample, {error} is missing; sample again"
        ) from error
    store = open_graph(drawn_from(where, wanted))
    if store.fingerprint != wanted:
        raise StoreError(
            f"{path} is sampled from a graph other than {where}: expected the fingerprint {wanted}, found "
            f"{store.fingerprint}; name the graph with --graph"
        )
    return SharedWriter(
        path,
        manifest,
        layout=layout,
        dense_dtype=store.id_dtype,
        vertex_ids=None if ids == "dense" else store.stored_ids(),
        ids=ids,
        **counts,
    )
