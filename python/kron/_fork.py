"""What a child process of os.fork needs from its parent.

A child has the locks of its parent but only the thread that forks. What another thread is
importing at that moment can never be imported in the child, where Python still waits for
that thread. So fork waits for the imports that calls make. (Locks of the compiler and of
kron's own memory: include/kron/Target/ForkGuard.h, python/src/Pool.cpp.)

SPDX-License-Identifier: MIT
"""

import os
import threading

#: Held while modules are imported that any call may need.
imports = threading.RLock()

#: Held by who measures plans.
tuning = threading.Lock()


def _renew():
    """The thread that held it is not in the child."""
    global tuning
    tuning = threading.Lock()


os.register_at_fork(after_in_child=_renew)
os.register_at_fork(before=imports.acquire, after_in_parent=imports.release,
                    after_in_child=imports.release)
