// EHYB: sliced ELL with x cached by partition, and extra rows for entries outside of the partitions.
// Source: Chen, "Explicit caching HYB: a new high-performance SpMV framework on GPGPU".
#pragma once

#include <algorithm>

#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// Two shares in sliced ELL.
///  - inside: one group of slices for each partition; lane l of the j-th slice of partition p is row
///    partition_rows[p] + 32 j + l. Columns are relative to partition_columns[p], the start of the slice of x that a block
///    caches.
///  - outside: one group over the rows present in share `outside`, in that share's order; stored row i adds to row
///    outside_rows[i] (the paper's yIdxER). Columns are those of the matrix.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Ehyb : MatrixSize {
    Array<Index> partition_rows;       // [partitions + 1]
    Array<Index> partition_columns;    // [partitions + 1]
    Array<Index> inside_group_slices;  // [partitions + 1] first slice of each partition
    Slices<Value, ColumnIndex, Array> inside;
    Array<Index> outside_rows;  // [rows present outside]
    Slices<Value, Index, Array> outside;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Ehyb::partition_rows>("partitions + 1"),
                          structure_array<&Ehyb::partition_columns>("partitions + 1"),
                          structure_array<&Ehyb::inside_group_slices>("partitions + 1"), nested_fields<&Ehyb::inside>(),
                          structure_array<&Ehyb::outside_rows>("rows present outside"), nested_fields<&Ehyb::outside>());
    }

    [[nodiscard]] constexpr Index partition_count() const { return static_cast<Index>(partition_rows.size()) - 1; }
};

inline constexpr int ehyb_height = 32;  // of all slices: one slice per warp

/// One slice inside per warp, one row per thread. Warps claim the slices of a partition at run time; in this schedule warp s
/// takes slice s.
struct EhybInside final : ScheduleBase<Hooks{.entries_in_flight = tuned::ehyb_entries_in_flight,
                                             .side_by_side = AdjacentRuns::descending,
                                             .own_values = true,
                                             .own_columns = true}> {
    static constexpr const auto& values(const auto& ehyb) { return ehyb.inside.values; }
    static constexpr const auto& columns(const auto& ehyb) { return ehyb.inside.column_indices; }
    static constexpr Offset threads(const auto& ehyb) { return ehyb.inside.lane_count(); }
    static constexpr Offset threads_side_by_side(const auto&) { return ehyb_height; }
    static auto run(const auto& ehyb, Offset thread, const auto&) {
        const auto slice = static_cast<Index>(thread / ehyb_height);
        const Index* const slices = ehyb.inside_group_slices.data();
        const Index* const after = std::upper_bound(slices, slices + ehyb.inside_group_slices.size(), slice);
        const auto partition = static_cast<Index>(after - slices) - 1;
        const auto run_of_lane = [&] { return run_of(ehyb, partition, slice, static_cast<int>(thread % ehyb_height)); };
        return partition < ehyb.partition_count() ? run_of_lane() : decltype(run_of_lane()){};
    }
    /// Like run(), for a kernel that has the partition already.
    static constexpr auto run_of(const auto& ehyb, Index partition, Index slice, int lane) {
        const Offset row =
            ehyb.partition_rows[partition] + Offset{slice - ehyb.inside_group_slices[partition]} * ehyb_height + lane;
        return run_in_slice<ehyb_height>(ehyb.inside, row < ehyb.partition_rows[partition + 1] ? static_cast<Index>(row) : -1,
                                         slice, lane, 0, ehyb.partition_columns[partition]);
    }
};

/// One slice outside per warp, for any partitions of its rows.
struct EhybOutside final : ScheduleBase<Hooks{.entries_in_flight = tuned::ehyb_entries_in_flight,
                                              .side_by_side = AdjacentRuns::descending,
                                              .own_values = true,
                                              .own_columns = true,
                                              .own_row_of = true}> {
    static constexpr const auto& values(const auto& ehyb) { return ehyb.outside.values; }
    static constexpr const auto& columns(const auto& ehyb) { return ehyb.outside.column_indices; }
    static constexpr Offset threads(const auto& ehyb) { return ehyb.outside.lane_count(); }
    static constexpr Offset threads_side_by_side(const auto&) { return ehyb_height; }
    static constexpr auto run(const auto& ehyb, Offset thread, const auto&) {
        const auto run_of_lane = [&] {
            return run_of(ehyb, static_cast<Index>(thread / ehyb_height), static_cast<int>(thread % ehyb_height));
        };
        return thread < threads(ehyb) ? run_of_lane() : decltype(run_of_lane()){};
    }
    /// Like run(), for a kernel that has the slice already.
    static constexpr auto run_of(const auto& ehyb, Index slice, int lane) {
        const Index stored = slice * ehyb_height + lane;
        return run_in_slice<ehyb_height>(ehyb.outside, stored < static_cast<Index>(ehyb.outside_rows.size()) ? stored : -1,
                                         slice, lane);
    }
    static constexpr Index row_of(const auto& ehyb, const auto& run, const auto&) { return ehyb.outside_rows[run.row]; }
};

template <ValueType Value>
struct EhybLayout final : VariantLayout<Value, Ehyb<Value, std::uint16_t, HostArray>, Ehyb<Value, Index, HostArray>> {
    static constexpr const char* name = "ehyb";
    Origin inside_origin;   // of each lane
    Origin outside_origin;  // of each stored row
    void transfer(Transfer& all) override { this->transfer_with(all, inside_origin, outside_origin); }
    /// The rows without nonzeros inside, in ascending order.
    [[nodiscard]] std::vector<Index> rows_without_inside() const;
    [[nodiscard]] std::vector<Index> rows_of_padding() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

// The CUDA kernels.
template <ValueType Value>
struct EhybFused;
template <ValueType Value>
struct EhybTwoLaunch;

[[nodiscard]] LayoutEntry ehyb_entry();

/// The CUDA kernel `fused` of arrays that were made on the GPU. rows_outside:
/// ehyb::Meeting::rows_outside, or empty if no row has entries outside. partition, first_slices: copies of the arrays on the
/// host. Throws Unsuitable if a part does not fit into shared memory.
template <ValueType Value, typename ColumnIndex>
[[nodiscard]] std::unique_ptr<Kernel<Value>> ehyb_kernel_on_gpu(Ehyb<Value, ColumnIndex, DeviceArray>&& ehyb,
                                                                DeviceArray<std::uint32_t>&& rows_outside,
                                                                std::span<const Index> partition,
                                                                std::span<const Index> first_slices, Device& device);

}  // namespace workbench
