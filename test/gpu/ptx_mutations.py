"""Kernels from which one statement is taken out, or changed: the interpreter has to notice.

SPDX-License-Identifier: MIT
"""

import re

import ptx_cases
from ptx_cases import batched, chain, product, sparse

#: Statements that are taken out, by how they begin. A wait for copies is made weaker instead.
REMOVED = ("bar.sync", "bar.warp.sync", "cp.async.commit_group", "wgmma.wait_group", "wgmma.commit_group",
           "fence.proxy.async", "barrier.cluster.arrive", "barrier.cluster.wait", "st.shared", "st.global",
           "cp.async.c", "fma.rn", "mma.sync", "griddepcontrol.wait", "cp.async.bulk", "mbarrier.init", "mbarrier.arrive.expect_tx",
           "mbarrier.arrive.shared")
WAIT = re.compile(r"(cp\.async\.wait_group\s+)(\d+)")
#: Statements of each kind that are changed where all are: every so many.
SHARE = {"st.shared": 7, "st.global": 7, "cp.async.c": 7, "fma.rn": 97, "mma.sync": 29}


def mutants(text):
    """(kind, number of its kind, statement, kernel) of all kernels with one statement changed."""
    seen = {}
    for match in re.finditer(r"(?:^|(?<=;))[^\n;]*;", text, re.M):
        statement = " ".join(match[0].split())
        kind = next((k for k in REMOVED if re.search(rf"(?:^|\s){re.escape(k)}", statement)), None)
        replaced = ""
        if WAIT.search(match[0]):
            kind = "cp.async.wait_group"
            replaced = WAIT.sub(lambda wait: f"{wait[1]}{int(wait[2]) + 1}", match[0])
        if not kind:
            continue
        number = seen[kind] = seen.get(kind, -1) + 1
        yield kind, number, statement, text[:match.start()] + replaced + text[match.end():]


