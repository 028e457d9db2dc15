"""A reader of graph stores and sample stores, written from docs/reference/formats.md alone: json, hashlib, struct,
NumPy, and Blosc where chunks are compressed.
"""

import hashlib
import json
import struct
from itertools import pairwise
from pathlib import Path

import numpy as np

BITS = 2**64 - 1
P1, P2, P3, P4, P5 = (
    11400714785074694791,
    14029467366897019727,
    1609587929392839161,
    9650029242287828579,
    2870177450012600261,
)
BLOCK = 4096
LATEST = {"graph": 4, "samples": 4}


def rotated(word, bits):
    return (word << bits | word >> (64 - bits)) & BITS


def mixed(lane, word):
    return rotated((lane + word * P2) & BITS, 31) * P1 & BITS


def xxh64(data):
    """XXH64 with seed 0, from its specification."""
    state = P5
    if len(data) >= 32:
        lanes = [(P1 + P2) & BITS, P2, 0, -P1 & BITS]
        for at in range(0, len(data) - 31, 32):
            lanes = [mixed(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at), strict=True)]
        state = sum(rotated(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18), strict=True)) & BITS
        for lane in lanes:
            state = ((state ^ mixed(0, lane)) * P1 + P4) & BITS
    state = (state + len(data)) & BITS
    stripes, at = len(data) // 32 * 32, len(data) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", data[stripes:at]):
        state = (rotated(state ^ mixed(0, word), 27) * P1 + P4) & BITS
    if len(data) - at >= 4:
        state = (rotated(state ^ (struct.unpack_from("<I", data, at)[0] * P1 & BITS), 23) * P2 + P3) & BITS
        at += 4
    for byte in data[at:]:
        state = rotated(state ^ (byte * P5 & BITS), 11) * P1 & BITS
    state = (state ^ state >> 33) * P2 & BITS
    state = (state ^ state >> 29) * P3 & BITS
    return state ^ state >> 32


def sha256(data):
    return hashlib.sha256(data).hexdigest()


def canonical(value):
    return json.dumps(value, sort_keys=True).encode()


