"""Where instances start, and the data of vertices that a run is given."""
