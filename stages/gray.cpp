// Gray order: rows that read the same parts of x become neighbours, the others differ from their neighbours in few parts.
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "stages/order.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// Its place in the Gray code, where codes that follow each other differ in one bit.
constexpr std::uint64_t gray_place(std::uint64_t code) {
    for (int shift = 1; shift < 64; shift *= 2) code ^= code >> shift;
    return code;
}

/// What a node's rows hold together.
struct RowKey {
    Offset dense = 0;         // nonzeros, where the rows are dense; 0: they are not
    std::uint64_t place = 0;  // otherwise that of the bits of the segments that they read
};

std::vector<RowKey> keys_of(const StagedMatrix& staged, std::int64_t segments, std::int64_t dense_row) {
    const CsrMatrix& matrix = staged.matrix;
    const Index node_size = staged.node_size;
    const std::int64_t width = std::max<std::int64_t>((matrix.columns + segments - 1) / segments, 1);
    std::vector<RowKey> keys(matrix.rows / node_size);
    using Range =
        Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;
    Kokkos::parallel_for("gray_codes", Range(0, static_cast<Index>(keys.size())), [&](Index node) {
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

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    const std::vector<RowKey> keys = keys_of(staged, parameters.integer("segments"), parameters.integer("dense_row"));
    std::vector<Index> order = all_of(static_cast<Index>(keys.size()));
    std::stable_sort(order.begin(), order.end(), [&keys](Index a, Index b) {
        return std::pair(-keys[a].dense, keys[a].place) < std::pair(-keys[b].dense, keys[b].place);
    });
    const auto dense = std::count_if(keys.begin(), keys.end(), [](const RowKey& key) { return key.dense > 0; });
    const Permutation nodes = Permutation::from_old_of_new(std::move(order));
    return {.change = {.order = OrderChange{acts_named(parameters.text("apply")), expand(nodes, staged.node_size)}},
            .notes = {{"dense rows", std::to_string(dense * staged.node_size)}}};
}

StageContract contract(const Parameters& parameters) {
    const Acts acts = acts_named(parameters.text("apply"));
    return {.needs = {.square = acts == Acts::symmetric}, .acts = acts};
}

}  // namespace

StageEntry gray_stage() {
    return {.name = "gray",
            .summary =
                "Sort rows by the Gray code of the column segments that they read, dense rows before, densest first (stable)",
            .source =
                "after Zhao, Xia, Li, Zhao, Zheng and Ren, 'Exploring better speculation and data locality in sparse "
                "matrix-vector multiplication on Intel Xeon' (2020)",
            .parameters = {{.name = "segments",
                            .type = ParameterType::integer,
                            .default_value = std::int64_t{16},
                            .minimum = 1,
                            .maximum = 64,
                            .help = "equal segments of the columns, a bit each: set where a row reads it"},
                           {.name = "dense_row",
                            .type = ParameterType::integer,
                            .default_value = std::int64_t{20},
                            .minimum = 1,
                            .unit = "nonzeros",
                            .help = "rows of at least so many go by their length instead; of a mesh node, in the mean"},
                           {.name = "apply",
                            .type = ParameterType::choice,
                            .default_value = "rows",
                            .words = {"rows", "symmetric"},
                            .help = "what the order acts on: rows alone, or rows and columns alike"}},
            .contract = contract,
            .run = run};
}

}  // namespace workbench
