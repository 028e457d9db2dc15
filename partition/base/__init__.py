"""Tools of every room, which import none of them: sizes, quoting, progress, threads, compiling, the cache folder."""
