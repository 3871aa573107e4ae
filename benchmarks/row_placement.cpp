// Times methods that group rows of similar length in every tile of a matrix: the nonlinear hash, sorting, and dynamic
// programming. Also counts the lanes that each order leaves idle. Prints JSON.
//
//     row_placement_benchmark [--height 512] [--width 4096] [--samples 512 128 --] [--groups 8] [--repetitions 9] MATRIX... >
//     FILE
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include "benchmarks/clock.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/metrics.hpp"
#include "stages/least_padding.hpp"
#include "stages/length_hash.hpp"
#include "stages/order.hpp"
#include "stages/stages.hpp"

using namespace workbench;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::int64_t height = 512;
    std::int64_t width = 4096;
    std::vector<std::int64_t> samples{512, 128};
    std::int64_t groups = 8;
    int repetitions = 9;
    std::vector<std::string> matrices;
};

using Lengths = std::span<const Index>;

/// A method that orders the rows of a tile, and the stage that uses it, if any.
struct Method {
    std::string name;
    std::function<std::vector<Index>(Lengths)> place;
    std::function<void(StagedMatrix&)> run_stage = {};  // including apply
};

std::vector<Index> sorted_by_comparing(Lengths lengths) {
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return lengths[a] < lengths[b]; });
    return order;
}

std::vector<Index> sorted_by_counting(Lengths lengths) {
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    stable_sort_by(order, lengths);
    return order;
}

std::vector<Method> methods_of(const Options& options) {
    const auto stage = [](const StageEntry& entry, std::map<std::string, ParameterValue> values) {
        values["within"] = std::string("tile");
        const Parameters parameters(entry.parameters, std::move(values));
        return [run = entry.run, parameters](StagedMatrix& staged) { apply(staged, run(staged, parameters, {}).change, {}); };
    };
    const auto groups = static_cast<Index>(options.groups);
    std::vector<Method> methods{{"as stored", [](Lengths lengths) { return all_of(static_cast<Index>(lengths.size())); }}};
    for (const std::int64_t sample : options.samples) {
        methods.push_back({"nonlinear_hash, sample of " + std::to_string(sample),
                           [rows = static_cast<Index>(sample)](Lengths lengths) {
                               return place_by_hash(lengths, fit_length_hash(lengths, rows)).old_of_new;
                           },
                           stage(nonlinear_hash_stage(), {{"sample", sample}})});
    }
    methods.push_back({"std::stable_sort", sorted_by_comparing});
    methods.push_back({"row_sort", sorted_by_counting, stage(row_sort_stage(), {{"order", std::string("ascending")}})});
    methods.push_back({"dynamic_program_groups",
                       [=](Lengths lengths) { return rows_by_group(lengths, groups_of_least_padding(lengths, groups)); },
                       stage(dynamic_program_groups_stage(), {{"groups", options.groups}})});
    return methods;
}

StagedMatrix in_tiles(CsrMatrix matrix, const Options& options) {
    StagedMatrix staged = stage_input(std::move(matrix));
    const auto run = [&staged](const StageEntry& entry, const std::map<std::string, ParameterValue>& values) {
        const Parameters parameters(entry.parameters, values);
        apply(staged, entry.run(staged, parameters, {}).change, entry.contract(parameters).keeps);
    };
    run(row_blocks_stage(), {{"height", options.height}});
    run(column_segmentation_stage(), {{"width", options.width}});
    return staged;
}

double median(std::vector<double> samples) {
    std::sort(samples.begin(), samples.end());
    return samples.empty() ? 0 : samples[samples.size() / 2];
}

/// The row lengths of all tiles, concatenated.
struct TileLengths {
    std::vector<Index> all;
    std::vector<std::size_t> first{0};  // [tiles + 1]

    explicit TileLengths(const StagedMatrix& staged) {
        for (const Share& share : staged.shares) {
            for (std::size_t i = 0; i < share.rows.size(); ++i) {
                all.push_back(static_cast<Index>(share.row_offsets[i + 1] - share.row_offsets[i]));
            }
            first.push_back(all.size());
        }
    }
    [[nodiscard]] Lengths tile(std::size_t i) const { return Lengths(all).subspan(first[i], first[i + 1] - first[i]); }
    [[nodiscard]] std::size_t tiles() const { return first.size() - 1; }
};

