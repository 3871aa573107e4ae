// ELL (ELLPACK): every row padded to the longest one, stored row by row or column by column.
// Source: Kincaid, Oppe, Young, "ITPACKV 2D user's guide" (1989); kernels after Wikberg, "Unstructured mesh FVM with GPU"
// (2025), section 4.2.3 and chapter 5. The listing there mixes the two orders: it begins at row * length and goes on by n.
#pragma once

#include "kernels/common/storage/ell.hpp"
#include "kernels/common/storage/origin.hpp"

namespace workbench {

/// `row_lanes` threads share a row, in either order of the slots. All slots of a row are read; padding is known by its
/// column, -1.
template <EllOrder order, int row_lanes>
struct EllRows : ScheduleDefaults {
    static constexpr int lanes = row_lanes;
    static constexpr NoColumn no_column = NoColumn::slot_read;

    static constexpr Offset threads(const auto& ell) { return Offset{ell.row_count} * lanes; }
    static constexpr auto run(const auto& ell, Offset thread) {
        const Offset row = thread / lanes;
        return run_in_ell<order, lanes>(ell, row < ell.row_count ? static_cast<Index>(row) : -1, row,
                                        static_cast<int>(thread % lanes));
    }
};

/// Of the kernels `rows`.
using EllRow = EllRowsOfOneLane<EllRows>;

/// Of `reduce`, row by row: neighbouring threads read neighbouring slots of a row.
struct EllNeighbours {
    static auto choose(const auto& ell, const auto& use) {
        return with_lanes<1>(lanes_for(1, ell.width), [&](auto lanes) { return use(EllRows<EllOrder::row_major, lanes>{}); });
    }
};

/// Of `reduce`, column by column: of a block, warp g takes the slots g, g + groups, ... of the same 32 rows, whose sums meet in
/// shared memory.
template <int warps>
struct EllGroups : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::slot_read;
    static constexpr int rows_of_block = 32;
    static constexpr int groups = warps;

    static constexpr Offset threads(const auto& ell) {
        return (Offset{ell.row_count} + rows_of_block - 1) / rows_of_block * rows_of_block * groups;
    }
    static constexpr Run<Offset> run(const auto& ell, Offset thread) {
        constexpr int block_threads = rows_of_block * groups;
        return run_of(ell, thread / block_threads, static_cast<int>(thread % block_threads) / rows_of_block,
                      static_cast<int>(thread % rows_of_block));
    }
    /// The same for a kernel that knows its block, its warp and its lane.
    static constexpr Run<Offset> run_of(const auto& ell, Offset block, int group, int lane) {
        const Offset row = block * rows_of_block + lane;
        if (row >= ell.row_count) return {};
        return {static_cast<Index>(row), row + Offset{group} * ell.row_count, (ell.width - group + groups - 1) / groups,
                Offset{groups} * ell.row_count};
    }
};

/// As many warps as there are slots for, at most 8.
struct EllWarps {
    static auto choose(const auto& ell, const auto& use) {
        if (ell.width > 8) return use(EllGroups<8>{});
        if (ell.width > 4) return use(EllGroups<4>{});
        return ell.width > 2 ? use(EllGroups<2>{}) : use(EllGroups<1>{});
    }
};

/// Of `atomic`: a thread a slot. Unsigned: 32 bits where they suffice, because dividing by 64 takes many times as long.
template <typename Unsigned, EllOrder order>
struct EllSlots : ScheduleDefaults {
    static constexpr NoColumn no_column = NoColumn::column_read;
    static constexpr int entries_in_flight = 1;
    static constexpr bool atomic = true;

    static constexpr Offset threads(const auto& ell) { return ell.slot_count(); }
    static constexpr Run<Known<1>, Known<1>> run(const auto& ell, Offset thread) {
        return {thread < ell.slot_count() ? 0 : -1, thread};
    }
    static constexpr Index row_of(const auto& ell, const auto& run, const auto&) {
        const auto slot = static_cast<Unsigned>(run.first);
        return static_cast<Index>(order == EllOrder::row_major ? slot / static_cast<Unsigned>(ell.width)
                                                               : slot % static_cast<Unsigned>(ell.row_count));
    }
};

struct EllEachSlot {
    static auto choose(const auto& ell, const auto& use) {
        // The last block may reach past the last slot: its threads must have a number, too.
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
struct EllLayout final : StoredLayout<Value, Ell<Value, HostArray>> {
    static constexpr const char* name = "ell";
    Origin origin;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

[[nodiscard]] LayoutEntry ell_entry();
[[nodiscard]] std::vector<KernelEntry> ell_cuda_kernels();

}  // namespace workbench
