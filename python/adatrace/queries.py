"""The query patterns of S1 as SQL, for DuckDB and for Spark.

They read `events`, `calls` and `details` of one session. For several sessions, also join by `session`. The numbers in
the queries are from `samples/sample-small`.
"""

PATTERNS = {
    "Single thread analysis": """\
SELECT function, count(*) AS calls, sum(self_ns) AS self_ns
FROM calls WHERE thread = 1
GROUP BY function ORDER BY self_ns DESC, function LIMIT 3""",
    "Thread with detail": """\
SELECT e.seq, e.kind, e.function, d.payload_size
FROM events e JOIN details d ON d.thread = e.thread AND d.detail_seq = e.detail_seq
WHERE e.thread = 0 ORDER BY e.seq LIMIT 3""",
    "Cross-thread view": """\
SELECT time_ns, thread, seq, kind, function
FROM events ORDER BY time_ns, thread, seq LIMIT 4""",
    "Time range query": """\
SELECT thread, count(*) AS events
FROM events WHERE time_ns BETWEEN 1234567890150000 AND 1234567890160000
GROUP BY thread ORDER BY thread""",
    "Forward navigation": """\
SELECT d.detail_seq, d.kind, d.sp
FROM events e JOIN details d ON d.thread = e.thread AND d.detail_seq = e.detail_seq
WHERE e.thread = 0 AND e.seq = 23""",
    "Backward navigation": """\
SELECT e.seq, e.kind, e.function
FROM details d JOIN events e ON e.thread = d.thread AND e.seq = d.seq
WHERE d.thread = 0 AND d.detail_seq = 1""",
}
