"""ensmallen, the sampler of GRAPE (Cappelletti et al., Nature Computational Science 2023)."""

WORKS = ("uniform walk", "node2vec p=2 q=.5", "weighted walk", "node2vec p=.25 q=4")


class Tool:
    def __init__(self, how, graph):
        from ensmallen import Graph

        weights = {"weights_column_number": 2} if how.get("weighted") else {}
        self.graph = Graph.from_csv(
            edge_path=how["folder"] + "/edges.tsv",
            edge_list_separator="\t",
            edge_list_header=False,
            sources_column_number=0,
            destinations_column_number=1,
            edge_list_numeric_node_ids=True,
            directed=False,
            name="g",
            verbose=False,
            **weights,
        )
        self.how = {
            "walk_length": how["length"] + 1,
            "iterations": how["rounds"],
            "max_neighbours": 2**32 - 1,  # it cuts hubs off at 100 otherwise
            "return_weight": 1 / how.get("p", 1.0),
            "explore_weight": 1 / how.get("q", 1.0),
        }

    def draw(self):
        return [self.graph.complete_walks(**self.how)]
