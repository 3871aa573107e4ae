#!/usr/bin/env python3
"""What more GPUs would take, from what one and two took.

    model.py RUNS.jsonl[.xz] NAME [RANKS ...]

RUNS: reports of --distributed, a line each with "name": NAME_1 and NAME_2 are one system on one and on two GPUs. Prints the
parts of a product and of an iteration for each number of ranks (default: 4 8 16 32 64), in microseconds, and the speed-up.

Assumed: rows in slabs, so that a rank has two neighbours from three ranks on, and each message is as long as with two; the
inside share and the passes over the vectors take time in proportion to the rows; two messages take `two_messages` times what one
took between two GPUs, and among more ranks than `ranks_a_host` at least `network_us` and their bytes over `network_gbytes`; the
inside product hides an exchange as far as it is longer, but for what was not hidden of it with two; a sum takes a step more with
each doubling of the ranks. If there is a run NAME_4, it is printed behind the prediction for four.
"""
import json, lzma, math, sys

ranks_a_host = 8        # GPUs that NVLink joins
network_us = 20.0       # of a message between hosts, assumed
network_gbytes = 45.0   # 10^9 bytes a second of a rank's network, assumed
two_messages = 1.5      # over the time of one: they begin together, assumed


def most(report, figure):
    return 1e6 * max(rank[figure] for rank in report["ranks"])


def main():
    path, name = sys.argv[1:3]
    counts = [int(word) for word in sys.argv[3:]] or [4, 8, 16, 32, 64]
    with (lzma.open if path.endswith(".xz") else open)(path, "rt") as lines:
        runs = {report["name"]: report for report in map(json.loads, lines)}  # of one name the last
    one, two = runs[name + "_1"], runs[name + "_2"]
    value_bytes = 8 if two["precision"] == "f64" else 4
    product = [1e6 * report["product_seconds"] for report in (one, two)]
    inside, outside, exchange = (most(two, figure + "_seconds") for figure in ("inside", "outside", "exchange"))
    not_hidden = max(0.0, product[1] - inside - outside)
    message = value_bytes * max(rank["elements_received"] for rank in two["ranks"])
    iteration = [1e6 * report["solve"]["iteration_seconds"] for report in (one, two)]
    sums = [most(report, "sum_seconds") for report in (one, two)]
    rest = [iteration[i] - product[i] - sums[i] for i in (0, 1)]
    by_rows = max(0.0, 2 * (rest[0] - rest[1]))  # passes over the vectors, on one GPU
    fixed = max(0.0, rest[1] - by_rows / 2)      # launches

    def line(ranks, inside, exchange, outside, product_, sum_, step, source):
        print(f"{ranks:5} {inside:8.1f} {exchange:9.1f} {outside:8.1f} {product_:8.1f} {product[0] / product_:9.2f} {sum_:6.1f}"
              f" {step:10.1f} {iteration[0] / step:9.2f}   {source}")

    print(" GPUs   inside  exchange  outside  product  speed-up    sum  iteration  speed-up")
    line(1, most(one, "inside_seconds"), 0, 0, product[0], sums[0], iteration[0], "measured")
    line(2, inside, exchange, outside, product[1], sums[1], iteration[1], "measured")
    for ranks in counts:
        part = 2 * inside / ranks
        bring = two_messages * exchange
        if ranks > ranks_a_host:
            bring = max(bring, network_us + 2 * message / network_gbytes / 1e3)
        whole = part + 2 * outside + not_hidden + max(0.0, bring - part)
        sum_ = sums[0] + (sums[1] - sums[0]) * math.log2(ranks)
        step = whole + sum_ + fixed + by_rows / ranks
        line(ranks, part, bring, 2 * outside, whole, sum_, step, "model")
        measured = runs.get(f"{name}_{ranks}")
        if measured:
            line(ranks, most(measured, "inside_seconds"), most(measured, "exchange_seconds"), most(measured, "outside_seconds"),
                 1e6 * measured["product_seconds"], most(measured, "sum_seconds"), 1e6 * measured["solve"]["iteration_seconds"],
                 "measured")


main()
