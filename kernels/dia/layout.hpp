// Diagonals: every diagonal that holds a nonzero is stored whole, and its one offset stands for all columns.
// Source: Saad, "SPARSKIT" (1990); on a GPU: Bell, Garland, "Efficient sparse matrix-vector multiplication on CUDA" (2008),
// section 3.1.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"
#include "kernels/common/storage/pattern.hpp"

namespace workbench {

/// Row i of diagonal d is values[d * rows + i], so that neighbouring rows are neighbours; its column is i + offsets[d]. Where
/// that is outside the matrix there is padding, too.
template <typename Value, template <typename> typename Array>
struct Dia {
    template <template <typename> typename Other>
    using In = Dia<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Array<Index> offsets;  // [diagonals] column - row, ascending
    Array<Value> values;   // [diagonals * rows]

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::structure, "offsets [diagonals]", of.offsets...);
        visit(ArrayRole::value, "values [diagonals * rows]", of.values...);
    }
};

/// A thread a row: neighbouring threads read neighbouring values and neighbouring entries of x; all of them read the same
/// offset. What lies outside the matrix is not read.
struct DiaRows : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::skipped;

    static constexpr Offset threads(const auto& dia) { return dia.row_count; }
    static constexpr Run<Offset> run(const auto& dia, Offset row) {
        if (row >= dia.row_count) return {};
        return {static_cast<Index>(row), row, static_cast<Offset>(dia.offsets.size()), dia.row_count};
    }
    static constexpr Index column(const auto& dia, const auto& run, const RunSlot& place, const auto&) {
        // Left of the matrix it wraps around to beyond 2^31.
        const unsigned column = static_cast<unsigned>(run.row) + static_cast<unsigned>(dia.offsets[place.k]);
        return column < static_cast<unsigned>(dia.column_count) ? static_cast<Index>(column) : -1;
    }
};

template <ValueType Value>
struct DiaLayout final : StoredLayout<Value, Dia<Value, HostArray>> {
    static constexpr const char* name = "dia";
    Pattern pattern;  // tells nonzeros from padding; no kernel reads it
    /// As bytes_to_move, but without the padding outside the matrix, which no kernel reads.
    [[nodiscard]] std::int64_t bytes_of_product() const;
    void transfer(Transfer& all) override { this->transfer_with(all, pattern); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry dia_entry();

[[nodiscard]] std::vector<KernelEntry> dia_reference_kernels();
[[nodiscard]] std::vector<KernelEntry> dia_cuda_kernels();

}  // namespace workbench
