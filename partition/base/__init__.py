"""What every room uses, and what imports none of them: sizes, quoting, progress, threads, compiling, the cache folder."""
