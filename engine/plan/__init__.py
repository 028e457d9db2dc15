"""Planning of a run: its options, its needs, the method of selection and the memory; nothing is sampled here."""
