"""The names that declare custom measures: ``from csaw.engine.measure import Measure, option``."""

from csaw.engine.analytics.own_measure import Measure, vertex_option
from csaw.engine.api.option import Option, option

__all__ = ["Measure", "Option", "option", "vertex_option"]
