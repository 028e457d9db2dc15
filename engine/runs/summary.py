"""What the summary of a run says of its whole sample, by the sizes that were counted while it was written."""

import logging
from typing import TYPE_CHECKING, Any

from csaw.engine.api.termination import cut_by, may_end
from csaw.engine.plan.target import fruitless
from csaw.engine.samples.draft import Draft
from csaw.engine.samples.seal import draft_sizes
from csaw.engine.samples.sizes import LEAST_VERTICES, Sizes

if TYPE_CHECKING:
    from csaw.engine.runs.run import Job

log = logging.getLogger(__name__)


def cut_walks(job: "Job", sizes: Sizes | None) -> dict[str, Any]:
    """How many walks of a finished sample of these ``sizes`` had not ended when a limit cut them, where the algorithm ends walks; their number and share are logged, too."""
    limit = getattr(job.algorithm, "walk_length", None)
    if limit is None or sizes is None or "ended_early" not in sizes or not may_end(job.algorithm):
        return {}
    cut = sizes["instances"] - sizes["ended_early"]
    if cut:
        log.warning("%s", cut_by(limit, cut, sizes["instances"]))
    return {"walks_cut": cut, "share_cut": round(cut / max(sizes["instances"], 1), 6)}


def short_of_target(job: "Job", sizes: Sizes | None) -> dict[str, Any]:
    """The fewest vertices of an instance of a finished sample of these ``sizes``, where a target was given; where they are less than that, this is logged, too."""
    target = job.plan.request.target
    if not target or sizes is None or LEAST_VERTICES not in sizes:
        return {}
    if sizes[LEAST_VERTICES] < target:
        log.warning(
            "instances have %s of %s vertices or more: they end where %s fires or walks in a row meet nothing new",
            f"{sizes['least_vertices']:,}", f"{target:,}", f"{fruitless(job.algorithm, job.sources):,}",
        )  # fmt: skip
    return {LEAST_VERTICES: sizes[LEAST_VERTICES]}


def resumed(draft: Draft, earlier: int) -> dict[str, Any]:
    """What the summary of a resumed run says otherwise: edges of the whole sample, and what else is of this run alone. ``earlier``: groups that were there."""
    sizes = draft_sizes(draft)
    said = f"{earlier:,} of {draft.groups:,} groups were there; dead ends, bytes written, times and rates are those of the rest"
    return {"resumed": said} | ({} if sizes is None else {"sampled_edges": sizes["edges"]})
