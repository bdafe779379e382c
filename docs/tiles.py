"""Criteria that code of the tile level meets: families of kernels, the dialect, and its lowering.

docs/check.py runs it, for the kinds in FAMILIES: all that plans name, but for the planner's choice and for calls of
cuBLAS. Layers, planners and numbers are what check.py itself looks at.

- A family has at most two thirds of the lines that its emitter had, writes no instruction, and its kernels have at most
  60 operations each.
- Each operation of the dialect has a case in the lowering and a FileCheck test of it.
- There is one implementation of each thing in SINGLE: what builds it is called in the files listed and in no others.
- No class has more than 40 methods, no plan more than 25 fields, and no class a friend.
- The family that docs/tutorials/new-kernel-family.md adds has less than 150 lines.
- How functions of pairs are mapped takes at most 1,200 lines of code.

`tiles.py` alone prints lines by folder. There is no check of their total: docs/notes/0213-the-same-kernels-from-fewer-lines.md.
"""

import pathlib
import re
import subprocess

import generate

FAMILIES = {
    # kind: (its file in KronToTile, its lit test there, lines of its emitter, or None if it never had one, chip)
    "batched": ("Batched.cpp", "batched.mlir", 894, "sm_80"),
    "ffma": ("Ffma.cpp", "ffma.mlir", 915, "sm_90a"),
    "dmma": ("Dmma.cpp", "dmma.mlir", 806, "sm_90a"),
    "small_groups": ("SmallGroups.cpp", "small-groups.mlir", 556, "sm_90a"),
    "mma": ("Mma.cpp", "mma.mlir", 2593, "sm_90a"),
    "simt": ("Simt.cpp", "simt.mlir", 537, "sm_90a"),
    "quantize": ("Quantize.cpp", "quantize.mlir", 280, "sm_90a"),
    "wgmma": ("Wgmma.cpp", "wgmma.mlir", 2529, "sm_90a"),
    "gradient": ("Gradient.cpp", "gradient.mlir", 1595, "sm_90a"),
    "chain": ("Chain.cpp", "chain.mlir", 494, "sm_90a"),
    "sparse": ("Sparse.cpp", "sparse.mlir", 1213, "sm_90a"),
    "pairwise": ("Pairwise.cpp", "pairwise.mlir", None, "sm_90a"),
    "pairwise_grad": ("PairwiseGrad.cpp", "pairwise-grad.mlir", None, "sm_90a"),
}
MOST_OPERATIONS, MOST_METHODS, MOST_FIELDS, MOST_LINES = 60, 40, 25, 149
MOST_PAIR_LINES = 1200

#: What is implemented once: what builds it, and the files of the lowering that do.
SINGLE = {
    # tile.pairs has the loop along K and its copies in one: steps of K are no tiles. Warps that refill know which
    # fibres they have read.
    "asynchronous copies of rows and boxes, of tiles that are filled up, of segments, of steps along K of pairs, and of fibres":
        (r"\bcopyAsync\(", {"Copy.cpp", "Fill.cpp", "Pairs.cpp", "Refill.cpp", "SegmentCopies.cpp"}),
    "slots of rings": (r"\bgetSlotBehind\([^)]*\) \{", {"Ring.cpp"}),
    "alpha, beta and Z": (r"\bscaledSums\(", {"Store.cpp", "BlockResults.cpp", "Quantize.cpp"}),
    "epilogues": (r"\bepilogue\.apply\(", {"Store.cpp"}),
    "non-finite guards, of sums in registers, of those that are stored and of products with values":
        (r"\bisAnyNotFinite\(", {"Blocks.cpp", "BatchStore.cpp", "ValueProducts.cpp"}),
    "alignment tests": (r"\bisAligned\(Lowering &lowering, ArrayRef<Value>[^)]*\)\s*\{", {"Fill.cpp"}),
    "tails of boxes": (r"Lowering::isInside\(", {"Boxes.cpp"}),
    "factors in registers": (r"MatrixFactor::loadElement\(", {"BlockFactor.cpp"}),
}
#: Operations that become no instruction of their own.
NO_CODE = {"ReleaseOp", "YieldOp"}
#: What a family must not write.
INSTRUCTIONS = re.compile(r"\b(?:NVVM|LLVM|ROCDL)::|\binlinePTX\b|\bKernelBuilder\b")
METHOD = re.compile(r"^  (?!(?:return|if|for|while|switch|else)\b)[\w:<>&*,~ \[\]]*?\b~?\w+\([^;{}]*\)[^;{}()]*[;{]", re.M)
FOLDERS = ("include/kron/Dialect/Tile", "lib/Dialect/Tile", "lib/Conversion/KronToTile", "lib/Conversion/TileToNVVM")
#: Where else code of GPU kernels is.
BUILDERS = ("include/kron/CodeGen/GPU", "lib/CodeGen/GPU")
PLANS = ("include/kron/Plan/GPU", "lib/Plan/GPU", "lib/Mapping/GPU")


def bodies(text, keyword=r"class|struct"):
    """(name, body) of each class."""
    for found in re.finditer(rf"^(?:{keyword}) (\w+)[^;{{}}]*\{{\n(.*?)^\}};", text, re.M | re.S):
        yield found[1], found[2]


