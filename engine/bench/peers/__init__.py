"""Other samplers, and csaw as one of them: a file each; the folder is the registry.

A file is named after the package or the program that it uses. peer_loop.py runs it in an interpreter that has the
sampler.

A file has WORKS, the names of works it can draw, and a class Tool that imports the sampler when it is made, so that its
file can be read where the sampler is not installed:

    Tool(how, graph)    ``how`` has folder, length, rounds, threads, listed (sources), together (sources a call) and the
                        work's options;
                        ``graph()`` gives indptr, indices and weights of a CSR, of works in time also times
    draw()              the sample, in whatever form the sampler gives it
    edges(drawn)        how many edges were sampled; left out where ``drawn`` is a list of arrays of walks
    walks(drawn)        walks as an array [walks, vertices], or edges as [edges, 2]; of works in time the times of steps
                        stand behind the vertices, and -1 after the end of a walk; left out likewise
    rate(drawn)         edges a second by the sampler's own clock; left out where the time of draw() is what a user
                        waits for

``how`` may have ``walks``, how many walks begin, at the first sources of ``listed`` (programs: at the first vertices);
without it they begin at every vertex, ``rounds`` times.

A sampler that is not a Python package has PROGRAMS, the names of its programs. ``--peer NAME=FOLDER`` says where they
are; ``how`` has that as ``programs``, and ``keep`` where the walks are asked for. UNCHECKED says why a law cannot be
tested. DEVICES is where a sampler draws, ("cpu",) unless it says so; ``how`` has the device to draw on. ON_GPU names
the works that it can draw on a GPU, if they are fewer.
"""
