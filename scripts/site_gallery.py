"""Draws docs/gallery/*.svg: ``PYTHONPATH=tests/_src python scripts/site_gallery.py`` writes them again.

They are plots of ``csaw evaluate --plot``, of the commands that docs/gallery.md shows.
"""

import os
import re
import shlex
import shutil
import tempfile
from pathlib import Path

from click.testing import CliRunner

from csaw.cli.main import cli

DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "gallery.md"


def shown() -> list[str]:
    """The names of the plots on the page."""
    return re.findall(r"\]\(gallery/([^)]*)\.svg\)", PAGE.read_text())


def draw(folder: Path) -> None:
    """Run the commands of the page in ``folder``, which then has the plots in ``plots``."""
    os.chdir(folder)
    for line in "".join(re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)).splitlines():
        done = CliRunner().invoke(cli, shlex.split(line)[1:])
        if done.exit_code:
            raise SystemExit(f"{line}\n{done.output}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        shutil.rmtree(DOCS / "gallery", ignore_errors=True)
        (DOCS / "gallery").mkdir()
        for name in shown():
            shutil.copy(Path(folder, "plots", f"{name}.svg"), DOCS / "gallery")


if __name__ == "__main__":
    main()
