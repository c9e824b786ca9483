"""Prints the table of `.ci/coverage` from the JSON of cargo llvm-cov."""

import collections
import json
import os
import sys

files = json.load(open(sys.argv[1]))["data"][0]["files"]
groups = collections.defaultdict(lambda: [0, 0])
missing = []
for file in files:
    path = os.path.relpath(file["filename"])
    lines = file["summary"]["lines"]
    package, _, rest = path.partition("/src/")
    folder = f"{package}/src/{rest.split('/')[0]}"
    for group in (package, folder):
        groups[group][0] += lines["count"]
        groups[group][1] += lines["covered"]
    missing.append((lines["count"] - lines["covered"], lines["count"], path))
print("| lines of | all | run | |\n|---|---:|---:|---:|")
for group, (count, covered) in sorted(groups.items()):
    name = f"**{group}**" if "/src/" not in group else group
    print(f"| {name} | {count} | {covered} | {100 * covered / max(count, 1):.1f} % |")
print("\n| uncovered lines | of | in |\n|---:|---:|---|")
for lines, count, path in sorted(missing, reverse=True)[:25]:
    print(f"| {lines} | {count} | {path} |")
