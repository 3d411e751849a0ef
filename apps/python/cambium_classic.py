"""netCDF files of the classic formats (CDF-1, CDF-2, CDF-5), which are no HDF5, by numpy alone. Arrays are read when they are indexed.

    with cambium_classic.File("sst.nc") as file:
        file["sst"].dimensions, file["sst"].attrs["units"], file["sst"][-1]

Layout: "The NetCDF Classic Format Specification", Unidata.
"""

import numpy as np

TYPES = {1: ">i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8", 7: ">u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8"}
OFFSET_BYTES, COUNT_BYTES = {1: 4, 2: 8, 5: 8}, {1: 4, 2: 4, 5: 8}  # by version of the format


def padded(size):
    return -(-size // 4) * 4


class Header:
    """Reads the numbers and texts of a header one after the other."""

    def __init__(self, file):
        self.file = file
        magic = file.read(4)
        if magic[:3] != b"CDF" or magic[3] not in OFFSET_BYTES:
            raise ValueError("is no netCDF file of a classic format")
        self.version = magic[3]

    def integer(self, size):
        data = self.file.read(size)
        if len(data) < size:
            raise ValueError("ends within its header")
        return int.from_bytes(data, "big")

    def count(self):
        return self.integer(COUNT_BYTES[self.version])

    def bytes(self, size):
        return self.file.read(padded(size))[:size]

    def name(self):
        return self.bytes(self.count()).decode("utf-8", "replace")

    def listed(self, read):
        self.integer(4)  # dimensions, attributes or variables, always in this order
        return [read() for _ in range(self.count())]

    def dimension(self):
        return self.name(), self.count()

    def attribute(self):
        name, kind, count = self.name(), self.integer(4), self.count()
        values = np.frombuffer(self.bytes(count * np.dtype(TYPES[kind]).itemsize), TYPES[kind])
        return name, values.tobytes().rstrip(b"\0").decode("utf-8", "replace") if kind == 2 else values

    def variable(self):
        name, dims = self.name(), [self.count() for _ in range(self.count())]
        attrs, kind = dict(self.listed(self.attribute)), self.integer(4)
        self.count()  # size: cut off where it exceeds 4 bytes, so it is computed
        return name, dims, attrs, np.dtype(TYPES[kind]), self.integer(OFFSET_BYTES[self.version])


class Array:
    """A variable; `stride`: bytes between two records, 0 for one without the record dimension."""

    def __init__(self, path, name, dimensions, shape, attrs, dtype, begin, stride):
        self.path, self.name, self.dimensions, self.shape, self.attrs = path, name, dimensions, shape, attrs
        self.dtype, self.begin, self.stride, self.ndim = dtype, begin, stride, len(shape)

    def __getitem__(self, index):
        if 0 in self.shape:
            return np.zeros(self.shape, self.dtype)[index]
        if not self.stride:
            return np.array(np.memmap(self.path, self.dtype, "r", self.begin, self.shape or (1,)).reshape(self.shape)[index])
        # the last record may end before its stride does
        length = (self.shape[0] - 1) * self.stride + self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=int))
        whole = np.memmap(self.path, np.uint8, "r", self.begin, (length,))
        inner = np.cumprod((self.dtype.itemsize,) + self.shape[:0:-1])[::-1][1:] if self.ndim > 1 else ()
        return np.array(np.ndarray(self.shape, self.dtype, whole, strides=(self.stride, *map(int, inner)))[index])


class File:
    """file[name] is an Array, file.items() all of them. ValueError for another file, in words that follow its name."""

    def __init__(self, path):
        self.path = str(path)
        with open(path, "rb") as file:
            header = Header(file)
            records = header.count()
            dimensions = header.listed(header.dimension)
            self.attrs = dict(header.listed(header.attribute))
            variables = header.listed(header.variable)
            size = file.seek(0, 2)
        own = [dtype.itemsize * int(np.prod([dimensions[d][1] for d in dims if dimensions[d][1]], dtype=int)) for _, dims, _, dtype, _ in variables]
        recorded = [bool(dims) and dimensions[dims[0]][1] == 0 for _, dims, *_ in variables]
        each = [s for s, r in zip(own, recorded) if r]
        stride = each[0] if len(each) == 1 else sum(map(padded, each))  # a single one is not padded
        if each and records in (2 ** 32 - 1, 2 ** 64 - 1):  # written as a stream
            records = (size - min(v[4] for v, r in zip(variables, recorded) if r)) // stride
        self.arrays = {}
        for (name, dims, attrs, dtype, begin), of_records in zip(variables, recorded):
            shape = tuple(records if k == 0 and of_records else dimensions[d][1] for k, d in enumerate(dims))
            self.arrays[name] = Array(self.path, name, tuple(dimensions[d][0] for d in dims), shape, attrs, dtype, begin, stride if of_records else 0)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def __getitem__(self, name):
        return self.arrays[name]

    def __contains__(self, name):
        return name in self.arrays

    def items(self):
        return self.arrays.items()

    def values(self):
        return self.arrays.values()
