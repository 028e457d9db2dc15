"""The base instances of a target's sample, drawn again: those that ``--target`` has joined, and as many others of the
same law as a test asks for.
"""

from dataclasses import replace
from typing import Self

from csaw.engine.api.algorithm import LARGEST
from csaw.engine.api.recorded import given_again, named
from csaw.engine.api.registry import Algo
from csaw.engine.api.starts import SourceKind
from csaw.engine.plan.target import number_of
from csaw.engine.runs.job import DRAWS, prepare
from csaw.engine.runs.sample_stream import Stream
from csaw.engine.samples import files
from csaw.engine.samples.layouts import Arrays
from csaw.engine.samples.opened import joined
from csaw.engine.samples.samples import Samples
from csaw.engine.samples.stored import OnDemand
from csaw.engine.sources.digest import SourcesDigest
from csaw.partition import GraphStore
from csaw.partition.base.plain_data import Record, Values

ASKED = ("seed", "weighted", "edge_bias", "metapath", "target", "select", "collision")
FIRST = 1024  # instances whose first rounds are handed out
MOST = 1 << 13  # base instances that are handed out, about
GROUP = 1024


def why_not(samples: Samples) -> str:
    """The reason why base instances cannot be drawn again; empty where they can."""
    manifest = samples.manifest
    if manifest.get("draws") != DRAWS:
        return f"csaw {manifest.get('version')} has drawn this sample by other numbers than this version"
    if manifest["request"].get("columns"):
        return "a sample does not keep the data of --columns"
    is_list = SourcesDigest.parse(manifest["request"]["sources"]).kind is SourceKind.LIST
    return "a sample does not keep its list of sources" if is_list else ""


class Bases:
    """The base instances of a sample of the graph ``store``, with dense ids. ``with`` gives threads and memory back."""

    def __init__(self, samples: Samples, store: GraphStore, algo: Algo | None) -> None:
        """``algo``: FILE.py:CLASS where it was drawn by an algorithm that csaw does not ship."""
        request = samples.manifest["request"]
        name = named(samples.path, request, algo)
        given: Values = {one: request.get(one) for one in ASKED if request.get(one) is not None}
        given |= given_again(samples.path, request, name)
        given["instances"] = max(samples.instances, GROUP)  # so that batches have more than one or two of them
        job = prepare(store, name, device="cpu", ids="dense", **given)
        alone = replace(job.plan.request, target=0, induced=False, instances=LARGEST)
        plan = replace(job.plan, request=alone, induced=False, sorts_steps=False)
        self.samples, self.stream = samples, Stream(replace(job, plan=plan))
        self.seed, self.layout, self.sources = alone.seed, plan.drawn_layout, job.sources
        self.fill, self.targets = self.stream.job.identifiers.fill, min(samples.instances, FIRST)

    def round(self, instance: int, round_: int) -> Arrays:
        """The arrays of a round of an instance."""
        first = number_of(instance, round_)
        return self._drawn(first, first + (1 << round_))

    def held(self) -> Samples:
        """The first rounds of the first instances as samples, which are a fixed choice: what was drawn decides nothing
        of it.
        """
        rounds = (-(-MOST // self.targets)).bit_length()
        request = self.samples.manifest["request"]
        alone = {name: value for name, value in request.items() if name not in ("target", "induced")} | {"ids": "dense"}
        attributes: Record = {
            "manifest": self.samples.manifest | {"request": alone},
            "layout": self.layout,
            "instances": self.targets * ((1 << rounds) - 1),
            "group_size": GROUP,
            "ids": "dense",
            "fill": self.fill,
        }
        return Samples(OnDemand(self.samples.path, files.plain(attributes), self._bring, lambda: None))

    def number(self, place: int) -> int:
        """The number of the base instance that is handed out at this place."""
        round_ = self._round_of(place)
        return number_of(0, round_) - self.targets * ((1 << round_) - 1) + place

    def _round_of(self, place: int) -> int:
        return (place // self.targets + 1).bit_length() - 1

    def _bring(self, first: int, last: int) -> Arrays:
        """The base instances first .. last - 1, counted round after round."""
        parts: list[Arrays] = []
        round_ = self._round_of(first)
        while first < last or not parts:
            before = self.targets * ((1 << round_) - 1)
            upto = min(last, before + (self.targets << round_))
            start = number_of(0, round_) - before
            parts.append(self._drawn(start + first, start + max(upto, first + (first == last))))
            first, round_ = upto, round_ + 1
        return joined(parts)

    def _drawn(self, first: int, last: int) -> Arrays:
        return joined([batch.arrays() for batch in self.stream.draw(first, last)])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()
