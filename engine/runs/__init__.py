"""A run from request to result: prepared, executed, streamed, kept in memory, or stored as only a request."""
