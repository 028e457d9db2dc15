"""Samples that are brought up to date, held against full draws on the new version of their graph."""

import random

import csaw

SEED = 3


def edges_of(rng, vertices, count, weighted=False, timed=False):
    """``count`` different pairs with numbers beside them."""
    found = set()
    while len(found) < count:
        a, b = rng.randrange(vertices), rng.randrange(vertices)
        if a != b:
            found.add((min(a, b), max(a, b)))
    return [(*ends, *([rng.randrange(1, 9)] * weighted), *([rng.randrange(100)] * timed)) for ends in sorted(found)]


def text(path, rows):
    path.write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return path


def grown(folder, seed=1, *, weighted=True, directed=False, timed=False, far=False):
    """A store of three versions: rows are added, removed, and where ``far`` lead to new vertices."""
    rng, vertices = random.Random(seed), 80
    kinds = {"weighted": weighted, "timed": timed}
    rows = edges_of(rng, vertices, 170, **kinds)
    more = {"weight_column": 3} if weighted else {}
    more |= {"time_column": 3 + weighted} if timed else {}
    made = csaw.partition(text(folder / "a.txt", rows), folder / "g.zarr", directed=directed, partitions=5, **more)
    new = edges_of(rng, vertices, 2, **kinds) + ([(3, 1000, *rows[0][2:]), (200, 1000, *rows[0][2:])] if far else [])
    csaw.append(made.path, text(folder / "b.txt", new), **more)
    if not timed:
        csaw.append(made.path, text(folder / "c.txt", rows[:1]), remove=True, **more)
    return made.path


def stored(path):
    """The bytes of all files but those with times of the run."""
    files = [file for file in sorted(path.rglob("*")) if file.is_file()]
    named = {str(file.relative_to(path)): file for file in files}
    return {name: file.read_bytes() for name, file in named.items() if not name.startswith("results")}


def compared(graph, folder, algo, options, columns=None, given=None, **how):
    """Draw on the oldest version, bring it up to date, and hold it against a full draw; what was refreshed.

    ``columns``: arrays for the newest version, of which the oldest has the beginning; ``given``: the
    same in another form. ``how``: options of the refresh.
    """
    own = options | {"algo": algo, "seed": SEED, "device": "cpu"}
    old, data = csaw.open_graph(graph, version=0), {} if columns is None else {"columns": columns}
    before = {name: {one: array[: old.vertices] for one, array in arrays.items()} for name, arrays in data.items()}
    csaw.sample(old, folder / "s.zarr", **own, **before)
    done = csaw.refresh(
        folder / "s.zarr",
        folder / "new.zarr",
        **({"device": "cpu"} | data | how | ({"columns": given} if given else {})),
    )
    csaw.sample(graph, folder / "full.zarr", **own, **data)
    found, wanted = stored(folder / "new.zarr"), stored(folder / "full.zarr")
    assert found.keys() == wanted.keys()
    assert [name for name in found if found[name] != wanted[name]] == []
    return done.results["refreshed"]
