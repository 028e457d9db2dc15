"""Graphs of several types that grow, and requests that are drawn at random, for samples that are brought up to date."""

import random

import numpy as np

import csaw

TRIPLES = ("author", "writes", "paper"), ("author", "likes", "paper"), ("paper", "cites", "paper")
SIZES = {"author": 40, "paper": 70}


def rows_of(rng, count, weighted, timed, triples=TRIPLES, new=0):
    """Random rows by relation; the last ones lead to ``new`` papers."""
    found = {}
    for source, name, target in triples:
        ends = {
            (rng.randrange(SIZES[source]), rng.randrange(SIZES[target]) ** 2 // SIZES[target]) for _ in range(count)
        }
        ends |= {(rng.randrange(SIZES[source]), 1000 + rng.randrange(new)) for _ in range(2 * bool(new))}
        numbers = [rng.randrange(1, 9)] * weighted
        found[source, name, target] = [(*one, *numbers, *[rng.randrange(100)] * timed) for one in sorted(ends)]
    return found


def files(place, name, rows, kinds):
    """The rows of each relation as a file, by relation."""
    made = {}
    for triple, edges in rows.items():
        made[triple] = str(place / f"{name}-{triple[1]}.csv")
        head = ",".join(["source", "target", *kinds])
        body = "".join(",".join(map(str, row)) + "\n" for row in edges)
        (place / f"{name}-{triple[1]}.csv").write_text(f"{head}\n{body}")
    return made


def grown(folder, seed=1, *, weighted=False, timed=False, far=False, relations=TRIPLES, partitions=None):
    """A store of a few versions: edges of these ``relations`` are added, to new papers where ``far``, weighed again and
    removed.
    """
    rng, kinds = random.Random(seed), ["weight"] * weighted + ["time"] * timed
    more = {"time_column": "time"} if timed else {}
    rows = rows_of(rng, 90, weighted, timed)
    every = [(k, k % 9, *[1] * weighted, *[5] * timed) for k in range(SIZES["author"])]
    rows["author", "writes", "paper"] = sorted(
        {one[:2]: one for one in [*every, *rows["author", "writes", "paper"]]}.values()
    )
    rows["paper", "cites", "paper"] += [(k, (k + 1) % 70, *[1] * weighted, *[5] * timed) for k in range(70)]
    how = {"reverse_relations": True, "duplicates": "first", "partitions": partitions or rng.choice([1, 3, 5])}
    made = csaw.partition(files(folder, "a", rows, kinds), folder / "g.zarr", progress=False, **how, **more)
    new = rows_of(rng, 1, weighted, timed, relations, 2 if far else 0)
    csaw.append(made.path, files(folder, "b", new, kinds), **more)
    if weighted:
        again = {triple: [(*row[:2], row[2] + 3, *row[3:]) for row in rows[triple][:1]] for triple in relations}
        csaw.append(made.path, files(folder, "c", again, kinds), duplicates="last", **more)
    if not timed:
        gone = {triple: rows[triple][-2:-1] for triple in relations}
        csaw.append(made.path, files(folder, "d", gone, kinds), remove=True, **more)
    return made.path


def request(number, *, weighted, timed):
    """The name of an algorithm and its options, which ``number`` determines."""
    rng = np.random.default_rng([7, number])
    names = ["writes", "likes", "cites", "rev_writes", "rev_likes", "rev_cites"]

    def fanouts(least=-1):
        some = rng.permutation(names)[: rng.integers(1, 6)].tolist()
        return {name: tuple(rng.integers(0 if rng.random() < 0.2 else least, 4, 2).tolist()) for name in some}

    def positive():
        return {name: tuple(max(one, 0) for one in sizes) for name, sizes in fanouts(0).items()} | {"cites": (2, 1)}

    chosen = {"weighted": bool(weighted and rng.random() < 0.5), "ids": str(rng.choice(["original", "dense"]))}
    paths = "writes,rev_writes", "writes,cites,rev_likes", "rev_writes,likes", "cites", "likes,rev_writes,writes"
    time = {"time_strategy": str(rng.choice(["uniform", "last"]))} if timed else {}
    kinds = {
        "minibatch": lambda: {"fanout": fanouts(), "seeds_per_batch": int(rng.integers(1, 4))},
        "disjoint": lambda: {"fanout": fanouts(), "seeds_per_batch": 2, "disjoint": True} | time,
        "hgt": lambda: {"num_samples": {"author": (2, 1), "paper": (1, 2)}, "seeds_per_batch": int(rng.integers(1, 4))},
        "neighbor": lambda: {"fanout": positive(), "replace": bool(not timed and rng.random() < 0.3)} | time,
        "labor": lambda: {"fanout": fanouts(1), "frontier_size": int(rng.integers(1, 4))},
        "deepwalk": lambda: {"walk_length": int(rng.integers(1, 6))},
        "path": lambda: {"walk_length": int(rng.integers(1, 6)), "metapath": str(rng.choice(paths[:4]))},
        "second": lambda: {"walk_length": 4, "metapath": str(rng.choice(paths)), "edge_bias": "e.dst_degree"},
        "ppr": lambda: {"metapath": str(rng.choice(paths[:4]))},
        "hops": lambda: {"fanout": (2, 1), "metapath": str(rng.choice(paths[:4]))},
        "by_relation": lambda: {"walk_length": 4, "edge_bias": "1 + e.relation % 3"},
        "forest-fire": lambda: {"burn_prob": 0.3},
        "snowball": lambda: {"depth": 1, "induced": bool(rng.random() < 0.5)},
    }
    kind = str(rng.choice(list(kinds)))
    names_of = {"disjoint": "minibatch", "hops": "neighbor"} | dict.fromkeys(
        ("path", "second", "by_relation"), "deepwalk"
    )
    options = kinds[kind]()
    if kind == "labor" or kind == "hgt" or "time_strategy" in options:
        chosen["weighted"] = False
    if "time_strategy" in options or (timed and kind in ("minibatch", "labor", "hgt")):
        chosen.pop("weighted")
    if "time_strategy" in options:
        ids = [f"paper:{k}" for k in rng.permutation(70)[:20].tolist()]
        options["sources"] = {"ids": ids, "time": rng.integers(0, 100, 20).tolist()}
    elif "metapath" not in options and rng.random() < 0.4:
        options["sources"] = "type:paper" if rng.random() < 0.5 else [f"author:{k}" for k in range(12)]
    return names_of.get(kind, kind), options | chosen
