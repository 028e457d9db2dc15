"""Small graphs with vertices of every kind that the kernels for triangles tell apart."""

from csaw.engine.analytics.cuda import oriented, triangle_counts, triangles_spread, triangles_streamed

# hubs; neighbors of a vertex that is worth a bitmap, and of one whose row a block splits; dense parts
KINDS_OF_VERTICES = [
    (0, 8, 64, {}),
    (100, 8, 64, {512: 8}),
    (100, 2**40, 16, {}),
    (3000, 48, oriented.LONG, {512: 3, 1024: 6}),
    (0xFFFF, 48, oriented.LONG, {512: 64, 1024: 200}),
]


def limit_kinds(monkeypatch, hubs, many, long, dense):
    """Let few vertices be hubs, and so on; and dense parts have as much memory as they ask for."""
    for module, name, value in (
        (oriented, "HUBS", hubs),
        (oriented, "LONG", long),
        (triangle_counts, "MANY", many),
        (triangle_counts, "DENSE", dense),
        (triangle_counts, "DENSE_EDGES", 1e-3),
        (triangles_streamed, "DENSE_SHARE", 1e-3),
        (triangles_spread, "DENSE_SHARE", 1e-3),
    ):
        monkeypatch.setattr(module, name, value)
