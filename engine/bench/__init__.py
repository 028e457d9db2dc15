"""How fast csaw is here, against what this machine can do: suites of works, the limits measured beside them, plots, comparisons."""
