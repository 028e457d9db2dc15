"""A fuzzer for the command line: random damage to stores, random texts, files of other programs, option values at their
ends, kills at random moments.

Its invariant: a command ends with 0 and a right result, or with 1 or 2 (``verify`` also 3) and one sentence that names
the thing; never by a signal, with a traceback, not at all, or with a wrong result. A case is a number: kind, seed and
number give the same case again.

    PYTHONPATH=tests/_src:tests python -m fuzz faults texts --seed 7 --cases 2000
    PYTHONPATH=tests/_src:tests python -m fuzz texts --seed 7 --first 1234 --cases 1 --keep /tmp/case
"""
