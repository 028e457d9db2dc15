"""The search of the documentation site, as the theme runs it in a browser: lunr over search_index.json.

It follows the search worker of Material for MkDocs 9: the separator and the boosts of the index, no stemming, each word
of a query as the beginning of a word, and scores that count more for whole pages and for all words of the query.
"""

import html
import json
import re
from pathlib import Path

from lunr.builder import Builder
from lunr.pipeline import Pipeline
from lunr.query import Query, QueryPresence
from lunr.stop_word_filter import WORDS, stop_word_filter

TAG = re.compile(r"<[^>]*>")


class Search:
    """The index of a built site."""

    def __init__(self, site: Path) -> None:
        found = json.loads((site / "search" / "search_index.json").read_text())
        self.separator = re.compile(found["config"]["separator"])
        self.docs = {doc["location"]: doc for doc in found["docs"]}
        builder = Builder()
        builder.b(0)
        builder.pipeline = Pipeline()
        builder.pipeline.add(stop_word_filter)
        builder.search_pipeline = Pipeline()
        builder.ref("location")
        fields = found["config"]["fields"]
        for field in fields:
            builder.field(field, boost=fields[field]["boost"])
        for doc in self.docs.values():
            words = {field: self.words(doc.get(field, "")) for field in fields}  # no page has tags
            builder.add({"location": doc["location"]} | words, {"boost": doc.get("boost", 1)})
        self.index = builder.build()

    def words(self, text: str) -> list[str]:
        """The words of a field."""
        return [word for word in self.separator.split(html.unescape(TAG.sub(" ", text)).lower()) if word]

    def hits(self, text: str) -> list[str]:
        """The places that a query finds, best first."""
        asked = [word for word in self.words(text) if word not in WORDS]
        query = Query(self.index.fields)
        for word in asked:
            query.term(word, wildcard=Query.WILDCARD_TRAILING, presence=QueryPresence.OPTIONAL)
        scores = {}
        for one in self.index.query(query):
            met = one["match_data"].metadata.keys()
            share = sum(any(found.startswith(word) for found in met) for word in asked) / len(asked)
            scores[one["ref"]] = one["score"] * (1 + (("#" not in one["ref"]) + share) ** 2)
        return sorted(scores, key=lambda place: -scores[place])
