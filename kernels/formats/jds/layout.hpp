// JDS (JAD): jagged diagonals over all rows in their current order, which must be by descending length.
// Source: Saad, "Krylov subspace methods on supercomputers" (1989); the kernels after Nagasaka, "Exploiting GPU caches in
// sparse matrix vector multiplication" (slides), and Li and Saad, "GPU-accelerated preconditioned iterative linear solvers"
// (2012).
#pragma once

#include "kernels/common/schemes/jagged.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// One group of jagged diagonals over all rows: row i is stored row i. Columns are those of the matrix. The permutation
/// array of the literature is the row order here, which stage row_sort makes.
template <typename Value, template <typename> typename Array>
struct Jds : Jagged<Value, Index, Array>, MatrixSize {
    static constexpr auto fields() { return field_list(MatrixSize::fields(), Jagged<Value, Index, Array>::fields()); }
};

/// All kernels: one thread per row.
struct JdsRows final : ScheduleBase<Hooks{.side_by_side = AdjacentRuns::descending}> {
    static constexpr Offset threads(const auto& jds) { return jds.row_count; }
    static constexpr Offset threads_side_by_side(const auto& jds) { return jds.row_count; }
    static constexpr JaggedRow row(const auto& jds, Offset thread) {
        if (thread >= jds.row_count) return {};
        return {static_cast<Index>(thread), thread, 0, jds.diagonal_count()};
    }
    static constexpr JaggedRun run(const auto& jds, Offset thread, const auto&) {
        return run_on_diagonals(jds, row(jds, thread));
    }
};

template <ValueType Value>
struct JdsLayout final : StoredLayout<Value, Jds<Value, HostArray>> {
    static constexpr const char* name = "jds";
    Origin origin;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
struct JdsStreaming;
template <ValueType Value>
struct JdsConstant;
template <ValueType Value>
struct JdsUncached;

[[nodiscard]] LayoutEntry jds_entry();

}  // namespace workbench
