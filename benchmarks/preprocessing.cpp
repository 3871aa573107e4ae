// Times the preprocessing of a matrix: running and applying each stage, building each layout, and copies of the same bytes for
// comparison. Prints a line for each in millions of nonzeros per second; times are the least of several runs.
//
//     OMP_NUM_THREADS=2 preprocessing_benchmark [--repeat 5] [--only WORD]... [--checksums] MATRIX...
//
// MATRIX: a file, or KIND:NAME=VALUE,... of a generator.
#include <Kokkos_Core.hpp>

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/preparation.hpp"
#include "core/contract/errors.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

/// Stages with their settings, followed by the layout: "use, setting, ...; use, ...". "shares, a, b" times no layout.
constexpr std::array preparations = {
    "random_order; csr",
    "random_order, apply = \"rows\"; csr",
    "random_order, apply = \"columns\"; csr",
    "cuthill_mckee; csr16",
    "column_sort; csc",
    "row_sort; sell",
    "row_sort, within = \"window\", window = 4096, apply = \"rows\"; sell, column_index = \"u16\"",
    "row_sort; jds",
    "row_sort, within = \"window\", window = 32, apply = \"rows\"; biell",
    "row_sort, order = \"ascending\"; length_groups; staircase_sell",
    "coo",
    "csr5",
    "ell, slots_per_nonzero = 12",
    "ellr, slots_per_nonzero = 12",
    "dia, slots_per_nonzero = 12",
    "banded_block, slots_per_nonzero = 12",
    "bsr, block_size = 3, slots_per_nonzero = 12",
    "block_sell, block_size = 3, slots_per_nonzero = 12.0",
    "bccoo",
    "dasp",
    "hola",
    "split, by = \"first_k\"; hyb, slots_per_nonzero = 12",
    "split, by = \"row_length\", longer_than = 20; shares, long, short",
    "split, by = \"diagonals\"; shares, dense_diagonals, sparse_diagonals",
    "split, by = \"blocks\", size = 3; shares, dense_blocks, sparse_blocks",
    "split, by = \"columns\", density = 0.001; shares, dense_columns, sparse_columns",
    "split, by = \"distance\", distance = 1000; shares, near, far",
    "rcm_blocks, parts = 64; split, by = \"inside_partition\"; ehyb",
    "rcm_blocks, parts = 64; row_sort, within = \"partition\", key = \"nonzeros_inside_partition\"; "
    "split, by = \"inside_partition\"; row_sort, share = \"outside\"; ehyb, column_index = \"u16\"",
    "rcm_blocks, parts = 1024; halo, slots_per_nonzero = 12",
    "node_blocks, unknowns = 3; rcm_blocks, parts = 1024; halo, slots_per_nonzero = 12",
    "column_segmentation, width = 4096; row_sort, within = \"segment\"; segmented, piece = \"sell\"",
    "column_sort; column_segmentation, method = \"non_uniform\", segment_count = 8, segment_size = 4096; row_sort, within = "
    "\"segment\"; segmented",
    "row_blocks, height = 512; column_segmentation, width = 4096; nonlinear_hash, within = \"tile\"; hbp",
    "row_blocks, height = 512; column_segmentation, width = 4096; row_sort, within = \"tile\"; hbp",
};

struct Options {
    int repeat = 5;
    std::vector<std::string> only;
    bool checksums = false;
    std::vector<std::string> matrices;
};

/// FNV-1a over words of 8 bytes.
std::uint64_t checksum_of(const void* data, std::size_t bytes, std::uint64_t sum) {
    const auto* at = static_cast<const unsigned char*>(data);
    while (bytes > 0) {
        std::uint64_t word = 0;
        const std::size_t some = std::min(bytes, sizeof(word));
        std::memcpy(&word, at, some);
        sum = (sum ^ word) * 0x100000001B3U;
        at += some;
        bytes -= some;
    }
    return sum;
}

template <typename Item>
std::uint64_t checksum_of(const HostArray<Item>& items, std::uint64_t sum) {
    return checksum_of(items.data(), items.size() * sizeof(Item), sum);
}

/// A checksum of the matrix and the shares with their order of storage.
std::uint64_t checksum_of(const StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    std::uint64_t sum = checksum_of(matrix.values, checksum_of(matrix.column_indices, checksum_of(matrix.row_offsets, 1)));
    for (const Share& share : staged.shares) {
        sum = checksum_of(share.entries, checksum_of(share.row_offsets, checksum_of(share.rows, sum)));
    }
    return sum;
}

std::uint64_t checksum_of(const Layout<double>& layout) {
    std::uint64_t sum = 1;
    for (const LayoutField& field : layout.fields()) {
        if (field.is_array()) sum = checksum_of(field.data, field.bytes(), sum);
    }
    return sum;
}

struct Seconds {
    double wall = std::numeric_limits<double>::infinity();
    double cpu = std::numeric_limits<double>::infinity();  // of all threads, independent of other programs
};

/// The least times of several runs of `work`; `before` is not timed.
Seconds least_seconds(int repeat, const std::function<void()>& before, const std::function<void()>& work) {
    Seconds least;
    for (int i = 0; i < repeat; ++i) {
        before();
        const auto begin = std::chrono::steady_clock::now();
        const std::clock_t cpu = std::clock();
        work();
        least.cpu = std::min(least.cpu, static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC);
        const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        least.wall = std::min(least.wall, wall);
    }
    return least;
}

