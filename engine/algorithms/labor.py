"""LABOR-0: frontier vertices choose neighbors by numbers that they share (Balin and Catalyurek, NeurIPS 2023, section
3.2).
"""

from csaw.engine.algorithm import ByRelation, Fanout, InTime, Traversal, against_option, option


class Labor(InTime, Traversal):
    """In each instance and hop, each vertex u has one random number in [0, 1); a frontier vertex of degree d keeps its
    edge to u if that number is below FANOUT / d. With a time strategy, d counts only the edges that it may select; with
    fanouts by relation, those of the relation.
    """

    paper = "Balin and Catalyurek, NeurIPS 2023"
    shares_draws = True
    visited_once = False
    fanout: tuple[int, ...] | ByRelation = option(
        (10, 10),
        help="neighbors that a vertex selects on average, for each hop, separated by commas; -1 selects all; on a "
        "graph of several types also RELATION=NUMBERS, repeated for other relations; the relation * is all others",
        kind=Fanout,
        low=-1,
    )
    frontier_size: int = option(1024, help="number of sources in an instance, its batch", low=1)
    time_against: str = against_option()

    def edge_bias(self, e):
        return 1.0

    def sizes(self):
        return self.fanout.widths if isinstance(self.fanout, ByRelation) else self.fanout
