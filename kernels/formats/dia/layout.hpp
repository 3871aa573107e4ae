// Diagonals: every diagonal that holds a nonzero is stored whole, with one offset instead of columns.
// Source: Saad, "SPARSKIT" (1990); on a GPU: Bell, Garland, "Efficient sparse matrix-vector multiplication on CUDA" (2008),
// section 3.1.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// Row i of diagonal d is values[d * rows + i], so that neighbouring rows are neighbours; its column is i + offsets[d]. Places
/// outside the matrix are padding.
template <typename Value, template <typename> typename Array>
struct Dia : MatrixSize {
    Array<Index> offsets;  // column - row, ascending
    Array<Value> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Dia::offsets>("diagonals"),
                          value_array<&Dia::values>("diagonals * rows"));
    }
};

/// One thread per row: neighbouring threads read neighbouring values, neighbouring entries of x and the same offset. Places
/// outside the matrix are not read.
struct DiaRows final : ScheduleBase<Hooks{.no_column = NoColumn::skipped, .stores_zeros = true, .own_column = true}> {
    static constexpr Offset threads(const auto& dia) { return dia.row_count; }
    static constexpr Run<Offset> run(const auto& dia, Offset row, const auto&) {
        if (row >= dia.row_count) return {};
        return {static_cast<Index>(row), row, static_cast<Offset>(dia.offsets.size()), dia.row_count};
    }
    static constexpr Index column(const auto& dia, const auto& run, const RunSlot& place, const auto&) {
        // A column left of the matrix wraps around to beyond 2^31.
        const unsigned column = static_cast<unsigned>(run.row) + static_cast<unsigned>(dia.offsets[place.k]);
        return column < static_cast<unsigned>(dia.column_count) ? static_cast<Index>(column) : -1;
    }
};

template <ValueType Value>
struct DiaLayout final : PatternLayout<Value, Dia<Value, HostArray>, DiaRows> {
    static constexpr const char* name = "dia";
    /// bytes_to_move without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
};

[[nodiscard]] LayoutEntry dia_entry();

}  // namespace workbench
