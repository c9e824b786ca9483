#!/usr/bin/env -S python3 -S
"""Writes, reads and validates ATF v2 for the conformance kit.

    testee.py read PATH...
    testee.py validate PATH
    testee.py write SCRIPT OUT
    testee.py query QUERIES PATH
    testee.py serve ROLE        answers one request per line: read, validate, write or query
    testee.py --bug NAME …      makes a mistake that real implementations make
    testee.py --bugs            lists the mistakes
"""

import json
import os
import sys

sys.dont_write_bytecode = True

# The kit may start this program once per case, so modules are imported only where needed. The first
# line skips Python's search for installed packages, because this program uses none.


def read(path):
    """Returns the document of a file or a session, and the rules that it breaks."""
    if os.path.isdir(path):
        import session
        return session.read(path)
    import detail
    import index
    from layout import Reject
    with open(path, "rb") as file:
        data = file.read()
    format_ = detail if data[:4] == detail.MAGIC or path.endswith("detail.atf") else index
    try:
        return format_.read(data)
    except Reject as refused:
        return {"kind": format_.__name__, "verdict": "reject"}, [refused.rule]


def validate(path):
    document, rules = read(path)
    return {"verdict": document["verdict"], "rules": sorted(set(rules))}, rules


def answer(document):
    sys.stdout.write(json.dumps(document) + "\n")
    return 1 if document["verdict"] == "reject" else 0


def serve(role):
    """Answers one request per line until the end of input: a path, or a list of two."""
    for line in sys.stdin:
        request = json.loads(line)
        if role == "write":
            import writer
            writer.write(*request)
            sys.stdout.write("0\n")
        elif role == "query":
            import query
            answer(query.answer(*request))
        else:
            answer(read(request)[0] if role == "read" else validate(request)[0])
        sys.stdout.flush()


def main(arguments):
    if arguments[:1] in (["--bugs"], ["--bug"]):
        import bugs
    if arguments[:1] == ["--bugs"]:
        sys.stdout.write(bugs.table())
        return 0
    if arguments[:1] == ["--bug"] and len(arguments) > 1:
        bugs.plant(arguments[1])
        arguments = arguments[2:]
    match arguments:
        case ["read", *paths] if paths:
            return max([answer(read(path)[0]) for path in paths])
        case ["validate", path]:
            return answer(validate(path)[0])
        case ["write", script, out]:
            import writer
            writer.write(script, out)
            return 0
        case ["query", queries, path]:
            import query
            return answer(query.answer(queries, path))
        case ["serve", ("read" | "validate" | "write" | "query") as role]:
            serve(role)
            return 0
    sys.stderr.write(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
