// JDS (JAD): jagged diagonals over all rows in their current order, which must be one of descending length.
// Source: Saad, "Krylov subspace methods on supercomputers" (1989); the kernels after Nagasaka, "Exploiting GPU caches in
// sparse matrix vector multiplication" (slides), and Li and Saad, "GPU-accelerated preconditioned iterative linear solvers"
// (2012).
#pragma once

#include "kernels/common/storage/jagged.hpp"

namespace workbench {

/// One group of jagged diagonals over all rows: row i is stored row i. Columns are those of the matrix. The array of the
/// permutation that the literature counts to the format is the row order here, which stage row_sort makes.
template <typename Value, template <typename> typename Array>
struct Jds : Jagged<Value, Index, Array> {
    template <template <typename> typename Other>
    using In = Jds<Value, Other>;

    Index row_count = 0;
    Index column_count = 0;

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        Jagged<Value, Index, Array>::fields(visit, of...);
    }
};

/// Of all kernels: a thread a row.
struct JdsRows : ScheduleDefaults {
    static constexpr Offset threads(const auto& jds) { return jds.row_count; }
    static constexpr JaggedRow row(const auto& jds, Offset thread) {
        if (thread >= jds.row_count) return {};
        return {static_cast<Index>(thread), thread, 0, jds.diagonal_count()};
    }
    static constexpr JaggedRun run(const auto& jds, Offset thread) { return run_on_diagonals(jds, row(jds, thread)); }
};

template <ValueType Value>
struct JdsLayout final : StoredLayout<Value, Jds<Value, HostArray>> {
    static constexpr const char* name = "jds";
    Origin origin;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry jds_entry();
[[nodiscard]] std::vector<KernelEntry> jds_cuda_kernels();

}  // namespace workbench
