"""What another process makes of samples and graphs that it is sent."""

import os
import pickle
from pathlib import Path

from csaw.partition.errors import CsawError


def read(samples):
    """Every array of some samples, as lists, and what they say of themselves."""
    arrays = [
        {name: array.tolist() for name, array in group.items()} for _, group in samples.iter_groups(samples.instances)
    ]
    return arrays, samples.instances, samples.first, str(samples.layout), samples.manifest["request"]["algorithm"]


def rows(graph):
    """The rows of a graph, its weights and its ids."""
    held = graph.load(graph.further_columns)
    columns = {name: values.tolist() for name, values in held.columns.items()}
    ids = graph.original_ids(range(graph.vertices)) if graph.vertices else []
    weights = None if held.weights is None else held.weights.tolist()
    return held.indptr.tolist(), held.indices.tolist(), weights, columns, list(ids), graph.fingerprint


def elsewhere(folder, answer, data):
    """``answer`` of what was pickled as ``data``, in a process that works in another folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        return answer(pickle.loads(data))
    except CsawError as error:
        return f"{type(error).__name__}: {error}"
    finally:
        os.chdir(before)
