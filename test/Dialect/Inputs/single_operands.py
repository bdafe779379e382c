"""Operands that an op in its generic form may lack, since nothing verifies their number.

usage: llvm-tblgen --dump-json ... | single_operands.py

operandSegmentSizes says how many values each operand of an op has; what ODS generates
checks that of optional operands alone. An operand that always is one value needs the
trait Kron_SingleOperand: without it, the op's accessors return another operand, of another
type. Prints every operand without the trait, and the number of ops that were looked at.

SPDX-License-Identifier: MIT
"""

import json
import sys


def main():
    records = json.load(sys.stdin)
    looked_at = 0
    for name in records["!instanceof"]["Op"]:
        op = records[name]
        traits = [trait["def"] for trait in op["traits"]]
        if "AttrSizedOperandSegments" not in traits:
            continue
        looked_at += 1
        verified = {records[trait]["position"] for trait in traits
                    if "Kron_SingleOperand" in records[trait]["!superclasses"]}
        operands = [(records[constraint["def"]]["!superclasses"], operand)
                    for constraint, operand in op["arguments"]["args"]]
        operands = [(classes, operand) for classes, operand in operands
                    if "TypeConstraint" in classes]
        for position, (classes, operand) in enumerate(operands):
            if not {"Variadic", "Optional"} & set(classes) and position not in verified:
                print(f"unverified: {op['opName']} operand {operand}")
    print(f"ops with segments of operands: {looked_at}")


if __name__ == "__main__":
    main()
