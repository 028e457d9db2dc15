"""What a run needs and how it will be done: options, needs, selection, memory; nothing is sampled here."""
