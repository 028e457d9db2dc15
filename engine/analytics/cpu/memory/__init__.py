"""The memory in which works on the CPU are done, without their kernels: a file for each work that says it.

``suffices(network, kept)``: bytes in which it is done for certain. ``whole_bytes(network, kept)``: bytes from which on
all that it reads is in memory. ``IN_MEMORY``: it is refused where memory does not hold all rows.
"""
