"""The names that declare algorithms, shipped ones and your own: ``from csaw.engine.algorithm import Walk, option``."""

from csaw.engine.api.algorithm import (
    DEPTH_HELP,
    LENGTH_HELP,
    MOST_STEPS,
    NONE,
    Algorithm,
    MiniBatches,
    Option,
    Traversal,
    Walk,
    every_hop,
    option,
)
from csaw.engine.api.in_time import InTime, against_option
from csaw.engine.api.mixins import (
    ChosenBias,
    LayerEntries,
    MatrixEntries,
    bias_option,
    normalize_option,
    unique_option,
)
from csaw.engine.api.temporal_walk import TemporalWalk
from csaw.engine.api.transit_sampling import CollectiveSampling, IndividualSampling

__all__ = [
    "DEPTH_HELP",
    "LENGTH_HELP",
    "MOST_STEPS",
    "NONE",
    "Algorithm",
    "ChosenBias",
    "CollectiveSampling",
    "InTime",
    "IndividualSampling",
    "LayerEntries",
    "MatrixEntries",
    "MiniBatches",
    "Option",
    "TemporalWalk",
    "Traversal",
    "Walk",
    "against_option",
    "bias_option",
    "every_hop",
    "normalize_option",
    "option",
    "unique_option",
]
