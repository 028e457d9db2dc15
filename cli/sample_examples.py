"""Examples in the help of ``csaw sample``, for the algorithm that ``--algo`` names."""

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from csaw.engine.api.algorithm import Algorithm

SHOWN = {
    "biased": "--bias degree",
    "deepwalk": "--walk-length 40 --num-walks 10",
    "fastgcn": "--layer-sizes 256,256",
    "forest-fire": "--burn-prob 0.5",
    "labor": "--fanout 15,10",
    "ladies": "--layer-sizes 256,256",
    "layer": "--depth 3 --neighbor-size 20",
    "metropolis-hastings": "--walk-length 40 --num-walks 10",
    "mvs": "--seeds-per-batch 512",
    "node2vec": "--p 0.5 --q 2",
    "snowball": "--depth 3 --neighbor-size 5",
    "temporal": "--start edge --walk-length 20 --instances 10000",
}
"""Options for algorithms whose last number is not the most telling one."""
NODE2VEC, WALKS = "--algo node2vec", " --num-walks 1000"


def examples(lines: list[str], chosen: type["Algorithm"], given: str) -> list[str]:
    """The examples that name an algorithm, with the one that the user has ``given``, and the example of --from."""
    first = f"csaw sample web.zarr {_out(chosen)} --algo {shlex.quote(given)} {_options(chosen)}".rstrip()
    others = [line.strip() for line in lines[1:] if NODE2VEC in line or "--from" in line]
    if "num_walks" not in chosen.options():
        others = [line.replace(WALKS, "") for line in others]
    return [first, *(line.replace(NODE2VEC, f"--algo {shlex.quote(given)}") for line in others)]


def _out(chosen: type["Algorithm"]) -> str:
    return "walks.zarr" if chosen.layout == "walks" else "samples.zarr"


def _options(chosen: type["Algorithm"]) -> str:
    from csaw.engine.api.option import flag_of

    for key, one in reversed(chosen.options().items()):
        if chosen.name() not in SHOWN and not isinstance(one.default, bool | str | None):
            value = ",".join(map(str, one.default)) if isinstance(one.default, tuple) else one.default
            return f"{flag_of(key)} {value}"
    return SHOWN.get(chosen.name(), "")
