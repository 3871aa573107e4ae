#!/usr/bin/env python3
"""Prints the tables of hbp_preprocessing.md from what row_placement_benchmark wrote.

    docs/results/row_placement_table.py FILE...
"""
import json
import math
import sys


def matrices(paths):
    for path in paths:
        with open(path) as file:
            yield from json.load(file)["matrices"]


def mean_ratio(rows, over, under, key):
    """Geometric mean over the matrices of one method's time over another's."""
    ratios = [math.log(row[over][key] / row[under][key]) for row in rows]
    return math.exp(sum(ratios) / len(ratios))


def main(paths):
    found = list(matrices(paths))
    rows = [{method["name"]: method for method in one["methods"]} for one in found]
    names = list(rows[0])
    placing = [name for name in names if name != "as stored"]
    staged = [name for name in placing if rows[0][name]["stage_seconds"] is not None]

    print("### Finding the order: ns a row, one thread\n")
    print("| matrix | nonzeros | tiles | rows in tiles | " + " | ".join(placing) + " |")
    print("|---|--:|--:|--:|" + "--:|" * len(placing))
    for one, row in zip(found, rows):
        times = [f"{1e9 * row[name]['order_cpu_seconds'] / one['rows_present']:.1f}" for name in placing]
        print(f"| {one['matrix']} | {one['nonzeros']:,} | {one['tiles']:,} | {one['rows_present']:,} | " + " | ".join(times) + " |")
    print("\n| time over that of | " + " | ".join(placing) + " |")
    print("|---|" + "--:|" * len(placing))
    for base in placing:
        if base.startswith("nonlinear_hash"):
            ratios = [f"{mean_ratio(rows, name, base, 'order_cpu_seconds'):.2f}" for name in placing]
            print(f"| {base} | " + " | ".join(ratios) + " |")

    print("\n### The whole stage: ms, all threads\n")
    print("| matrix | " + " | ".join(staged) + " |")
    print("|---|" + "--:|" * len(staged))
    for one, row in zip(found, rows):
        print(f"| {one['matrix']} | " + " | ".join(f"{1e3 * row[name]['stage_seconds']:.0f}" for name in staged) + " |")

    print("\n### Idle lanes\n")
    print("| matrix | " + " | ".join(names) + " |")
    print("|---|" + "--:|" * len(names))
    for one, row in zip(found, rows):
        print(f"| {one['matrix']} | " + " | ".join(f"{100 * row[name]['idle_lanes']:.1f} %" for name in names) + " |")


main(sys.argv[1:])
