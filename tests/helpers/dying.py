"""Source for a child process that a kill hits in the middle of a write."""

HALF_WRITTEN = """
import os, signal
def die_in_write(moment):
    left, write = moment, os.write
    def half_written(descriptor, data):
        nonlocal left
        left -= 1
        if left == 0:
            write(descriptor, bytes(data)[: len(data) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        return write(descriptor, data)
    os.write = half_written
"""
"""``die_in_write(moment)``: the write of this number, from 1 on, writes half of its bytes and kills the process."""
