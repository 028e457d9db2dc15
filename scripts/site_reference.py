"""The griffe extension for the Python reference; griffe reads the package for mkdocstrings."""

import griffe


class CallableModule(griffe.Extension):
    """Keep ``csaw.partition`` as the module that it is: the stub of csaw has it as an object that can be called."""

    def on_module_members(self, *, mod: griffe.Module, **_: object) -> None:
        if mod.path == "csaw":
            mod.members.pop("partition", None)
