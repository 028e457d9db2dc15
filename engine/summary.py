"""What the summary of a run says beside counts and times: of walks that a limit cut, and of resumed runs."""

import logging
from typing import TYPE_CHECKING, Any

from csaw.engine.ends import cut_by, may_end
from csaw.engine.samples.draft import Draft
from csaw.engine.samples.seal import draft_sizes

if TYPE_CHECKING:
    from csaw.engine.run import Job

log = logging.getLogger(__name__)


def cut_walks(job: "Job", draft: Draft) -> dict[str, Any]:
    """How many walks of a sealed sample had not ended when a limit cut them, where the algorithm ends walks; their number and share are logged, too."""
    limit, sizes = getattr(job.algorithm, "walk_length", None), draft_sizes(draft)
    if limit is None or sizes is None or "ended_early" not in sizes or not may_end(job.algorithm):
        return {}
    cut = sizes["instances"] - sizes["ended_early"]
    if cut:
        log.warning("%s", cut_by(limit, cut, sizes["instances"]))
    return {"walks_cut": cut, "share_cut": round(cut / max(sizes["instances"], 1), 6)}


def resumed(draft: Draft, earlier: int) -> dict[str, Any]:
    """What the summary of a resumed run says otherwise: edges of the whole sample, and what else is of this run alone. ``earlier``: groups that were there."""
    sizes = draft_sizes(draft)
    said = f"{earlier:,} of {draft.groups:,} groups were there; dead ends, bytes written, times and rates are those of the rest"
    return {"resumed": said} | ({} if sizes is None else {"sampled_edges": sizes["edges"]})
