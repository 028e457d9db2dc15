"""Addresses of draws: a draw depends only on its address.

    key      seed (64 bits)
    counter  draw (32 bits) | slot or step (32) | instance (64)

So a sample does not depend on the thread, batch, partition, device or order that drew it. Draws of one slot:

    walk selection   trial number                       (rejection, and exponential biases in time: 0, 1, 2, ...;
                     different times: see engine/cpu/kernels/envelopes.py; every other method: 0)
    pick j of k      j + k * trial
    exponential key  position of the edge in its row
    hooks            HOOK_DRAWS + call site of ``random`` in the hook, in a loop + 64 * turn; of a traversal with a
                     seed of its own for each edge, UPDATE_DRAWS
    waiting vertex   FRONTIER_DRAWS + depth, for its key in the selection of a frontier from a pool; with replacement,
                     at the slot of the depth, FRONTIER_DRAWS + number of the pick >> 1
    coin flip        SIZE_DRAWS + number >> 2, 32 bits each; a flip that falls on its limit is decided by REST_DRAWS +
                     number
    shared draws     the vertex, at the slot of the depth: its low 32 bits, and the others above the 16 bits of the
                     depth
    order of edges   ORDER_DRAWS + number of the edge, at the slot of the sources; of instances that are joined
                     (--target)
    trial of picks   TRIAL_DRAWS + number of the trial among those of the slot's vertex: its edge, and its coin
    pick that stays  EXCLUDE_DRAWS + number of the pick, where more are drawn and some edges left out: loaders of links
    pool of several  POOL_DRAWS + number >> 1, at the slot of the pool's first vertex; a number is a try, or beyond all
                     tries a pick
    vertex with a    POOL_DRAWS + (its low 31 bits >> 1), at the slot of the layer: the others are above the 16 bits of
    budget           the layer
"""

import numpy as np

PHILOX_MULTIPLIERS, PHILOX_KEYS = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)
HOOK_DRAWS = np.uint64(1 << 31)
POOL_DRAWS = np.uint64(5 << 29)  # uniform picks from a pool of several vertices
TRIAL_DRAWS = np.uint64(11 << 28)  # edges of a vertex's own row, proposed and accepted by their biases
SIZE_DRAWS = np.uint64(3 << 30)  # forest fire's coin flips
EXCLUDE_DRAWS = np.uint64(13 << 28)  # which of more picks than asked for stay, once some edges are left out
UPDATE_DRAWS = np.uint64(7 << 29)  # the seed of what a traversal's update draws, at the slot of its edge
FRONTIER_DRAWS = np.uint64(15 << 28)  # what selects a frontier from a pool of vertices that wait
REST_DRAWS = HOOK_DRAWS  # what decides a flip that fell on its limit: no hook of a traversal draws anything
ORDER_DRAWS = HOOK_DRAWS  # of the slot of sources, for which no hook draws: the order of edges that have none
SOURCE_SLOT = np.uint64(0xFFFFFFFF)  # the slot whose draws choose sources
