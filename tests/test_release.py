"""A release: what its archives hold, which versions agree, the recipe, and a name that installs no other program."""

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import release_checks
import yaml
from helpers.machine import need_package
from make_links import make_links, targets
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

from csaw.partition.base.version import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
IN_CONDA = {"isal": "python-isal"}  # other names there
BUILD = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"
IN_NO_EXTRA = {"dask-mpi", "gensim"}  # what docs advise for a part of a page


def built(tree, kind, out):
    """The archive that setuptools makes of a tree."""
    need_package("setuptools")
    command = [sys.executable, "-c", BUILD, f"build_{kind}", str(out)]
    done = subprocess.run(command, cwd=tree, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return out / done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """A copy of the project as git has it, its source distribution, the tree that this unpacks into, and its wheel."""
    folder = tmp_path_factory.mktemp("release")
    tree = folder / "tree"
    for name in release_checks.project_files(ROOT):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tree / name)
    make_links(tree)  # as in a checkout
    (folder / "dist").mkdir()
    source = built(tree, "sdist", folder / "dist")
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
    unpacked = folder / source.name.removesuffix(".tar.gz")
    return tree, source, unpacked, built(unpacked, "wheel", folder / "dist")


def test_the_source_distribution_is_the_whole_project(archives):
    assert release_checks.source_problems(archives[1]) == []
    for name in ("scripts/test", ".ci/run", "scripts/release"):
        assert os.access(archives[2] / name, os.X_OK), name


def test_the_wheel_is_the_package_alone_and_names_itself(archives):
    assert release_checks.wheel_problems(archives[3]) == []
    with zipfile.ZipFile(archives[3]) as wheel:
        names = wheel.namelist()
        metadata = f"csaw_sampling-{VERSION}.dist-info"
        said = Parser().parsestr(wheel.read(f"{metadata}/METADATA").decode())
        assert "csaw = csaw.cli.__main__:run" in wheel.read(f"{metadata}/entry_points.txt").decode()
    assert {"csaw/py.typed", "csaw/__init__.pyi", "csaw/datasets/karate.zarr.zip"} <= set(names)
    assert not [name for name in names if "tests" in name.split("/")]
    assert (said["Name"], said["Version"], said["Requires-Python"]) == (
        "csaw-sampling",
        VERSION,
        ",".join(sorted(PROJECT["requires-python"].split(","))),
    )
    own = [Requirement(one) for one in said.get_all("Requires-Dist") if "csaw" in one]
    assert {one.name for one in own} <= {"csaw-sampling"}
    assert all(one.extras <= EXTRAS.keys() for one in own)


def test_the_tests_of_a_source_distribution_get_the_links_of_a_checkout(archives):
    tree, _, unpacked, _ = archives
    assert not (unpacked / "tests" / "_src").exists()
    make_links(unpacked)
    links = {file.relative_to(tree / "tests" / "_src"): os.readlink(file) for file in targets(tree)}
    assert {file.relative_to(unpacked / "tests" / "_src"): os.readlink(file) for file in targets(unpacked)} == links
    assert {link.relative_to(ROOT / "tests" / "_src") for link in targets()} == links.keys()
    make_links(unpacked)  # changes nothing


def test_links_that_became_texts_are_made_anew(archives, tmp_path):
    tree = archives[0]
    texts = [link for link, target in targets(tree).items() if not target.is_dir()]
    for link in texts:
        was = os.readlink(link)
        link.unlink()
        link.write_text(was)
    make_links(tree)
    assert all(link.resolve() == target.resolve() for link, target in targets(tree).items())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("tests/test_it.py", "has tests/test_it.py, which does not belong there"),
        ("csaw/tests/test_it.py", "has csaw/tests/test_it.py, which does not belong there"),
        ("csaw/engine/left.py", "has csaw/engine/left.py, which does not belong there"),
    ],
)
def test_a_file_too_many_in_a_wheel_is_named(archives, tmp_path, name, said):
    wheel = Path(shutil.copy(archives[3], tmp_path))
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(name, "")
    assert release_checks.wheel_problems(wheel) == [f"{wheel.name} {said}"]


@pytest.mark.parametrize("name", ["csaw/py.typed", "csaw/__init__.pyi", "csaw/engine/cuda/kernels/random.cuh"])
def test_a_file_that_a_wheel_lacks_is_named(archives, tmp_path, name):
    wheel = tmp_path / archives[3].name
    with zipfile.ZipFile(archives[3]) as whole, zipfile.ZipFile(wheel, "w") as part:
        for one in whole.namelist():
            if one != name:
                part.writestr(one, whole.read(one))
    assert release_checks.wheel_problems(wheel) == [f"{wheel.name} lacks {name}"]


