"""Reads files with the code that Kaitai Struct generated, and compares events: see .ci/kaitai.

    kaitai.py                           prints the events of each file, a line each
    kaitai.py compare WANTED READ NAME  fails if the events of an accepted file differ
"""

import json
import sys


def events(path):
    if path.endswith("detail.atf"):
        from atf_detail import AtfDetail
        read = AtfDetail.from_file(path).events.list
        return [[str(event.header.timestamp), event.payload.bytes.hex()] for event in read]
    from atf_index import AtfIndex
    return [[str(event.timestamp_ns), str(event.function_id)] for event in AtfIndex.from_file(path).events]


def wanted(document):
    for event in document["events"]:
        if document["kind"] == "detail":
            yield [event["timestamp"], event["payload"]]
        else:
            yield [event["timestamp_ns"], event["function_id"]]


def compare(expected, read, language):
    accepted = differ = 0
    with open(expected) as documents, open(read) as answers:
        for path, document, answer in zip(sys.stdin, documents, answers, strict=True):
            document = json.loads(document)
            if document["verdict"] == "accept":
                accepted += 1
                events = list(wanted(document))
                if language == "javascript":
                    # Kaitai's numbers there are doubles, also those of 64 bits.
                    events = [[own if document["kind"] == "detail" and at else float(own)
                               for at, own in enumerate(event)] for event in events]
                if events != json.loads(answer, parse_int=float):
                    differ += 1
                    if differ <= 3:
                        print(f"{path.strip()}: {answer.strip()[:200]}")
    print(f"{language}: the events of {accepted - differ} of {accepted} accepted files")
    return 1 if differ or accepted < 1000 else 0


if len(sys.argv) == 5:
    sys.exit(compare(*sys.argv[2:]))
for line in sys.stdin:
    try:
        print(json.dumps(events(line.strip())))
    except Exception as error:  # Kaitai's classes have several kinds of errors.
        print(json.dumps(f"{type(error).__name__}: {error}"))
