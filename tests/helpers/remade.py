"""A sample store with other arrays than were drawn, whose checksums are those of what is there."""

import numpy as np

from csaw.engine.samples import SampleWriter
from csaw.engine.samples.layouts import VERTEX, kind_of
from csaw.engine.stores import open_samples


def remade(path, out, change):
    """Write the sample at ``path``, of dense ids, anew to ``out``, with its arrays as ``change`` returns them.

    The manifest is kept. ``change`` gets all arrays of a group that holds every instance, which it may edit.
    """
    samples = open_samples(path)
    arrays = {name: np.array(array) for name, array in samples.group(0, samples.instances).items()}
    arrays = change(arrays)
    layout = samples.layout
    counts = {layout.counted_by[name] for name in arrays if name in getattr(layout, "counted_by", {})} - {""}
    instances = len(arrays[min(counts)] if counts else next(iter(arrays.values())))
    with SampleWriter(
        out,
        samples.manifest,
        layout=str(layout),
        instances=instances,
        group_size=samples.group_size,
        dense_dtype=np.dtype(np.uint32),
        vertex_ids=None,
        ids=samples.ids,
        overwrite=True,
    ) as writer:
        bounds = [*range(0, instances, samples.group_size), instances]
        for group, part in enumerate(layout.cut(arrays, bounds)):
            writer.write(group, {name: as_drawn(name, array) for name, array in part.items()})
        writer.finish({})
    return out


def as_drawn(name, array):
    """An array as a batch brings it: ids that stand for no vertex are the largest of their type."""
    return array.astype(np.uint32) if kind_of(name) == VERTEX else array


def chosen(samples, numbers):
    """The arrays of these instances of samples, one after the other."""
    parts = [samples.group(int(number), int(number) + 1) for number in numbers]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
