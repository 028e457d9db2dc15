"""What tests on GPUs measure of their memory."""

import cupy


class Peak(cupy.cuda.MemoryHook):
    """The most bytes of CuPy's pool that are in use at a time."""

    name = "Peak"

    def __init__(self):
        self.used = self.most = 0

    def malloc_postprocess(self, **of):
        self.used += of["mem_size"]
        self.most = max(self.most, self.used)

    def free_postprocess(self, **of):
        self.used -= of["mem_size"]
