"""Dataset catalog, R-MAT generator, download.

``csaw.datasets()`` lists the catalog: the module can be called.
"""

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from csaw.partition.base.plain_data import Record


class DatasetsModule(ModuleType):
    """The type of this module, which does what ``csaw datasets list --json`` does when it is called."""

    def __call__(self) -> "list[Record]":
        """Return the graphs that csaw can fetch by name, of the SNAP and SuiteSparse collections.

            [one["name"] for one in csaw.datasets() if one["edges"] < 1_000_000]

        Returns:
            A dict for each: ``name``, which is a graph wherever csaw takes one, ``vertices``, ``edges``, ``directed``,
            ``days`` of a temporal network, ``nbytes`` of the download, the ``papers`` that sample it, ``url`` and more.
        """
        from csaw.datasets.catalog import listed

        return listed()


sys.modules[__name__].__class__ = DatasetsModule
