"""Random walk with jump: now and then to any vertex (Leskovec and Faloutsos, KDD 2006; C-SAW, section II)."""

from csaw.engine.algorithm import Walk, option


class Jump(Walk):
    """The walk jumps to a uniformly random vertex with a fixed probability at every step, and always from a dead
    end."""

    paper = "Leskovec and Faloutsos, KDD 2006"
    jump_prob: float = option(0.15, help="probability that a step jumps", low=0, high=1)

    def update(self, e):
        if e.random() < self.jump_prob:
            return e.random_vertex()
        return e.dst

    def dead_end(self, v):
        return v.random_vertex()

    def law(self, selected, v):
        jump = self.jump_prob if selected else 1.0
        return {u: jump / v.vertices + (1.0 - jump) * selected.get(u, 0.0) for u in range(v.vertices)}
