"""A walk of a user's own: of second order, and each step goes on by chance."""

TEXT = """
from csaw.engine.algorithm import Walk

class Mine(Walk):
    def edge_bias(self, e):
        return e.weight if e.is_neighbor(e.prev, e.dst) else e.weight / 2

    def bias_range(self):
        return (0.5, 1.0, 1.0)

    def update(self, e):
        return e.dst if e.random() < GOES_ON else -1
"""


def written(folder, goes_on):
    """The walk as an algorithm's name, in a file of ``folder``; ``goes_on`` is the chance that
    a step is not the last.
    """
    file = folder / "mine.py"
    file.write_text(TEXT.replace("GOES_ON", str(goes_on)))
    return f"{file}:Mine"
