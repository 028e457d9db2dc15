"""The names that declare measures of your own: ``from csaw.measure import Measure, option``."""

from csaw.engine.measure import *
