"""The checks of scripts/release: that versions agree, the content of the archives in dist/, and the conda-forge recipe.

The version stands in partition/base/version.py; everything else follows it, and the tag is that with a v before it.
"""

import hashlib
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Iterable
from datetime import date
from fnmatch import fnmatch
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
RECIPE = "packaging/conda/recipe/recipe.yaml"
MADE = r"PKG-INFO|setup\.cfg|csaw_sampling\.egg-info/.*"  # of a source distribution, by setuptools
HERE = "source:\n  path: ../../..\n"
UPLOADED = """source:
  url: https://pypi.org/packages/source/c/csaw-sampling/csaw_sampling-${{{{ version }}}}.tar.gz
  sha256: {sha256}
"""


def version(root: Path = ROOT) -> str:
    """The version of csaw."""
    return runpy.run_path(str(root / "partition" / "base" / "version.py"))["VERSION"]


def project_files(root: Path = ROOT) -> list[str]:
    """The project's files without links: those that git has or would add; without git, those not in .gitignore."""
    command = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = _git(root, *command) if (root / ".git").exists() else ""
    names = listed.split("\0") if listed else _unignored(root)
    return sorted(name for name in names if (root / name).is_file() and not (root / name).is_symlink())


def _git(root: Path, *command: str) -> str:
    """The output of git; nothing if it is not installed or refuses the folder."""
    if not shutil.which("git"):
        return ""
    return subprocess.run(["git", "-C", root, *command], check=False, capture_output=True, text=True).stdout


def _unignored(root: Path) -> list[str]:
    ignored = [".git", *(line.strip("/") for line in (root / ".gitignore").read_text().split())]
    names = [file.relative_to(root) for file in root.rglob("*")]
    return [str(name) for name in names if not any(fnmatch(part, one) for part in name.parts for one in ignored)]


def packaged(root: Path = ROOT) -> set[str]:
    """The files of the wheel, besides its metadata: all that stand in the folders of the package."""
    folders = tomllib.loads((root / "pyproject.toml").read_text())["tool"]["setuptools"]["package-dir"]
    found = set()
    for name, place in folders.items():
        inside = [file.relative_to(root / place) for file in (root / place).rglob("*") if file.is_file()]
        found |= {str(Path(*name.split("."), file)) for file in inside if file.parent.name != "__pycache__"}
    return found


def version_problems(wanted: str, heading: str, here: Iterable[str], tags: Iterable[str]) -> list[str]:
    """Disagreements among the version, the change log's newest heading, and tags of this commit and of all."""
    tag, here = f"v{wanted}", [one for one in here if re.fullmatch(r"v\d.*", one)]
    problems = [f"this commit has the tag {one}, and the version is {wanted}" for one in here if one != tag]
    if tag in tags and tag not in here:
        problems.append(f"{tag} is another commit: raise VERSION in partition/base/version.py")
    named, _, day = heading.removeprefix("## ").partition(", ")
    if named != wanted:
        problems.append(f"CHANGELOG.md begins with {heading!r}, and the version is {wanted}")
    elif tag in here and not _is_day(day):
        problems.append(
            f"CHANGELOG.md has {heading!r} in a commit with the tag {tag}: expected '## {wanted}, YEAR-MONTH-DAY'"
        )
    return problems


def _is_day(text: str) -> bool:
    try:
        return date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def check_versions() -> list[str]:
    """Disagreements and uncommitted files in this checkout."""
    if not _git(ROOT, "rev-parse", "HEAD"):
        return [f"{ROOT} has no git history; a release is made in a checkout, where tags can be compared"]
    changed = [f"not committed: {line}" for line in _git(ROOT, "status", "--porcelain").splitlines()]
    heading = re.search(r"^## .*$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0]
    here, tags = _git(ROOT, "tag", "--points-at", "HEAD").split(), _git(ROOT, "tag").split()
    return changed + version_problems(version(), heading, here, tags)


def _compared(archive: Path, found: set[str], expected: set[str]) -> list[str]:
    lines = [f"{archive.name} lacks {name}" for name in sorted(expected - found)]
    return lines + [f"{archive.name} has {name}, which does not belong there" for name in sorted(found - expected)]


def wheel_problems(wheel: Path, root: Path = ROOT) -> list[str]:
    """Files that the wheel lacks, or has besides the package."""
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
    metadata = f"csaw_sampling-{version(root)}.dist-info/"
    return _compared(wheel, {name for name in names if not name.startswith(metadata)}, packaged(root))


def source_problems(source: Path, root: Path = ROOT) -> list[str]:
    """Files that the source distribution lacks, or has besides the project."""
    with tarfile.open(source) as archive:
        names = {one.name.partition("/")[2] for one in archive if not one.isdir()}
        starts = {one.name.partition("/")[0] for one in archive}
    folder = f"csaw_sampling-{version(root)}"
    others = [f"{source.name} unpacks into {one}, expected {folder}" for one in sorted(starts - {folder})]
    made = {name for name in names if re.fullmatch(MADE, name)}
    return others + _compared(source, names - made, set(project_files(root)) - made)


def check_archives() -> list[str]:
    """The problems of the archives in dist/."""
    wheels, sources = sorted(DIST.glob("*.whl")), sorted(DIST.glob("*.tar.gz"))
    if (len(wheels), len(sources)) != (1, 1):
        return [f"{DIST}: expected one wheel and one source distribution, found {len(wheels)} and {len(sources)}"]
    return wheel_problems(wheels[0]) + source_problems(sources[0])


def uploaded_recipe(text: str, sha256: str) -> str:
    """The recipe of the source distribution on the package index, from the one that builds from a checkout."""
    assert text.count(HERE) == 1, f"{RECIPE}: expected {HERE!r} once"
    return re.sub(r"\A(#.*\n)+", "", text).replace(HERE, UPLOADED.format(sha256=sha256))


def check_recipe() -> list[str]:
    """Write dist/conda/recipe.yaml; what rattler-build has against that recipe, and against that of the checkout."""
    import rattler_build

    text = (ROOT / RECIPE).read_text()
    (source,) = DIST.glob("*.tar.gz")
    uploaded = uploaded_recipe(text, hashlib.sha256(source.read_bytes()).hexdigest())
    (DIST / "conda").mkdir(exist_ok=True)
    (DIST / "conda" / "recipe.yaml").write_text(uploaded)
    problems = []
    for name, one in ((RECIPE, text), ("dist/conda/recipe.yaml", uploaded)):
        try:
            (made,) = rattler_build.Stage0Recipe.from_yaml(one).render(rattler_build.VariantConfig())
        except rattler_build.RattlerBuildError as error:
            problems.append(f"{name}: {error}")
            continue
        given = made.recipe.to_dict()["package"]
        if given != {"name": "csaw-sampling", "version": version()}:
            problems.append(f"{name} makes {given}, and the version is {version()}")
    return problems


def say_next() -> list[str]:
    """Print what remains to be done."""
    tag = f"v{version()}"
    is_tagged = tag in _git(ROOT, "tag", "--points-at", "HEAD").split()
    trial = f"a trial: this commit has no tag {tag}" if not is_tagged else f"{tag}, to be uploaded"
    print(f"dist/ has been checked; it is {trial}. docs/contributing/release.md says what comes next.")
    return []


STEPS = {"versions": check_versions, "archives": check_archives, "recipe": check_recipe, "next": say_next}

if __name__ == "__main__":
    problems = STEPS[sys.argv[1]]()
    sys.exit("\n".join(problems) if problems else 0)
