"""Child processes of os.fork, and other interpreters in this process.

SPDX-License-Identifier: MIT
"""

import os
import shutil
import subprocess
import sys

import pytest

#: What programs share. A child that hangs is killed after HANGS seconds, which no child
#: takes however busy the machine is.
COMMON = """
import os, signal, sys, threading, time, numpy as np, kron
HANGS = 600

def check(n, rows=2):
    x = np.arange(float(rows * n)).reshape(rows, n)
    assert (kron.mkm(x, [np.eye(n)]) == x).all()

def child(work):
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        signal.alarm(HANGS)
        work()
        status = 0
    finally:
        os._exit(status)

def succeeds(pid):
    status = os.waitpid(pid, 0)[1]
    assert status == 0, ("hangs" if os.WIFSIGNALED(status) else "fails")
"""


def run(program, **environment):
    environment = {**os.environ, "KRON_CACHE": "0", **environment}
    # Python 3.12 warns of forks beside threads, which is what these programs do.
    result = subprocess.run([sys.executable, "-W", "ignore::DeprecationWarning", "-c",
                             COMMON + program], env=environment, text=True, capture_output=True)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.mark.parametrize("times", ["first", "later"])
def test_fork_while_others_compile(times):
    """Children compile, whatever another thread was doing when they were made."""
    run("""
later = %r
if later:
    check(2)
stop, begun = threading.Event(), threading.Event()

def compile_on():
    n = 100
    while not stop.is_set():
        begun.set()
        check(n)
        n += 1

threads = [threading.Thread(target=compile_on, daemon=True) for _ in range(1 + later)]
for thread in threads:
    thread.start()
begun.wait()
for n in range(3, 13):
    pid = child(lambda: check(n))
    time.sleep(0.001 * n)
    succeeds(pid)
stop.set()
for thread in threads:
    thread.join()
""" % (times == "later"))


@pytest.mark.parametrize("module", ["kron._compiler", "kron._build", "kron._fallback"])
def test_fork_while_others_import(module):
    run("""
begun = threading.Event()

class Finder:
    def find_spec(self, name, path, target=None):
        if name == %r:
            begun.set()
            time.sleep(0.2)

sys.meta_path.insert(0, Finder())
# Through a list, which the fast path does not take.
x = np.ones((2, 3)).tolist()
thread = threading.Thread(target=kron.mkm, args=(x, [np.eye(3)]), daemon=True)
thread.start()
begun.wait()
pid = child(lambda: kron.mkm(x, [np.eye(3)]))
thread.join()
succeeds(pid)
""" % module)


def test_fork_after_threads_have_run():
    """A child computes by itself: the threads are its parent's."""
    output = run("""
stop = threading.Event()

def launch_on():
    while not stop.is_set():
        check(64, 500)

check(64, 500)
threads = [threading.Thread(target=launch_on, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()

def work():
    assert kron.get_num_threads() == 1
    kron.set_num_threads(8)
    assert kron.get_num_threads() == 1
    check(64, 500)
    check(9)
    # A thread of the child, which ends.
    thread = threading.Thread(target=check, args=(64, 500))
    thread.start()
    thread.join()
    succeeds(child(lambda: check(64, 500)))

for _ in range(10):
    succeeds(child(work))
stop.set()
for thread in threads:
    thread.join()
assert kron.get_num_threads() == 4
check(64, 500)
""", KRON_NUM_THREADS="4")
    assert output == ""


#: Has the dynamic loader wait while it loads a library of oneTBB, which it does when kron
#: first uses more threads than the caller's.
AUDIT = """
#define _GNU_SOURCE
#include <link.h>
#include <string.h>
#include <unistd.h>
unsigned la_version(unsigned version) { return version; }
unsigned la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie) {
  if (strstr(map->l_name, "tbbmalloc") && write(1, "loading\\n", 8) == 8)
    usleep(500000);
  return 0;
}
"""


def test_fork_while_threads_start(tmp_path):
    """A child's dynamic loader works, though the parent's was loading a library."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("needs a C compiler")
    (tmp_path / "audit.c").write_text(AUDIT)
    library = tmp_path / "audit.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, tmp_path / "audit.c"], check=True)
    output = run("""
check(64, 500)
thread = threading.Thread(target=check, args=(64, 5000))
thread.start()
time.sleep(0.2)
succeeds(child(lambda: check(9)))
thread.join()
""", KRON_NUM_THREADS="4", LD_AUDIT=str(library))
    assert output == "loading\n"


def test_fork_before_threads_have_run():
    """A child of a process that has used no threads has its own."""
    run("""
check(64, 1)

def work():
    assert kron.get_num_threads() == 4
    check(64, 500)

succeeds(child(work))
check(64, 500)
assert kron.get_num_threads() == 4
""", KRON_NUM_THREADS="4")


def test_child_that_ends_as_python_does():
    """Its destructors wait for nobody either."""
    run("""
check(64, 500)
for _ in range(5):
    pid = os.fork()
    if not pid:
        signal.alarm(HANGS)
        check(64, 500)
        sys.exit()
    succeeds(pid)
""", KRON_NUM_THREADS="4")


def test_multiprocessing_pool():
    output = run("""
import multiprocessing
check(64, 500)
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(check, range(2, 12)))
""", KRON_NUM_THREADS="4")
    assert output.count("None") == 10


def test_import_in_a_sub_interpreter_is_refused():
    interpreters = pytest.importorskip("_xxsubinterpreters", reason="needs CPython up to 3.12")
    program = """
import signal, sys
signal.alarm(600)
import _xxsubinterpreters as interpreters
first = interpreters.create(%s)
code = '''
try:
    import kron
except ImportError as error:
    assert "main interpreter" in str(error), error
else:
    raise SystemExit("import kron works")
'''
interpreters.run_string(first, code)
import kron, numpy
assert kron.mkm(numpy.ones((2, 2)), [numpy.ones((2, 2))]).sum() == 8
second = interpreters.create(%s)
interpreters.run_string(second, code)
assert kron.mkm(numpy.ones((2, 2)), [numpy.ones((2, 2))]).sum() == 8
print("refused")
"""
    assert hasattr(interpreters, "run_string")
    # Those that share the interpreter's lock, the only kind until Python 3.12.
    shared = "isolated=False"
    result = subprocess.run([sys.executable, "-c", program % (shared, shared)], text=True,
                            capture_output=True)
    assert (result.returncode, result.stdout) == (0, "refused\n"), result.stderr
