"""The version of csaw, which pyproject.toml takes from here."""

VERSION = "0.1.0"
