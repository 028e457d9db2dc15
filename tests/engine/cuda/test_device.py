"""Imports that most runs on a GPU do not need are put off until something of them is used."""

import subprocess

from helpers.small_samples import python

LATER = """
import sys
from csaw.engine.cuda.device import import_later

assert "xml.dom.minidom" not in sys.modules
import xml.dom
import_later("xml.dom.minidom")
import xml.dom.minidom
standing_in = sys.modules["xml.dom.minidom"]
print("parseString" in vars(standing_in))
from xml.dom.minidom import parseString
print(parseString("<a/>").firstChild.tagName, "parseString" in vars(sys.modules["xml.dom.minidom"]))
import_later("xml.dom.minidom")
print("parseString" in vars(sys.modules["xml.dom.minidom"]), standing_in.parseString is parseString)
"""


def test_a_module_is_imported_when_it_is_first_used():
    done = subprocess.run(**python(LATER), capture_output=True, text=True, check=False)
    assert done.stdout == "False\na True\nTrue True\n", done.stderr
