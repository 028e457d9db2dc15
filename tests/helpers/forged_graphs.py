"""A graph store as a stranger may have made it: arrays and attributes are changed, and its checksums made anew."""

import json
import shutil

import numpy as np

from csaw.engine.verify import verify_graph
from csaw.partition.arrays.arrays import growing_array
from csaw.partition.arrays.nodes import digest, read_group, write_group
from csaw.partition.base.parallel import Backlog
from csaw.partition.graph.attributes import about, checked
from csaw.partition.graph.store import GraphStore


def failed(path):
    return {check.name for check in verify_graph(path).checks if not check.ok}


def replaced(path, name, change):
    """Write one array of a store anew, and its checksums; of a store with versions, those of its first."""
    store, (*folders, array) = GraphStore(path, checked(path, read_group(path))), name.split("/")
    held = store.clusters and store.read_clusters() if name == "clusters" else None
    if array == "indptr":
        held = store.read_offsets(int(folders[-1]))
    if held is None:
        number = int(folders[-1])
        dtypes = {one.array: one.dtype for one in store.edge_columns} | {"indices": store.id_dtype}
        held = np.empty(store.partitions[number].edges, dtypes[array])
        store.read_edges(number, {array: held})
    shutil.rmtree(path / name)
    new = growing_array(path / name, held.dtype, None, Backlog())
    new.extend(change(held))
    new.end()
    sums = new.close(about(array, store.id_kind, store.fingerprint, store.further_columns))
    edited(path, lambda said: said["checksums"]["arrays"].update({name: sums}))


def edited(path, change):
    said = json.loads((path / "zarr.json").read_text())["attributes"]
    change(said)
    said.pop("digest")
    write_group(path, said | {"digest": digest(said)})
