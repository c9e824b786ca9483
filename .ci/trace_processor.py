"""Queries Perfetto's trace processor in the library that Debian ships with its chromium-shell.

The library exports a C++ class with libc++'s strings and vectors: a vector is three pointers, and a
string is three words, or up to 22 bytes behind a byte with twice its length.
"""

import ctypes

CLASS = "_ZN4base4test22TestTraceProcessorImpl"
STRING = "NSt3__112basic_stringIcNS2_11char_traitsIcEENS2_9allocatorIcEEEE"
WORD, SIZE = 8, 24


class Returned(ctypes.Structure):
    """Space for a returned object: large enough that the caller passes its address."""

    _fields_ = [("bytes", ctypes.c_char * 64)]


def words(address, count=3):
    return (ctypes.c_size_t * count).from_address(address)


def text(address):
    first = ctypes.string_at(address, 1)[0]
    if first % 2:
        _, size, address = words(address)
        return ctypes.string_at(address, size).decode()
    return ctypes.string_at(address + 1, first // 2).decode()


def items(address):
    begin, end, _ = words(address)
    return range(begin, end, SIZE)


class TraceProcessorLibrary:
    def __init__(self, library, trace):
        self.library, self.object = ctypes.CDLL(str(library)), ctypes.create_string_buffer(64)
        self.library[CLASS + "C1Ev"](self.object)
        buffer = ctypes.create_string_buffer(trace, len(trace))
        begin = ctypes.addressof(buffer)
        vector = (ctypes.c_size_t * 3)(begin, begin + len(trace), begin + len(trace))
        status = self.call(CLASS + "10ParseTraceERKNSt3__16vectorIcNS2_9allocatorIcEEEE", vector)
        if words(ctypes.addressof(status), 1)[0] != 1:
            raise ValueError("the trace processor could not read the trace")

    def call(self, name, argument):
        function = self.library[name]
        function.restype = Returned
        return function(self.object, argument)

    def query(self, sql):
        """Returns the rows as lists of strings."""
        buffer = ctypes.create_string_buffer(sql.encode())
        size = len(buffer) - 1
        string = (ctypes.c_size_t * 3)(size + 1 | 1, size, ctypes.addressof(buffer))
        name = CLASS.replace("_ZN", "_ZNK") + "12ExecuteQueryERK" + STRING
        result = self.call(name, string)
        # A vector of rows, followed by an error message.
        address = ctypes.addressof(result)
        if error := text(address + SIZE):
            raise ValueError(error)
        # The first row contains the column names.
        return [[text(cell) for cell in items(row)] for row in items(address)][1:]
