"""Odd things in place of a store's file: devices, pipes, sockets, folders, links, holes.

Every command ends in time, with csaw's error or with the right result.
"""

import os
import shutil
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random

from fuzz import child, warm
from fuzz.child import Ended
from fuzz.faults import DRAWS, GRAPHS, result_of, text_of
from fuzz.judge import REFUSALS, Failure, refusal_or_failure, wrong_result

KEPT = ("numbers", "packed")  # of the graphs
ALL = {name: DRAWS[name] for name in ("walks", "hops", "fire")} | {
    "ragged": ("--algo", "ppr", "--num-walks", "2"),
    "batches": ("--algo", "minibatch", "--fanout", "3,2", "--batch-size", "8"),
    "virtual": ("--algo", "deepwalk", "--walk-length", "4", "--virtual"),
}
HALF = ("walks", "fire")  # also begun, and not finished
HUGE = 1 << 42  # bytes of a file that is one hole
COMMANDS = 2  # on each store
MEASURES = ("--measures", "degree,hops,components", "--hops", "exact")
DRAFTS = {f".{out}.csaw-{kind}": out for out in ("out.csv", "out.zarr") for kind in ("draft", "lock")}
"""What csaw makes beside OUT while it writes OUT."""


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # an address has 108 bytes at most
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


ODD: dict[str, Callable[[Path], object]] = {
    "link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
    "link to /dev/stdin": lambda path: path.symlink_to("/dev/stdin"),
    "link to /dev/full": lambda path: path.symlink_to("/dev/full"),
    "pipe": os.mkfifo,
    "link to a pipe": lambda path: None,  # which is beside the stores
    "socket": _socket,
    "folder": Path.mkdir,
    "full folder": lambda path: (path.mkdir(), (path / "mine").write_text("mine")),
    "dangling link": lambda path: path.symlink_to("nowhere"),
    "loop": lambda path: path.symlink_to(path.name),
    "nothing": lambda path: None,
    "empty file": lambda path: path.write_bytes(b""),
    "hole": lambda path: (path.touch(), os.truncate(path, HUGE)),
}
SAME: dict[str, Callable[[Path, Path], object]] = {
    "link to the file": lambda path, place: (path.rename(place / "elsewhere"), path.symlink_to(place / "elsewhere")),
    "unreadable": lambda path, place: path.chmod(0),
}
"""After which the content is the same."""


