"""The samplers of the page on NextDoor's shape, and the algorithms of csaw's own that have their laws."""

import re
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "nextdoor.md"
NORMS = 1.0 + np.arange(300) % 7  # of the vertices of ``random_store``
OPTIONS = {"weighted": False, "seed": 3}
# Of each class its options, the algorithm that draws the same, and what that is called with beside them.
SAME = {
    "DeepWalk": ({"walk_length": 9, "num_walks": 2, "seed": 3}, "deepwalk", {}),
    "PersonalizedPagerank": ({"num_walks": 2, "seed": 3}, "ppr", {"termination_prob": 0.15}),
    "KHop": ({**OPTIONS, "fanout": (4, 3)}, "neighbor", {"replace": True}),
    "UniqueKHop": ({**OPTIONS, "fanout": (4, 3)}, "neighbor", {"unique": True}),
    "MultiRW": ({**OPTIONS, "frontier_size": 5, "instances": 20}, "multidimensional", {"walk_length": 100}),
    "Ladies": ({"frontier_size": 4, "seed": 3}, "ladies", {"layer_sizes": (64, 64)}),
    "FastGcn": ({"frontier_size": 4, "seed": 3}, "fastgcn", {"layer_sizes": (64, 64)}),
    "Layers": ({**OPTIONS, "total": 60}, "layer", {"depth": None, "neighbor_size": 1000, "unique": True}),
    "Mvs": ({"columns": {"x": NORMS}, "norms": "x", "seeds_per_batch": 20, "instances": 9, "seed": 3}, "mvs", {}),
    "ClusterGcn": ({"clusters_per_batch": 5, "instances": 20, "seed": 3}, "cluster-gcn", {}),
}


def written(folder):
    """A file of all classes of the page."""
    file = folder / "samplers.py"
    file.write_text("\n\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)))
    return file
