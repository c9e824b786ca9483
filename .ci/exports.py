"""Compares the exports of a session with `atf report`: FOLDER NAME.

Perfetto, speedscope, inferno and a browser read their forms; Chrome's and Firefox's are parsed here.
"""

import collections
import csv
import functools
import html
import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

from trace_processor import TraceProcessorLibrary

FOLDER, NAME = pathlib.Path(sys.argv[1]), sys.argv[2]
TOOLS = pathlib.Path("target/export-tools")


def path(form):
    return FOLDER / f"{NAME}.{form}"


def equal(what, found, expected):
    if found != expected:
        sys.exit(f"{NAME}: {what}: {found} instead of {expected}")
    print(f"{NAME}: {what}: as reported")


REPORT = json.loads(path("report").read_text())
TOTALS = {key: int(value) for key, value in REPORT["totals"].items() if value is not None}


def label(function):
    return function.get("function") or hex(int(function["function_id"]))


def by_name(functions, key):
    """Adds up functions with the same name."""
    sums = collections.Counter()
    for function in functions:
        sums[label(function)] += int(function[key])
    return +sums


CALLS, SELF = by_name(REPORT["functions"], "calls"), by_name(REPORT["functions"], "self_ns")


def check_chrome():
    events = json.loads(path("chrome").read_text())
    phases = collections.Counter(event["ph"] for event in events)
    equal("chrome: calls", phases["B"], TOTALS["calls"])
    equal("chrome: ends", phases["E"], TOTALS["calls"] - TOTALS["open"])
    equal("chrome: functions", collections.Counter(e["name"] for e in events if e["ph"] == "B"), CALLS)
    stacks, own = collections.defaultdict(list), collections.Counter()
    last = {}
    for event in events:
        if event["ph"] in "BE":
            stack, now = stacks[event["tid"]], round(event["ts"] * 1000)
            if stack:
                own[stack[-1]] += now - last[event["tid"]]
            last[event["tid"]] = now
            stack.append(event["name"]) if event["ph"] == "B" else stack.pop()
    if not TOTALS["open"]:
        equal("chrome: self times", +own, SELF)


def check_perfetto():
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

    trace = Trace.FromString(path("perfetto").read_bytes())
    names, calls, phases, annotations = {}, collections.Counter(), collections.Counter(), 0
    for packet in trace.packet:
        sequence = packet.trusted_packet_sequence_id
        if packet.sequence_flags & 1:
            names[sequence] = {}
        for name in packet.interned_data.event_names:
            names[sequence][name.iid] = name.name
        if packet.HasField("track_event"):
            phases[packet.track_event.type] += 1
            annotations += len(packet.track_event.debug_annotations)
            if packet.track_event.type == TrackEvent.TYPE_SLICE_BEGIN:
                calls[names[sequence][packet.track_event.name_iid]] += 1
    equal("perfetto: calls in the messages", calls, CALLS)
    equal("perfetto: ends", phases[TrackEvent.TYPE_SLICE_END], TOTALS["calls"] - TOTALS["open"])
    processor = trace_processor()
    rows = processor.query("select name, count(), sum(dur = -1) from slice group by name")
    rows = [row for row in rows if row[0] in CALLS]
    equal("perfetto: calls in the trace processor", {name: int(calls) for name, calls, _ in rows}, dict(CALLS))
    equal("perfetto: open calls in the trace processor", sum(int(row[2]) for row in rows), TOTALS["open"])
    active = [line for line in path("threads").read_text().splitlines() if json.loads(line)["functions"]]
    threads = "select count(distinct utid) from thread_track join slice on track_id = thread_track.id"
    equal("perfetto: threads in the trace processor", processor.query(threads), [[str(len(active))]])
    registers = processor.query("select count() from slice join args using (arg_set_id) where key glob 'debug.*'")
    equal("perfetto: annotations in the trace processor", registers, [[str(annotations)]])
    errors = "select ifnull(sum(value), 0) from stats where severity = 'error'"
    equal("perfetto: import errors", processor.query(errors), [["0"]])


def trace_processor():
    """Loads the trace into the trace processor of Debian's chromium-shell or, on other systems, into the one that
    Perfetto's Python package downloads."""
    library = TOOLS / "chromium-shell/usr/lib/chromium/libtest_trace_processor.so"
    if library.exists():
        return TraceProcessorLibrary(library, path("perfetto").read_bytes())
    from perfetto.trace_processor import TraceProcessor

    class Downloaded(TraceProcessor):
        def query(self, sql):
            return [[str(value) for value in vars(row).values()] for row in super().query(sql)]

    return Downloaded(trace=str(path("perfetto")))


