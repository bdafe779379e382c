"""Samples of kron-bench beside probes that are made up. See kron-bench-quiet.test."""

import bench_quiet


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


bench_quiet.time = Clock()


def run(name, looks):
    """Takes one sample while the probes say what `looks` holds, its last for ever."""
    quiet, samples = bench_quiet.Quiet(), []
    quiet.begin()
    quiet._look = lambda large: looks.pop(0) if len(looks) > 1 else looks[0]

    def sample():
        samples.append(len(samples) + 1)
        return samples[-1]

    value = quiet.take(sample, 0)
    print(f"{name}: sample {value} after {len(samples)} samples, {quiet.disturbed} disturbed")


run("calm", [True])
run("slow after it", [True, False, True])
run("slow before it", [False, False, True])
run("always slow", [False])

quiet, probed = bench_quiet.Quiet(), []
quiet._probe = lambda kind, work: probed.append(kind) or True
quiet._look(False)
small, probed = probed, []
quiet._look(True)
print(f"{' and '.join(small)} of a small case, {' and '.join(probed)} of a large one")