def check_families(checker, root, kron_opt):
    attributes = (root / "include/kron/Dialect/Kron/IR/KronAttrs.td").read_text()
    cases = re.search(r"def Kron_GPUKernel\b(.*?);", attributes, re.S)[1]
    kinds = {*re.findall(r'I32EnumAttrCase<"\w+", \d+, "(\w+)">', cases)} - {"auto", "cublas"}
    checker.expect(kinds == {*FAMILIES}, f"kinds that are not made of tiles: {sorted(kinds - {*FAMILIES})}, and that are "
                                         f"none: {sorted({*FAMILIES} - kinds)}")
    folder = root / "lib/Conversion/KronToTile"
    for kind, (source, test, before, chip) in FAMILIES.items():
        text = (folder / source).read_text()
        lines = text.count("\n")
        checker.expect(before is None or 3 * lines <= 2 * before,
                       f"{source}: {lines} lines, more than two thirds of {before}")
        found = INSTRUCTIONS.search(text)
        checker.expect(not found, f"{source}: writes instructions: {found and found[0]}")
        program = root / "test/Conversion/KronToTile" / test
        done = subprocess.run([kron_opt, program, "--split-input-file", "--kron-decompose",
                               f"--kron-plan=target=cuda chip={chip} cublas=false", f"--kron-tile=chip={chip}"],
                              capture_output=True, text=True)
        checker.expect(done.returncode == 0, f"{test}: {done.stderr[:200]}")
        kernels = re.findall(r"gpu\.func @(\w+).*?\n(.*?)gpu\.return", done.stdout, re.S)
        checker.expect(kernels, f"{test}: no kernels of {kind}")
        for name, body in kernels:
            count = len(re.findall(r"\btile\.\w+ |\btile\.\w+$", body, re.M))
            checker.expect(0 < count <= MOST_OPERATIONS, f"{test}: @{name} has {count} tile operations")


def check_operations(checker, root):
    definitions = "".join(path.read_text() for path in (root / "include/kron/Dialect/Tile/IR").glob("*.td"))
    lowering = "".join(path.read_text() for path in (root / "lib/Conversion/TileToNVVM").glob("*.cpp"))
    tests = "".join(path.read_text() for path in (root / "test/Conversion/TileToNVVM").glob("*.mlir"))
    operations = re.findall(r"^def Tile_(\w+Op)\s*:\s*Tile_Op<\"(\w+)\"", definitions, re.M)
    checker.expect(len(operations) > 15, f"{len(operations)} operations in the definitions of tiles")
    for name, mnemonic in operations:
        if name not in NO_CODE:
            checker.expect(re.search(rf"\b{name}\b", lowering), f"tile.{mnemonic} has no lowering")
            checker.expect(re.search(rf"\btile\.{mnemonic}\b", tests), f"tile.{mnemonic} has no test of its lowering")


def check_single(checker, root):
    sources = {path.name: path.read_text() for path in (root / "lib/Conversion/TileToNVVM").glob("*.cpp")}
    for what, (builds, files) in SINGLE.items():
        found = {name for name, text in sources.items() if re.search(builds, text)}
        checker.expect(found == files, f"{what}: expects {sorted(files)}, but got {sorted(found)}")


def check_classes(checker, root):
    names = tuple("".join(part.title() for part in kind.split("_")) for kind in FAMILIES)
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*.[hc]*")]
    paths += [path for folder in PLANS for path in (root / folder).glob("*.[hc]*") if path.name.startswith(names)]
    for path in paths:
        text, where = path.read_text(), path.relative_to(root)
        checker.expect(not re.search(r"^\s*friend ", text, re.M), f"{where}: has a friend")
        for name, body in bodies(text):
            methods = len(METHOD.findall(body))
            checker.expect(methods <= MOST_METHODS, f"{where}: {name} has {methods} methods")
    rows = [*generate.plan_rows((root / "lib/Dialect/Kron/IR/PlanFields.cpp").read_text())]
    for kind in FAMILIES:
        count = sum(kind in chosen and role != "constraint" for _, role, _, chosen, _ in rows)
        checker.expect(0 < count <= MOST_FIELDS, f"#kron.gpu_plan of {kind} has {count} fields")


def check_tutorial(checker, root):
    text = (root / "test/lib/MaxPlus.cpp").read_text()
    family = re.search(r"// \[plan\]\n(.*)// \[/host\]", text, re.S)
    lines = family[1].count("\n") if family else 0
    checker.expect(0 < lines <= MOST_LINES, f"test/lib/MaxPlus.cpp: a family of {lines} lines")


def count_code(paths):
    """Lines that are neither empty nor a comment."""
    return sum(1 for path in paths for line in path.read_text().splitlines()
               if line.strip() and not line.lstrip().startswith("//"))


def check_pairs(checker, root):
    paths = [*(root / "lib/Mapping/GPU").glob("Pairwise*.cpp"), *(root / "include/kron/Mapping/GPU").glob("Pairwise*.h")]
    lines = count_code(paths)
    checker.expect(0 < lines <= MOST_PAIR_LINES, f"{lines} lines of code map functions of pairs to a GPU")


def check(checker, root, build):
    check_tutorial(checker, root)
    check_pairs(checker, root)
    check_families(checker, root, build / "bin/kron-opt")
    check_operations(checker, root)
    check_single(checker, root)
    check_classes(checker, root)


def print_lines(root):
    for folder in (*FOLDERS, *BUILDERS):
        paths = [path for path in (root / folder).rglob("*") if path.suffix in (".h", ".cpp", ".td")]
        lines = sum(path.read_text().count("\n") for path in paths)
        print(f"{folder}: {lines} lines, {count_code(paths)} of them code")


if __name__ == "__main__":
    print_lines(pathlib.Path(__file__).resolve().parent.parent)
