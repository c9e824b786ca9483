"""Measures the query patterns on Spark with two worker processes, and checking many sessions.

    atf synth --threads 4 --events 2500000 --details 10 --out trace
    python python/tools/spark_bench.py trace
"""

import os
import sys
import tempfile
import time

os.environ["PYSPARK_PYTHON"] = sys.executable

import adatrace
import pyarrow as pa
from adatrace.queries import PATTERNS
from adatrace.spark import AtfDataSource, check
from pyspark.sql import SparkSession

SESSIONS = 2_000
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.python.filterPushdown.enabled": "true",
}


def seconds(work):
    """Returns the time of the shorter of two runs, because the first run also starts Python's workers."""
    def run():
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    return min(run(), run())


def middle(path):
    """Returns a time range that covers one percent of the trace, in the middle."""
    threads = pa.table(adatrace.open(path, problems="keep").threads())
    start_ns, end_ns = min(threads["start_ns"].to_pylist()), max(threads["end_ns"].to_pylist())
    return (start_ns + end_ns) // 2, (start_ns + end_ns) // 2 + (end_ns - start_ns) // 100


def main(path):
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(AtfDataSource)
    path = os.path.abspath(path)
    tables = ["events", "calls", "details"]
    with tempfile.TemporaryDirectory(dir=os.path.dirname(path)) as folder:
        adatrace.open(path).to_parquet(folder, tables=tables, problems="keep")

        def on_trace(name):
            options = {"table": name, "pushdown": "true", "problems": "keep", "events_per_partition": "1000000"}
            return spark.read.format("atf").options(**options).load(path)

        def on_parquet(name):
            return spark.read.parquet(f"{folder}/{name}")

        print("| query | trace, s | Parquet, s |\n|---|---|---|")
        start_ns, end_ns = middle(path)
        for name, query in PATTERNS.items():
            query = query.replace("1234567890150000", str(start_ns)).replace("1234567890160000", str(end_ns))
            times = []
            for read in [on_trace, on_parquet]:
                for table in tables:
                    read(table).createOrReplaceTempView(table)
                # Run a new query each time, because a repeated query would reuse the results of its stages.
                times.append(seconds(lambda: spark.sql(query).collect()))
            print(f"| {name} | {times[0]:.1f} | {times[1]:.1f} |", flush=True)
    samples = os.path.join(os.path.dirname(__file__), "../../samples/sample-small")
    paths = [os.path.abspath(samples)] * SESSIONS
    took = seconds(lambda: check(spark, paths, 64).groupBy("rule").count().collect())
    print(f"| check {SESSIONS} sessions of 2,000 events | {took:.1f} | |")
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1])
