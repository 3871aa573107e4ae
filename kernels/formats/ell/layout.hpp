// ELL (ELLPACK): every row padded to the longest one, stored row by row or column by column.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); kernels after Wikberg, "Unstructured mesh FVM with GPU"
// (2025), section 4.2.3 and chapter 5. The listing there mixes the two orders: it begins at row * length and has
// stride n.
#pragma once

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/ell.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// `row_lanes` threads share a row, in either order of the slots. They read all slots of it; padding has column -1.
template <EllOrder order, int row_lanes>
struct EllRows final : ScheduleBase<Hooks{.lanes = row_lanes,
                                          .no_column = NoColumn::slot_read,
                                          .side_by_side = side_by_side_if(order == EllOrder::column_major && row_lanes == 1)}> {
    template <int lanes>
    using OfLanes = EllRows<order, lanes>;

    static constexpr Offset threads(const auto& ell) { return Offset{ell.row_count} * row_lanes; }
    static constexpr Offset threads_side_by_side(const auto& ell) requires(order == EllOrder::column_major && row_lanes == 1) {
        return ell.row_count;
    }
    static constexpr auto run(const auto& ell, Offset thread, const auto&) {
        const Offset row = thread / row_lanes;
        return run_in_ell<order, row_lanes>(ell, row < ell.row_count ? static_cast<Index>(row) : -1, row,
                                            static_cast<int>(thread % row_lanes));
    }
};

/// The kernels `rows`.
using EllRow = EllRowsOfOneLane<EllRows>;

/// Kernel `reduce`, row by row: neighbouring threads read neighbouring slots of a row.
struct EllNeighbours {
    static auto choose(const auto& ell, const auto& use) {
        return with_lanes<1>(lanes_for(1, ell.width), [&](auto lanes) { return use(EllRows<EllOrder::row_major, lanes>{}); });
    }
};

/// Kernel `reduce`, column by column: warp g of a block takes the slots g, g + groups, ... of the block's 32 rows, whose sums
/// meet in shared memory.
template <int warps>
struct EllGroups final : ScheduleBase<Hooks{.no_column = NoColumn::slot_read}> {
    static constexpr int rows_of_block = 32;
    static constexpr int groups = warps;

    static constexpr Offset threads(const auto& ell) {
        return (Offset{ell.row_count} + rows_of_block - 1) / rows_of_block * rows_of_block * groups;
    }
    static constexpr Run<Offset> run(const auto& ell, Offset thread, const auto&) {
        constexpr int block_threads = rows_of_block * groups;
        return run_of(ell, thread / block_threads, static_cast<int>(thread % block_threads) / rows_of_block,
                      static_cast<int>(thread % rows_of_block));
    }
    /// The run by block, warp and lane.
    static constexpr Run<Offset> run_of(const auto& ell, Offset block, int group, int lane) {
        const Offset row = block * rows_of_block + lane;
        if (row >= ell.row_count) return {};
        return {static_cast<Index>(row), row + Offset{group} * ell.row_count, (ell.width - group + groups - 1) / groups,
                Offset{groups} * ell.row_count};
    }
};

/// As many warps as there are slots per row, at most 8.
struct EllWarps {
    static auto choose(const auto& ell, const auto& use) {
        if (ell.width > 8) return use(EllGroups<8>{});
        if (ell.width > 4) return use(EllGroups<4>{});
        return ell.width > 2 ? use(EllGroups<2>{}) : use(EllGroups<1>{});
    }
};

/// Kernel `atomic`: one thread per slot. Unsigned: 32 bits if they suffice, because a division of 64 bits takes many times as
/// long.
template <typename Unsigned, EllOrder order>
struct EllSlots final
    : ScheduleBase<Hooks{.entries_in_flight = 1, .atomic = true, .no_column = NoColumn::column_read, .own_row_of = true}> {
    static constexpr Offset threads(const auto& ell) { return ell.slot_count(); }
    static constexpr Run<Known<1>, Known<1>> run(const auto& ell, Offset thread, const auto&) {
        return {thread < ell.slot_count() ? 0 : -1, thread};
    }
    static constexpr Index row_of(const auto& ell, const auto& run, const auto&) {
        const auto slot = static_cast<Unsigned>(run.first);
        return static_cast<Index>(order == EllOrder::row_major ? slot / static_cast<Unsigned>(ell.width)
                                                               : slot % static_cast<Unsigned>(ell.row_count));
    }
};

/// Kernel `reduce` in either order of the slots.
struct EllReduce {
    static auto choose(const auto& ell, const auto& use) {
        return ell.order == EllOrder::row_major ? EllNeighbours::choose(ell, use) : EllWarps::choose(ell, use);
    }
};

struct EllEachSlot {
    static auto choose(const auto& ell, const auto& use) {
        // The numbers of all threads must fit, including those past the last slot in the last block.
        const bool narrow = ell.slot_count() + 1024 <= Offset{UINT32_MAX};
        const auto with_width = [&]<EllOrder order>() {
            return narrow ? use(EllSlots<std::uint32_t, order>{}) : use(EllSlots<std::uint64_t, order>{});
        };
        return ell.order == EllOrder::row_major ? with_width.template operator()<EllOrder::row_major>()
                                                : with_width.template operator()<EllOrder::column_major>();
    }
};

/// Row r of the matrix is row r of the slots.
template <ValueType Value>
struct EllLayout final : OriginLayout<Value, InAnyCoding<Ell, Value>, EllRow> {
    static constexpr const char* name = "ell";
};

/// The CUDA kernel `reduce`.
template <ValueType Value>
struct EllReduction;

[[nodiscard]] LayoutEntry ell_entry();

/// The CUDA kernel `rows` of arrays that were made on the GPU.
template <ValueType Value, typename Stored>
[[nodiscard]] std::unique_ptr<Kernel<Value>> ell_kernel_on_gpu(Ell<Stored, DeviceArray>&& ell, Device& device);

}  // namespace workbench
