#!/usr/bin/env python3
"""Prints the tables of a results page from reports of `workbench run ... --json FILE` with several recipes.

    docs/results/summarise.py docs/results/h200-ehyb/*_cold.json
"""
import json
import os
import sys


def runs(path):
    with open(path) as file:
        report = json.load(file)
    return report.get("runs", [report])


def kernels(path):
    """Every kernel once, with the recipe that ran it; baselines stand in every run and count for the first."""
    seen = set()
    for run in runs(path):
        for kernel in run["kernels"]:
            key = (kernel["layout"], kernel["kernel"], kernel["precision"])
            if kernel["baseline"] and key in seen:
                continue
            seen.add(key)
            yield run, kernel


def kernel_table(path):
    matrix = runs(path)[0]["matrix"]
    device = runs(path)[0]["devices"][0]
    print(f"\n### {os.path.basename(path)}: {matrix['source']}, {matrix['rows']:,} rows, {matrix['nonzeros']:,} nonzeros\n")
    print(f"{device['name']}: copy {device['copy_bytes_per_second'] / 1e9:.0f} GB/s, "
          f"read {device['read_bytes_per_second'] / 1e9:.0f} GB/s in this run.\n")
    print("| recipe | kernel | precision | median us | spread | GFLOP/s | GB/s | of copy | bytes a nonzero | speed-up | break-even |")
    print("|---|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for run, k in kernels(path):
        name = f"{run['recipe']['name']} | {k['backend']} {k['kernel']} | {k['precision']}"
        if not k["verified"]:
            print(f"| {name} | {k['status']}: {k['reason']} |||||||| |")
            continue
        break_even = "baseline" if k["baseline"] else f"{k['break_even']:,.0f}" if k["break_even"] else "never"
        print(f"| {name} | {k['median_seconds'] * 1e6:.1f} | {k['spread'] * 100:.1f} % | {k['gflops']:.0f} | "
              f"{k['gbytes_per_second']:.0f} | {k['share_of_copy_bandwidth'] * 100:.0f} % | {k['bytes_per_nonzero']:.2f} | "
              f"{k['speedup']:.2f} | {break_even} |")


def preprocessing_table(paths):
    """EHYB's Fig. 6: what preprocessing costs, in products of its fastest kernel in f64."""
    print("\n### Preprocessing of EHYB in SpMVs\n")
    print("| matrix | partition | sort | split | sort outside | build | transfer | all | one SpMV us |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for path in paths:
        for run in runs(path):
            ehyb = [k for k in run["kernels"] if k["layout"] == "ehyb" and k["precision"] == "f64" and k["verified"]]
            if not ehyb:
                continue
            best = min(ehyb, key=lambda k: k["median_seconds"])
            spmv = best["median_seconds"]
            steps = [s["seconds"] for s in run["stages"][1:]]
            steps += [run["layout"]["seconds"], best["prepare_seconds"]]
            cells = " | ".join(f"{s / spmv:,.0f}" for s in steps + [sum(steps)])
            print(f"| {run['matrix']['source']} | {cells} | {spmv * 1e6:.1f} ({best['kernel']}) |")


if len(sys.argv) < 2:
    sys.exit(__doc__)
for file_name in sys.argv[1:]:
    kernel_table(file_name)
preprocessing_table(sys.argv[1:])
