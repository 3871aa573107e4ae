#!/usr/bin/env python3
"""Prints tables from reports of `workbench run RECIPE... --json FILE`, one report a matrix.

    docs/results/tables.py times f64 REPORT...             median microseconds of the best kernel, a recipe a column
    docs/results/tables.py storage REPORT...               bytes a nonzero and padding
    docs/results/tables.py against RECIPE f64 REPORT...    time of the others over the time of this one, by row-length spread
    docs/results/tables.py kernels f64 REPORT...           every kernel, with GB/s
    docs/results/tables.py stages REPORT...                milliseconds of the stages and the build
    docs/results/tables.py best f64 REPORT...              of each recipe group (the first word), the best
    docs/results/tables.py grid REPORT_grid...             Staircase SELL over slice height and alpha, f64
    docs/results/tables.py allocations f64 REPORT...       the same for each of its own kernels, over cuSPARSE CSR
"""
import json
import os
import sys


def runs(path):
    with open(path) as file:
        report = json.load(file)
    return report.get("runs", [report])


def matrix_name(path):
    return os.path.basename(path).removesuffix(".json")


def own_kernels(run, precision):
    return [k for k in run["kernels"] if k["precision"] == precision and not k["baseline"]]


def label(run, kernel):
    """cuSPARSE's kernels are rivals of their own, whatever recipe ran them."""
    name = run["recipe"]["name"]
    return f"cuSPARSE {kernel['kernel']}, {name}" if kernel["backend"] == "cusparse" else name


def best_times(path, precision):
    """{recipe: (seconds, kernel)}; None where the pair is unsuitable."""
    best = {}
    for run in runs(path):
        baseline = [k for k in run["kernels"] if k["precision"] == precision and k["baseline"]]
        if baseline and baseline[0]["verified"]:
            best["cuSPARSE CSR"] = (baseline[0]["median_seconds"], baseline[0])
        for kernel in own_kernels(run, precision):
            name = label(run, kernel)
            best.setdefault(name, None)
            if kernel["verified"] and (best[name] is None or kernel["median_seconds"] < best[name][0]):
                best[name] = (kernel["median_seconds"], kernel)
        if not own_kernels(run, precision):
            best.setdefault(run["recipe"]["name"], None)
    return best


def spread(path):
    return runs(path)[0]["stages"][0]["metrics"]["row_length"]["std"]


def by_spread(paths):
    return sorted(paths, key=spread)


def print_row(cells):
    print("| " + " | ".join(cells) + " |")


def head(first, names):
    print_row([first] + names)
    print_row(["---"] + ["--:"] * len(names))


def times(precision, paths):
    table = {path: best_times(path, precision) for path in by_spread(paths)}
    names = list(dict.fromkeys(name for best in table.values() for name in best))
    head("microseconds, " + precision, [matrix_name(path) for path in table])
    print_row(["spread of row lengths"] + [f"{spread(path):.1f}" for path in table])
    for name in names:
        cells = [best.get(name) for best in table.values()]
        fastest = [min(b[0] for b in best.values() if b) for best in table.values()]
        taken = [name in best for best in table.values()]
        print_row([name] + ["" if not t else "unsuitable" if c is None else f"**{c[0] * 1e6:.1f}**" if c[0] == f
                            else f"{c[0] * 1e6:.1f}" for c, f, t in zip(cells, fastest, taken)])


def storage(paths):
    table = {}
    for path in by_spread(paths):
        table[path] = {}
        for run in runs(path):
            layout, nonzeros = run["layout"], run["matrix"]["nonzeros"]
            if layout is None or layout["unsuitable"]:
                table[path][run["recipe"]["name"]] = "unsuitable"
            else:
                padding = 100 * (1 - nonzeros / layout["slots"]) if layout["slots"] else 0
                table[path][run["recipe"]["name"]] = f"{layout['bytes'] / nonzeros:.2f}, {padding:.1f} %"
    names = list(dict.fromkeys(name for cells in table.values() for name in cells))
    head("bytes a nonzero, padding", [matrix_name(path) for path in table])
    for name in names:
        print_row([name] + [cells.get(name, "") for cells in table.values()])


def against(this, precision, paths):
    rows = [(spread(path), matrix_name(path), best_times(path, precision)) for path in by_spread(paths)]
    names = list(dict.fromkeys(name for _, _, best in rows for name in best if name != this))
    head(f"time over that of {this}, {precision}", ["spread"] + names)
    for sigma, name, best in rows:
        if best.get(this) is None:
            print_row([name, f"{sigma:.1f}"] + ["unsuitable"] * len(names))
            continue
        cells = [best.get(other) for other in names]
        print_row([name, f"{sigma:.1f}"] + ["unsuitable" if c is None else f"{c[0] / best[this][0]:.2f}" for c in cells])


