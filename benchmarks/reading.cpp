// How fast files are read, beside what the machine can do and what Eigen does, in one run:
//   reading_benchmark [--repeat N] FILE...
// For each text file, packed or not, the best of N rounds, in which all ways take turns: the bytes alone, as `cat` reads them;
// unpacking alone; read_matrix; Eigen's loadMarket. Then the conversion of the first matrix from a list of entries to CSR.
#include <fcntl.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include <fmt/core.h>

#include <unsupported/Eigen/SparseExtra>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/input/byte_source.hpp"
#include "pipeline/input/read_matrix.hpp"
#include "pipeline/matrix/random.hpp"

namespace workbench {
namespace {

double seconds_of(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Of several ways to do one thing: each in turn, round by round, so that what else the machine does meets them all. What takes
/// many seconds has two rounds.
struct Contest {
    std::vector<std::pair<std::string, std::function<void()>>> ways;

    [[nodiscard]] std::vector<double> best_of(int rounds) const {
        std::vector<double> best(ways.size(), 1e300);
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < ways.size(); ++i) {
                constexpr double many_seconds = 5;
                if (round < 2 || best[i] < many_seconds) best[i] = std::min(best[i], seconds_of(ways[i].second));
            }
        }
        return best;
    }
};

void read_bytes(const std::string& path) {
    std::vector<char> buffer(std::size_t{1} << 17);  // as GNU cat
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    while (read(file, buffer.data(), buffer.size()) > 0) {
    }
    close(file);
}

void read_with_eigen(const std::string& path) {
    Eigen::SparseMatrix<double, Eigen::RowMajor, std::int64_t> matrix;
    if (!Eigen::loadMarket(matrix, path)) fmt::print("Eigen cannot read {}\n", path);
}

bool is_plain_matrix_market(const std::string& path) {
    std::string start(14, ' ');
    std::ifstream(path).read(start.data(), 14);
    return start == "%%MatrixMarket";
}

std::vector<Entry> entries_of(const CsrMatrix& matrix) {
    std::vector<Entry> entries;
    entries.reserve(matrix.values.size());
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            entries.push_back({row, matrix.column_indices[i], matrix.values[i]});
        }
    }
    return entries;
}

std::vector<Entry> shuffled(std::vector<Entry> entries) {
    for (std::size_t i = entries.size(); i > 1; --i) std::swap(entries[i - 1], entries[mixed(i) % i]);
    return entries;
}

/// All bytes of the text, taken out of its compression and thrown away; their number.
double unpack(const std::string& path) {
    std::vector<char> buffer(std::size_t{1} << 20);
    std::unique_ptr<ByteSource> source = open_file(path, "a file");
    const Start start = look_at_start(source, 16);
    const std::string_view compression = compression_of(start.bytes);
    if (!compression.empty()) source = decompressed(std::move(source), compression);
    double bytes = 0;
    while (const std::size_t got = source->read(buffer)) bytes += static_cast<double>(got);
    return bytes;
}

void print_row(const std::string& what, const std::string& way, double seconds, double bytes, double nonzeros) {
    const auto rate = [seconds](double amount, double unit, const char* name) {
        return amount == 0 ? "" : fmt::format("{:.2f} {}", amount / seconds / unit, name);
    };
    fmt::print("| {} | {} | {:.3f} s | {} | {} |\n", what, way, seconds, rate(bytes, 1e9, "GB/s"), rate(nonzeros, 1e6, "M/s"));
}

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

/// Text: the speed is that of the text, however it is packed.
void measure_reading(const std::string& path, int rounds) {
    const CsrMatrix matrix = read_matrix(path);
    const std::vector<Entry> entries = entries_of(matrix);
    const auto nonzeros = static_cast<double>(entries.size());
    const double bytes = unpack(path);
    Contest contest{{{"its bytes alone, in the way of cat", [&] { read_bytes(path); }},
                     {"unpacked alone", [&] { (void)unpack(path); }},
                     {"read_matrix", [&] { (void)read_matrix(path); }},
                     {"entries to CSR", [&] { (void)csr_from_entries(matrix.rows, matrix.columns, entries); }}}};
    const bool eigen_reads_it = is_plain_matrix_market(path);
    if (eigen_reads_it) contest.ways.emplace_back("Eigen's loadMarket", [&] { read_with_eigen(path); });
    const std::vector<double> best = contest.best_of(rounds);
    const std::string what = fmt::format("{}, {:.0f} MB of text", name_of(path), bytes / 1e6);
    print_row(what, contest.ways[0].first, best[0], eigen_reads_it ? bytes : 0, 0);
    if (!eigen_reads_it) print_row(what, contest.ways[1].first, best[1], bytes, 0);
    print_row(what, "read_matrix", best[2], bytes, nonzeros);
    print_row(what, "read_matrix less the conversion to CSR (a difference)", best[2] - best[3], bytes, nonzeros);
    if (eigen_reads_it) print_row(what, contest.ways[4].first, best[4], bytes, nonzeros);
}

void measure_conversion(const std::string& path, int rounds) {
    const CsrMatrix matrix = read_matrix(path);
    std::vector<Entry> by_column = entries_of(transpose(matrix));
    for (Entry& entry : by_column) std::swap(entry.row, entry.column);
    const std::vector<std::pair<std::string, std::vector<Entry>>> lists{{"row by row", entries_of(matrix)},
                                                                        {"column by column", std::move(by_column)},
                                                                        {"in random order", shuffled(entries_of(matrix))}};
    Contest contest;
    for (const auto& [order, entries] : lists) {
        contest.ways.emplace_back("entries " + order + " to CSR",
                                  [&matrix, &list = entries] { (void)csr_from_entries(matrix.rows, matrix.columns, list); });
    }
    const std::vector<double> best = contest.best_of(rounds);
    for (std::size_t i = 0; i < best.size(); ++i) {
        print_row(name_of(path), contest.ways[i].first, best[i], 0, static_cast<double>(matrix.nonzeros()));
    }
}

/// Processes that wanted a core in the last minute, ours among them.
std::string load() {
    std::string word;
    std::ifstream("/proc/loadavg") >> word;
    return word;
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    std::vector<std::string> files(argv + 1, argv + argc);
    int rounds = 5;
    if (files.size() > 1 && files[0] == "--repeat") {
        rounds = std::max(1, std::atoi(files[1].c_str()));
        files.erase(files.begin(), files.begin() + 2);
    }
    fmt::print("{} threads, best of {} rounds, load before {}\n\n", Kokkos::DefaultHostExecutionSpace().concurrency(), rounds,
               workbench::load());
    fmt::print("| what | way | time | text | nonzeros |\n|---|---|---|---|---|\n");
    for (const std::string& file : files) workbench::measure_reading(file, rounds);
    if (!files.empty()) workbench::measure_conversion(files.front(), rounds);
    fmt::print("\nload after {}\n", workbench::load());
}
