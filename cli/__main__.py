"""``python -m csaw.cli``."""

from csaw.cli.main import main

main()
