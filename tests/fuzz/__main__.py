"""``python -m fuzz KIND ...``: run cases of each kind from a seed, say which broke the invariant, end with 1 if any
did.
"""

import argparse
import os
import sys

from fuzz.run import KINDS, run
from fuzz.warm import ENVIRONMENT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("kinds", nargs="+", metavar="KIND", help=f"{', '.join(KINDS)}; KIND=N for N cases of it")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument(
        "--keep", help="folder, which is made, for the files of the last cases and a line of JSON for each failure"
    )
    given = parser.parse_args()
    wanted = [kind.partition("=") for kind in given.kinds]
    if unknown := [kind for kind, *_ in wanted if kind not in KINDS]:
        parser.error(f"expected {', '.join(KINDS)}, found {unknown[0]!r}")
    failures = 0
    for kind, _, count in wanted:
        numbers = range(given.first, given.first + int(count or given.cases))
        failures += run(kind, given.seed, numbers, given.jobs, f"{given.keep}/{kind}" if given.keep else None)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):  # they are read when a process begins
        os.execve(sys.executable, [sys.executable, "-m", "fuzz", *sys.argv[1:]], os.environ | ENVIRONMENT)
    main()
