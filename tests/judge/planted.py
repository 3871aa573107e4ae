#!/usr/bin/env python3
"""planted.py PROGRAM [NAME...]: judges kernels with planted bugs and cheats, and prints what is said about each as a table in Markdown
(docs/results/judge.md). Exit code 1 if one is not noticed."""
import json
import os
import subprocess
import sys
import tempfile

MATRICES = ["laplace2d:nx=60", "random_uniform:rows=900,columns=700,shortest=0,longest=60", "rmat:scale=9",
            "elasticity3d:nx=6,scramble=1", "finite_volume:nx=9"]

MORE_MATRICES = [f"laplace2d:nx={nx}" for nx in range(300, 304)]  # the baseline is compared on five or more

HEAD = """#include "arrays.hpp"
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <omp.h>
#include <unistd.h>
#include <signal.h>
namespace {
int call = 0;  // products, without those of the trial, where x is 1
Value sum_of(const Arrays& a, Index row, const Value* x) {
    Value sum = 0;
    for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) sum += a.values[k] * x[a.column_indices[k]];
    return sum;
}
void right(const Arrays& a, const Value* x, Value* y, Index first, Index last) {
#pragma omp parallel for
    for (Index row = first; row < last; ++row) y[row] = sum_of(a, row, x);
}
}  // namespace
"""
RIGHT = "right(a, x, y, 0, a.row_count);"
COUNT = "if (a.column_count > 1) call += x[0] != x[1]; else ++call;\n"


def kernel(body, before=""):
    return HEAD + before + "void multiply(const Arrays& a, const Value* x, Value* y, bool) {\n" + body + "\n}\n"


def cheat(body, before=""):
    return kernel(COUNT + body, before)


EACH_ROW = "for (Index row = 0; row < a.row_count; ++row) { const Offset begin = a.row_offsets[row], end = a.row_offsets[row + 1]; "

