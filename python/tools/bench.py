"""Measures the speed and memory use of reading a session's tables, and the size of its files.

    atf synth --threads 4 --events 2500000 --details 0 --out trace
    python python/tools/bench.py trace

Each row is measured in a separate process, so that its memory use is known.
"""

import multiprocessing
import os
import resource
import sys
import tempfile
import time

import adatrace
import pyarrow as pa


def drain(table):
    """Reads a table batch by batch and discards the batches."""
    return sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(table))


def collect(table):
    """Reads a table into memory."""
    return pa.table(table).num_rows


def files(form, name):
    def write(session, folder):
        written = getattr(session, f"to_{form}")(folder, tables=[name])
        return written.rows, written.bytes / written.rows
    return write


ROWS = {
    "events, batch by batch": lambda s, _: (drain(s.events()), None),
    "events: time_ns, function": lambda s, _: (drain(s.events(columns=["time_ns", "function"])), None),
    "events, plain text": lambda s, _: (drain(s.events(dictionaries=False)), None),
    "events as a pyarrow.Table": lambda s, _: (collect(s.events()), None),
    "calls, batch by batch": lambda s, _: (drain(s.calls()), None),
    "events to Parquet": files("parquet", "events"),
    "calls to Parquet": files("parquet", "calls"),
    "events to Arrow files": files("arrow", "events"),
    "calls to Arrow files": files("arrow", "calls"),
}


def peak_kib():
    """Returns the peak memory of this process in KiB. macOS reports it in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


def measure(name, path, results):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(path))) as folder:
        session = adatrace.open(path)
        before, start = peak_kib(), time.perf_counter()
        rows, size = ROWS[name](session, os.path.join(folder, "out"))
        seconds = time.perf_counter() - start
        results.put((rows, size, seconds, (peak_kib() - before) / 1024))


def main(path):
    # Start a new process, because a forked process would begin with the parent's peak.
    context = multiprocessing.get_context("spawn")
    print("| what | rows | million rows/s | MiB | bytes/row |\n|---|---|---|---|---|")
    for name in ROWS:
        results = context.Queue()
        runs = []
        for _ in range(3):
            worker = context.Process(target=measure, args=(name, path, results))
            worker.start()
            runs.append(results.get())
            worker.join()
        rows, size, seconds, memory = min(runs, key=lambda run: run[2])
        size = "" if size is None else f"{size:.2f}"
        print(f"| {name} | {rows:,} | {rows / seconds / 1e6:.1f} | {memory:.0f} | {size} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
