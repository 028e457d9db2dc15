"""Reading instances that differ in size from a sample store."""

from typing import TYPE_CHECKING

import numpy as np

from csaw.engine.samples.layout import RAGGED, WHOLE

if TYPE_CHECKING:
    from csaw.engine.samples import Samples


def ragged_group(samples: "Samples", start: int, stop: int) -> dict[str, np.ndarray]:
    """The arrays of the instances start .. stop - 1; the bounds of each array's instances are in a store's arrays ``.._ptr``."""
    whole, ragged = WHOLE[samples.layout], RAGGED[samples.layout]
    held = [name for name in whole if name in samples]
    pointers = [name for name in held if name.endswith("_ptr")]
    first = {counts: name for name, counts in reversed(ragged.items()) if name in held}
    bounds = {whole[name]: samples.bounds(name, first[whole[name]], start, stop) for name in pointers}
    arrays = {counts: np.diff(pointer) for counts, pointer in bounds.items()}
    for name in set(held) - set(pointers):
        pointer = bounds[ragged[name]] if name in ragged else (start, stop)
        arrays[name] = samples[name][int(pointer[0]) : int(pointer[-1])]
    return {part: arrays[part] for part in whole.values() if part in arrays}
