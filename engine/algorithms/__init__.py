"""One file an algorithm; the folder is the registry."""
