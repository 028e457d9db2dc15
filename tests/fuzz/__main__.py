"""``python -m fuzz KIND``: run cases of a kind from a seed, say which broke the invariant, end with 1 if any did."""

import argparse
import os
import sys

from fuzz.run import KINDS, run
from fuzz.warm import ENVIRONMENT


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", help="folder, which is made, for the files of the cases and one line of JSON a failure")
    given = parser.parse_args()
    sys.exit(1 if run(given.kind, given.seed, range(given.first, given.first + given.cases), given.jobs, given.keep) else 0)


if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in ENVIRONMENT.items()):  # they are read when a process begins
        os.execve(sys.executable, [sys.executable, "-m", "fuzz", *sys.argv[1:]], os.environ | ENVIRONMENT)
    main()