#: (parameters, chip, {kind: numbers of the statements whose loss has to be found}).
CHANGED = (
    (batched("f32", [(12, 10), (10, 12)], 41), "sm_90a",
     {"bar.sync": (1, 2, 3), "cp.async.commit_group": (0, 1), "cp.async.wait_group": (0,), "st.shared": (0,),
      "st.global": (0,), "fma.rn": (0,)}),
    (product("mkm", "f64", [(16, 16)] * 3, 3), "sm_80",
     {"bar.sync": (0, 1), "bar.warp.sync": (0,), "cp.async.wait_group": (0,), "st.shared": (0,), "mma.sync": (0,)}),
    (product("mkm", "f32", [(24, 40), (17, 16)], 41), "sm_90a",
     {"bar.sync": (0, 1, 2), "fence.proxy.async": (1,), "griddepcontrol.wait": (0,), "cp.async.c": (0,),
      "wgmma.commit_group": (0, 1), "wgmma.wait_group": (0, 1), "cp.async.commit_group": (0,)}),
    (product("mkm", "f32", [(40, 24)], 100, **ptx_cases.pieces("k_piece = 32, stages = 3, tile = 16, threads = 128")),
     "sm_90a", {"bar.sync": (1, 2), "fence.proxy.async": (0,), "cp.async.wait_group": (0, 1),
                "cp.async.commit_group": (1, 2, 3, 4), "wgmma.commit_group": (3,), "wgmma.wait_group": (1,),
                "griddepcontrol.wait": (0,)}),
    (product("mkm", "f32", [(8, 8)] * 5, 64, dynamic=(), **ptx_cases.FFMA), "sm_90a",
     {"bar.sync": (0, 5, 11), "cp.async.wait_group": (0,)}),
    (product("mkm", "f64", [(8, 8)] * 4, 9, **ptx_cases.dmma("threads = 512, ctas_per_sm = 1, stages = 3")), "sm_90a",
     {"bar.sync": (0, 1), "bar.warp.sync": (1,), "cp.async.c": (0, 7), "cp.async.commit_group": (0, 1, 2),
      "cp.async.wait_group": (0,), "mma.sync": (0,), "st.shared": (0, 7), "st.global": (0,)}),
    (product("mkm", "f64", [(8, 8)] * 4, 21,
             **ptx_cases.dmma("extents = [1, 8, 8, 8, 8], cluster = 2, ring_slots = 7, threads = 256")), "sm_90a",
     {"barrier.cluster.arrive": (1,), "barrier.cluster.wait": (0, 1), "bar.sync": (0,), "bar.warp.sync": (1,),
      "cp.async.c": (0, 7), "cp.async.commit_group": (0, 1), "cp.async.wait_group": (0,), "st.shared": (0,)}),
    (sparse("f16", (6, 64, 64, 1), 150), "sm_90a",
     {"bar.sync": (0, 1, 2), "cp.async.wait_group": (0, 1), "cp.async.c": (0,), "mma.sync": (0,)}),
    # The first barrier of a segment, what follows its part of the factor, and what follows a piece.
    (sparse("f16", (2, 24, 80, 4), 100, **ptx_cases.streamed(
        "stages = 3, row_warps = 2, result_tiles = 2, result_warps = 1, k_step = 32, keeps_factor = 1, kept_tiles = 1, "
        "pairs_factor = 1")), "sm_90a",
     {"bar.sync": (0, 1, 3), "cp.async.wait_group": (0, 1), "cp.async.commit_group": (0, 1, 2)}),
    (sparse("f16", (2, 64, 80, 1), 300, **ptx_cases.streamed(
        "stages = 1, row_warps = 4, result_tiles = 8, result_warps = 1, k_step = 32, keeps_factor = 1, kept_tiles = 1, "
        "wgmma = 1")), "sm_90a",
     {"bar.sync": (1, 2, 4, 5), "cp.async.wait_group": (0, 2), "cp.async.commit_group": (0, 1, 2),
      "fence.proxy.async": (0,), "wgmma.wait_group": (1,)}),
    (sparse("f32", (100, 6, 3, 1), 70), "sm_90a", {"st.global": (0, 1), "fma.rn": (0, 7)}),
    (sparse("f16", (24, 40, 12, 1), 100), "sm_80", {"st.global": (0, 5), "mma.sync": (0, 7)}),
    (ptx_cases.pair("f32", "square_diff", (37, 45, 72)), "sm_90a",
     {"bar.sync": (0,), "cp.async.commit_group": (0,), "cp.async.wait_group": (0,), "cp.async.c": (1, 7),
      "st.global": (0, 7), "fma.rn": (0,)}),
    # One half of a matrix, which passes through shared memory on its way to the other one.
    (ptx_cases.pairs.of_one_array(ptx_cases.pair("f32", "abs_diff", (50, 50, 21), fields=f"{ptx_cases.SMALL_PAIRS}, symmetric = 1")),
     "sm_90a", {"bar.sync": (1, 2), "st.shared": (0, 7), "st.global": (0, 7)}),
    # Rows by warpgroups and values by matrix instructions: the copies of values and of steps, and what waits for them.
    (ptx_cases.pair("f32", "square_diff", (70, 100, 64, 8), epilogue=True, fields=ptx_cases.warpgroups(
        3, 8, more=", value_columns = 8, value_products = 3, split_ctas = 2")), "sm_90a",
     {"cp.async.c": (0,), "cp.async.bulk": (0, 1), "mbarrier.init": (0, 3), "mbarrier.arrive.expect_tx": (0, 1),
      "mbarrier.arrive.shared": (0,), "wgmma.commit_group": (0,), "wgmma.wait_group": (0,)}),
    # Short rows in registers: blocks of columns that arrive together, and their values.
    (ptx_cases.pair("f32", "square_diff", (20, 60, 3, 2), epilogue=True, fields=ptx_cases.kept(
        4, 2, "value_columns = 2, split_ctas = 1")), "sm_90a",
     {"cp.async.c": (0, 1, 2, 3), "cp.async.commit_group": (1, 2), "cp.async.wait_group": (0,)}),
    # Norms and values that arrive while rows are multiplied.
    (ptx_cases.pair("f32", "square_diff", (130, 120, 64, 1), epilogue=True, fields=ptx_cases.warpgroups(
        3, 8, more=", split_ctas = 1")), "sm_90a",
     {"cp.async.c": (0,), "cp.async.commit_group": (1,), "cp.async.wait_group": (0,), "bar.sync": (2,)}),
    # Steps that go round in the ring of two warpgroups: a slot is free once both are done with it.
    (ptx_cases.pair("f32", "dot", (200, 40, 200), fields=ptx_cases.warpgroups(3, 8, 2, 256)), "sm_90a",
     {"mbarrier.arrive.shared": (0,), "cp.async.bulk": (0, 3), "bar.sync": (0,)}),
    # Steps of a chain that meet in shared memory, of padded rows.
    (chain("f32", ((3, 5, 7, 1), (1, 9, 5, 3)), 100), "sm_90a",
     {"bar.sync": (0, 3), "cp.async.commit_group": (2,), "cp.async.wait_group": (0,), "st.shared": (7,),
      "st.global": (7,)}),
    # Factors that stay, and those that come in parts: the copies of rows and of factors, and what waits for them.
    (chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100, **ptx_cases.PACKED), "sm_90a",
     {"bar.sync": (0, 2, 3), "cp.async.commit_group": (2, 3), "cp.async.wait_group": (0, 1), "cp.async.c": (0, 7, 14),
      "mma.sync": (0, 58), "st.shared": (35,), "st.global": (70,), "griddepcontrol.wait": (0,)}),
    (chain("f16", ((2, 48, 192, 1), (1, 192, 48, 2)), 100, "keeps_factor = 0", **ptx_cases.PACKED), "sm_90a",
     {"bar.sync": (1, 3), "cp.async.commit_group": (0, 1, 2, 4), "cp.async.wait_group": (0, 1, 2),
      "cp.async.c": (0, 14), "mma.sync": (0, 58), "st.shared": (42,), "st.global": (70,), "griddepcontrol.wait": (0,)}),
)


