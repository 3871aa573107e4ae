// Compares the nonlinear hash with sorting and dynamic programming on one GPU, for different numbers of rows in a tile: time
// with cold caches, and the idle lanes of the resulting order. All results are compared with the host's. Prints JSON, and a
// line for each method to standard error.
//
//     gpu_row_placement_benchmark [--height 512] [--width 4096] [--rows 8 16 ...] [--groups 8] [--repetitions 15] MATRIX... >
//     FILE
//
// MATRIX: a file, or KIND:NAME=VALUE,... of a generator. The row lengths are those in tiles of height x width, concatenated and
// cut into tiles with equal numbers of rows.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <Kokkos_Core.hpp>
#include <nlohmann/json.hpp>

#include "core/input/read_matrix.hpp"
#include "gpu_row_placement.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/matrix_choice.hpp"
#include "stages/blocks.hpp"
#include "stages/least_padding.hpp"
#include "stages/length_hash.hpp"
#include "stages/order.hpp"
#include "stages/tile_split.hpp"

using namespace workbench;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::int64_t height = 512;
    std::int64_t width = 4096;
    std::vector<Index> rows{8, 16, 32, 64, 128, 256, 512};
    std::vector<Index> samples{512, 128, 32};
    Index groups = 8;
    int repetitions = 15;
    std::size_t most = std::size_t{1} << 22;  // rows in all tiles
    std::vector<std::string> matrices;
};

