#!/usr/bin/env python3
"""Hit rates of x by a profiler beside those of `workbench cache`, from what `measure_tiled.sh caches` leaves in a folder.

    docs/results/cache_table.py gather FOLDER > docs/results/h200-tiled/caches.json    the counts, one file
    docs/results/cache_table.py table docs/results/h200-tiled/caches.json               the table

The profiler counts sectors of 32 bytes that L1 asks L2 for, and of those the ones that L2 had. The matrix is read once, cold and
in whole sectors (slices of 32): its 12 bytes a slot are taken off both. What remains is x, and a few words a block that describe
the pieces, so that the true hit rates are a little higher than those printed.
"""
import csv
import glob
import json
import os
import sys

READS = "lts__t_sectors_srcunit_tex_op_read.sum"
READ_HITS = "lts__t_sectors_srcunit_tex_op_read_lookup_hit.sum"


def counters(path):
    with open(path) as file:
        lines = [line for line in file if line.startswith('"')]
    return {row["Metric Name"]: int(row["Metric Value"].replace(",", "")) for row in csv.DictReader(lines)}


def gather(folder):
    found = []
    for model_file in sorted(glob.glob(os.path.join(folder, "*_model.json"))):
        stem = model_file.removesuffix("_model.json")
        with open(model_file) as file:
            model = json.load(file)
        points = []
        for point in model["points"]:
            with open(f"{stem}_{point['value']}.json") as file:
                report = json.load(file)
            run = report.get("runs", [report])[0]
            points.append({"width": int(point["value"]), "slots": run["layout"]["slots"],
                           "profiler": counters(f"{stem}_{point['value']}.csv"), "model": point})
        found.append({"matrix": points[0]["model"]["matrix"], "versions": run["versions"], "device": model["device"],
                      "model": model["model"], "points": points})
    json.dump(found, sys.stdout, separators=(",", ":"))


def share(part, whole):
    return f"{100 * part / whole:.1f} %"


def table(path):
    with open(path) as file:
        matrices = json.load(file)
    print("| matrix | width | requests of x | L1 hits, profiler | L1 hits, model | L2 hits, profiler | L2 hits, model |")
    print("| --- | --: | --: | --: | --: | --: | --: |")
    for matrix in matrices:
        for point in matrix["points"]:
            model, profiler = point["model"], point["profiler"]
            streamed = point["slots"] * 12 // 32
            l1, l2 = model["caches"]
            to_l2 = profiler[READS] - streamed
            # Of a small remainder the L2's share says nothing: what is taken off is right to some two per cent.
            few = to_l2 < streamed / 5
            from_memory = profiler[READS] - profiler[READ_HITS] - streamed
            print(f"| {matrix['matrix']} | {point['width']:,} | {model['requests']:,} "
                  f"| {share(model['requests'] - to_l2, model['requests'])} | {share(l1['hits'], l1['requests'])} "
                  f"| {'too few' if few else share(to_l2 - from_memory, to_l2)} | {share(l2['hits'], l2['requests'])} |")


if __name__ == "__main__":
    commands = {"gather": gather, "table": table}
    if len(sys.argv) != 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](sys.argv[2])
