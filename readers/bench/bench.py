"""Compares the Python reader, through NumPy, with a hand-written NumPy view, like bench.c."""

import pathlib
import sys
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "python/src"))
from adatrace_reader import IndexFile  # noqa: E402

path, rounds = sys.argv[1], int(sys.argv[2])
TYPED = numpy.dtype({"names": ["time", "kind"], "formats": ["<u8", "<u4"], "offsets": [0, 20], "itemsize": 32})
data = pathlib.Path(path).read_bytes()
file = IndexFile(data, verify=False)


def by_hand():
    events = numpy.frombuffer(data, TYPED, offset=64, count=(len(data) - 128) // 32)
    return int(events["time"].sum()), int((events["kind"] == 1).sum())


def by_reader():
    events = file.array()
    return int(events["timestamp_ns"].sum()), int((events["event_kind"] == 1).sum())


sums = set()
for _ in range(rounds):
    times = []
    for work in (by_hand, by_reader):
        start = time.perf_counter()
        sums.add(work())
        times.append(time.perf_counter() - start)
    print(*times)
[(total, calls)] = sums
print(total, calls)
