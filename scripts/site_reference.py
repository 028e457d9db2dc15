"""The griffe extension for the Python reference; griffe reads the package for mkdocstrings."""

import re

import griffe

RESULT = re.compile(r"^( *)((?:Returns|Yields):\n)( +)(?=\S)", re.MULTILINE)


class CallableModule(griffe.Extension):
    """Keep ``csaw.partition`` as the module that it is: the stub of csaw has it as an object that can be called."""

    def on_module_members(self, *, mod: griffe.Module, **_: object) -> None:
        if mod.path == "csaw":
            mod.members.pop("partition", None)


class ResultsAreParagraphs(griffe.Extension):
    """What is returned is a paragraph: griffe would read all that is before its first colon as a type.

    A colon before the paragraph says that the type is that of the annotation.
    """

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        if obj.docstring is not None:
            obj.docstring.value = RESULT.sub(r"\1\2\3: ", obj.docstring.value)