def chunks_of(folder, separator):
    """Description of an array, and its chunk files in order."""
    node = json.loads((folder / "zarr.json").read_bytes())
    assert (node["zarr_format"], node["node_type"]) == (3, "array")
    assert node["chunk_key_encoding"]["configuration"]["separator"] == separator
    shape, chunk = node["shape"], node["chunk_grid"]["configuration"]["chunk_shape"]
    count = -(-shape[0] // chunk[0]) if all(shape) else 0
    names = [separator.join(["c", str(k), *["0"] * (len(shape) - 1)]) for k in range(count)]
    return node, [folder / name for name in names]


def joined(node, parts):
    """The array whose chunks hold these bytes."""
    dtype, shape = np.dtype(node["data_type"]).newbyteorder("<"), node["shape"]
    chunk = node["chunk_grid"]["configuration"]["chunk_shape"]
    assert all(len(part) == int(np.prod(chunk)) * dtype.itemsize for part in parts)
    rows = np.frombuffer(b"".join(parts), dtype).reshape(-1, *chunk[1:]) if parts else np.empty(shape, dtype)
    return rows[: shape[0]]


def attributes_of(path, kind):
    node = json.loads((path / "zarr.json").read_bytes())
    assert (node["zarr_format"], node["node_type"]) == (3, "group")
    attributes = node["attributes"]
    assert attributes["csaw_kind"] == kind
    assert attributes["format_version"] <= LATEST[kind]
    return attributes


class GraphReader:
    """The attributes and arrays of a graph store. AssertionError where a byte has changed."""

    def __init__(self, path):
        self.path = Path(path)
        self.attributes = attributes_of(self.path, "graph")
        self.checked = self.attributes["format_version"] > 1
        if self.checked:
            others = {name: value for name, value in self.attributes.items() if name != "digest"}
            assert sha256(canonical(others))[:32] == self.attributes["digest"]

    def array(self, name):
        folder = self.path / name
        node, files = chunks_of(folder, "/")
        parts = [file.read_bytes() for file in files]
        packed = [codec["name"] for codec in node["codecs"]] == ["bytes", "blosc"]
        if self.checked:
            self.check(name, parts, packed)
        if packed:
            from numcodecs import blosc

            parts = [blosc.decompress(part) for part in parts]
        return joined(node, parts)

    def check(self, name, parts, packed):
        folder = self.path / name
        sums = (folder / "checksums").read_bytes()
        found = sha256((folder / "zarr.json").read_bytes() + sums)[:32]
        assert found == self.attributes["checksums"]["arrays"][name]
        blocks = [
            part[k : k + (len(part) if packed else BLOCK)]
            for part in parts
            for k in range(0, len(part), len(part) if packed else BLOCK)
        ]
        assert sums == b"".join(struct.pack("<I", xxh64(block) & 0xFFFFFFFF) for block in blocks), folder

    def whole(self, name):
        """An array of all partitions; of ``indptr``, with the offsets of the whole graph."""
        parts = [self.array(f"partitions/{k:05d}/{name}") for k in range(len(self.attributes["partitions"]))]
        if name != "indptr":
            return np.concatenate(parts)
        return np.concatenate(
            [[0], *(row[2] + part[1:] for row, part in zip(self.attributes["partitions"], parts, strict=True))]
        )

    def ids(self):
        """Original ids by dense id; None where they are the dense ones."""
        kind = self.attributes["id_kind"]
        if kind == "identity":
            return None
        ids = self.array("vertex_ids")
        return ids if kind != "string" else strings(ids, self.array("vertex_id_offsets"))

    def fingerprint(self):
        ids = [
            self.array(n) for n in ("vertex_ids", "vertex_id_offsets") if n in self.attributes["checksums"]["arrays"]
        ]
        weights = self.whole("weights").tobytes() if self.attributes["weighted"] else b""
        streams = (
            np.diff(self.whole("indptr")).tobytes(),
            self.whole("indices").tobytes(),
            weights,
            b"".join(one.tobytes() for one in ids),
        )
        columns = sorted(self.attributes.get("edge_columns", []), key=lambda column: column["name"])
        further = [f" {c['name']} {c['dtype']} {sha256(self.whole('edge_' + c['name']).tobytes())}" for c in columns]
        return sha256("".join([*map(sha256, streams), *further]).encode())[:32]


class SampleReader:
    """The attributes and arrays of a sample store. AssertionError where a byte has changed."""

    def __init__(self, path):
        self.path = Path(path)
        self.attributes = attributes_of(self.path, "samples")
        said = json.loads((self.path / "checksums" / "zarr.json").read_bytes())["attributes"]
        self.sums = said["sha256"]
        assert said.get("sha256_of_these", sha256(canonical(self.sums))) == sha256(canonical(self.sums))
        self.check("zarr.json")
        self.results = json.loads((self.path / "results" / "zarr.json").read_bytes())["attributes"]
        said = self.results.pop("sha256", None)
        assert said in (None, sha256(canonical(self.results)))

    def check(self, name):
        data = (self.path / name).read_bytes()
        assert sha256(data) == self.sums[name], name
        return data

    def names(self):
        return sorted(name.removesuffix("/zarr.json") for name in self.sums if name.endswith("/zarr.json"))

    def array(self, name):
        self.check(f"{name}/zarr.json")
        node, files = chunks_of(self.path / name, ".")
        return joined(node, [self.check(f"{name}/{file.name}") for file in files])

    def strings(self):
        return strings(self.array("vertex_ids"), self.array("vertex_id_offsets"))

    def instance(self, number):
        """The arrays of one instance, by the rules of its layout."""
        layout = self.attributes["layout"]
        if layout == "walks":
            return {"walk": self.array("walks")[number, : self.array("lengths")[number] + 1]}
        if layout == "hops":
            return {name: self.array(name)[number] for name in self.names() if name.startswith("hop_")}
        if layout == "links":
            return {name: self.array(name)[number] for name in self.names() if name in ("links", "negatives", "time")}
        bounds = {
            "ragged-walks": {"walk_ptr": ["walks"]},
            "subgraphs": {
                "instance_ptr": ["src", "dst", "depth", "weight", "relation"],
                "sources_ptr": ["sources"],
                "vertices_ptr": ["vertices", "layer", "probability"],
            },
            "batches": {
                "node_ptr": ["n_id", "batch"],
                "edge_ptr": ["row", "col", "e_id"],
                "seed_ptr": ["input_id", "y"],
            },
        }[layout]
        found = {}
        for pointer, names in bounds.items():
            for name in set(names) & set(self.names()):
                first, last = self.array(pointer)[number : number + 2]
                found[name] = self.array(name)[first:last]
        return found


def strings(text, offsets):
    data = text.tobytes()
    return [data[a:b].decode() for a, b in pairwise(offsets)]
