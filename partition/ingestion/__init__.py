"""From edges in files and objects to a graph store, within a limit of memory."""
