# SPDX-License-Identifier: GPL-3.0-or-later
"""Plane checksums as docs/run-file.md has them, by libxxhash itself."""
import ctypes
import ctypes.util
import struct

library = ctypes.util.find_library("xxhash")
xxhash = ctypes.CDLL(library) if library else None
if xxhash:
    for name in ("XXH3_64bits", "XXH3_64bits_withSeed"):
        getattr(xxhash, name).restype = ctypes.c_uint64


def parts(file):
    """Datasets of /plane in the order of the checksum, itself left out."""
    order = {"progress": 0, "array": 1, "observable": 2}
    found = [d for d in file["plane"].values() if d.attrs["kind"] != "checksum"]
    return sorted(found, key=lambda d: (order[d.attrs["kind"]], d.attrs["index"]))


def checksum(file, row, plane, member=None):
    """Of a plane of a file with one grid; as another member's where it has another id."""
    stored = b"".join(d[row, plane].tobytes() for d in parts(file))
    seed = xxhash.XXH3_64bits(struct.pack("<qq", row if member is None else member, plane), ctypes.c_size_t(16))
    return xxhash.XXH3_64bits_withSeed(stored, ctypes.c_size_t(len(stored)), ctypes.c_uint64(seed))


def seal(file, row, member=None):
    """Give all counted planes of a row their checksums."""
    for plane in range(int(file["member/n_saved"][row])):
        file["plane/checksum"][row, plane] = checksum(file, row, plane, member)
