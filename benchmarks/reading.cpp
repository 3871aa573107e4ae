// Compares the speed of read_matrix with reading plain bytes and with Eigen:
//   reading_benchmark [--repeat N] [--write FOLDER] FILE...
// For each file, compressed or not, it reports the best of N rounds, in which all methods take turns: reading bytes like `cat`,
// or decompression alone; read_matrix; Eigen's loadMarket. It also times the conversion of the first matrix from a list of
// entries to CSR. --write stores the first matrix as .rb, .graph and .npz in that folder and also measures these.
#include <fcntl.h>
#include <unistd.h>

#include <Kokkos_Core.hpp>

#include <fmt/core.h>

#include <unsupported/Eigen/SparseExtra>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/clock.hpp"
#include "benchmarks/reading_files.hpp"
#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/random.hpp"
#include "core/output/write_matrix.hpp"

namespace workbench {
namespace {

/// Times several methods in turns, so that other load on the machine affects all of them. Slow methods have two rounds.
struct Contest {
    std::vector<std::pair<std::string, std::function<void()>>> ways;

    [[nodiscard]] std::vector<double> best_of(int rounds) const {
        std::vector<double> best(ways.size(), 1e300);
        for (int round = 0; round < rounds; ++round) {
            for (std::size_t i = 0; i < ways.size(); ++i) {
                constexpr double many_seconds = 5;
                if (round < 2 || best[i] < many_seconds)
                    best[i] = std::min(best[i], seconds_of(CLOCK_MONOTONIC, ways[i].second));
            }
        }
        return best;
    }
};

void read_bytes(const std::string& path) {
    std::vector<char> buffer(std::size_t{1} << 17);  // like GNU cat
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

std::string_view compression_of_file(const std::string& path) {
    std::unique_ptr<ByteSource> source = open_file(path, "a matrix file");
    return compression_of(look_at_start(source, 16).bytes);
}

/// Reads and decompresses all bytes of the text, and returns their number.
double unpack(const std::string& path) {
    std::vector<char> buffer(std::size_t{1} << 20);
    const std::string_view compression = compression_of_file(path);
    std::unique_ptr<ByteSource> source = open_file(path, "a matrix file");
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

/// The speed refers to the uncompressed text.
void measure_reading(const std::string& path, int rounds) {
    const double bytes = unpack(path);
    const auto nonzeros = static_cast<double>(read_matrix(path).nonzeros());
    Contest contest;
    if (compression_of_file(path).empty()) {
        contest.ways.emplace_back("bytes alone, like cat", [&] { read_bytes(path); });
    } else {
        contest.ways.emplace_back("decompression alone", [&] { (void)unpack(path); });
    }
    contest.ways.emplace_back("read_matrix", [&] { (void)read_matrix(path); });
    if (is_plain_matrix_market(path)) contest.ways.emplace_back("Eigen's loadMarket", [&] { read_with_eigen(path); });
    const std::vector<double> best = contest.best_of(rounds);
    const std::string what = fmt::format("{}, {:.0f} MB", name_of(path), bytes / 1e6);
    for (std::size_t i = 0; i < best.size(); ++i) print_row(what, contest.ways[i].first, best[i], bytes, i == 0 ? 0 : nonzeros);
}

/// Writes the matrix in other formats into a folder, and returns the paths.
std::vector<std::string> write_other_kinds(const std::string& from, const std::filesystem::path& folder) {
    const CsrMatrix matrix = read_matrix(from);
    const std::filesystem::path base = folder / name_of(from);
    const auto path_of = [&base](const char* ending) { return std::filesystem::path(base).replace_extension(ending); };
    write_rutherford_boeing(path_of(".rb"), matrix);
    write_metis_graph(path_of(".graph"), matrix);
    WholeFile npz(path_of(".npz"));
    write_matrix(npz, MatrixFormat::scipy_npz, matrix);
    npz.finish();
    for (const char* same : {".rb", ".npz"}) {
        if (!(read_matrix(path_of(same)) == matrix))
            throw InputError(path_of(same).string() + ": the matrix differs from the written one");
    }
    return {path_of(".rb"), path_of(".graph"), path_of(".npz")};
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

/// The load average of the last minute.
std::string load() {
    std::string word;
    std::ifstream("/proc/loadavg") >> word;
    return word;
}

struct Options {
    int rounds = 5;
    std::string folder;  // for files in other formats; empty: none
    std::vector<std::string> files;
};

Options options_of(std::vector<std::string> words) {
    Options options;
    while (words.size() > 1 && (words[0] == "--repeat" || words[0] == "--write")) {
        if (words[0] == "--repeat") options.rounds = std::max(1, std::atoi(words[1].c_str()));
        if (words[0] == "--write") options.folder = words[1];
        words.erase(words.begin(), words.begin() + 2);
    }
    if (words.empty()) throw RecipeError("found no file; expected [--repeat N] [--write FOLDER] FILE...");
    options.files = std::move(words);
    return options;
}

void measure(Options options) {
    for (const std::string& file : options.files) (void)compression_of_file(file);  // throws if it is missing
    if (!options.folder.empty()) {
        for (std::string& file : write_other_kinds(options.files.front(), options.folder)) {
            options.files.push_back(std::move(file));
        }
    }
    fmt::print("{} threads, best of {} rounds, load before {}\n\n", host_threads(), options.rounds, load());
    fmt::print("| what | way | time | text | nonzeros |\n|---|---|---|---|---|\n");
    for (const std::string& file : options.files) measure_reading(file, options.rounds);
    measure_conversion(options.files.front(), options.rounds);
    fmt::print("\nload after {}\n", load());
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos(argc, argv);
    try {
        workbench::measure(workbench::options_of({argv + 1, argv + argc}));
    } catch (const workbench::UserError& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return static_cast<int>(error.exit_code);
    } catch (const std::exception& error) {  // a damaged file
        fmt::print(stderr, "error: {}\n", error.what());
        return EXIT_FAILURE;
    }
}
