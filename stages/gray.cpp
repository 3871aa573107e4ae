// Gray order: adjacent rows read the same segments of x, or differ in few segments.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/matrix/host_threads.hpp"
#include "stages/order.hpp"
#include "stages/parameters.hpp"
#include "stages/row_lengths.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// The place of a code in the Gray code, in which consecutive codes differ in one bit.
constexpr std::uint64_t gray_place(std::uint64_t code) {
    for (int shift = 1; shift < 64; shift *= 2) code ^= code >> shift;
    return code;
}

/// The sort key of the rows of a node.
struct GrayKey {
    Offset dense = 0;         // nonzeros of dense rows; 0 for others
    std::uint64_t place = 0;  // place of the segments that other rows read
};

StageContract gray_contract(const Parameters& parameters) {
    if (!parameters.has("share")) return contract_of_order(parameters);
    if (axes_of(parameters) != Acts::rows) {
        throw ParameterError("apply", "apply reorders the matrix, but share reorders the storage of a share");
    }
    return contract_of_storage(parameters, false);
}

std::vector<GrayKey> keys_of(const StagedMatrix& staged, std::int64_t segments, std::int64_t dense_row) {
    const CsrMatrix& matrix = staged.matrix;
    const Index node_size = staged.node_size;
    const std::int64_t width = std::max<std::int64_t>((matrix.columns + segments - 1) / segments, 1);
    std::vector<GrayKey> keys(matrix.rows / node_size);
    Kokkos::parallel_for("gray_codes", UnevenHostRange<>(0, static_cast<Index>(keys.size())), [&](Index node) {
        const Offset length = matrix.row_offsets[(node + 1) * node_size] - matrix.row_offsets[node * node_size];
        if (length >= dense_row * node_size) {
            keys[node].dense = length;
            return;
        }
        std::uint64_t code = 0;
        for (Index row = node * node_size; row < (node + 1) * node_size; ++row) {
            for (const Index column : matrix.row_columns(row)) code |= std::uint64_t{1} << (segments - 1 - column / width);
        }
        keys[node].place = gray_place(code);
    });
    return keys;
}

StageResult run_gray(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::int64_t dense_row = count_among(relative_length(parameters, "dense_row"), ShareView(staged.matrix));
    const std::vector<GrayKey> keys = keys_of(staged, parameters.integer("segments"), dense_row);
    std::vector<Index> order = all_of(static_cast<Index>(keys.size()));
    std::stable_sort(order.begin(), order.end(), [&keys](Index a, Index b) {
        return std::pair(-keys[a].dense, keys[a].place) < std::pair(-keys[b].dense, keys[b].place);
    });
    const auto dense = std::count_if(keys.begin(), keys.end(), [](const GrayKey& key) { return key.dense > 0; });
    return {.change = {.order = order_of_nodes(std::move(order), staged.node_size, axes_of(parameters))},
            .notes = {{"dense rows", std::to_string(dense * staged.node_size)}}};
}

}  // namespace

StageEntry gray_stage() {
    return {
        .name = "gray",
        .summary = "Sort rows by the Gray code of the column segments that they read; dense rows come first (stable)",
        .source =
            "after Zhao, Xia, Li, Zhao, Zheng, Ren, 'Exploring better speculation and data locality in sparse matrix-vector "
            "multiplication on Intel Xeon', ICCD 2020",
        .parameters = {integer_parameter("segments", by_default(16), between(1, 64),
                                         "equal segments of the columns; each is a bit, set if the row reads the segment"),
                       declare("dense_row", ParameterType::length, by_default(20), at_least(1, "nonzeros"),
                               "rows of at least this length (of a mesh node: on average) are sorted by length"),
                       apply_parameter(by_default("rows"), {"rows", "symmetric"}), storage_parameter()},
        .contract = gray_contract,
        .orders_all = true,
        .run = order_or_storage<run_gray, RowsOfShare::present>,
        .foresee = foresee_scattered_rows,
        .nanoseconds_per_nonzero = 20};
}

}  // namespace workbench