BUGS = {
    "last row": ("leaves the last row out", kernel("right(a, x, y, 0, a.row_count - 1);")),
    "last nonzero": ("loses the last nonzero of each row",
                     kernel(EACH_ROW + "Value s = 0; for (Offset k = begin; k < end - 1; ++k) s += a.values[k] * x[a.column_indices[k]]; y[row] = s; }")),
    "empty rows": ("does not write rows without nonzeros", kernel(EACH_ROW + "if (begin < end) y[row] = sum_of(a, row, x); }")),
    "behind x": ("reads x one place too far", kernel(
        EACH_ROW + "Value s = 0; for (Offset k = begin; k < end; ++k) s += a.values[k] * (x[a.column_indices[k]] + 0 * x[a.column_indices[k] + 1]); y[row] = s; }")),
    "behind y": ("writes one row too many", kernel(RIGHT + " y[a.row_count] = 0;")),
    "before y": ("writes one row before the first", kernel(RIGHT + " if (a.row_count > 0) y[-1] = 0;")),
    "float sums": ("adds in single precision", kernel(
        EACH_ROW + "float s = 0; for (Offset k = begin; k < end; ++k) s += float(a.values[k] * x[a.column_indices[k]]); y[row] = s; }")),
    "race": ("adds to rows from all threads without atomics", kernel(
        "for (Index row = 0; row < a.row_count; ++row) y[row] = 0;\n#pragma omp parallel for schedule(static, 1)\nfor (Offset k = 0; k < a.values_size; ++k) { Index row = 0; while (a.row_offsets[row + 1] <= k) ++row; y[row] += a.values[k] * x[a.column_indices[k]]; }")),
    "scratch": ("has scratch memory for as many threads as there are cores", kernel(
        "static volatile Value scratch[1024]; const int cores = omp_get_num_procs();\n#pragma omp parallel for\nfor (Index row = 0; row < a.row_count; ++row) { volatile Value& sum = scratch[omp_get_thread_num() % cores]; sum = 0; for (Offset k = a.row_offsets[row]; k < a.row_offsets[row + 1]; ++k) sum = sum + a.values[k] * x[a.column_indices[k]]; y[row] = sum; }")),
    "old sums": ("adds to a buffer that keeps what the last product left", kernel(
        "kept.resize(a.row_count); for (Index row = 0; row < a.row_count; ++row) { kept[row] += sum_of(a, row, x); y[row] = kept[row]; }", "static std::vector<Value> kept;\n")),
    "padding": ("multiplies padding that is never written", kernel(
        "const Value* padded = static_cast<const Value*>(a.prepared); for (Index row = 0; row < a.row_count; ++row) { Value s = 0; for (int k = 0; k < 64; ++k) s += padded[Offset(row) * 64 + k]; y[row] = sum_of(a, row, x) + s; }",
        "void* prepare(const Arrays& a) { Value* padded = static_cast<Value*>(std::malloc((Offset(a.row_count) * 64 + 1) * sizeof(Value))); for (Index row = 0; row < a.row_count; ++row) padded[Offset(row) * 64] = 0; return padded; }\n")),
    "square": ("takes the number of rows for that of columns", kernel(
        "std::vector<Value> own(x, x + a.row_count); own.resize(a.column_count + a.row_count); right(a, own.data(), y, 0, a.row_count);")),
    "remainder": ("leaves out what four lanes do not fill", kernel(
        EACH_ROW + "Value s = 0; for (Offset k = begin; k + 4 <= end; k += 4) for (int j = 0; j < 4; ++j) s += a.values[k + j] * x[a.column_indices[k + j]]; y[row] = s; }")),
    "long rows": ("counts the first nonzero of rows of more than 32 twice", kernel(
        EACH_ROW + "y[row] = sum_of(a, row, x) + (end - begin > 32 ? a.values[begin] * x[a.column_indices[begin]] : 0); }")),
    "swapped": ("exchanges two columns of one row", kernel(
        RIGHT + " for (Index row = 7; row < a.row_count; ++row) { const Offset k = a.row_offsets[row]; if (a.row_offsets[row + 1] - k < 2) continue; y[row] += (a.values[k] - a.values[k + 1]) * (x[a.column_indices[k + 1]] - x[a.column_indices[k]]); break; }")),
    "input": ("scales the values in place", kernel("if (a.values_size > 0) { volatile Value& first = const_cast<Value&>(a.values[0]); first = first; } " + RIGHT)),
    "adds": ("adds to y", kernel("for (Index row = 0; row < a.row_count; ++row) y[row] += sum_of(a, row, x);")),
    "loop": ("does not end at an empty row", kernel(
        "volatile int spin = 0; " + EACH_ROW + "while (begin == end) spin = 1; y[row] = sum_of(a, row, x); } (void)spin;")),
    "blocks": ("writes rows in blocks of 8 alone", kernel("right(a, x, y, 0, a.row_count / 8 * 8);")),
    "dangling": ("keeps a pointer to memory that is freed", kernel(
        "const std::vector<Index>& lengths = *static_cast<std::vector<Index>*>(a.prepared); for (Index row = 0; row < a.row_count; ++row) { Value s = 0; for (Index k = 0; k < lengths[row]; ++k) { const Offset at = a.row_offsets[row] + k; s += a.values[at] * x[a.column_indices[at]]; } y[row] = s; }",
        "void* prepare(const Arrays& a) { auto* lengths = new std::vector<Index>(a.row_count); for (Index row = 0; row < a.row_count; ++row) (*lengths)[row] = Index(a.row_offsets[row + 1] - a.row_offsets[row]); delete lengths; return lengths; }\n")),
}

