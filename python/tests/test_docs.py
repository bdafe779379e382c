"""The examples of docs/Python.md run, in their order, and do what the text says.

SPDX-License-Identifier: MIT
"""

import pathlib
import re

import numpy as np
import pytest

import kron

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/Python.md"


@pytest.fixture(scope="module")
def page():
    if not PAGE.exists():
        pytest.skip("this is a source distribution, which has no docs")
    return PAGE.read_text()


@pytest.fixture(scope="module")
def names(page, tmp_path_factory):
    """What is defined after all examples."""
    folder = tmp_path_factory.mktemp("docs")
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for match in re.finditer(r"^```python\n(.*?)^```$", page, re.M | re.S):
            line = page[:match.start()].count("\n") + 1
            exec(compile("\n" * line + match[1], str(PAGE), "exec"), names)
        assert (folder / "x.so").exists()
    return names


def test_products(names):
    x, factors = names["x"], names["factors"]
    dense = np.kron(np.kron(*factors[:2]), factors[2])[:, :7]
    np.testing.assert_allclose(kron.mkm(x, factors)[:, :7], x @ dense, atol=1e-9)
    np.testing.assert_allclose(names["z"], 0.5 * kron.kmm(x.T, factors))


def test_step_is_one_product(names):
    x, factors, step = names["x"], names["factors"], names["step"]
    z = np.ones_like(x)
    np.testing.assert_allclose(step(x, factors, z), 2 * kron.mkm(x, factors) + z, atol=1e-9)
    text = str(step.trace(x, factors, z))
    assert text.count("kron.mkm") == 1 and "linalg" not in text


def test_library(names):
    x, factors = names["x"], names["factors"]
    np.testing.assert_allclose(names["y"], kron.mkm(x, factors) / 2, atol=1e-9)
    assert "kron.mkm" in str(names["module"])


def test_explain_prints_what_the_page_shows(page, names):
    block = re.search(r"^    >>> kron\.explain\((.*)\)\n((?:    .*\n)+)", page, re.M)
    shown = [line.strip() for line in block[2].splitlines()]
    printed = str(eval(f"kron.explain({block[1]}, show=False)", {**names, "kron": kron}))

    def words(line):
        return re.sub(r"[\d.]+", "0", line).split()[:4]

    assert [words(line) for line in shown] == [words(line) for line in printed.splitlines()]
