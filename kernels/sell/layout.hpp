// Sliced ELL over all rows in their current order.
// Source: Monakov, Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures"
// (2010); with rows sorted in windows beforehand it is SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include "kernels/common/storage/short_columns.hpp"
#include "kernels/common/storage/slices.hpp"

namespace workbench {

/// One group of slices over all rows: lane l of slice s is row s * slice_height + l.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Sell : Slices<Value, ColumnIndex, Array>, SliceColumns<ColumnIndex, Array> {
    template <template <typename> typename Other>
    using In = Sell<Value, ColumnIndex, Other>;

    Index row_count = 0;
    Index column_count = 0;
    Index threads_per_row = 0;  // of a GPU; the storage is the same for any number; 0: sell_threads(), or by_lengths()
    Index split_length = 512;   // by lengths: a row of more entries has a block of threads, or several

    static constexpr void fields(const auto& visit, auto&... of) {
        visit(ArrayRole::number, "row_count", of.row_count...);
        visit(ArrayRole::number, "column_count", of.column_count...);
        visit(ArrayRole::number, "threads_per_row", of.threads_per_row...);
        visit(ArrayRole::number, "split_length", of.split_length...);
        Slices<Value, ColumnIndex, Array>::fields(visit, of...);
        SliceColumns<ColumnIndex, Array>::fields(visit, of...);
    }
};

struct SellLongRows;  // long_rows.hpp

/// Row i is lane i % height of slice i / height; a warp has 32 / row_threads rows. Thread t of a row takes its entries t,
/// t + row_threads, ... and lies t times the rows of a warp after the first: with as many rows in a slice, a warp reads
/// neighbouring slots. Height 0: known only when it runs.
template <int row_threads, int known_height, ColumnKind kind = ColumnKind::as_stored>
struct SellRows : ColumnsOfSlices<kind> {
    static constexpr int lanes = row_threads;
    static constexpr int lane_distance = 32 / row_threads;
    static constexpr int entries_in_flight = 8;
    static constexpr int resident_blocks = 4;
    static constexpr bool counts_alike = true;

    static constexpr Offset threads(const auto& sell) { return (sell.lane_count() + lane_distance - 1) / lane_distance * 32; }
    static constexpr auto run(const auto& sell, Offset thread) {
        const Offset place = thread / 32 * lane_distance + thread % lane_distance;
        const Index row = place < sell.row_count ? static_cast<Index>(place) : -1;
        const auto lane = static_cast<unsigned>(place);  // slices have fewer than 2^32 lanes
        const unsigned height = known_height == 0 ? static_cast<unsigned>(sell.slice_height) : known_height;
        const auto run_of_lane = [&] {
            return with_columns_of_slice<kind>(
                sell,
                run_in_slice<known_height, row_threads>(sell, row, lane / height, static_cast<int>(lane % height),
                                                        lane_of<SellRows>(thread)),
                lane / height);
        };
        return place < sell.lane_count() ? run_of_lane() : decltype(run_of_lane()){};
    }
};

/// Threads of a GPU that share a row of this mean length, where the recipe leaves it to the program: so many that a warp's rows
/// are done soon, and each has a batch of entries or more.
[[nodiscard]] constexpr int sell_threads_for(double mean_length) { return mean_length <= 20 ? 1 : mean_length <= 48 ? 2 : 4; }

/// The threads that a row has: as the recipe says; or, in slices of a fraction of a warp's rows, as many as fill the warp; or,
/// in slices of 32 rows, one or two: on an H200 two pay from longer rows on in f32 than in f64.
[[nodiscard]] constexpr int sell_threads(const auto& sell) {
    if (sell.threads_per_row > 0) return sell.threads_per_row;
    if (sell.slice_height == 16) return 2;
    if (sell.slice_height == 8) return 4;
    if (sell.slice_height != 32) return 1;
    const auto longest_of_one = Offset{sizeof(sell.values[0]) == 4 ? 48 : 20};
    return static_cast<Offset>(sell.values.size()) > longest_of_one * sell.lane_count() ? 2 : 1;
}

/// Of the Kokkos kernel: one thread a row.
struct SellRow {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) {
            return sell.slice_height == 32 ? use(SellRows<1, 32, kind>{}) : use(SellRows<1, 0, kind>{});
        });
    }
};

/// Of the CUDA kernel where rows have a number of threads: for slices of as many rows as a warp has, of 32 rows, or of any
/// number. Eight threads a row or more, which no recipe gets unasked, have heights that are known only when they run: each
/// height takes seconds to compile.
struct SellThreads {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) {
            return with_lanes<1>(sell_threads(sell), [&](auto threads) {
                if constexpr (threads < 8) {
                    constexpr int rows_of_warp = 32 / threads;
                    if (sell.slice_height == rows_of_warp) return use(SellRows<threads, rows_of_warp, kind>{});
                    if (sell.slice_height == 32) return use(SellRows<threads, 32, kind>{});
                }
                return use(SellRows<threads, 0, kind>{});
            });
        });
    }
};

/// ColumnIndex: Index, or 16 bits.
template <ValueType Value, typename ColumnIndex = Index>
struct SellLayout final : StoredLayout<Value, Sell<Value, ColumnIndex, HostArray>> {
    static constexpr const char* name = "sell";
    Origin origin;  // of each lane

    [[nodiscard]] HostArray<Index> row_lengths() const;
    /// Does a GPU read how long rows are, rather than padding (long_rows.hpp)? Where the recipe leaves it to the program it
    /// does so if a row is long, if most slots are padding, and if slices are not as high as a warp; otherwise the lengths cost
    /// more than they spare.
    [[nodiscard]] bool by_lengths() const;
    /// What a product moves at least where no padding is read.
    [[nodiscard]] std::int64_t bytes_by_rows(const SellLongRows& long_rows) const;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
};

/// Calls use(layout) with what it is.
template <ValueType Value>
auto with_sell(const Layout<Value>& layout, const auto& use) {
    const auto* const narrow = dynamic_cast<const SellLayout<Value, std::uint16_t>*>(&layout);
    return narrow != nullptr ? use(*narrow) : use(dynamic_cast<const SellLayout<Value>&>(layout));
}

[[nodiscard]] LayoutEntry sell_entry();

[[nodiscard]] std::vector<KernelEntry> sell_cuda_kernels();
[[nodiscard]] std::vector<KernelEntry> sell_cusparse_kernels();

}  // namespace workbench
