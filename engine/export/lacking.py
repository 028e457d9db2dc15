"""Reasons for what files of samples lack of the arrays of a store: where it is instead."""

from collections.abc import Collection

from csaw.engine.samples import Samples

OF_WALKS, OF_EDGES, OF_DRAWN, OF_SEEDS = "walks", "edges", "drawn vertices", "seeds"
TABLES_LACK = OF_DRAWN, OF_SEEDS
"""Tables of edges have no place for these."""
WHERE = {
    OF_WALKS: "csv, parquet and graphml have those of each edge",
    OF_EDGES: "csv, parquet, npy and graphml have that of each edge",
    OF_DRAWN: "of vertices as they were drawn; the arrays of the sample store have it",
    OF_SEEDS: "pyg and torch have it, for each seed",
}


def lacking(samples: Samples, lacks: Collection[str]) -> dict[str, str]:
    """Return the reason for each array that a file lacks, by name; ``lacks``: what its format has no place for."""
    whose = {
        "times": OF_WALKS,
        "weight": OF_EDGES,
        "batch": OF_EDGES,
        "layer": OF_DRAWN,
        "probability": OF_SEEDS if samples.layout.keeps_seeds else OF_DRAWN,
        "y": OF_SEEDS,
        "seed_time": OF_SEEDS,
    }
    return {name: WHERE[of] for name, of in whose.items() if of in lacks and name in samples}
