"""Which accesses of a cluster's threads come after which: a clock per warp.

A warp's clock goes on at each barrier. `known[v, w]` is the last time of warp w whose accesses are done
for warp v, which a barrier of both has told it; of a warp itself the time before its last barrier, since its
threads are ordered among each other by barriers alone. Two accesses are a race unless one is done
for the warp of the other.

SPDX-License-Identifier: MIT
"""

import numpy as np

WARP = 32


class Order:
    def __init__(self, threads, threads_of_cluster):
        self.warps_of_cluster = threads_of_cluster // WARP
        number = threads // WARP
        self.clock = np.ones(number, np.int32)
        self.known = np.zeros((number, self.warps_of_cluster), np.int32)

    def column(self, warps):
        return warps % self.warps_of_cluster

    def before(self, warps):
        """What is done for each of `warps`, once these have met."""
        done = self.known[warps].max(0)
        done[self.column(warps)] = self.clock[warps]
        return done

    def meet(self, warps):
        """A barrier of warps of one cluster."""
        self.learn(warps, self.before(warps))
        self.step(warps)

    def learn(self, warps, done):
        self.known[warps] = np.maximum(self.known[warps], done)

    def step(self, warps):
        """From here on other accesses than before; those of one's own are done."""
        self.known[warps, self.column(warps)] = np.maximum(
            self.known[warps, self.column(warps)], self.clock[warps])
        self.clock[warps] += 1