@pytest.mark.parametrize(
    ("heading", "here", "tags", "said"),
    [
        ("## 1.2.3, unreleased", [], [], ""),
        ("## 1.2.3, unreleased", ["stable"], ["v1.2.2", "stable"], ""),
        ("## 1.2.3, 2026-12-01", ["v1.2.3"], ["v1.2.3"], ""),
        ("## 1.2.3, unreleased", ["v1.2.3"], ["v1.2.3"], "expected '## 1.2.3, YEAR-MONTH-DAY'"),
        ("## 1.2.3", ["v1.2.3"], ["v1.2.3"], "expected '## 1.2.3, YEAR-MONTH-DAY'"),
        ("## 1.2.3, 2026-13-01", ["v1.2.3"], ["v1.2.3"], "expected '## 1.2.3, YEAR-MONTH-DAY'"),
        ("## 1.2.3, 20261201", ["v1.2.3"], ["v1.2.3"], "expected '## 1.2.3, YEAR-MONTH-DAY'"),
        ("## 1.2.2, unreleased", [], [], "CHANGELOG.md begins with '## 1.2.2, unreleased', and the version is 1.2.3"),
        ("## 1.2.30, unreleased", [], [], "and the version is 1.2.3"),
        ("## 1.2.3, unreleased", [], ["v1.2.3"], "v1.2.3 is another commit: raise VERSION"),
        ("## 1.2.3, 2026-12-01", ["v1.2.4"], ["v1.2.4"], "this commit has the tag v1.2.4, and the version is 1.2.3"),
        ("## 1.2.3, 2026-12-01", ["v1.2.3", "v2"], ["v1.2.3", "v2"], "this commit has the tag v2"),
    ],
)
def test_version_change_log_and_tags_agree(heading, here, tags, said):
    problems = release_checks.version_problems("1.2.3", heading, here, tags)
    assert len(problems) == bool(said), problems
    assert all(said in one for one in problems)


def test_the_version_here_agrees_with_the_change_log():
    assert release_checks.version() == VERSION
    heading = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    assert release_checks.version_problems(VERSION, heading, [], []) == []


def test_fragments_go_into_the_change_log_by_their_kinds():
    towncrier = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["towncrier"]
    assert towncrier["filename"] == "CHANGELOG.md"
    assert towncrier["title_format"].startswith("## {version}, ")
    head, marked, releases = (ROOT / "CHANGELOG.md").read_text().partition(towncrier["start_string"])
    assert marked
    assert releases.lstrip().startswith("## ")
    assert "## " not in head
    assert (ROOT / towncrier["template"]).is_file()
    kinds = "|".join(one["directory"] for one in towncrier["type"])
    for fragment in (ROOT / towncrier["directory"]).iterdir():
        named = re.fullmatch(rf"[a-z0-9]+(-[a-z0-9]+)*\.({kinds})\.md", fragment.name)
        assert named or fragment.name == "README.md", f"{fragment}: expected changes/NAME.KIND.md, KIND one of {kinds}"
        assert fragment.read_text().strip(), f"{fragment} is empty"


def test_the_recipe_says_what_the_package_says():
    recipe = yaml.safe_load((ROOT / release_checks.RECIPE).read_text())
    assert recipe["schema_version"] == 1
    assert (recipe["package"]["name"], recipe["context"]["version"]) == (PROJECT["name"], VERSION)
    assert recipe["about"]["summary"] == PROJECT["description"]
    assert recipe["about"]["license"] == PROJECT["license"]
    run = {name: SpecifierSet(bounds) for name, _, bounds in (one.partition(" ") for one in _run(recipe))}
    assert run.pop("__linux") == SpecifierSet()
    assert run.pop("python") == SpecifierSet(PROJECT["requires-python"])
    needed = [Requirement(one) for one in PROJECT["dependencies"]]
    assert run == {IN_CONDA.get(one.name, one.name): one.specifier for one in needed}
    assert recipe["build"]["python"]["entry_points"] == [f"{name} = {it}" for name, it in PROJECT["scripts"].items()]
    system = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert {str(Requirement(one.replace(" ", ""))) for one in recipe["requirements"]["host"] if ">" in one} == set(
        system
    )


def _run(recipe):
    return [one.replace("${{ python_min }}", recipe["context"]["python_min"]) for one in recipe["requirements"]["run"]]


def test_the_recipe_of_a_release_takes_the_archive_by_its_checksum():
    text = (ROOT / release_checks.RECIPE).read_text()
    uploaded = release_checks.uploaded_recipe(text, "0f" * 32)
    assert "checkout" not in uploaded
    uploaded = yaml.safe_load(uploaded)
    address = "https://pypi.org/packages/source/c/csaw-sampling/csaw_sampling-${{ version }}.tar.gz"
    assert uploaded.pop("source") == {"url": address, "sha256": "0f" * 32}
    assert uploaded == {name: part for name, part in yaml.safe_load(text).items() if name != "source"}
    with pytest.raises(AssertionError, match=r"packaging/conda/recipe/recipe.yaml: expected 'source:"):
        release_checks.uploaded_recipe(text.replace("../../..", ".."), "0f" * 32)


