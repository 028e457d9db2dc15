"""The documentation site is complete and its links lead somewhere, without mkdocs: scripts/docs builds it and takes any
warning for an error.
"""

import re
import shlex
import sys
import unicodedata
from contextlib import suppress
from functools import cache, reduce
from importlib import import_module
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from helpers.machine import need_package
from helpers.outputs import masked

from csaw.cli.main import cli
from csaw.engine.analytics import measure
from csaw.engine.api import registry

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted(page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md"))
MADE = {
    "reference/command-line.md",
    "changes.md",
    "tutorials/notebook.md",
}  # by scripts/site_pages.py, when the site is built
NAV = re.findall(r": (\S+\.md)$|^ +- (\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def site():
    sys.path.insert(0, str(ROOT / "scripts"))
    import site_pages
    import site_pictures

    yield site_pages, site_pictures
    sys.path.remove(str(ROOT / "scripts"))


@cache
def text_of(page):
    """A page as it is written, without blocks of code."""
    return re.sub(r"^```.*?^```$", "", (DOCS / page).read_text(), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page):
    """The anchors of the headings of a page, as mkdocs makes them."""
    return {slug(title) for title in re.findall(r"^#+ (.+)$", text_of(page), re.MULTILINE)}


def slug(title):
    text = unicodedata.normalize("NFKD", re.sub(r"[`*]|\[|\]\([^)]*\)", "", title)).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", text).strip().lower())


def test_navigation_has_every_page_once():
    named = [first or second for first, second in NAV]
    assert sorted(named) == sorted({*PAGES, *MADE}), "each page has one line in nav of mkdocs.yml"


@pytest.mark.parametrize("page", PAGES)
def test_links_of_a_page_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", text_of(page)):
        if target.startswith("http"):
            continue
        path, _, anchor = target.partition("#")
        there = ((DOCS / page).parent / path).resolve() if path else DOCS / page
        name = there.relative_to(DOCS.resolve() if path else DOCS).as_posix()
        assert there.exists() or name in MADE, target
        assert not anchor or name in MADE or anchor in anchors(name), target


def test_links_of_the_readme_lead_somewhere():
    text = (ROOT / "README.md").read_text()
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = target.partition("#")
        assert target.startswith("http") or (ROOT / path).exists(), target
        if anchor and path.startswith("docs/"):
            assert anchor in anchors(path.removeprefix("docs/")), target


@pytest.mark.parametrize("name", registry.names())
def test_every_algorithm_has_its_law_its_cost_and_its_options(site, name):
    sections = [
        text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        for text in map(
            str,
            (
                (DOCS / "algorithms" / page).read_text()
                for page in ("walks.md", "neighbors.md", "subgraphs.md", "layers.md", "links.md")
            ),
        )
        if f"\n## {name}\n" in text
    ]
    assert len(sections) == 1
    assert f"<!-- options of the algorithm {name} -->" in sections[0]
    assert "**Cost.**" in sections[0]
    shown = site[0].options_table("algorithm", name)
    assert all(f"`--{key.replace('_', '-')}`" in shown for key in registry.find(name).options())


@pytest.mark.parametrize("name", measure.names())
def test_every_measure_has_a_section(site, name):
    section = text_of("reference/measures.md").partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert section.strip()
    assert not measure.find(name).options() or f"<!-- options of the measure {name} -->" in section


def test_the_page_of_the_command_line_has_every_command_and_option(site):
    page = site[0].command_line()
    found = list(site[0].commands(cli.make_context("csaw", [], resilient_parsing=True)))
    assert len(found) >= 9
    for context in found:
        section = page.partition(f"\n## {context.command_path}\n")[2].partition("\n## ")[0]
        for param in context.command.get_params(context):
            if isinstance(param, click.Option) and not param.hidden:
                assert (
                    f"`{param.opts[0]}" in section or f"{param.opts[0]} " in section or f"{param.opts[0]}`" in section
                ), param.name


def test_pictures_are_those_that_the_script_draws(site):
    drawn = {f"{name}.svg": text for name, text in site[1].pictures().items()}
    assert {file.name: file.read_text() for file in (DOCS / "pictures").iterdir()} == drawn


def boxes(svg):
    """The boxes of the notes of a picture, a little smaller than their text."""
    for x, y, text in re.findall(r'<text class="small" x="(\d+)" y="(\d+)">([^<]*)</text>', svg):
        half = 3 * len(text)
        yield text, (int(x) - half, int(y) - 9, int(x) + half, int(y))


def crosses(ends, box):
    """Whether a line passes a box."""
    (x1, y1, x2, y2), steps = ends, 200
    places = ((x1 + (x2 - x1) * k / steps, y1 + (y2 - y1) * k / steps) for k in range(steps + 1))
    return any(box[0] <= x <= box[2] and box[1] <= y <= box[3] for x, y in places)


def test_no_line_strikes_through_a_note(site):
    for name, svg in site[1].pictures().items():
        lines = re.findall(r'<line class="[^"]*" x1="(\d+)" y1="(\d+)" x2="(\d+)" y2="(\d+)"', svg)
        rims = [
            tuple(map(int, rim))
            for rim in re.findall(r'<ellipse class="set" cx="(\d+)" cy="(\d+)" rx="(\d+)" ry="(\d+)"', svg)
        ]
        for text, box in boxes(svg):
            assert not any(crosses(tuple(map(int, ends)), box) for ends in lines), f"{name}: {text}"
            corners = [(x, y) for x in (box[0], box[2]) for y in (box[1], box[3])]
            for cx, cy, rx, ry in rims:
                inside = {((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1 for x, y in corners}
                assert len(inside) == 1, f"{name}: {text}"


def test_the_plan_of_the_picture_is_what_a_dry_run_prints(site, tmp_path, monkeypatch):
    from site_diagrams import DRY_RUN, PLAN

    monkeypatch.chdir(tmp_path)
    said = masked(CliRunner().invoke(cli, [*shlex.split(DRY_RUN)[1:], "--device", "cpu"]).stdout)
    printed = {tuple(re.split(r"  +", line.strip(), maxsplit=1)) for line in said.splitlines()}
    shown = [tuple(filter(None, (label, masked(value)))) for label, value, _ in PLAN]
    assert [line for line in shown if line not in printed] == []


def test_every_picture_stands_on_a_page():
    shown = " ".join(text_of(page) for page in PAGES) + (ROOT / "README.md").read_text()
    assert all(file.name in shown for file in (DOCS / "pictures").iterdir())


def test_the_page_on_citing_says_what_the_citation_file_does():
    said = (ROOT / "CITATION.cff").read_text()
    entry = (DOCS / "cite.md").read_text().partition("```bibtex\n")[2].partition("```")[0]
    for field in ("title", "version", "license"):
        value = re.search(rf"^{field}: \"?([^\"\n]*)\"?$", said, re.MULTILINE)[1]
        assert f" = {{{value}}}" in entry, field
    assert re.search(r"^  - name: (.*)$", said, re.MULTILINE)[1] in entry


def test_plots_of_the_gallery_are_those_on_its_page():
    shown = re.findall(r"\]\(gallery/([^)]*)\)", text_of("gallery.md"))
    assert sorted(shown) == sorted(file.name for file in (DOCS / "gallery").iterdir())


@pytest.mark.parametrize("page", PAGES)
def test_lines_of_code_fit_the_page_or_wrap(page):
    """Commands and programs wrap; blocks of other kinds keep their lines, which fit all but narrow screens."""
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", (DOCS / page).read_text(), re.DOTALL | re.MULTILINE)
    kept = [text for kind, text in blocks if kind not in ("sh", "bash", "python", "math")]
    assert not [line for text in kept for line in text.splitlines() if len(line) > 116]
    bare = re.findall(r"\n\n    (?:pip|mpirun|helm|[A-Z]+=).*", (DOCS / page).read_text())
    assert not bare, "commands are fenced as sh"


def test_commands_wrap_between_words(site):
    html = '<div class="language-sh highlight"><pre><span></span><code>csaw<span> </span>--walk-length</code></pre>'
    assert '<span class="word">--walk-length</span>' in site[0].on_page_content(html)
    assert "language-sh" in (DOCS / "site.css").read_text()


def test_tables_have_headers():
    empty = re.compile(r"^\|[ |]*\|\n\|-", re.MULTILINE)
    assert not [page for page in PAGES if empty.search(text_of(page))]


def named(path):
    """What ``path`` imports."""
    parts = path.split(".")
    for k in range(len(parts), 0, -1):
        with suppress(ModuleNotFoundError):
            return reduce(getattr, parts[k:], import_module(".".join(parts[:k])))
    raise ModuleNotFoundError(path)


@pytest.mark.parametrize("page", [page for page in PAGES if page.startswith("reference/python/")])
def test_a_heading_of_the_python_reference_is_the_path_by_which_a_name_is_imported(page):
    if page == "reference/python/loaders.md":
        need_package("torch_geometric")
    text = (DOCS / page).read_text()
    shown = re.findall(r"^::: (\S+)\n    options:\n      heading: (\S+)\n      toc_label: (\S+)$", text, re.MULTILINE)
    assert len(shown) == text.count("\n::: "), "an entry has a heading and the same label"
    for name, heading, label in shown:
        assert heading == label
        found = named(name)
        here = named(heading)
        assert here is found or isinstance(here, found), "csaw.partition is a module that can be called"