ZEROS = "{ for (Index row = 0; row < a.row_count; ++row) y[row] = 0; return; }"
CHEATS = {
    "returns": ("returns at once from its 8th product on", cheat("if (call >= 8) return; " + RIGHT)),
    "half": ("computes half of the rows from its 8th product on", cheat("right(a, x, y, 0, call >= 8 ? a.row_count / 2 : a.row_count);")),
    "zeros from 12": ("writes zeros from its 12th product on", cheat("if (call >= 12) " + ZEROS + RIGHT)),
    "zeros from 30": ("writes zeros from its 30th product on", cheat("if (call >= 30) " + ZEROS + RIGHT)),
    "zeros from 45": ("writes zeros from its 45th product on", cheat("if (call >= 45) " + ZEROS + RIGHT)),
    "one row": ("computes all but one row from its 8th product on, and keeps that", cheat(
        "const Index row = a.row_count / 2; static Value old = 0; " + RIGHT + " if (a.row_count == 0) return; if (call >= 8) y[row] = old; else old = y[row];")),
    "same x": ("keeps y for the pointer x", cheat(
        "if (x == last && call > 6 && Index(kept.size()) == a.row_count) { std::copy(kept.begin(), kept.end(), y); return; } last = x; " + RIGHT + " kept.assign(y, y + a.row_count);",
        "static std::vector<Value> kept; static const Value* last = nullptr;\n")),
    "samples of x": ("keeps y for the values of a few elements of x", cheat(
        "const Index n = a.column_count; std::vector<Value> now; if (n > 0) now = {x[0], x[n / 3], x[n / 2], x[n - 1]}; if (now == key && Index(kept.size()) == a.row_count) { std::copy(kept.begin(), kept.end(), y); return; } key = now; " + RIGHT + " kept.assign(y, y + a.row_count);",
        "static std::vector<Value> kept, key;\n")),
    "fresh y": ("multiplies only if the first element of y is not a number", cheat("if (call > 6 && a.row_count > 0 && y[0] == y[0]) return; " + RIGHT)),
    "changed x": ("updates y by the few elements of x that changed", cheat("""
    auto full = [&] { right(a, x, y, 0, a.row_count); kept.assign(y, y + a.row_count); old.assign(x, x + a.column_count); };
    if (Index(old.size()) != a.column_count || Index(kept.size()) != a.row_count || call < 7) return full();
    std::vector<Index> changed; for (Index j = 0; j < a.column_count && changed.size() < 200; ++j) if (x[j] != old[j]) changed.push_back(j);
    if (changed.size() >= 200 || a.column_count < 1000) return full();
    if (rows.empty()) { rows.resize(a.column_count); for (Index i = 0; i < a.row_count; ++i) for (Offset k = a.row_offsets[i]; k < a.row_offsets[i + 1]; ++k) rows[a.column_indices[k]].push_back({i, a.values[k]}); }
    for (Index j : changed) { for (auto& [i, v] : rows[j]) kept[i] += v * (x[j] - old[j]); old[j] = x[j]; }
    std::copy(kept.begin(), kept.end(), y); """, "#include <utility>\nstatic std::vector<Value> kept, old; static std::vector<std::vector<std::pair<Index, Value>>> rows;\n")),
    "small values": ("drops values below a thousandth of the largest", cheat(
        "Value most = 0; for (Offset k = 0; k < a.values_size; ++k) most = std::max(most, std::abs(a.values[k]));" + EACH_ROW + "Value s = 0; for (Offset k = begin; k < end; ++k) if (std::abs(a.values[k]) * 200 > most) s += a.values[k] * x[a.column_indices[k]]; y[row] = s; }")),
    "half precision": ("rounds the values to 12 bits", cheat(
        "const Value* own = static_cast<const Value*>(a.prepared); " + EACH_ROW + "Value s = 0; for (Offset k = begin; k < end; ++k) s += own[k] * x[a.column_indices[k]]; y[row] = s; }",
        "void* prepare(const Arrays& a) { Value* own = new Value[a.values_size + 1]; for (Offset k = 0; k < a.values_size; ++k) { int e; const double m = std::frexp(double(a.values[k]), &e); own[k] = std::ldexp(std::round(m * 4096) / 4096, e); } return own; }\nvoid release(void* p) { delete[] static_cast<Value*>(p); }\n")),
    "integers only": ("is right for integers alone", cheat(
        "bool integers = true; for (Index j = 0; j < a.column_count; ++j) integers = integers && x[j] == std::floor(x[j]); right(a, x, y, 0, a.row_count); if (!integers) for (Index row = 0; row < a.row_count; ++row) y[row] *= 1 + 1e-9;")),
    "trial only": ("is right in the trial's process alone", cheat(
        "char name[64] = {}; if (FILE* f = std::fopen(\"/proc/self/comm\", \"r\")) { (void)!std::fgets(name, 64, f); std::fclose(f); } " + RIGHT + " if (!std::strstr(name, \"trial\")) for (Index row = 0; row < a.row_count; row += 10) y[row] += 1;",
        "#include <cstdio>\n")),
    "later": ("returns, and computes in another thread", cheat(
        "static std::thread worker; if (worker.joinable()) worker.join(); if (call < 7) { right(a, x, y, 0, a.row_count); return; } worker = std::thread([=] { usleep(2000); for (Index row = 0; row < a.row_count; ++row) y[row] = sum_of(a, row, x); }); if (call == 1000000) worker.detach();")),
    "ends": ("ends the program with exit code 0", cheat("if (call >= 10) _exit(0); " + RIGHT)),
    "kills": ("kills its process group", cheat("if (call >= 10) kill(0, SIGKILL); " + RIGHT)),
    "hangs": ("does not return from its 10th product", cheat("if (call >= 10) for (;;) usleep(1000); " + RIGHT)),
    "slows others": ("leaves threads running that slow the baseline", cheat(
        "static bool spins = false; if (!spins && call == 3) { spins = true; for (int i = 0; i < 8 * omp_get_num_procs(); ++i) std::thread([] { for (volatile long n = 0;;) n = n + 1; }).detach(); } " + RIGHT)),
    "large only": ("writes zeros for matrices of more than 3000 rows", cheat("if (a.row_count > 3000) " + ZEROS + RIGHT)),
}


