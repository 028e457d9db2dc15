"""Docstrings have the sections of Google's style, which editors and the page of the Python reference show: arguments
are those of the signature.
"""

import ast
import inspect
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "tests" / "_src"
FOLDERS = ("cli", "datasets", "engine", "package", "partition")
REFERENCE = "\n".join(page.read_text() for page in sorted((ROOT / "docs" / "reference" / "python").glob("*.md")))
MEMBERS = r"(?:\n    options:\n      (?:\S.*\n      )*?members: \[(.*)\])?"
NAMED = re.findall(rf"^::: (\S+)${MEMBERS}", REFERENCE, re.MULTILINE)
OPENED = {"csaw.partition.graph.store.GraphStore"}  # classes that a function opens, not their constructors
SECTION = r"(?:^|\n)%s:\n((?:[ ]+.*\n?|\n)*)"


def section(node, name):
    """The lines of a section of a docstring; empty without it."""
    found = re.search(SECTION % name, ast.get_docstring(node) or "")
    return inspect.cleandoc("\n" + found[1]) if found else ""


def items(node, name):
    """What a section names, in order."""
    return [found.lstrip("*") for found in re.findall(r"^(\*{0,2}\w+):", section(node, name), re.MULTILINE)]


def parameters(function):
    given = function.args
    several = [one for one in (given.vararg, given.kwarg) if one]
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs, *several)]
    return sorted(name for name in names if name not in ("self", "cls") and not name.startswith("_"))


@cache
def tree(file):
    return ast.parse(file.read_text())


def members(node):
    return {one.name: one for one in node.body if isinstance(one, ast.FunctionDef | ast.ClassDef)}


def is_property(node):
    return any("property" in ast.unparse(one) for one in node.decorator_list)


def defined(name):
    """The definition of a dotted name, wherever its package takes it from."""
    parts = name.split(".")
    place = next(
        file
        for k in range(len(parts), 0, -1)
        for file in ((SOURCE.joinpath(*parts[:k])).with_suffix(".py"), SOURCE.joinpath(*parts[:k], "__init__.py"))
        if file.is_file()
    )
    if place.stem == parts[-1] or place.parent.name == parts[-1]:
        return None  # a module
    if parts[-1] in members(tree(place)):
        return members(tree(place))[parts[-1]]
    for one in ast.walk(tree(place)):
        if isinstance(one, ast.ImportFrom) and one.module and parts[-1] in [alias.name for alias in one.names]:
            return defined(f"{one.module}.{parts[-1]}")
    raise LookupError(name)


def shown():
    """Functions and classes of the page of the Python reference, with the methods that it names."""
    for name, listed in NAMED:
        node = defined(name)
        if node is None:
            continue
        yield name, node
        if isinstance(node, ast.ClassDef):
            for method in filter(None, listed.split(", ")):
                if method in members(node):
                    yield f"{name}.{method}", members(node)[method]


SHOWN = dict(shown())


@pytest.mark.parametrize("name", SHOWN)
def test_the_reference_names_each_argument_and_the_result(name):
    node = SHOWN[name]
    assert ast.get_docstring(node).partition("\n\n")[0].strip().count("\n") == 0, "expected a summary of one line"
    made = members(node).get("__init__") if isinstance(node, ast.ClassDef) else node
    if made is None or is_property(made) or name in OPENED:
        return
    assert sorted(items(node, "Args")) == parameters(made)
    if made is node and (made.returns is None or ast.unparse(made.returns) != "None"):
        assert section(node, "Returns") or section(node, "Yields"), "expected Returns: or Yields:"


def test_sections_of_arguments_name_parameters_alone():
    wrong = {}
    for file in (file for top in FOLDERS for file in sorted((ROOT / top).rglob("*.py"))):
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and section(node, "Args"):
                given = items(node, "Args")
                if sorted(given) != parameters(node):
                    wrong[f"{file.relative_to(ROOT)}:{node.name}"] = given
    assert not wrong


def test_no_docstring_names_its_arguments_under_another_heading():
    assert not [
        f"{file.relative_to(ROOT)}:{node.name}"
        for top in FOLDERS
        for file in sorted((ROOT / top).rglob("*.py"))
        for node in ast.walk(tree(file))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and re.search(r"^(Arguments:?|Parameters:?)( |$)", ast.get_docstring(node) or "", re.MULTILINE)
    ]
