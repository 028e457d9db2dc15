"""The invariant: how a command may end, and what counts as the same failure twice."""

import json
import re
from dataclasses import asdict, dataclass
from typing import Any

from fuzz.child import UNCAUGHT, Ended

REFUSALS = (1, 2)
NOTICE = re.compile(
    r"csaw: |Usage: |Try '|$|  "
)  # lines that may stand beside the error: the log, click's usage, and what goes on
WARNING = re.compile(r"^.*\.py:\d+: \w*Warning: .*$", re.MULTILINE)
FRAME = re.compile(r'File "[^"]*/csaw/((?:cli|datasets|engine|partition)/[\w/]+\.py)", line \d+, in (\w+)')


@dataclass(frozen=True)
class Failure:
    """``kind`` says which promise was broken, ``where`` by what; together they are the class of the failure."""

    kind: str
    where: str
    command: str
    detail: str

    def as_line(self, **case: Any) -> str:
        return json.dumps(case | asdict(self))


def refusal_or_failure(ended: Ended, names: tuple[str, ...], allowed: tuple[int, ...] = REFUSALS) -> Failure | None:
    """What is wrong with how a command ended, apart from its result; its error must hold one of ``names``."""
    command = " ".join(ended.arguments)[:300]

    def failure(kind: str, where: str) -> Failure:
        return Failure(kind, where, command, (ended.error or ended.out)[-600:])

    if ended.code is None:
        return failure("hang", f"{ended.arguments[0]} took over {ended.seconds:.0f} s")
    if ended.code < 0:
        return failure("signal", f"{ended.arguments[0]} died of signal {-ended.code}")
    if ended.code == UNCAUGHT or "Traceback (most recent" in ended.error:
        return failure("traceback", innermost(ended.error))
    if found := WARNING.search(ended.error):
        return failure("warning", _general(found[0].rsplit("/", 1)[-1]))
    if ended.code == 0 or ended.code in set(allowed) - set(REFUSALS):
        return None
    if ended.code not in allowed:
        return failure("exit status", f"{ended.arguments[0]} ended with {ended.code}")
    return _wrong_sentence(ended, names, failure)


def _wrong_sentence(ended: Ended, names: tuple[str, ...], failure: Any) -> Failure | None:
    lines = ended.error.rstrip("\n").split("\n")
    errors = [line for line in lines if line.startswith("Error: ")]
    others = [line for line in lines if not line.startswith("Error: ") and not NOTICE.match(line)]
    if len(errors) != 1 or others:
        return failure("not one sentence", _general((others or lines)[0])[:100])
    if not any(name in errors[0] for name in names):
        return failure("names nothing", _general(errors[0])[:140])
    return None


def wrong_result(ended: Ended, what: str, detail: str) -> Failure:
    """Exit status 0 with something else than the right result."""
    return Failure("wrong result", what, " ".join(ended.arguments)[:300], detail[:600])


def innermost(error: str) -> str:
    """The exception's type and the innermost of csaw's own lines."""
    last = error.rstrip("\n").split("\n")[-1]
    frames = FRAME.findall(error)
    return f"{last.split(':')[0][:60]} in {':'.join(frames[-1]) if frames else 'no frame'}"


def _general(text: str) -> str:
    """The sentence without its numbers, names of files and quotations, which differ from case to case."""
    text = re.sub(r"'[^']*'", "'...'", text)
    text = re.sub(r"\S*/\S*|\S+\.(?:zarr|txt|json)\S*", "FILE", text)
    return re.sub(r"\d[\d,.]*", "N", text)
