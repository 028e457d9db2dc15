"""Imports that most runs on a GPU do not need are put off until something of them is used."""

import subprocess

from helpers.small_samples import python

LATER = """
import sys
from importlib.util import find_spec
from csaw.engine.cuda.device import import_later

loaded = lambda: "parseString" in vars(sys.modules["xml.dom.minidom"])
assert not any(name.startswith("xml") for name in sys.modules)
import_later("xml")
import_later("xml.dom.minidom")
import xml.dom.minidom
print(loaded(), find_spec("xml") is not None, loaded())
from xml.dom.minidom import parseString
print(parseString("<a/>").firstChild.tagName, loaded())
import_later("xml.dom.minidom")
import xml.sax
print(loaded(), xml.dom.minidom.parseString is parseString, xml.sax.__name__)
"""


def test_a_module_is_imported_when_it_is_first_used():
    done = subprocess.run(**python(LATER), capture_output=True, text=True, check=False)
    assert done.stdout == "False True False\na True\nTrue True xml.sax\n", done.stderr