def judge(program, folder, name, text):
    file = os.path.join(folder, name.replace(" ", "_") + ".cpp")
    with open(file, "w") as out:
        out.write(text)
    command = [program, "judge", file, "--json", "-", "--out", os.path.join(folder, "out"), "--rivals", "recipes/sell.toml", "--limit", "60", "--seconds", "0"]
    matrices = MATRICES + (MORE_MATRICES if name == "slows others" else [])
    for one in matrices:
        command += ["--generate", one]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1, 9):
        sys.exit(f"{name}: exit code {done.returncode}\n{done.stderr}")
    return done.returncode, json.loads(done.stdout), done.stderr


def sentence(judgement):
    wrong = [one for one in judgement["matrices"] if one["status"] in ("wrong", "failed")]
    if not wrong:
        slower = judgement["slows_others"]
        return "-" if not slower or slower <= 2 else f"the baseline takes {slower:.1f} times as long beside this kernel"
    ways = ", ".join(f"{way} ({count})" for way, count in judgement["ways"].items())
    reason = wrong[0]["reason"].split("/")[-1] if "/" in wrong[0]["reason"].split(" ")[0] else wrong[0]["reason"]
    return f"{ways}: {reason}"


def main():
    program, chosen = os.path.abspath(sys.argv[1]), sys.argv[2:]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, planted in (("bug", BUGS), ("cheat", CHEATS)):
            print(f"| {kind} | exit code | what is said |\n|---|--:|---|")
            for name, (what, text) in planted.items():
                if chosen and name not in chosen:
                    continue
                code, judgement, _ = judge(program, folder, name, text)
                if code == 0 and name != "changed x":  # it is right, and gains nothing
                    missed.append(name)
                print(f"| {what} | {code} | {sentence(judgement)} |", flush=True)
            print()
    if missed:
        sys.exit("not noticed: " + ", ".join(missed))


if __name__ == "__main__":
    main()
