"""The cache of machine code: what its index names is there, and is that of the source as it is now."""

import sys
from types import ModuleType

from csaw.partition.base.compile import _LockedCacheFile


def test_code_is_there_before_the_index_names_it(tmp_path, monkeypatch):
    earlier = _LockedCacheFile(str(tmp_path), "deal", "the source as it was")
    earlier.save("types", "earlier code")
    now = _LockedCacheFile(str(tmp_path), "deal", "the source as it is")
    save_index, seen = now._save_index, []

    def saved(overloads):
        save_index(overloads)
        seen.append({key: now.load(key) for key in overloads})  # as another process does that waits for it

    monkeypatch.setattr(now, "_save_index", saved)
    assert now.load("types") is None
    for key, code in (("types", "code"), ("other types", "other code"), ("types", "code again")):
        now.save(key, code)
        assert seen[-1][key] == code
    assert seen[-1] == {"types": "code again", "other types": "other code"}


def test_code_for_a_class_that_moved_is_compiled_anew(tmp_path, monkeypatch):
    module = ModuleType("an_old_place")
    module.Walkers = type("Walkers", (), {"__module__": "an_old_place"})
    monkeypatch.setitem(sys.modules, "an_old_place", module)
    _LockedCacheFile(str(tmp_path), "deal", "the source").save(module.Walkers, "code")
    monkeypatch.delitem(sys.modules, "an_old_place")
    cache = _LockedCacheFile(str(tmp_path), "deal", "the source")
    assert cache.load("types") is None
    cache.save("types", "code again")
    assert cache.load("types") == "code again"
