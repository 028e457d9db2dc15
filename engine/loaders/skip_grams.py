"""Pairs of a vertex and one that is near it on a walk, from which embeddings are learned.

See Mikolov et al., NeurIPS 2013, and Perozzi et al., KDD 2014.
"""

from collections.abc import Sequence
from typing import NamedTuple

from csaw.engine.loaders.pyg_arguments import READERS
from csaw.engine.loaders.tensors import needed
from csaw.engine.samples.identifiers import NOTHING
from csaw.partition.base.arguments import is_misread
from csaw.partition.base.python_names import reading
from csaw.partition.base.quoting import quoted
from csaw.partition.errors import OptionError

needed("torch")

import torch
from torch import Tensor

INTEGERS = (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8)


class Pairs(NamedTuple):
    """Skip-grams as int64 tensors.

    Attributes:
        center: vertices [n].
        context: vertices [n].
        negative: vertices [n, negatives], or None without negatives.
    """

    center: Tensor
    context: Tensor
    negative: Tensor | None = None


class SkipGrams:
    """Makes skip-grams from a batch of walks.

    Use it as the ``transform`` of a WalkStream, or as the ``collate_fn`` of a data loader.

        pairs = SkipGrams(window=5, negatives=5, vertices=V)
        DataLoader(WalkDataset("walks.zarr"), batch_size=128, shuffle=True, collate_fn=pairs)

    Calling it returns :class:`Pairs` on the device of the walks. A pair appears as often as it occurs in the walks;
    pairs are sorted by distance.

    Args:
        window: largest number of steps between center and context, on either side. All contexts of a center count;
            word2vec draws a smaller window for some.
        negatives: number of vertices to draw for each pair, independently and with PyTorch's generator. They may be
            neighbors of the center, as in word2vec.
        vertices: number of vertices in the graph, from which negatives are drawn uniformly; needed if there are
            negatives and no ``noise``.
        noise: unnormalized probabilities of negatives, a tensor [V], such as ``degrees**0.75``.

    Raises:
        OptionError: a number is out of range, or ``noise`` is not a probability.
    """

    @reading(READERS)
    def __init__(
        self, window: int = 5, negatives: int = 0, *, vertices: int | None = None, noise: Tensor | None = None
    ) -> None:
        if negatives and noise is None and vertices is None:
            raise OptionError(
                "vertices: expected the graph's number of vertices, because negatives are drawn from them, found None"
            )
        self.window, self.negatives, self.vertices = window, negatives, vertices
        self.sums = None if noise is None else _running_sums(noise)

    def __call__(self, walks: Tensor | Sequence[Tensor]) -> Pairs:
        """Return the pairs of walks.

        Args:
            walks: an int64 tensor [n, steps + 1], or a sequence of tensors [steps + 1]. Entries of -1 are no
                vertices.

        Returns:
            Centers, contexts and negatives.

        Raises:
            OptionError: walks are of different lengths, have numbers below -1, or are no such tensors.
        """
        held = _stacked(walks) if isinstance(walks, Sequence) and not isinstance(walks, str) else walks
        if not isinstance(held, torch.Tensor) or held.ndim != 2 or held.dtype not in INTEGERS:
            raise _others(walks)
        held = held.long()
        if held.numel() and (least := int(held.min())) < NOTHING:
            raise OptionError(
                f"walks: expected vertices of at least 0, or -1 for none, found {least}; ids of the input may be "
                "negative: pass graph= to WalkDataset, or draw with ids='dense'"
            )
        near = [
            (held[:, :-d].reshape(-1), held[:, d:].reshape(-1))
            for d in range(1, min(self.window, held.shape[1] - 1) + 1)
        ]
        kept = [(a[both], b[both]) for a, b in near for both in [(a >= 0) & (b >= 0)]]
        none = held.new_empty(0)
        center = torch.cat([one for a, b in kept for one in (a, b)] or [none])
        context = torch.cat([one for a, b in kept for one in (b, a)] or [none])
        return Pairs(center, context, self._drawn(center) if self.negatives else None)

    def _drawn(self, center: Tensor) -> Tensor:
        """int64 [n, negatives] on the device of ``center``."""
        size = (center.numel(), self.negatives)
        if self.sums is None:
            assert self.vertices is not None
            return torch.randint(self.vertices, size, device=center.device)
        sums = self.sums.to(center.device)
        # A draw below the last sum; entries whose sums equal that of their left neighbor have no chance and are never
        # found.
        below = torch.rand(size, dtype=torch.float64, device=center.device) * sums[-1]
        return torch.searchsorted(sums, below, right=True).clamp_(max=int(torch.searchsorted(sums, sums[-1])))


def _stacked(walks: Sequence[Tensor]) -> Tensor:
    """Walks as one tensor. OptionError where they are of different lengths, or others than tensors."""
    if not len(walks) or not all(isinstance(walk, torch.Tensor) for walk in walks):
        raise _others(walks)
    if len(lengths := {tuple(walk.shape) for walk in walks}) > 1:
        found = " and ".join(str(list(shape)) for shape in sorted(lengths)[:2])
        raise OptionError(f"walks: expected tensors of equal length, found {found}; pad the shorter ones with -1")
    return torch.stack(list(walks))


def _others(walks: object) -> OptionError:
    found = f"a tensor {list(walks.shape)} of {walks.dtype}" if isinstance(walks, torch.Tensor) else quoted(walks)
    return OptionError(
        f"walks: expected integers as a tensor [walks, steps + 1], or a sequence of tensors [steps + 1], found {found}"
    )


def _running_sums(noise: Tensor) -> Tensor:
    try:
        chances = torch.tensor(0.0) if is_misread(noise) else torch.as_tensor(noise, dtype=torch.float64)
    except Exception:  # noqa: BLE001 - of PyTorch or of the object, whose reasons name no argument
        chances = torch.tensor(0.0)
    if (
        chances.is_sparse
        or chances.ndim != 1
        or not bool((torch.isfinite(chances) & (chances >= 0)).all())
        or not float(chances.sum()) > 0
    ):
        raise OptionError(
            "noise: expected a tensor [vertices] of finite numbers of at least 0, with at least one above 0"
        )
    whole = bool(torch.isfinite(chances.sum()))
    return (chances if whole else chances / chances.max()).cumsum(0)