class Oddfiles:
    """Whole stores below ``folder``, made when the fuzzer starts; a case puts an odd thing into a copy of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "whole"
        warm.small_chunks()
        for name in KEPT:
            place = self.folder / name
            place.mkdir(parents=True)
            ids, weighted, options = GRAPHS[name]
            (place / "graph.txt").write_text(text_of(ids, weighted))
            warm.must("partition", "graph.txt", "graph.zarr", *options, folder=place)
            for draw, wanted in ALL.items():
                warm.must("sample", "graph.zarr", f"{draw}.zarr", *wanted, folder=place)
            self._begin(place)
            with_cache(place / "cache")
            warm.must("evaluate", "graph.zarr", *MEASURES, folder=place)
            if name == KEPT[0]:
                self._warm(place)

    def _warm(self, place: Path) -> None:
        """Compile what the commands need, on a copy."""
        copy = place.with_name("warm")
        for command in {one for stored in stores_of() for one in commands_on(stored)}:
            put(place, copy, needed(place, command))
            with_cache(copy / "cache")
            warm.csaw(*command, folder=copy)
        shutil.rmtree(copy)

    def _begin(self, place: Path) -> None:
        """Samples all of whose groups are there, and which were interrupted before they were sealed."""
        from csaw.engine.samples.group_writer import GroupWriter
        from csaw.partition.errors import StoreError

        def interrupted(*_: object) -> None:
            raise StoreError("as if the disk were full")

        held, GroupWriter.seal = GroupWriter.seal, interrupted  # type: ignore[method-assign]
        try:
            for draw in HALF:
                warm.csaw("sample", "graph.zarr", f"half-{draw}.zarr", *ALL[draw], folder=place)
                assert (place / f"half-{draw}.zarr.partial" / "groups" / "000000.json").is_file()
        finally:
            GroupWriter.seal = held  # type: ignore[method-assign]

    def case(self, random: Random, place: Path) -> list[Failure]:
        """One odd thing, and two commands that meet it, each on a copy of its own."""
        whole = self.folder / random.choice(KEPT)
        stored = random.choice(stores_of())
        file = random.choice(files_of(whole, stored))
        kinds = ODD if stored in DRAFTS else ODD | SAME
        odd = random.choice(sorted(kinds))
        every = commands_on(stored)
        found = [
            one
            for command in random.sample(every, min(COMMANDS, len(every)))
            if (one := self._failure(whole, place, stored, file, odd, command))
        ]
        return [replace(one, detail=f"{whole.name}: {odd} in place of {file}. {one.detail}") for one in found]

    def _failure(
        self, whole: Path, place: Path, stored: str, file: str, odd: str, command: tuple[str, ...]
    ) -> Failure | None:
        wanted = reference(whole, place, command)
        if wanted is None:
            return None
        put(whole, place, needed(whole, command, stored))
        path = place / file
        os.mkfifo(place / "pipe")
        if odd in SAME:
            SAME[odd](path, place)
        else:
            path.unlink(missing_ok=True)
            ODD[odd](path)
            if odd == "link to a pipe":
                path.symlink_to(place / "pipe")
        ended = run(command, place)
        names = (stored, DRAFTS.get(stored, stored), stored.removesuffix(".partial"), Path(file).name)
        allowed = (*REFUSALS, 3) if command[0] == "verify" else REFUSALS
        failure = refusal_or_failure(ended, names, allowed)
        is_beside = Path(file).parts[-2:] == ("results", "zarr.json")  # no part of the sample, which stays as it is
        wrote = command[0] == "sample" and ended.code == 0 and not is_beside
        if failure is None and wrote and (left := strange(place / command[2])):
            return wrong_result(ended, f"sample leaves {odd} of {stored}", left)
        if failure is None and ended.code == 0 and (made := result_of(command, ended, place)) != wanted:
            return wrong_result(ended, f"{command[0]} with {odd} in {stored}", f"{made}, of the whole store {wanted}")
        if failure is None and ended.code != 0 and odd == "link to the file":
            return wrong_result(ended, f"{command[0]} refuses a link to a regular file", ended.error)
        return failure


def stores_of() -> list[str]:
    """What odd things are put into."""
    return [
        "graph.zarr",
        *(f"{draw}.zarr" for draw in ALL),
        *(f"half-{draw}.zarr.partial" for draw in HALF),
        "cache",
        *DRAFTS,
    ]


@cache
def files_of(whole: Path, stored: str) -> list[str]:
    """The files of one of them, as paths from where the stores are."""
    if stored in DRAFTS:
        return [stored]
    return sorted(str(file.relative_to(whole)) for file in (whole / stored).rglob("*") if file.is_file())


def commands_on(stored: str) -> list[tuple[str, ...]]:
    """What a user may do with it."""
    if stored in DRAFTS:
        return (
            [("export", "graph.zarr", "out.csv")]
            if "csv" in stored
            else [("sample", "graph.zarr", "out.zarr", *ALL["virtual"])]
        )
    if stored.endswith(".partial"):
        out = stored.removesuffix(".partial")
        how = ALL[out.removeprefix("half-").removesuffix(".zarr")]
        return [("sample", "graph.zarr", out, *how, "--resume"), ("sample", "graph.zarr", out, *how, "--overwrite")]
    measured = ("evaluate", "graph.zarr", *MEASURES, "--json")
    if stored == "cache":
        return [measured]
    if stored == "graph.zarr":
        draws = [("sample", stored, "out.zarr", *how) for how in ALL.values()]
        return [
            ("info", stored, "--full", "--json"),
            ("verify", stored),
            ("export", stored, "out.csv"),
            (*measured, "--refresh"),
            *draws,
        ]
    how = ALL[stored.removesuffix(".zarr")]
    return [
        ("info", stored, "--full", "--json"),
        ("verify", stored, "--graph", "graph.zarr"),
        *(("export", stored, f"out.{suffix}") for suffix in ("csv", "npy", "txt")),
        ("evaluate", "graph.zarr", stored, "--measures", "degree", "--json"),
        ("sample", "graph.zarr", stored, *how, "--overwrite"),
        *([("sample", "graph.zarr", stored, *how, "--resume")] if stored != "virtual.zarr" else []),
    ]


def put(whole: Path, place: Path, stores: Iterable[str]) -> None:
    """Copies of some of the stores at a place, and nothing else."""
    for folder, names, _ in os.walk(place):
        for name in names:
            if not (Path(folder) / name).is_symlink():
                (Path(folder) / name).chmod(0o755)
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    for store in stores:
        shutil.copytree(whole / store, place / store)


def needed(whole: Path, command: tuple[str, ...], stored: str = "cache") -> list[str]:
    """The stores that a command may read, and the one with something odd."""
    named = {*command, *(f"{word}.partial" for word in command), "graph.zarr", "cache", stored}
    return sorted(name for name in named if name and (whole / name).is_dir())


def strange(store: Path) -> str:
    """What is neither a file nor a folder in a finished store."""
    return ", ".join(str(one) for one in sorted(store.rglob("*")) if not (one.is_file() or one.is_dir()))


def with_cache(folder: Path) -> None:
    """Keep profiles of graphs in a folder of the case; kernels stay where they are compiled."""
    from csaw.engine.analytics.evaluation import profiles

    profiles.cache_dir = lambda: folder


@cache
def reference(whole: Path, place: Path, command: tuple[str, ...]) -> str | None:
    """The result of a command on whole stores at ``place``; None where it does not end with 0."""
    put(whole, place, needed(whole, command))
    ended = run(command, place)
    return result_of(command, ended, place) if ended.code == 0 else None


def run(command: tuple[str, ...], place: Path) -> Ended:
    return child.csaw(*command, folder=place, before=lambda: with_cache(place / "cache"))
