"""How fast sampling is here, against what this machine's memory can do."""
