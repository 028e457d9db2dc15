"""What CONTRIBUTING.md and its pages name exists, and what they ask of a new algorithm or format is done for those that
exist.
"""

import ast
import re
import tokenize
from io import StringIO
from pathlib import Path

import pytest
from click.testing import CliRunner

from csaw.cli.commands.export import export as export_command
from csaw.engine.api import registry
from csaw.engine.export.targets import GRAPHS, SAMPLES, formats

ROOT = Path(__file__).parents[1]
PAGES = sorted((ROOT / "docs" / "contributing").glob("*.md"))
TEXT = "\n".join(page.read_text() for page in (ROOT / "CONTRIBUTING.md", *PAGES))
LINKS = re.findall(r"\]\((docs/contributing/[^)]*)\)", (ROOT / "CONTRIBUTING.md").read_text())
CODE = ("cli", "datasets", "engine", "package", "partition", "scripts", "tests")
PATH = r"`([a-z_./]+/[\w./-]*)`"
NAME = r"`([A-Za-z_][\w.]*)(?:\([\w, =]*\))?`"
IN_PLACE = sorted(set(re.findall(rf"{NAME} (?:of|in) {PATH}", TEXT)))  # `find` of `engine/api/registry.py`
IDENTIFIERS = sorted(set(re.findall(NAME, re.sub(r"^```.*?^```$", "", TEXT, flags=re.DOTALL | re.MULTILINE))))
FOLDERS = {file.parent.relative_to(ROOT / "engine") for file in (ROOT / "engine").rglob("__init__.py")}
ROOMS = {
    folder for folder in FOLDERS if folder != Path() and folder.parent != Path("export/writers")
}  # a format may be a folder


@pytest.mark.parametrize("page", [page.name for page in PAGES])
def test_every_page_for_contributors_is_linked(page):
    assert page in {link.partition("#")[0].rpartition("/")[2] for link in LINKS}


@pytest.mark.parametrize("link", sorted(set(LINKS)))
def test_every_link_to_a_page_leads_there(link):
    path, _, anchor = link.partition("#")
    headings = re.findall(r"^#+ (.*)$", (ROOT / path).read_text(), re.MULTILINE)
    assert not anchor or anchor in {heading.lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [page.name for page in PAGES if page.name.startswith("add-")])
def test_every_addition_has_an_example(page):
    assert re.search("example", (ROOT / "docs" / "contributing" / page).read_text(), re.IGNORECASE)


@pytest.mark.parametrize("path", sorted(set(re.findall(PATH, TEXT))))
def test_every_path_that_is_named_exists(path):
    files = [folder / path for folder in (ROOT, ROOT / "engine")]  # rooms of the engine are named without it
    assert any(file.parent.is_dir() if "NAME" in path else file.exists() for file in files)


@pytest.fixture(scope="module")
def words():
    """Every word of the project's code, and the names of its files and folders."""
    files = [file for folder in CODE for file in (ROOT / folder).rglob("*") if "_src" not in file.parts]
    texts = [file.read_text() for file in files if file.suffix in (".py", ".cu", ".cuh") and file != Path(__file__)]
    texts += [(ROOT / name).read_text() for name in ("pyproject.toml", "mkdocs.yml")]
    named = {part for file in files for part in (file.name, file.stem)} | {file.name for file in ROOT.iterdir()}
    return named.union(*(re.findall(r"\w+", text) for text in texts))


def test_what_source_says_was_measured_is_on_the_page_that_it_names():
    page = "docs/contributing/tuning.md"
    files = [file for folder in ("cli", "datasets", "engine", "partition") for file in (ROOT / folder).rglob("*.py")]
    named = [str(file.relative_to(ROOT)) for file in files if page in file.read_text()]
    assert len(named) >= 10
    assert [name for name in named if f"`{name}`" not in (ROOT / page).read_text()] == []


FILE_NAME = re.compile(r"(?<![\w./-])(?:\w+/)*\w+\.(?:py|cuh|cu)\b(?! [A-Z]{2})")  # NAME.py TOOL is a command
FROM = ("", "engine", "partition")  # folders that a path in a comment begins in
FILES_OF_USERS = {"FILE.py", "my_measures.py", "kernels/FILE.cu"}
SOURCE = [
    file
    for folder in ("cli", "datasets", "engine", "package", "partition")
    for file in sorted((ROOT / folder).rglob("*"))
    if file.suffix in (".py", ".pyi", ".cu", ".cuh")
]


def prose_of(file):
    """The comments and docstrings of a source file."""
    text = file.read_text()
    if file.suffix in (".cu", ".cuh"):
        return "\n".join(re.findall(r"//.*", text))
    tokens = tokenize.generate_tokens(StringIO(text).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    bodies = [node.value.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr) and is_text(node)]
    return "\n".join([*comments, *bodies])


def is_text(node):
    return isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


@pytest.mark.parametrize("suffix", [".py", ".pyi", ".cu", ".cuh"])
def test_a_file_that_a_comment_names_is_a_sibling_or_has_its_folder(suffix):
    def is_found(file, name):
        if "/" in name:
            return any((ROOT / folder / name).exists() for folder in FROM)
        return name != file.name and (file.parent / name).exists()

    wrong = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in (file for file in SOURCE if file.suffix == suffix)
        for name in set(FILE_NAME.findall(prose_of(file))) - FILES_OF_USERS
        if not is_found(file, name)
    ]
    assert wrong == []


@pytest.mark.parametrize("identifier", IDENTIFIERS)
def test_every_identifier_that_is_named_exists(words, identifier):
    assert identifier in words or set(identifier.split(".")) <= words


@pytest.mark.parametrize(("identifier", "path"), IN_PLACE)
def test_an_identifier_stands_in_the_file_that_is_said_to_have_it(identifier, path):
    places = [folder / path for folder in (ROOT, ROOT / "engine")]
    files = [file for place in places for file in ([place] if place.is_file() else place.glob("*.py"))]
    assert any(re.search(rf"\b{identifier}\b", file.read_text()) for file in files)


@pytest.mark.parametrize("room", sorted(map(str, ROOMS)))
def test_every_room_of_the_engine_is_described(room):
    text = (ROOT / "docs" / "contributing" / "rooms.md").read_text()
    described = text.partition("## Rooms of the engine")[2].partition("\n## ")[0]
    assert f"`{room}/`" in described


@pytest.mark.parametrize("name", registry.names())
def test_every_algorithm_is_in_the_readme_and_has_a_test_of_its_law(name):
    table = (ROOT / "README.md").read_text().partition("## Algorithms")[2].partition("\n\n`")[0]
    assert name in {
        word for row in table.splitlines() for word in row.split("|")[1:2] for word in re.split(r"[ ,]+", word)
    }
    laws = [
        (ROOT / "tests" / "engine" / "algorithms" / f"test_{kind}_laws.py").read_text()
        for kind in ("walk", "traversal", "layer", "induced", "cluster", "seed", "link", "temporal", "hgt")
    ]
    assert any(f'"{name}"' in text for text in laws)


@pytest.mark.parametrize(("of", "name"), [(of, name) for of in (SAMPLES, GRAPHS) for name in formats(of)])
def test_the_help_of_export_names_every_format_and_its_suffixes(of, name):
    said = CliRunner().invoke(export_command, ["--help"]).output
    said = re.sub(r"-\n\s+", "-", said)  # lines may end at the hyphen of a name
    listed = " ".join(said.partition("--format")[2].partition("[default")[0].split())
    assert re.search(rf"\b{name}\b", listed)
    assert all(suffix in said for suffix in formats(of)[name].SUFFIXES)