def test_the_image_installs_extras_that_exist():
    text = (ROOT / "packaging" / "Containerfile").read_text()
    (installed,) = re.findall(r'"\$\{wheel\}\[(.*?)\]"', text)
    given = re.findall(r"^ARG CUDA=(\w+)$|--build-arg CUDA=(\w+)", text, re.MULTILINE)
    choices = {one or other for one, other in given}
    assert choices == {"cuda12", "cuda13"}
    assert {name for name in installed.split(",") if name != "${CUDA}"} | choices <= EXTRAS.keys()


OTHER = "csaw"  # on the package index; this text names it by this constant alone, so that the rules find none here
AS_AN_EXTRA = re.compile(rf"(?<![\w.-]){OTHER}\\*\[(?!\d[\d,-]*\])")  # an array of jobs is called csaw[1-16]
INSTALLS = re.compile(
    r"(?:pip3?|pipx|uv|uvx|conda|mamba|micromamba|pixi)(?: tool)? (?:install|download|wheel|add)\b"
    rf"(?: +[^\s`]+)*? +['\"]?{OTHER}(?![\w./-])"
)


def texts():
    """Each text file of the project, by name."""
    for name in release_checks.project_files(ROOT):
        data = (ROOT / name).read_bytes()
        if b"\0" not in data and not name.endswith(".svg"):
            yield name, data.decode()


def test_nothing_advises_to_install_the_other_program():
    found = [
        f"{name}: {match[0]}"
        for name, text in texts()
        for rule in (AS_AN_EXTRA, INSTALLS)
        for match in rule.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"pip install '{OTHER}[torch]'", AS_AN_EXTRA),
        (f"`{OTHER}[dask]`", AS_AN_EXTRA),
        (f"{OTHER}[{{extra}}]", AS_AN_EXTRA),
        (f"match='{OTHER}\\\\[metis\\\\]'", AS_AN_EXTRA),
        (f"{OTHER}[cuda13,tables]==0.1", AS_AN_EXTRA),
        (f"pip install {OTHER}", INSTALLS),
        (f"pip install -U {OTHER}", INSTALLS),
        (f"pip3 install --upgrade '{OTHER}>=0.1'", INSTALLS),
        (f"pipx install {OTHER}", INSTALLS),
        (f"uv tool install {OTHER}", INSTALLS),
        (f"python -m pip download --no-deps {OTHER}==0.1.0", INSTALLS),
        (f"conda install -c conda-forge {OTHER}", INSTALLS),
    ],
)
def test_every_way_to_name_the_other_program_is_found(text, rule):
    assert rule.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "#BSUB -J csaw[1-16]",
        'bsub -J "csaw[4,8]"',
        "pip install '.[torch]'",
        "pip install csaw-sampling",
        "pip install 'csaw-sampling[torch]'",
        "`pip install pyarrow`, and csaw reads it",
        "pip install csaw_sampling-0.1.0-py3-none-any.whl",
        "pip install csaw/",
    ],
)
def test_what_installs_this_program_is_left_alone(text):
    assert not AS_AN_EXTRA.search(text)
    assert not INSTALLS.search(text)


COMMAND = re.compile(r"pip install((?: (?:-[\w-]+|'[^']*'|\"[^\"]*\"|[\w.\[\],-]*[\w\]./]))+)")


def advised():
    """Each thing that a text of csaw, its help or its pages tell the reader to install, with the file."""
    for name, text in texts():
        if name == "docs/contributing/evidence/comparison.md":  # it says how other samplers are installed
            continue
        if name.startswith(("docs/", "cli/", "engine/", "partition/", "package/", "datasets/")) or "/" not in name:
            for command in COMMAND.findall(text):
                for one in re.findall(r"'[^']*'|\"[^\"]*\"|\S+", command):
                    if not one.startswith("-"):
                        yield name, one.strip("'\"")


def test_what_is_advised_to_be_installed_is_what_an_extra_would_install():
    known = {}
    for one in [*PROJECT["dependencies"], *(each for extra in EXTRAS.values() for each in extra)]:
        known.setdefault(Requirement(one).name, set()).update(Requirement(one).extras)
    found = 0
    for name, one in advised():
        if re.fullmatch(r"\.(\[.*\])?", one):
            assert set(re.findall(r"[\w-]+", one)) <= EXTRAS.keys(), f"{name}: {one}"
        elif one != "{package}":
            asked = Requirement(one)
            assert asked.name in known.keys() | IN_NO_EXTRA, f"{name}: {one}"
            assert asked.extras <= known.get(asked.name, set()), f"{name}: {one}"
        found += 1
    assert found > 20


def test_no_module_asks_for_the_metadata_of_the_other_program():
    asked = re.compile(rf"\b(?:version|metadata|distribution|requires|files)\(\s*['\"]{OTHER}['\"]")
    assert asked.search(f"importlib.metadata.version('{OTHER}')")
    assert [name for name, text in texts() if asked.search(text)] == []
