"""The documentation site, built: its search finds what users look for, answers are near, and the reference is whole."""

import html
import os
import re
import subprocess
import sys
from pathlib import Path
from posixpath import join, normpath

import pytest
from helpers.machine import need_package, need_program
from helpers.site_width import measured

ROOT = Path(__file__).parents[1]
FIRST = {  # what users typed, and the place that answers it
    "install": "quickstart/#install",
    "pandas": "guides/python/#graphs-from-networkx-pandas-scipy-and-others",
    "random seed": "reference/environment/#random-seed",
    "cache": "reference/environment/",
    "windows": "reference/limits/#windows-macos-and-other-systems",
    "bug report": "cite/#report-a-bug",
    "HeteroData": "questions/#can-csaw-sample-graphs-of-several-types-such-as-heterodata",
    "cite": "cite/",
    "upgrade": "cite/#upgrade-csaw",
    "exit code": "reference/exit-codes/",
    "resume": "guides/resume/",
    "GPU": "guides/gpus/",
}
ANSWERS = {  # a question, with what its answer says
    "cite": "@software{csaw",
    "HeteroData": "Yes, from files, from tables with keys, or from PyTorch Geometric's HeteroData",
    "exit code": "130 interrupted by Ctrl-C",
    "resume": "The same command with --resume continues",
    "GPU": "csaw runs on NVIDIA GPUs",
}
RESULTS = re.compile(r'<p><span class="doc-section-title">(?:Returns|Yields):</span></p>(.*?)</ul>', re.DOTALL)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    for package in ("mkdocs", "material", "mkdocstrings_handlers.python", "latex2mathml", "lunr"):
        need_package(package)
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder]
    env = os.environ | {"NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT / "tests" / "_src")}
    done = subprocess.run(command, check=False, cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def search(site):
    from helpers.site_search import Search

    return Search(site)


def text_of(part):
    """What a reader sees of a part of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", part)).split())


def article(site, page):
    """What a page says, without the navigation."""
    return re.search(r"<article.*?</article>", (site / page / "index.html").read_text(), re.DOTALL)[0]


def clicks(site, page):
    """The pages that a page links to in its text or in the tabs above it."""
    text = (site / page / "index.html").read_text()
    tabs = re.search(r'<nav class="md-tabs".*?</nav>', text, re.DOTALL)[0]
    for target in re.findall(r'<a [^>]*href="([^"#]*)', article(site, page) + tabs):
        if not target.startswith(("http", "mailto:")):
            yield normpath(join(page, target))


@pytest.mark.parametrize("query", FIRST)
def test_the_first_hit_of_the_search_answers_it(search, query):
    hits = search.hits(query)
    assert hits[:1] == [FIRST[query]], hits[:3]


def test_the_search_finds_names_by_their_parts(search):
    assert {"reference/python/samples/#csaw.engine.samples.Samples.walks"} & set(search.hits("walks"))
    assert search.hits("walk-length") == search.hits("walk_length") == search.hits("--walk-length")


def test_the_search_has_pages_for_users_alone(search):
    assert not [place for place in search.docs if place.startswith(("contributing/", "changes/"))]
    assert any(place.startswith("guides/") for place in search.docs)


@pytest.mark.parametrize("question", ANSWERS)
def test_the_home_page_leads_to_an_answer_within_two_clicks(site, question):
    page = FIRST[question].partition("#")[0].rstrip("/")
    near = set(clicks(site, "."))
    assert page in near | {second for first in near if (site / first).is_dir() for second in clicks(site, first)}
    assert ANSWERS[question] in text_of(article(site, page))


def test_results_of_the_reference_are_not_cut_at_a_colon(site):
    found = []
    for page in sorted((site / "reference" / "python").glob("*/index.html")):
        for part in RESULTS.findall(page.read_text()):
            kind, _, said = text_of(part).partition(" – ")
            assert said, f"{page.parent.name}: {kind}"
            assert re.fullmatch(r"[\w.]+(?:\[.*\])?(?: \| \w+)*", kind), f"{page.parent.name}: {kind}"
            assert not re.match(r"(?:class|func|meth|mod|attr):|\d", said), f"{page.parent.name}: {said}"
            found.append(said)
    assert len(found) >= 40
    assert "A Stream." in found


def test_a_page_that_is_wider_than_its_screen_is_found(tmp_path):
    (tmp_path / "wide").mkdir()
    page = '<head><meta name="viewport" content="width=device-width"></head><body>'
    (tmp_path / "index.html").write_text(page + "narrow")
    (tmp_path / "wide" / "index.html").write_text(page + '<div style="width: 500px">wide</div>')
    count, wide = measured(need_program("chromium"), tmp_path)
    assert count == 8
    assert [said.partition(" ")[0] for said in wide] == ["wide/index.html:"] * 2, "on a phone, in light and dark"


@pytest.mark.slow(reason="opens every page of the site in a browser four times, for a minute")
def test_no_page_is_wider_than_its_screen(site):
    count, wide = measured(need_program("chromium"), site)
    assert wide == []
    assert count >= 300