def run_mutants(interpreted, index, p, chip, wanted, everything):
    """(found, missed): of the statements of `wanted`, or of every so many, of the kernels that a case launches."""
    case = ptx_cases.build(index, p)
    driver, originals = interpreted.driver, {}

    def remember(name, text):
        originals.setdefault(name, text)
        return text

    program = interpreted.kron.compile(case.mlir(), chip)
    driver.edit = remember
    problem = interpreted.launch(program, case, chip, aligned=True)
    label = f"{p['op']} {p['type']} {p.get('sizes') or p.get('patterns') or p.get('pattern')} for {chip}"
    if problem:
        driver.edit = None
        print(f"FAILED {label}, before it is changed: {problem}", flush=True)
        return 0, 1
    found = missed = 0
    for name, original in originals.items():
        for kind, number, statement, text in mutants(original):
            if number % SHARE.get(kind, 1) if everything else number not in wanted.get(kind, ()):
                continue
            driver.edit = lambda launched, own, name=name, text=text: text if launched == name else own
            problem = interpreted.launch(program, case, chip, aligned=True)
            found, missed = found + bool(problem), missed + (not problem)
            change = f"{label}: {name} with {kind} {number} changed, '{statement}'"
            if not problem:
                print(f"{'not found' if everything else 'FAILED'} {change}: passes", flush=True)
            elif everything:
                print(f"{change}: {problem.splitlines()[0][:110]}", flush=True)
    driver.edit = None
    return found, missed


def run(interpreted, everything):
    """(found, missed). Of all changes some do no harm, so none of these fails."""
    found = missed = 0
    for index, (p, chip, wanted) in enumerate(CHANGED):
        more = run_mutants(interpreted, index, p, chip, wanted, everything)
        found, missed = found + more[0], missed + more[1]
    print(f"kernels with a statement taken out or a weaker wait: {found} found, {missed} not")
    return found, 0 if everything else missed
