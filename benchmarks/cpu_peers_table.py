#!/usr/bin/env python3
"""Tables of benchmarks/cpu_peers.sh: cpu_peers_table.py FILE... (.jsonl or .jsonl.xz)

Prints for each number of cores, and each matrix, the milliseconds of the workbench's fastest product, and the times of others
over it: below 1 the other is faster.
"""
import json
import lzma
import sys

OTHERS = ["Eigen", "librsb", "librsb, symmetric", "PETSc AIJ", "PETSc SELL", "PETSc BAIJ"]


def records_of(paths):
    for path in paths:
        opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path, encoding="utf-8")
        with opened as file:
            for line in file:
                if line.startswith("{"):
                    yield json.loads(line)


def other_of(record):
    """The name of another library's product, or None."""
    name = record["product"].replace(", tuned", "")
    if "| eigen" in name:
        return "Eigen"
    return name if name in OTHERS else None


def print_ratio(own, other):
    return "" if own is None or other is None else f"{other / own:.2f}"


def least(times):
    return min(times, default=None)


def print_table(precision, cores, matrices):
    print(f"\n{precision}, {cores} core{'s' if cores > 1 else ''}:\n")
    heads = ["matrix", "fastest of the workbench", "ms"] + OTHERS + ["all others", "sliced ELL", "blocks"]
    print("| " + " | ".join(heads) + " |")
    print("|---|---|" + "--:|" * (len(heads) - 2))
    for matrix, records in matrices.items():
        own = {r["product"]: r["milliseconds"] for r in records if other_of(r) is None and r["ranks"] == 1}
        if not own:
            continue
        best = min(own, key=own.get)
        others = {}
        for record in records:
            name = other_of(record)
            # PETSc has ranks instead of threads.
            if name and max(record["ranks"], record["threads"]) == cores:
                if name.startswith("PETSc") and record["ranks"] != cores:
                    continue
                others[name] = min(others.get(name, 1e300), record["milliseconds"])
        cells = [matrix, best.split(" |")[0], f"{own[best]:.2f}"]
        cells += [print_ratio(own[best], others.get(name)) for name in OTHERS]
        cells.append(print_ratio(own[best], least(others.values())))
        sliced = least(own[p] for p in own if p.startswith("sell"))
        blocks = least(own[p] for p in own if p.startswith(("bsr", "block_sell")))
        cells.append(print_ratio(others.get("PETSc SELL"), sliced))
        cells.append(print_ratio(others.get("PETSc BAIJ"), blocks))
        print("| " + " | ".join(cells) + " |")


def main():
    tables = {}
    for record in records_of(sys.argv[1:]):
        if "product" in record:
            cores = max(record["threads"], record["ranks"])
            table = tables.setdefault((record["precision"], cores), {})
            table.setdefault(record["matrix"], []).append(record)
    for (precision, cores), matrices in sorted(tables.items(), key=lambda item: (item[0][0] != "f64", item[0][1])):
        print_table(precision, cores, matrices)
    print("\nLast two columns: the fastest sell over PETSc SELL, and the fastest of bsr and block_sell over PETSc BAIJ.")


if __name__ == "__main__":
    main()
