"""The memory in which works on a GPU are done, as engine/analytics/cpu/memory says it of the CPU.

``more_bytes(entries, vertices)``: bytes of the GPU beside the rows, of works that need all rows there.
"""
