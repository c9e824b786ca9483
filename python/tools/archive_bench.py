"""Measures packing and unpacking a session and, for comparison, cat, gzip and zstd on its files.

    atf synth --threads 4 --events 2500000 --details 0 --out trace
    python python/tools/archive_bench.py trace

Each run is a separate process. Of three runs, only the one with the least CPU time counts.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

ARCHIVE = os.path.join(sysconfig.get_path("scripts"), "atf-archive")
RUNS = 3


def measure(command, output):
    """Runs a command. Returns its CPU time, elapsed time, memory in MiB and output size."""
    shutil.rmtree(output, ignore_errors=True)
    output.unlink(missing_ok=True)
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=open(output, "wb") if command[0] != ARCHIVE else subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - start
    assert status == 0, command
    files = [output] if output.is_file() else [path for path in output.rglob("*") if path.is_file()]
    return used.ru_utime + used.ru_stime, seconds, used.ru_maxrss / 1024, sum(path.stat().st_size for path in files)


def main(path):
    indexes = [file.stat().st_size for file in pathlib.Path(path).rglob("index.atf")]
    # Leave out headers and footers.
    events = sum((size - 128) // 32 for size in indexes)
    files = [str(file) for file in sorted(pathlib.Path(path).rglob("*")) if file.is_file()]
    total = sum(os.path.getsize(file) for file in files)
    print(f"{events:,} events, {total:,} bytes\n")
    print("| what | bytes/event | CPU, MB/s | elapsed, MB/s | MiB |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=os.path.dirname(os.path.abspath(path))) as folder:
        at = pathlib.Path(folder)
        rows = {
            "`cat`": (["cat", *files], "cat"),
            "`gzip`": (["gzip", "-c", *files], "gz"),
            "`gzip -d`": (["gzip", "-dc", str(at / "gz")], "gz-d"),
            "`zstd -3`": (["zstd", "-3", "-qc", "--single-thread", *files], "zst"),
            "`zstd -d`": (["zstd", "-dqc", str(at / "zst")], "zst-d"),
            "`pack`, which also restores and compares": ([ARCHIVE, "pack", path, str(at / "archive")], "archive"),
            "`unpack`": ([ARCHIVE, "unpack", str(at / "archive"), str(at / "unpacked")], "unpacked"),
        }
        for name, (command, output) in rows.items():
            cpu, seconds, memory, size = min(measure(command, at / output) for _ in range(RUNS))
            rates = f"{total / cpu / 1e6:,.0f} | {total / seconds / 1e6:,.0f}"
            # The figure for other programs would include the memory of this process before they
            # started.
            memory = f"{memory:.0f}" if command[0] == ARCHIVE else ""
            print(f"| {name} | {size / events:.2f} | {rates} | {memory} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
