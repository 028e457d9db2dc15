"""The arguments of hooks: an edge, a vertex, and the vertex of a law."""

from typing import Protocol


class View(Protocol):
    """A place in an instance: its vertices and numbers, and functions of its graph."""

    prev: int
    source: int
    depth: int
    instance: int
    vertices: int

    def is_neighbor(self, a: int, b: int) -> bool: ...

    def column(self, name: str, vertex: int) -> float: ...

    def path(self, steps: int) -> int: ...

    def random(self) -> float: ...

    def random_vertex(self) -> int: ...


class EdgeView(View, Protocol):
    """An edge, for the hooks edge_bias and update; its columns are attributes by their names."""

    src: int
    dst: int
    weight: float
    src_degree: int
    dst_degree: int
    previous_time: int
    start_time: int

    def __getattr__(self, name: str) -> float: ...


class VertexView(View, Protocol):
    """A vertex, for the hooks vertex_bias and dead_end."""

    id: int
    degree: int


class LawView(Protocol):
    """A vertex, for the method law, which may ask for the degree of any vertex."""

    id: int
    prev: int
    source: int
    depth: int
    vertices: int

    def degree(self, vertex: int) -> int: ...

    def column(self, name: str, vertex: int) -> float: ...

    def path(self, steps: int) -> int: ...
