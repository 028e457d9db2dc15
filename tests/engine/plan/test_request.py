"""What is said twice of a request and of a graph, for those who make one and those who read one, is said alike."""

from dataclasses import fields
from typing import get_type_hints

from csaw.engine.api import recorded
from csaw.engine.plan.limits import Request
from csaw.partition.graph.attributes import Attributes
from csaw.partition.graph.store import ShownGraph


def test_manifests_are_read_with_the_fields_that_requests_are_written_with():
    written = {one.name for one in fields(Request)}
    assert written == set(get_type_hints(recorded.Request))


def test_what_a_graph_shows_of_itself_is_in_the_attributes_of_its_store():
    shown = set(get_type_hints(ShownGraph)) - {"path", "types"}
    assert shown <= set(get_type_hints(Attributes))
