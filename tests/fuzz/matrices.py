"""Matrices, CSR arrays, tensors and graphs of other libraries, some of them spoilt.

Each maker gives what csaw is asked, the graph that is meant, whether it must be read, and what is odd.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np

from fuzz import meant
from fuzz.grammar import MAY, MUST, NEVER

Made = tuple[Callable[[], Any], meant.Graph | None, str, str]
Built = Callable[..., meant.Graph]
VALUES = [0.0, 0.25, 0.5, 2.0, 3.0]


def _triples(random: Random) -> tuple[int, list[tuple[int, int, float]]]:
    size = random.randrange(1, 9)
    return size, [
        (random.randrange(size), random.randrange(size), random.choice(VALUES)) for _ in range(random.randrange(1, 20))
    ]


def of_scipy(random: Random, built: Built, _: Any) -> Made:
    """A matrix in any of SciPy's forms; its repeated entries stand for their sum."""
    from scipy import sparse

    import csaw

    size, triples = _triples(random)
    form = random.choice(["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    rows, columns, data = (np.array(column) for column in zip(*triples, strict=True))
    kind = random.choice([sparse.coo_array, sparse.coo_matrix])
    whole = kind((data.astype(random.choice(["f4", "f8"])), (rows, columns)), shape=(size, size))
    matrix = whole.asformat(form)
    sums: dict[tuple[int, int], float] = {}
    for row, column, value in triples:
        sums[row, column] = sums.get((row, column), 0.0) + value
    if form in ("bsr", "dia", "dok", "lil"):  # which have other zeros, or drop those that stand in them
        sums = {(int(a), int(b)): float(v) for a, b, v in zip(*_coo(matrix), strict=True)}
    ends = [[pair[end] for pair in sums] for end in (0, 1)]
    weights = list(sums.values())
    weighted = any(value != 1 for value in matrix.tocoo().data.tolist())
    expected = built(*ends, weights if weighted else None, vertices=range(size))
    if form not in SPOILT or random.random() < 0.4:
        return lambda: csaw.graph(matrix), expected, MUST, form
    told = _spoil(random, matrix, form)
    return lambda: csaw.graph(matrix), None, NEVER, f"{form} with {told}"


def _coo(matrix: Any) -> tuple[Any, ...]:
    found = matrix.tocoo().tocsr().tocoo()
    return found.row, found.col, found.data


SPOILT = {
    "csr": ("indptr", "indices", "data"),
    "csc": ("indptr", "indices", "data"),
    "bsr": ("indptr", "indices", "data"),
    "coo": ("row", "col", "data"),
    "dia": ("offsets", "data"),
}


def _spoil(random: Random, matrix: Any, form: str) -> str:
    """Put a wrong array into a matrix."""
    name = random.choice(SPOILT[form])
    held = np.array(getattr(matrix, name))
    wrong: dict[str, Callable[[], Any]] = {
        "complex numbers": lambda: held * 1j,
        "an axis more": lambda: held[None],
        "objects": lambda: np.full(held.shape, object(), object),
    }
    if name != "offsets":
        wrong["an entry more"] = lambda: np.concatenate([held, held[:1]]) if held.size else np.ones(1, held.dtype)
    if name != "data":
        wrong |= {"numbers with a point": lambda: held + 0.0, "truths": lambda: held > 0}
    if name in ("indices", "row", "col"):
        wrong |= {
            "too large ones": lambda: held + 10**6,
            "negative ones": lambda: held - 10**6,
            "masked ones": lambda: np.ma.array(held, mask=True),
        }
    if name == "indptr":
        wrong |= {
            "a wrong begin": lambda: held + 1,
            "a fall": lambda: np.concatenate([[0, 10**7], held])[: held.size],
            "a large end": lambda: np.append(held[:-1], 10**9),
        }
    if name == "data" and form == "dia":
        wrong.pop("an axis more")
    told = random.choice(list(wrong))
    object.__setattr__(matrix, name, wrong[told]()) if name not in ("row", "col") else _set_coordinate(
        matrix, name, wrong[told]()
    )
    return f"{name}: {told}"


def _set_coordinate(matrix: Any, name: str, array: Any) -> None:
    coords = [matrix.row, matrix.col]
    coords[name == "col"] = array
    matrix.coords = tuple(coords)


def of_csr(random: Random, built: Built, _: Any) -> Made:
    """CSR arrays, kept where they are sorted."""
    import csaw

    size, triples = _triples(random)
    rows: list[list[tuple[int, float]]] = [[] for _ in range(size)]
    for row, column, value in triples:
        rows[row].append((column, value))
    indptr = np.cumsum([0, *map(len, rows)])
    indices, weights = (np.array([entry[k] for row in rows for entry in row]) for k in (0, 1))
    given: dict[str, Any] = {
        "indptr": indptr,
        "indices": indices,
        "weights": weights if random.random() < 0.5 else None,
    }
    how = {} if random.random() < 0.5 else {"duplicates": "keep"}
    expected = built(
        [row for row, *_ in triples],
        [column for _, column, _ in triples],
        None if given["weights"] is None else [value for *_, value in triples],
        duplicates="keep",
        vertices=range(size),
    )
    if random.random() < 0.4:
        given = {
            name: one
            if one is None
            else random.choice([list, lambda a: np.repeat(a, 2)[::2], lambda a: a.astype(a.dtype.newbyteorder())])(one)
            for name, one in given.items()
        }
        return lambda: csaw.graph(**given, **how), expected, MUST, "CSR arrays"
    name = random.choice(["indptr", "indices"])
    wrong: dict[str, Callable[[Any], Any]] = {
        "floats": lambda a: a + 0.0,
        "halves": lambda a: a + 0.5,
        "truths": lambda a: a > 0,
        "complex": lambda a: a + 0j,
        "an axis more": lambda a: a[None],
        "less": lambda a: a - a.min() - 1,  # one of them is below 0
        "more": lambda a: a + 9,
        "longer": lambda a: np.append(a, a[-1]) if name == "indices" else np.append(a, 10**9),
        "masked": lambda a: np.ma.array(a, mask=True),
        "strings": lambda a: a.astype(str),
        "times": lambda a: a.astype("M8[ns]"),
        "objects": lambda a: [None] * a.size,
        "no axis": lambda a: a[0],
        "10**400": lambda a: [10**400] * a.size,
        "jagged": lambda a: [[1], [1, 2]],
        "a text": lambda a: "0 1",
    }
    told = random.choice(list(wrong))
    given[name] = wrong[told](given[name])
    return lambda: csaw.graph(**given, **how), None, NEVER, f"{name}: {told}"


def of_networkx(random: Random, built: Built, values: Any) -> Made:
    """A graph or multigraph, whose edges have weights of any kind or none."""
    import networkx

    import csaw

    sources, targets, weights = values(random)
    kind = random.choice([networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
    graph = kind()
    for a, b, w in zip(sources, targets, weights or [None] * len(sources), strict=True):
        graph.add_edge(a, b, **({} if w is None else {"weight": w}))
    graph.add_node("alone" if isinstance(sources[0], str) else 77)
    held = list(graph.edges(data="weight"))
    told, verdict = kind.__name__, MUST
    if random.random() < 0.35:
        odd = random.choice([1j, "x", [1], -1, float("nan"), 10**400, 1e-46, object(), {}, b"?", (1, 2), None])
        where = random.choice(["weight", "node"])
        told, verdict = f"{told} with {odd!r:.20} as {where}", NEVER
        if where == "weight":
            graph.add_edge(sources[0], targets[0], weight=odd)
            verdict = MAY if odd is None else NEVER
        else:
            graph.add_node((odd, 1) if isinstance(odd, list | dict) or odd is None else odd) if not isinstance(
                odd, list | dict
            ) else graph.add_node((1, 2))
            verdict = MAY if isinstance(odd, str | int) else NEVER
        return lambda: csaw.graph(graph), None, verdict, told
    found = [[row[k] for row in held] for k in range(3)]
    weights = [1.0 if one is None else one for one in found[2]] if any(one is not None for one in found[2]) else None
    expected = built(*found[:2], weights, directed=graph.is_directed(), duplicates="keep", vertices=graph.nodes)
    return lambda: csaw.graph(graph), expected, verdict, told


def of_igraph(random: Random, built: Built, values: Any) -> Made:
    """A graph with names or without, and odd attributes."""
    import igraph

    import csaw

    size, triples = _triples(random)
    directed = random.random() < 0.5
    graph = igraph.Graph(size, [(a, b) for a, b, _ in triples], directed=directed)
    names: list[Any] = [f"v{k}" for k in range(size)] if random.random() < 0.5 else list(range(size))
    if isinstance(names[0], str):
        graph.vs["name"] = names
    weights = [w for *_, w in triples] if random.random() < 0.5 else None
    if weights is not None:
        graph.es["weight"] = weights
    expected = built(
        [names[a] for a, *_ in triples],
        [names[b] for _, b, _ in triples],
        weights,
        directed=directed,
        duplicates="keep",
        vertices=names,
    )
    if random.random() < 0.65:
        return lambda: csaw.graph(graph), expected, MUST, "igraph"
    odd = random.choice([1j, "x", -1, 10**400, 1e-46, (1,), object(), float("nan")])
    if random.random() < 0.5 or size < 2:
        graph.es["weight"] = [odd] * graph.ecount()
        return lambda: csaw.graph(graph), None, NEVER, f"weights {odd!r:.20}"
    graph.vs["name"] = random.choice([["same"] * size, [None] * size, [1, *["x"] * (size - 1)], [(1,)] * size])
    return lambda: csaw.graph(graph), None, NEVER, "names"


def of_torch(random: Random, built: Built, _: Any) -> Made:
    """An edge_index, in any type."""
    import torch

    import csaw

    rows = [[random.randrange(9) for _ in range(k)] for k in [random.randrange(3, 12)] * 2]
    kinds = [torch.int64, torch.int32, torch.uint8, torch.int16]
    good = torch.tensor(rows, dtype=random.choice(kinds))
    expected = built(*rows, None, duplicates="keep")
    if random.random() < 0.5:
        return lambda: csaw.graph(torch.repeat_interleave(good, 2, 1)[:, ::2]), expected, MUST, "edge_index"
    wrong: dict[str, Callable[[], Any]] = {
        "float": lambda: good.float(),
        "bool": lambda: good.bool(),
        "complex": lambda: good.to(torch.complex64),
        "bfloat16": lambda: good.bfloat16(),
        "turned": lambda: good.T,
        "flat": lambda: good.flatten(),
        "no axis": lambda: torch.tensor(5),
        "sparse": lambda: good.to_sparse(),
        "meta": lambda: good.to("meta"),
        "gradients": lambda: good.float().requires_grad_(),
        "a module": lambda: torch.nn.Linear(2, 2),
        "empty": lambda: torch.zeros((2, 0), dtype=torch.int64),
        "conjugate": lambda: good.to(torch.complex64).conj(),
    }
    told = random.choice(list(wrong))
    return lambda: csaw.graph(wrong[told]()), None, NEVER, told


def of_pyg(random: Random, built: Built, _: Any) -> Made:
    """Data with an edge_index, weights and a number of vertices, of which one may be malformed."""
    import torch
    from torch_geometric.data import Data

    import csaw

    size, triples = _triples(random)
    index = torch.tensor([[a for a, *_ in triples], [b for _, b, _ in triples]])
    weights = [w for *_, w in triples]
    good: dict[str, Any] = {"edge_index": index, "num_nodes": size, "edge_weight": torch.tensor(weights)}
    expected = built(*index.tolist(), weights, duplicates="keep", vertices=range(size))
    if random.random() < 0.4:
        good["edge_weight"] = (
            good["edge_weight"].reshape(-1, 1) if random.random() < 0.5 else good["edge_weight"].requires_grad_()
        )
        return lambda: csaw.graph(Data(**good)), expected, MUST, "Data"
    wrong: dict[str, list[Any]] = {
        "edge_index": [
            None,
            index.float(),
            index.T if len(triples) != 2 else None,
            index.tolist(),
            index.numpy(),
            index - 100,
            index + 100,
            "x",
            index.to_sparse(),
            index[0],
            {},
        ],
        "num_nodes": [-1, 10**30, "x", 1.5, [1], 10**14],
        "edge_weight": [
            torch.ones(len(triples) + 1),
            torch.tensor(weights) * 1j,
            "x",
            [None],
            torch.tensor(weights) - 100,
            torch.ones(3, 3, 3),
        ],
    }
    name = random.choice(list(wrong))
    good[name] = random.choice(wrong[name])
    return lambda: csaw.graph(Data(**good)), None, NEVER, f"{name} {good[name]!r:.30}".replace("\n", " ")


MAKERS: dict[str, Callable[[Random, Built, Any], Made]] = {
    "scipy": of_scipy,
    "csr": of_csr,
    "networkx": of_networkx,
    "igraph": of_igraph,
    "torch": of_torch,
    "pyg": of_pyg,
}
