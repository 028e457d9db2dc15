"""Kill -9 while a store or file is replaced: before any of its steps on the file system, or at any time.

Afterwards the old one is there, or the new one, or none of them; never a mixture. The same command then works, and
leaves nothing beside.
"""

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from random import Random

from fuzz import child, warm
from fuzz.faults import text_of, tree
from fuzz.judge import Failure, wrong_result

STEPS = (
    "open",
    "os.rename",
    "os.remove",
    "os.mkdir",
    "os.rmdir",
    "os.truncate",
    "os.link",
    "os.symlink",
    "shutil.rmtree",
)
OUT = {
    "partition": "graph.zarr",
    "generate": "graph.zarr",
    "sample": "walks.zarr",
    "fire": "fire.zarr",
    "export": "walks.txt",
}
COMMANDS = {  # what makes the old one, and what replaces it
    "partition": (("partition", "old.txt", "graph.zarr"), ("partition", "new.txt", "graph.zarr", "--partitions", "3")),
    "generate": (
        ("partition", "old.txt", "graph.zarr"),
        ("datasets", "generate", "rmat:scale=5,edge_factor=4", "graph.zarr"),
    ),
    "sample": (
        ("sample", "whole.zarr", "walks.zarr", "--walk-length", "3"),
        ("sample", "whole.zarr", "walks.zarr", "--walk-length", "5"),
    ),
    "fire": tuple(
        ("sample", "whole.zarr", "fire.zarr", "--algo", "forest-fire", "--depth", depth) for depth in ("1", "2")
    ),
    "export": (("export", "walks3.zarr", "walks.txt"), ("export", "walks5.zarr", "walks.txt")),
}
FAILING = {  # commands to the same place that are refused
    "partition": ("partition", "bad.txt", "graph.zarr", "--overwrite"),
    "generate": ("partition", "bad.txt", "graph.zarr", "--overwrite"),
    "sample": ("sample", "nowhere", "walks.zarr", "--overwrite"),
    "fire": ("sample", "nowhere", "fire.zarr", "--overwrite"),
    "export": ("export", "nowhere", "walks.txt", "--overwrite"),
}


