"""What commands print, without what differs from run to run."""

import re


def masked(output: str) -> str:
    """An output without times, rates and sizes, and without whether something was compiled."""
    output = re.sub(
        r"; compiling kernels \(first use of this kind of run, kept for later\) took [^.]*(\.\d+)? m?s", "", output
    )
    return re.sub(r"[\d.,]*\d (?:s|ms|µs|B|[KMG]iB|(?:[kMG] )?edges/s)\b", "<measured>", output)
