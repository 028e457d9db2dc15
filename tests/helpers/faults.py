"""Faults planted into the engine: a wrong line in a kernel file, or a wrong hook, for as long as a test runs."""

from csaw.engine.cpu import specialize


def plant(monkeypatch, file, right, wrong):
    """Kernels made from now on have ``wrong`` wherever ``file`` says ``right``.

    They are files of their own in the cache.
    """
    body = specialize._body

    def with_fault(name):
        text = body(name)
        if name != file:
            return text
        assert right in text, f"{file} has changed: {right!r} is not in it any more"
        return text.replace(right, wrong)

    monkeypatch.setattr(specialize, "_body", with_fault)