CsrMatrix matrix_of(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return read_matrix(text);
    std::vector<std::string> settings;
    for (std::size_t begin = colon + 1; begin < text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        settings.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    const MatrixChoice choice = generated_matrix(text.substr(0, colon), settings, catalogue());
    const auto& generated = std::get<GeneratedMatrix>(choice.from);
    return generated.generator->generate(generated.parameters);
}

/// The lengths of the nonempty rows of all tiles, repeated until there are enough.
std::vector<Index> lengths_of(const CsrMatrix& matrix, const Options& options) {
    const Cuts blocks{CutKind::row_block, boundaries_by_size(matrix.rows, options.height)};
    const Cuts segments{CutKind::segment, boundaries_by_size(matrix.columns, options.width)};
    std::vector<Index> lengths;
    for (const Share& share : split_into_tiles(matrix, &blocks, segments)) {
        for (std::size_t i = 0; i < share.rows.size(); ++i) {
            lengths.push_back(static_cast<Index>(share.row_offsets[i + 1] - share.row_offsets[i]));
        }
    }
    if (lengths.empty()) throw std::runtime_error("the matrix has no nonzeros");
    const std::size_t there = lengths.size();
    while (lengths.size() < options.most) lengths.push_back(lengths[lengths.size() - there]);
    lengths.resize(options.most);
    return lengths;
}

/// The share of idle lane steps of warps that process 32 rows of a tile at a time.
double idle_lanes(const TilesToPlace& tiles, const std::vector<Index>& places) {
    double nonzeros = 0;
    double slots = 0;
    for (std::size_t first = 0; first < tiles.lengths.size(); first += tiles.rows) {
        for (Index batch = 0; batch < tiles.rows; batch += 32) {
            Index longest = 0;
            for (Index place = batch; place < std::min(batch + 32, tiles.rows); ++place) {
                const Index length = tiles.lengths[first + places[first + place]];
                longest = std::max(longest, length);
                nonzeros += length;
            }
            slots += 32.0 * longest;
        }
    }
    return slots == 0 ? 0 : 1 - nonzeros / slots;
}

std::vector<Index> as_on_host(const std::string& method, std::span<const Index> lengths, const Options& options) {
    if (method.starts_with("hash")) {
        const Index sample = std::stoi(method.substr(method.find("to ") + 3));
        return place_by_hash(lengths, fit_length_hash(lengths, sample)).old_of_new;
    }
    if (method == "dynamic program") return rows_by_group(lengths, groups_of_least_padding(lengths, options.groups));
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    stable_sort_by(order, lengths);
    return order;
}

/// The number of checked tiles in which the GPU's result differs from the host's. About 2000 tiles are checked.
std::size_t wrong_tiles(const GpuMethod& method, const TilesToPlace& tiles, const Options& options) {
    std::size_t wrong = 0;
    const Index step = std::max(tiles.count() / 2000, 1);
    for (Index tile = 0; tile < tiles.count(); tile += step) {
        const std::size_t first = static_cast<std::size_t>(tile) * tiles.rows;
        const auto expected = as_on_host(method.name, std::span(tiles.lengths).subspan(first, tiles.rows), options);
        wrong +=
            std::equal(expected.begin(), expected.end(), method.places.begin() + static_cast<std::ptrdiff_t>(first)) ? 0 : 1;
    }
    return wrong;
}

Json measured(const std::string& matrix, const std::vector<Index>& lengths, Index rows, const Options& options, bool& right) {
    TilesToPlace tiles{rows, lengths};
    tiles.lengths.resize(lengths.size() / rows * rows);
    std::vector<Index> as_stored(tiles.lengths.size());
    for (std::size_t i = 0; i < as_stored.size(); ++i) as_stored[i] = static_cast<Index>(i % rows);
    Json all{{"rows", rows}, {"tiles", tiles.count()}, {"idle_lanes_as_stored", idle_lanes(tiles, as_stored)}};
    for (const GpuMethod& method : place_on_gpu(tiles, options.repetitions, options.groups, options.samples)) {
        std::vector<double> seconds = method.seconds;
        std::sort(seconds.begin(), seconds.end());
        const double median = seconds[seconds.size() / 2];
        const double ns_a_row = 1e9 * median / static_cast<double>(tiles.lengths.size());
        const std::size_t wrong = wrong_tiles(method, tiles, options);
        const double idle = wrong > 0 ? -1 : idle_lanes(tiles, method.places);
        right = right && wrong == 0;
        all["methods"].push_back({{"name", method.name},
                                  {"seconds", median},
                                  {"seconds_least", seconds.front()},
                                  {"seconds_most", seconds.back()},
                                  {"ns_a_row", ns_a_row},
                                  {"idle_lanes", idle},
                                  {"wrong_tiles", wrong}});
        fmt::print(stderr, "{:<24} {:>4} rows {:<30} {:8.4f} ns a row, {:5.1f} % idle{}\n", matrix, rows, method.name, ns_a_row,
                   100 * idle, wrong > 0 ? "  WRONG" : "");
    }
    return all;
}

int main_of(int argc, char** argv) {
    Options options;
    CLI::App app("Places rows by length in tiles on a GPU");
    app.add_option("--height", options.height, "rows of the tiles that the lengths come from");
    app.add_option("--width", options.width, "columns of these tiles")->check(CLI::Range(1, 4096));
    app.add_option("--rows", options.rows, "rows of the sorted tiles: powers of two from 8 to 512");
    app.add_option("--samples", options.samples, "rows in the sample of the hash");
    app.add_option("--groups", options.groups, "groups of the dynamic program")->check(CLI::Range(1, 16));
    app.add_option("--repetitions", options.repetitions, "runs; the median is reported")->check(CLI::Range(1, 999));
    app.add_option("--most", options.most, "rows in all tiles");
    app.add_option("matrices", options.matrices, "files, or KIND:NAME=VALUE,... of generators")->required();
    CLI11_PARSE(app, argc, argv);

    bool right = true;
    Json result{{"gpu", gpu_name()}, {"height", options.height}, {"width", options.width}, {"groups", options.groups}};
    for (const std::string& name : options.matrices) {
        const std::vector<Index> lengths = lengths_of(matrix_of(name), options);
        Json of_matrix{{"matrix", name}};
        for (const Index rows : options.rows) of_matrix["tiles"].push_back(measured(name, lengths, rows, options, right));
        result["matrices"].push_back(std::move(of_matrix));
    }
    std::puts(result.dump(1).c_str());
    return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos;
    try {
        return main_of(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