class Kills:
    """Old and new results, and how many steps and seconds lie between them."""

    def __init__(self, folder: Path) -> None:
        warm.small_chunks()
        self.whole = folder / "whole" / "kills"
        self.whole.mkdir(parents=True)
        (self.whole / "old.txt").write_text(text_of("words", True))
        (self.whole / "new.txt").write_text(text_of("sparse", True))
        (self.whole / "bad.txt").write_text("1 2 3\n" * 40 + "4\n")
        warm.must("partition", "new.txt", "whole.zarr", folder=self.whole)
        for length in ("3", "5"):
            warm.must("sample", "whole.zarr", f"walks{length}.zarr", "--walk-length", length, folder=self.whole)
        self.inputs = sorted(self.whole.iterdir())
        for commands in COMMANDS.values():
            for command in commands:
                warm.must(*command, "--overwrite", folder=self.whole)

    def case(self, random: Random, place: Path) -> list[Failure]:
        """Make the old one, be killed while it is replaced, look, and replace it again."""
        name = random.choice(sorted(COMMANDS))
        old, new = COMMANDS[name]
        self.put(place)
        first = child.csaw(*old, folder=place)
        before = state(place / OUT[name])
        steps = Steps(place)
        began = time.monotonic()
        whole = child.csaw(*new, "--overwrite", folder=place, before=steps.count)
        seconds, after = time.monotonic() - began, state(place / OUT[name])
        if first.code or whole.code or before == after:
            return [Failure("not replaced", name, " ".join(new), first.error + whole.error)]
        self.put(place)
        child.csaw(*old, folder=place)
        when = random.choice(["step", "step", "time"])
        number, delay = steps.draw(random), random.random() * seconds
        killed = child.csaw(
            *new,
            "--overwrite",
            folder=place,
            before=(lambda: kill_at(number)) if when == "step" else (lambda: kill_after(delay)),
        )
        told = f"killed before step {number}" if when == "step" else f"killed after {delay:.4f} s"
        failure = self.look(name, place, killed, before, after)
        return [Failure(failure.kind, failure.where, failure.command, f"{told}. {failure.detail}")] if failure else []

    def put(self, place: Path) -> None:
        """Links to what the commands read, and nothing else."""
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        for file in self.inputs:
            (place / file.name).symlink_to(file)

    def look(self, name: str, place: Path, killed: child.Ended, before: str, after: str) -> Failure | None:
        """What is wrong after the kill, or after the run that follows it."""
        found, beside = state(place / OUT[name]), self.beside(place, name)
        if killed.code not in (0, -signal.SIGKILL):
            return Failure(
                "exit status",
                f"{name} ended with {killed.code} instead of being killed",
                " ".join(killed.arguments),
                killed.error,
            )
        if found not in (before, after, "nothing"):
            return wrong_result(killed, f"{name}: a mixture under the final name", found)
        if found == "nothing" and (lost := self.lost(name, place, before, after)):
            return lost
        again = child.csaw(*COMMANDS[name][1], "--overwrite", folder=place)
        if again.code != 0:
            return Failure("no way on", name, " ".join(again.arguments), f"it left {beside}; {again.error[-400:]}")
        if state(place / OUT[name]) != after:
            return wrong_result(again, f"{name}: another result after a kill", state(place / OUT[name]))
        if left := self.beside(place, name):
            return Failure(
                "leftovers",
                f"{name} left {len(left)} files",
                " ".join(again.arguments),
                f"{left}; after the kill {beside}",
            )
        return None

    def lost(self, name: str, place: Path, before: str, after: str) -> Failure | None:
        """Where no name is taken, both a look and a run that fails must leave the old one, or the new one, in the
        folder.
        """
        for doing in ((), FAILING[name]):
            if doing:
                child.csaw(*doing, folder=place)
            if (
                not {before, after} & {state(place / left) for left in self.beside(place, name)}
                and state(place / OUT[name]) == "nothing"
            ):
                return Failure(
                    "lost",
                    f"{name}: neither the old one nor the new one is left{' after a run that fails' if doing else ''}",
                    " ".join(doing or COMMANDS[name][1]),
                    f"beside it {self.beside(place, name)}",
                )
        return None

    def beside(self, place: Path, name: str) -> list[str]:
        known = {OUT[name], *(file.name for file in self.inputs)}
        return sorted(file.name for file in place.iterdir() if file.name not in known)


def state(path: Path) -> str:
    """A word for what lies at a path, without timings."""
    if not os.path.lexists(path):
        return "nothing"
    return tree(path, without=("results",)) if path.is_dir() else str(hash(path.read_bytes()))


class Steps:
    """The steps of a run, a letter each, in a file, for another process takes them."""

    def __init__(self, place: Path) -> None:
        self.file = place.with_name(place.name + ".steps")
        self.file.write_bytes(b"")

    def count(self) -> None:
        descriptor = os.open(self.file, os.O_WRONLY | os.O_APPEND)
        at_steps(lambda event: os.write(descriptor, b"r" if event == "os.rename" else b"."))

    def draw(self, random: Random) -> int:
        """The number of one of them, rather that of a rename, or of what comes next."""
        taken = self.file.read_bytes()
        renames = [number + after for number, letter in enumerate(taken) if letter == ord("r") for after in (0, 1)]
        return random.choice(renames[-12:] if renames and random.random() < 0.6 else range(len(taken)))


def at_steps(do: Callable[[str], object]) -> None:
    """Call before every step on the file system that this process takes from now on."""

    def hook(event: str, arguments: tuple) -> None:
        if event in STEPS and (event != "open" or changes(arguments)):
            do(event)

    sys.addaudithook(hook)


def changes(arguments: tuple) -> bool:
    """Whether a file is opened to be written."""
    _, mode, flags = arguments
    return bool((flags or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) or bool(set(mode or "") & set("wax+"))


def kill_at(number: int) -> None:
    """Die before that step."""
    left = [number]

    def step(event: str) -> None:
        left[0] -= 1
        if left[0] < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    at_steps(step)


def kill_after(seconds: float) -> None:
    """Die at that time."""

    def wait() -> None:
        time.sleep(seconds)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()