def kernels(precision, paths):
    for path in paths:
        matrix = runs(path)[0]["matrix"]
        device = runs(path)[0]["devices"][-1]
        print(f"\n### {matrix_name(path)}: {matrix['rows']:,} rows, {matrix['nonzeros']:,} nonzeros, {precision}\n")
        print(f"{device['name']}: copy {device['copy_bytes_per_second'] / 1e9:.0f} GB/s in this run.\n")
        head("recipe", ["kernel", "us", "spread", "GB/s", "of copy", "bytes a nonzero", "over cuSPARSE CSR"])
        seen_baseline = False
        for run in runs(path):
            for k in run["kernels"]:
                if k["precision"] != precision or (k["baseline"] and seen_baseline):
                    continue
                seen_baseline = seen_baseline or k["baseline"]
                name = [run["recipe"]["name"], f"{k['backend']} {k['kernel']}"]
                if not k["verified"]:
                    print_row(name + [k["status"] + ": " + (k["reason"] or "")] + [""] * 5)
                    continue
                print_row(name + [f"{k['median_seconds'] * 1e6:.1f}", f"{100 * k['spread']:.1f} %", f"{k['gbytes_per_second']:.0f}",
                                  f"{100 * k['share_of_copy_bandwidth']:.0f} %", f"{k['bytes_per_nonzero']:.2f}",
                                  f"{k['speedup']:.2f}"])


def stages(paths):
    for path in paths:
        print(f"\n### {matrix_name(path)}, milliseconds\n")
        head("recipe", ["stages", "build f64"])
        for run in runs(path):
            steps = ", ".join(f"{s['id']} {1e3 * s['seconds']:.1f}" for s in run["stages"][1:])
            built = run["layout"]
            print_row([run["recipe"]["name"], steps, f"{1e3 * built['seconds']:.1f}" if built and not built["unsuitable"] else "unsuitable"])


def best(precision, paths):
    """Recipes that differ by parameters are named GROUP PARAMETERS."""
    rows = {}
    for path in paths:
        groups = {}
        for name, found in best_times(path, precision).items():
            group = name if name.startswith("cuSPARSE CSR") else name.split(" ")[0]
            if found and (group not in groups or found[0] < groups[group][0]):
                groups[group] = (found[0], name, found[1]["kernel"])
        rows[path] = groups
    names = list(dict.fromkeys(name for groups in rows.values() for name in groups))
    head("best of each, us, " + precision, names)
    for path, groups in rows.items():
        print_row([matrix_name(path)] + [f"{groups[n][0] * 1e6:.1f} ({groups[n][1].removeprefix(n).strip()} {groups[n][2]})"
                                         if n in groups else "unsuitable" for n in names])


def allocations(precision, paths):
    """How often faster than cuSPARSE CSR each kernel of a group is, in the best of the group's recipes for it."""
    rows = {}
    for path in paths:
        rows[path] = {}
        for run in runs(path):
            for k in own_kernels(run, precision):
                if k["verified"] and k["backend"] == "cuda":
                    name = f"{run['recipe']['name'].split(' ')[0]} {k['kernel']}"
                    rows[path][name] = max(rows[path].get(name, 0), k["speedup"])
    names = list(dict.fromkeys(name for row in rows.values() for name in row))
    head("over cuSPARSE CSR, " + precision, [matrix_name(path) for path in paths])
    for name in names:
        print_row([name] + [f"{rows[path][name]:.2f}" if name in rows[path] else "" for path in paths])


def grid(paths):
    """Microseconds of the best own kernel / of cuSPARSE's SELL on the same rows; padding. Recipes are named ORDER HEIGHT ALPHA."""
    for path in paths:
        for order in ("CM", "natural"):
            cells, heights, alphas = {}, [], []
            for run in runs(path):
                name, height, alpha = run["recipe"]["name"].split(" ")
                if name != order:
                    continue
                heights.append(int(height))
                alphas.append(float(alpha))
                layout = run["layout"]
                if layout is None or layout["unsuitable"]:
                    cells[int(height), float(alpha)] = "unsuitable"
                    continue
                own = [k["median_seconds"] for k in own_kernels(run, "f64") if k["verified"] and k["backend"] == "cuda"]
                theirs = [k["median_seconds"] for k in own_kernels(run, "f64") if k["verified"] and k["backend"] == "cusparse"]
                padding = 100 * (1 - run["matrix"]["nonzeros"] / layout["slots"])
                cells[int(height), float(alpha)] = (f"{1e6 * min(own):.1f} / "
                                                    + (f"{1e6 * min(theirs):.1f}" if theirs else "-") + f"; {padding:.1f} %")
            print(f"\n{matrix_name(path).removesuffix('_grid')}, {order}\n")
            head("slice height", [f"alpha {alpha:g}" for alpha in sorted(set(alphas))])
            for height in sorted(set(heights)):
                print_row([str(height)] + [cells.get((height, alpha), "") for alpha in sorted(set(alphas))])


COMMANDS = {"times": (times, 1), "storage": (storage, 0), "against": (against, 2), "kernels": (kernels, 1), "stages": (stages, 0),
            "best": (best, 1), "allocations": (allocations, 1), "grid": (grid, 0)}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    command, words = COMMANDS[sys.argv[1]]
    command(*sys.argv[2:2 + words], sys.argv[2 + words:])
