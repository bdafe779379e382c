"""Writes an NPY file by hand, so that tests can write wrong ones too.

usage: npy.py FILE DESCR ORDER SHAPE NUMBER...
DESCR is NumPy's, or FORMAT=DESCR to write the numbers in another struct format;
ORDER is C, F or what the header says instead; SHAPE is like 2x3."""

import struct
import sys

path, descr, order, shape, *numbers = sys.argv[1:]
formats = {"<f4": "f", "<f8": "d", "<f2": "e", "<i4": "i", "<i8": "q", "<u2": "H"}
element, _, descr = descr.rpartition("=")
element = element or formats[descr]
sizes = "".join(f"{size}, " for size in shape.split("x") if size)
order = {"C": "False", "F": "True"}.get(order, order)
header = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({sizes}), }}"
header += " " * (63 - (10 + len(header)) % 64) + "\n"
cast = int if element in "iqHB" else float
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)))
    file.write(header.encode())
    file.write(struct.pack(f"<{len(numbers)}{element}", *map(cast, numbers)))