class Measurement {
public:
    Measurement(const Options& options, const CsrMatrix& matrix) : options_(options), matrix_(matrix) {}

    void run() {
        copies();
        for (const std::string_view preparation : preparations) {
            if (is_selected(preparation)) prepare(std::string(preparation));
        }
    }

private:
    void print_line(const std::string& what, const Seconds& least) {
        fmt::print("  {:9.1f} M/s {:9.2f} ms, cpu {:9.2f} ms  {}\n", static_cast<double>(matrix_.nonzeros()) / least.wall / 1e6,
                   least.wall * 1e3, least.cpu * 1e3, what);
        std::fflush(stdout);
    }

    /// Copies columns and values, 12 bytes a nonzero, into memory with and without page faults.
    void copies() {
        const auto count = matrix_.values.size();
        std::unique_ptr<HostArray<Index>> columns;
        std::unique_ptr<HostArray<double>> values;
        const auto fresh = [&] {
            columns = std::make_unique<HostArray<Index>>(unwritten_array<Index>(count));
            values = std::make_unique<HostArray<double>>(unwritten_array<double>(count));
        };
        const auto copy = [&] {
            using Range = Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::IndexType<std::size_t>>;
            Kokkos::parallel_for("copy", Range(0, count), [&](std::size_t i) {
                (*columns)[i] = matrix_.column_indices[i];
                (*values)[i] = matrix_.values[i];
            });
        };
        print_line("copy of columns and values into fresh memory", least_seconds(options_.repeat, fresh, copy));
        print_line("copy of columns and values", least_seconds(
                                                     options_.repeat, [] {}, copy));
    }

    void prepare(const std::string& preparation) {
        const std::vector<std::string> steps = pieces_of(preparation, ';');
        const Recipe recipe = recipe_of(preparation);
        StagedMatrix staged = stage_input(matrix_, recipe.node_size);
        std::string before;
        try {
            check_against(recipe, matrix_.rows, matrix_.columns);
            for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
                stage(recipe.stages[i], staged, before + steps[i]);
                before += steps[i] + "; ";
            }
            if (!steps.back().starts_with("shares")) layout(recipe.layouts.front(), staged, before + steps.back());
        } catch (const Unsuitable& reason) {
            fmt::print("  unsuitable  {}: {}\n", preparation, reason.what());
        } catch (const InputError& reason) {
            fmt::print("  unsuitable  {}: {}\n", preparation, reason.what());
        }
    }

    /// Prints the checksum of the result in the line before.
    void print_checksum(const auto& checksum) const {
        if (options_.checksums) fmt::print("  {:016x}\n", checksum());
    }

    [[nodiscard]] bool is_selected(std::string_view what) const {
        const auto has = [&](const std::string& word) { return what.find(word) != std::string_view::npos; };
        return options_.only.empty() || std::any_of(options_.only.begin(), options_.only.end(), has);
    }

    bool is_new(const std::string& what) { return seen_.insert(what).second && is_selected(what); }

    /// Runs the stage, and times it if it was not timed before.
    void stage(const RecipeStage& stage, StagedMatrix& staged, const std::string& what) {
        StageResult result;
        const auto find = [&] { result = stage.entry->run(staged, stage.parameters, {}); };
        if (!is_new(what)) {
            find();
            apply(staged, std::move(result.change), stage.contract.keeps);
            return;
        }
        print_line(what + " | found", least_seconds(
                                          options_.repeat, [&] { result = {}; }, find));
        StagedMatrix after;
        StageChange change;
        const Seconds seconds = least_seconds(
            options_.repeat,
            [&] {
                after = staged;
                change = result.change;
            },
            [&] { apply(after, std::move(change), stage.contract.keeps); });
        print_line(what + " | applied", seconds);
        staged = std::move(after);
        print_checksum([&] { return checksum_of(staged); });
    }

    void layout(const RecipeLayout& layout, const StagedMatrix& staged, const std::string& what) {
        if (!is_new(what)) return;
        std::unique_ptr<Layout<double>> built;
        const Seconds seconds = least_seconds(
            options_.repeat, [&] { built.reset(); },
            [&] { built = layout.entry->build.template get<double>()(staged, layout.parameters); });
        const auto bytes = static_cast<double>(built->array_bytes());
        print_line(fmt::format("{} | built, {:.1f} B a nonzero", what, bytes / static_cast<double>(matrix_.nonzeros())),
                   seconds);
        print_checksum([&] { return checksum_of(*built); });
    }

    const Options& options_;
    const CsrMatrix& matrix_;
    std::set<std::string> seen_;
};

int main_of(int count, char** arguments) {
    Options options;
    CLI::App app("Times stages and builds of layouts");
    app.add_option("--repeat", options.repeat, "runs; the fastest is reported")->check(CLI::Range(1, 99));
    app.add_option("--only", options.only, "only steps with one of these texts in their names")->allow_extra_args(false);
    app.add_flag("--checksums", options.checksums, "print checksums of results to compare builds of the program");
    app.add_option("matrices", options.matrices, "files, or KIND:NAME=VALUE,... of generators")->required();
    CLI11_PARSE(app, count, arguments);
    for (const std::string& text : options.matrices) {
        const CsrMatrix matrix = matrix_of(text);
        fmt::print("{}: {} rows, {} nonzeros, {} threads\n", text, matrix.rows, matrix.nonzeros(), host_threads());
        Measurement(options, matrix).run();
    }
    return 0;
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos;
    try {
        return workbench::main_of(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
