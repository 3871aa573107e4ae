#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/common/storage/offsets.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/csr5/host_tiles.hpp"

namespace workbench {
namespace {

constexpr int tile_chunk = 16;  // tiles that a thread of the host takes at a time

constexpr std::string_view example = R"(
[layout]
use = "csr5"
omega = 2
sigma = 2
)";

/// Calls visit(row) for each segment of the nonzeros [begin, end), which are not empty.
template <typename Visit>
void for_each_segment(const HostArray<Offset>& row_offsets, Offset begin, Offset end, const Visit& visit) {
    Index row = piece_with(row_offsets, begin);
    visit(row);
    while (row_offsets[row + 1] < end) {
        ++row;
        if (row_offsets[row] < row_offsets[row + 1]) visit(row);
    }
}

/// Nothing for equal values.
void store_value(const CsrMatrix& matrix, Offset nonzero, Offset slot, auto& values) {
    if constexpr (!ConstantMember<std::remove_cvref_t<decltype(values)>>) {
        values[slot] = static_cast<std::remove_cvref_t<decltype(values[slot])>>(matrix.values[nonzero]);
    }
}

/// Stores columns, and values unless they are equal, of a tile step by step instead of lane by lane.
void transpose_tile(const CsrMatrix& matrix, Offset tile, auto& csr5) {
    const Offset begin = tile * csr5.tile_size();
    for (Index i = 0; i < csr5.sigma; ++i) {
        for (Index lane = 0; lane < csr5.omega; ++lane) {
            const Offset nonzero = begin + Offset{lane} * csr5.sigma + i;
            const Offset slot = csr5.slot(tile, i, lane);
            csr5.column_indices[slot] = matrix.column_indices[nonzero];
            store_value(matrix, nonzero, slot, csr5.values);
        }
    }
}

/// Stores the descriptor of a tile, its row and mark and, in empty_offset_ptr[tile + 1], the number of its segments if it is
/// marked, otherwise 0.
void describe_tile(Offset tile, auto& csr5) {
    const Offset begin = tile * csr5.tile_size();
    const Offset end = begin + csr5.tile_size();
    std::array<Csr5Lane, 32> lanes;
    Index first_row = -1;
    Index last_row = -1;
    Index segments = 0;
    for_each_segment(csr5.row_offsets, begin, end, [&](Index row) {
        const Offset first = std::max(csr5.row_offsets[row], begin) - begin;
        Csr5Lane& lane = lanes[first / csr5.sigma];
        if (csr5.row_offsets[row] >= begin) lane.bit_flag |= std::uint32_t{1} << first % csr5.sigma;
        ++lane.y_offset;  // for now the number of its own segments
        if (segments == 0) first_row = row;
        last_row = row;
        ++segments;
    });
    std::uint32_t before = 0;
    for (Index lane = 0; lane < csr5.omega; ++lane) before += std::exchange(lanes[lane].y_offset, before);
    for (Index lane = csr5.omega - 1; lane > 0; --lane) {
        lanes[lane - 1].seg_offset = lanes[lane].bit_flag != 0 ? 0 : lanes[lane].seg_offset + 1;
    }
    const int words = csr5_words(csr5.sigma);
    for (Index lane = 0; lane < csr5.omega; ++lane) {
        const auto of_lane = packed(lanes[lane], words);
        for (int word = 0; word < words; ++word) {
            csr5.tile_desc[(tile * words + word) * csr5.omega + lane] = of_lane[word];
        }
    }
    const bool marked = last_row - first_row != segments - 1;
    csr5.tile_ptr[tile] = static_cast<std::uint32_t>(first_row) | (marked ? csr5_mark : 0);
    csr5.empty_offset_ptr[tile + 1] = marked ? segments : 0;
}

void fill_empty_offsets(Offset tile, auto& csr5) {
    Offset place = csr5.empty_offset_ptr[tile];
    if (place == csr5.empty_offset_ptr[tile + 1]) return;
    const Offset begin = tile * csr5.tile_size();
    const Index first_row = row_of_tile(csr5.tile_ptr[tile]);
    for_each_segment(csr5.row_offsets, begin, begin + csr5.tile_size(),
                     [&](Index row) { csr5.empty_offset[place++] = row - first_row; });
}

Index sigma_of(const Parameters& parameters, Index rows, Offset nonzeros) {
    if (!parameters.is_word("sigma", "auto")) return static_cast<Index>(parameters.integer("sigma"));
    const Index sigma = csr5_sigma_for(rows, nonzeros);
    if (!codes_values(parameters)) return sigma;
    const auto& sigmas = csr5_sigmas_of_equal_values;
    return *std::find_if(sigmas.rbegin(), sigmas.rend(), [&](Index one) { return one <= sigma; });
}

bool has_sigma_of_equal_values(const Parameters& parameters) {
    const auto& sigmas = csr5_sigmas_of_equal_values;
    return parameters.is_word("sigma", "auto") ||
           std::find(sigmas.begin(), sigmas.end(), parameters.integer("sigma")) != sigmas.end();
}

Parameters settle(const Parameters& parameters, const ValueFacts& facts) {
    if (!parameters.is_word("values", "auto") || has_sigma_of_equal_values(parameters)) {
        return settle_equal_values(parameters, facts);
    }
    return parameters.with("values", std::string("full"));
}

void store(const CsrMatrix& matrix, const Parameters& parameters, auto& csr5) {
    csr5.row_count = matrix.rows;
    csr5.column_count = matrix.columns;
    csr5.omega = static_cast<Index>(parameters.integer("omega"));
    csr5.sigma = sigma_of(parameters, matrix.rows, matrix.nonzeros());
    const Offset tiles = matrix.nonzeros() / csr5.tile_size();
    csr5.row_offsets = matrix.row_offsets;
    csr5.tile_ptr.resize(tiles + 1);
    csr5.tile_desc.resize(tiles * csr5_words(csr5.sigma) * csr5.omega);
    csr5.empty_offset_ptr.assign(tiles + 1, 0);
    make_room(csr5.column_indices, matrix.nonzeros());
    for_each_in_parallel(tiles, tile_chunk, [&](std::int64_t tile) {
        transpose_tile(matrix, tile, csr5);
        describe_tile(tile, csr5);
    });
    const Offset tail = csr5.tail_begin();
    csr5.tile_ptr[tiles] = static_cast<std::uint32_t>(csr5.has_tail() ? piece_with(matrix.row_offsets, tail) : matrix.rows);
    std::copy(matrix.column_indices.begin() + tail, matrix.column_indices.end(), csr5.column_indices.begin() + tail);
    for (Offset k = tail; k < matrix.nonzeros(); ++k) store_value(matrix, k, k, csr5.values);
    for (Offset tile = 0; tile < tiles; ++tile) csr5.empty_offset_ptr[tile + 1] += csr5.empty_offset_ptr[tile];
    csr5.empty_offset.resize(csr5.empty_offset_ptr[tiles]);
    for_each_in_parallel(tiles, tile_chunk, [&](std::int64_t tile) { fill_empty_offsets(tile, csr5); });
}

constexpr auto fill = []<ValueType Value>(Csr5Layout<Value>& layout, const StagedMatrix& staged, const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    if (codes_values(parameters)) {  // settled to "one"
        layout.stored.template emplace<Csr5<Constant<Value>, HostArray>>().values = {only_value<Value>(matrix),
                                                                                     matrix.nonzeros()};
    } else {
        make_room(std::get<Csr5<Value, HostArray>>(layout.stored).values, matrix.nonzeros());
    }
    std::visit([&](auto& csr5) { store(matrix, parameters, csr5); }, layout.stored);
};

/// Throws ParameterError if tiles cannot have this size.
Needs needs(const Parameters& parameters) {
    const auto omega = static_cast<std::uint64_t>(parameters.integer("omega"));
    if (!std::has_single_bit(omega)) {
        throw ParameterError("omega", fmt::format("found {}; expected a power of two", omega));
    }
    if (!parameters.is_word("sigma", "auto")) {
        const std::int64_t sigma = parameters.integer("sigma");
        if (std::find(csr5_sigmas.begin(), csr5_sigmas.end(), sigma) == csr5_sigmas.end()) {
            throw ParameterError("sigma", fmt::format("found {}; expected one of {}", sigma, fmt::join(csr5_sigmas, ", ")));
        }
    }
    if (parameters.is_word("values", "one") && !has_sigma_of_equal_values(parameters)) {
        throw ParameterError("values", fmt::format("equal values require that sigma is one of {}, or auto",
                                                   fmt::join(csr5_sigmas_of_equal_values, ", ")));
    }
    return {.unsplit = true};
}

Offset empty_rows(std::span<const Offset> lengths, Index) { return std::count(lengths.begin(), lengths.end(), 0); }

LayoutCost predict_csr5(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const Offset omega = parameters.integer("omega");
    const Index sigma = sigma_of(parameters, pattern.rows(), nonzeros);
    const Offset tiles = nonzeros / (omega * sigma);
    const std::int64_t bytes = (Offset{pattern.rows()} + tiles + 2) * offset_bytes +
                               (tiles + 1 + tiles * csr5_words(sigma) * omega) * index_bytes +
                               nonzeros * (index_bytes + bytes_of_values(parameters, precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 1.1);
    cost.exact = pattern.of_lengths(empty_rows, 0) == 0;  // tiles with empty rows list their rows
    return cost;
}

}  // namespace

LayoutEntry csr5_entry() {
    return format<Csr5Layout>(
               {.summary = "CSR in tiles of equal numbers of nonzeros, transposed, with bits where rows begin",
                .source = "Liu and Vinter, 'CSR5: An Efficient Storage Format for Cross-Platform Sparse Matrix-Vector "
                          "Multiplication' (2015)",
                .examples = {std::string(example)},
                .parameters = {integer_parameter("omega", by_default(32), between(2, 32),
                                                 "lanes of a tile, a power of two; the CUDA kernel takes 32"),
                               integer_parameter(
                                   "sigma", by_default("auto"), between(2, 32, "", {"auto"}),
                                   "nonzeros of a lane: 2, 4, 6, 8, 12, 16, 24 or 32; auto: by the mean row length"),
                               values_parameter({"full", "one", "auto"})},
                .needs = needs,
                .settle = settle,
                .predict = predict_csr5},
               fill)
        .host<Csr5Host>("tiles", "tiles in parallel, then the rows that cross tiles")
        .cuda<Csr5Kernel>("tiles", "one warp per tile, each lane writes the rows that begin in it; then rows that cross tiles",
                          [](const auto& layout, const auto& visit) { walk_csr5(layout, visit); });
}

}  // namespace workbench
