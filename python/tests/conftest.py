"""Shared by all tests: folders of their own, and settings of hypothesis.

SPDX-License-Identifier: MIT
"""

import os
import tempfile

# Before kron is imported anywhere.
_folder = tempfile.TemporaryDirectory(prefix="kron-tests-")
os.environ["KRON_CACHE_DIR"] = os.path.join(_folder.name, "cache")
os.environ["KRON_CALIBRATE"] = "0"
os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(_folder.name, "hypothesis")

from hypothesis import HealthCheck, settings  # noqa: E402

# Compiling makes single examples slow; a fixed seed makes runs repeatable.
settings.register_profile("kron", deadline=None, derandomize=True, max_examples=40,
                          suppress_health_check=list(HealthCheck))
settings.load_profile("kron")