def check_speedscope():
    """Loads the file in the app and reads the app's tables of functions and profiles."""
    import jsonschema

    release = TOOLS / "npm/node_modules/speedscope/dist/release"
    file = json.loads(path("speedscope").read_text())
    jsonschema.validate(file, json.loads((release / "file-format-schema.json").read_text()))
    site = FOLDER / "site"
    shutil.copytree(release, site, dirs_exist_ok=True)
    reports = [json.loads(line) for line in path("threads").read_text().splitlines()]
    for position, report in enumerate(reports):
        # The app shows the profile at this position.
        file["activeProfileIndex"] = position
        (site / "profile.json").write_text(json.dumps(file))
        least = min(20, len([f for f in report["functions"] if int(f["total_ns"])]))
        # The page is sometimes dumped before its table is drawn.
        for _ in range(5):
            found = speedscope_table(site)
            if len(found) >= least:
                break
        # The app shows two decimals, and only the functions that fit in its window.
        for function in report["functions"]:
            times = found.get(label(function))
            units = UNITS.values()
            expected = int(function["total_ns"]), int(function["self_ns"])
            for one, other in zip(times or expected, expected):
                unit = max(unit for unit in units if unit <= max(other, 1))
                assert abs(one - other) <= unit / 100, (label(function), times, expected)
        assert len(found) >= least, f"{len(found)} functions in the app"
        print(f"{NAME}: speedscope: the times of {len(found)} functions of thread {report['thread']} match the report")


UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}


def speedscope_table(site):
    """Returns total and self time of the functions that the app shows."""
    page = dump(site, "index.html#profileURL=http%3A%2F%2F127.0.0.1%3A{port}%2Fprofile.json&view=sandwich")
    time = r"<td[^>]*>([\d.]+)(ns|µs|ms|s) .*?</td>"
    rows = re.findall(time + time + r"<td[^>]*><span[^>]*></span>(.*?)</td>", page)
    times = lambda t, tu, o, ou: (float(t) * UNITS[tu], float(o) * UNITS[ou])
    return {html.unescape(name): times(*numbers) for *numbers, name in rows}


def dump(site, page):
    """Returns a page's document after its scripts have run."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.server_address[1]
        url = f"http://127.0.0.1:{port}/" + page.format(port=port)
        swift = ["--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
        window = ["--window-size=1300,4000", "--virtual-time-budget=20000"]
        browser = next(filter(None, map(shutil.which, ["chromium", "chromium-browser", "google-chrome"])))
        command = [browser, "--headless", "--no-sandbox", *swift, *window, "--dump-dom", url]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
        server.shutdown()
    return result.stdout


def check_firefox():
    profile = json.loads(path("firefox").read_text())
    own = collections.Counter()
    for thread in profile["threads"]:
        samples, stacks = thread["samples"], thread["stackTable"]
        for table in [samples, stacks, thread["frameTable"], thread["funcTable"], thread["markers"]]:
            lengths = {len(column) for column in table.values() if isinstance(column, list)}
            assert lengths <= {table["length"]}, lengths
        for stack, prefix in enumerate(stacks["prefix"]):
            assert prefix is None or prefix < stack
        for stack, weight in zip(samples["stack"], samples["weight"]):
            if stack is not None:
                name = thread["funcTable"]["name"][thread["frameTable"]["func"][stacks["frame"][stack]]]
                own[thread["stringArray"][name]] += round(weight * 1e6)
    equal("firefox: self times", +own, SELF)


def check_folded():
    own = collections.Counter()
    for line in path("folded").read_text().splitlines():
        stack, ns = line.rsplit(" ", 1)
        own[stack.split(";")[-1]] += int(ns)
    expected = collections.Counter()
    for name, ns in SELF.items():
        expected[name.replace(";", ":")] += ns
    equal("folded: self times", own, expected)
    with path("folded").open() as lines:
        svg = subprocess.run(["inferno-flamegraph"], stdin=lines, capture_output=True, text=True, check=True).stdout
    total = re.search(r"<title>all \(([\d,]+) samples", svg).group(1)
    equal("folded: nanoseconds by inferno", int(total.replace(",", "")), TOTALS["busy_ns"])


def check_csv():
    with path("csv").open(newline="") as lines:
        rows = [row for row in csv.DictReader(lines) if not row["note"]]
    own = collections.Counter()
    for row in rows:
        own[row["function"]] += int(row["self_ns"])
    equal("csv: calls", collections.Counter(row["function"] for row in rows), CALLS)
    equal("csv: self times", +own, SELF)
    equal("csv: open calls", sum(row["duration_ns"] == "" for row in rows), TOTALS["open"])


def check_flamegraph():
    """Runs the script in the SVG; without it, the image contains no text."""
    site = FOLDER / "svg"
    site.mkdir(exist_ok=True)
    click = "<script>document.querySelectorAll('.f')[1].dispatchEvent(new Event('click'))</script></svg>"
    (site / "flame.svg").write_text(path("svg").read_text().replace("</svg>", click))
    page = dump(site, "flame.svg")
    assert page.count('class="f faded"') == 1, "zooming fades the frames below"
    assert 'visibility="visible">reset zoom' in page
    print(f"{NAME}: flamegraph: zooms in a browser")


for check in [check_chrome, check_perfetto, check_speedscope, check_firefox, check_folded, check_csv, check_flamegraph]:
    check()
