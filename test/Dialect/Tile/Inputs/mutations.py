"""Takes the order out of kernels of tile operations, one operation at a time.

usage: mutations.py KRON_OPT FILE CHIP

Makes kernels of the programs in FILE, and changes each operation that orders what threads do to shared memory: a
barrier, a tile.release, a tile.copy_step or a tile.wait is taken out (an acquired slot stands for the one that was
waited for), a wait lets one copy more be pending, and a copy, a release, an exchange or a store comes twice. Prints how many the verifier
refuses, and those that it does not.
"""

import collections
import re
import subprocess
import sys


def run(kron_opt, text, *options):
    return subprocess.run([kron_opt, "-", *options], input=text, capture_output=True, text=True)


def kernels(kron_opt, path, chip):
    """The modules of kernels, each once."""
    program = open(path).read()
    done = run(kron_opt, program, "--split-input-file", "--kron-decompose",
               f"--kron-plan=target=cuda chip={chip} cublas=false", f"--kron-tile=chip={chip}")
    if done.returncode:
        sys.exit(done.stderr)
    return dict.fromkeys(re.findall(r"^  gpu\.module .*?^  }$", done.stdout, re.M | re.S))


def mutations(lines):
    """(what was done, lines)."""
    for number, line in enumerate(lines):
        before, after, op = lines[:number], lines[number + 1:], line.split()
        if op[:1] in (["tile.barrier"], ["tile.release"], ["tile.copy_step"]):
            yield f"without {op[0]}", before + after
        if op[:1] in (["tile.release"], ["tile.copy"], ["tile.copy_pieces"], ["tile.copy_step"], ["tile.exchange"],
                      ["tile.leave_rows"], ["tile.store"]):
            yield f"twice {op[0]}", before + [line, line] + after
        wait = re.match(r"\s*(%\w+) = tile\.wait (%\w+) pending (\d+)", line)
        if wait:
            slot, ring, pending = wait.groups()
            more = line.replace(f"pending {pending}", f"pending {int(pending) + 1}")
            yield "weaker tile.wait", before + [more] + after
            free = next(found for found in (re.match(rf"\s*(%\w+) = tile\.acquire {ring}\b", other) for other in lines)
                        if found)
            yield "without tile.wait", before + [re.sub(rf"{slot}\b", free[1], other) for other in after]


def main(kron_opt, path, chip):
    refused, accepted = 0, collections.Counter()
    for kernel in kernels(kron_opt, path, chip):
        for what, lines in mutations(kernel.splitlines()):
            done = run(kron_opt, "\n".join(lines))
            if done.returncode not in (0, 1):
                sys.exit(f"{what}: kron-opt ends with {done.returncode}\n{done.stderr}")
            accepted[what] += done.returncode == 0
            refused += done.returncode == 1
    print(f"refused {refused}")
    for what, count in sorted(accepted.items()):
        if count:
            print(f"accepted {count} {what}")


if __name__ == "__main__":
    main(*sys.argv[1:])
