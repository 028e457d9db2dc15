"""The names that declare algorithms of your own: ``from csaw.algorithm import Walk, option``."""

from csaw.engine.algorithm import *