/// The share of idle lanes if a warp processes 32 rows at a time.
double idle_lanes(const TileLengths& lengths, const Method& method) {
    Offset nonzeros = 0;
    Offset iterations = 0;
    for (std::size_t i = 0; i < lengths.tiles(); ++i) {
        std::vector<Offset> offsets{0};
        for (const Index row : method.place(lengths.tile(i))) offsets.push_back(offsets.back() + lengths.tile(i)[row]);
        nonzeros += offsets.back();
        iterations += warp_iterations(offsets);
    }
    return iterations == 0 ? 0 : 1 - static_cast<double>(nonzeros) / (32 * static_cast<double>(iterations));
}

Json measure(const std::string& path, const Options& options) {
    const StagedMatrix staged = in_tiles(read_matrix(path), options);
    const TileLengths lengths(staged);
    const std::vector<Method> methods = methods_of(options);
    std::vector<std::vector<double>> order_seconds(methods.size());
    std::vector<std::vector<double>> stage_seconds(methods.size());
    std::size_t rows_placed = 0;  // keeps the compiler from removing the work
    for (int repetition = 0; repetition < options.repetitions; ++repetition) {
        for (std::size_t m = 0; m < methods.size(); ++m) {
            const auto place_all = [&] {
                for (std::size_t i = 0; i < lengths.tiles(); ++i) rows_placed += methods[m].place(lengths.tile(i)).size();
            };
            order_seconds[m].push_back(seconds_of(CLOCK_THREAD_CPUTIME_ID, place_all));
            if (!methods[m].run_stage) continue;
            StagedMatrix copy = staged;
            stage_seconds[m].push_back(seconds_of(CLOCK_MONOTONIC, [&] { methods[m].run_stage(copy); }));
        }
    }
    Json json{{"matrix", std::filesystem::path(path).stem().string()},
              {"rows", staged.matrix.rows},
              {"nonzeros", staged.matrix.nonzeros()},
              {"tiles", lengths.tiles()},
              {"rows_present", rows_placed / methods.size() / static_cast<std::size_t>(options.repetitions)},
              {"methods", Json::array()}};
    for (std::size_t m = 0; m < methods.size(); ++m) {
        json["methods"].push_back({{"name", methods[m].name},
                                   {"order_cpu_seconds", median(order_seconds[m])},
                                   {"order_cpu_samples", order_seconds[m]},
                                   {"stage_seconds", stage_seconds[m].empty() ? Json(nullptr) : Json(median(stage_seconds[m]))},
                                   {"stage_samples", stage_seconds[m]},
                                   {"idle_lanes", idle_lanes(lengths, methods[m])}});
    }
    return json;
}

int run(int count, char** arguments) {
    Options options;
    CLI::App app("Times the orders of rows within tiles: nonlinear hash, sorting, dynamic programming");
    app.add_option("--height", options.height, "rows of a row block")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--width", options.width, "columns of a segment")->capture_default_str()->check(CLI::PositiveNumber);
    app.add_option("--samples", options.samples, "rows that a hash is fitted to; a hash for each")->check(CLI::PositiveNumber);
    app.add_option("--groups", options.groups, "groups of the dynamic program")
        ->capture_default_str()
        ->check(CLI::Range(1, 256));
    app.add_option("--repetitions", options.repetitions, "samples of each time")
        ->capture_default_str()
        ->check(CLI::Range(1, 999));
    app.add_option("matrices", options.matrices, "Matrix Market files or scipy .npz")->required();
    CLI11_PARSE(app, count, arguments);

    Json json{{"height", options.height},
              {"width", options.width},
              {"groups", options.groups},
              {"threads", host_threads()},
              {"matrices", Json::array()}};
    for (const std::string& path : options.matrices) json["matrices"].push_back(measure(path, options));
    std::printf("%s\n", json.dump(1).c_str());
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    Kokkos::ScopeGuard kokkos(count, arguments);
    try {
        return run(count, arguments);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 3;
    }
}
