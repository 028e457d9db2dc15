"""Samples that a stranger has made: what they say of themselves is edited, and their checksums are made anew.

Nothing runs that they name, and every command ends well.
"""

import json
from pathlib import Path
from random import Random
from typing import Any

from helpers.forged import forged

from fuzz import damage, warm
from fuzz.faults import put, run, text_of
from fuzz.judge import REFUSALS, Failure, refusal_or_failure

DRAWS = {
    "walks": ("--algo", "deepwalk", "--walk-length", "4", "--edge-bias", "e.weight * 2"),
    "hops": ("--algo", "neighbor", "--fanout", "3,2"),
    "batches": ("--algo", "minibatch", "--fanout", "2,2", "--seeds-per-batch", "4"),
    "joined": ("--algo", "forest-fire", "--burn-prob", ".4", "--target", "5", "--instances", "3"),
    "virtual": ("--algo", "node2vec", "--walk-length", "4", "--virtual"),
}
CANARY = "PWNED"
CODE = f"open({CANARY!r}, 'w')"
VALUES: list[Any] = [
    (
        "[x for x in ().__class__.__base__.__subclasses__() if x.__name__ == "
        f"'_wrap_close'][0].__init__.__globals__['system']('touch {CANARY}')"
    ),
    f"math.__loader__.load_module('os').system('touch {CANARY}')",
    CODE,
    f"0 or {CODE}",
    "evil.py:X",
    "./evil.py:X",
    "EVIL:X",
    "os:system",
    "e.dst ** e.dst ** e.dst ** 9",
    "deepwalk",
    "node2vec",
    "/dev/zero",
    "random:2",
    "all",
    "every",
    "EVIL",
    "../graph.zarr",
    "cuda",
    "cpu",
    "4GiB",
    {"device": "cuda"},
    {"columns": "EVIL"},
    {"edge_bias": CODE},
    {"walk_length": 10**9},
    {"walk_length": "9" * 30},
]
EVIL = f"{CODE}\nfrom csaw.engine.algorithms.deepwalk import Deepwalk as X\n"
COMMANDS = (
    ("verify",),
    ("verify", "--graph", "graph.zarr"),
    ("info", "--full", "--json"),
    ("info",),
    ("export", "out.txt"),
    ("export", "out.npz"),
)


class Manifests:
    """Whole samples below ``folder``, made when the fuzzer starts; ``case`` forges a copy of one."""

    def __init__(self, folder: Path) -> None:
        self.whole = folder / "whole"
        self.whole.mkdir(parents=True)
        warm.small_chunks()
        (self.whole / "graph.txt").write_text(text_of("dense", True))
        warm.must("partition", "graph.txt", "graph.zarr", folder=self.whole)
        for name, options in DRAWS.items():
            warm.must("sample", "graph.zarr", f"{name}.zarr", *options, folder=self.whole)
            for command in COMMANDS:
                warm.csaw(command[0], f"{name}.zarr", *command[1:], folder=self.whole)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One to three edits of what a sample says, and a command."""
        name = f"{random.choice(sorted(DRAWS))}.zarr"
        put(self.whole, place, ("graph.zarr", name))
        (place / "evil.py").write_text(EVIL)
        (place / name / "evil.py").write_text(EVIL)
        told: list[str] = []
        forged(
            place / name,
            lambda said: told.extend(_edited(said, name, random) for _ in range(random.choice([1, 1, 2, 3]))),
        )
        command = random.choice(COMMANDS)
        ended = run((command[0], name, *command[1:]), place)
        failure = refusal_or_failure(
            ended, (name, "graph", "--", "the bias of edge"), (*REFUSALS, 3) if command[0] == "verify" else REFUSALS
        )
        found = [failure] if failure else []
        if any(place.rglob(CANARY)):
            found.append(Failure("ran", "code of a store", " ".join(ended.arguments), ""))
        return [Failure(one.kind, one.where, one.command, f"{'; '.join(told)}. {one.detail}") for one in found]


def _edited(said: dict[str, Any], name: str, random: Random) -> str:
    """Edit an entry of the request, rather than another one; what it was, in words."""
    request = said["manifest"].get("request") if isinstance(said.get("manifest"), dict) else None
    within = request if isinstance(request, dict) and request and random.random() < 0.8 else said
    places = list(damage._places(within))
    if random.random() < 0.3 and within is request:
        places.append((request, random.choice(["edge_bias", "target", "induced", "columns", "code"]), "new"))
    holder, key, path = random.choice(places)
    value = random.choice(VALUES) if random.random() < 0.6 else random.choice(damage.VALUES)
    if isinstance(value, str):
        value = value.replace("EVIL", f"{name}/evil.py")
    holder[key] = json.loads(json.dumps(value))
    return f"set {str(value)[:60]!r} at {path} ({key})"
