// Sliced ELL over all rows in their current order.
// Source: Monakov, Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures"
// (2010); with rows sorted in windows it is SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/storage/short_columns.hpp"
#include "kernels/common/storage/slices.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// One group of slices over all rows: lane l of slice s is row s * slice_height + l.
template <typename Value, typename ColumnIndex, template <typename> typename Array>
struct Sell : Slices<Value, ColumnIndex, Array>, SliceColumns<ColumnIndex, Array>, MatrixSize {
    Index threads_per_row = 0;  // of a GPU; the storage does not depend on it; 0: sell_threads(), or by_lengths()
    Index split_length = tuned::sell_split_length;  // by_lengths(): a row of more entries has one or several blocks of threads

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Sell::threads_per_row>(), number_field<&Sell::split_length>(),
                          Slices<Value, ColumnIndex, Array>::fields(), SliceColumns<ColumnIndex, Array>::fields());
    }
};

struct SellLongRows;  // long_rows.hpp

/// Row i is lane i % height of slice i / height; a warp has 32 / row_threads rows. Thread t of a row takes its entries t,
/// t + row_threads, ..., at a distance of t times the rows of a warp from the first: if a slice has as many rows as a warp, a
/// warp reads neighbouring slots. known_height 0: known at run time.
template <int row_threads, int known_height, ColumnKind kind = ColumnKind::as_stored>
struct SellRows final : ScheduleBase<with_columns_of(kind, {.lanes = row_threads,
                                                            .lane_distance = 32 / row_threads,
                                                            .entries_in_flight = tuned::sell_entries_in_flight,
                                                            .resident_blocks = tuned::sell_resident_blocks,
                                                            .counts_alike = true})>,
                        ColumnsOfSlices<kind> {
    static constexpr int rows_of_warp = 32 / row_threads;

    static constexpr Offset threads(const auto& sell) { return (sell.lane_count() + rows_of_warp - 1) / rows_of_warp * 32; }
    static constexpr auto run(const auto& sell, Offset thread, const auto&) {
        const Offset place = thread / 32 * rows_of_warp + thread % rows_of_warp;
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

/// Default number of threads of a GPU that share a row of this mean length: many, but with a batch of entries for each.
[[nodiscard]] constexpr int sell_threads_for(double mean_length) {
    return mean_length <= tuned::sell_short_rows ? 1 : mean_length <= tuned::sell_middling_rows ? 2 : 4;
}

/// The threads of a row: those of the recipe, or in slices of 8 or 16 rows as many as fill the warp, or in slices of 32 rows
/// one or two: two pay off from longer rows in f32 than in f64.
[[nodiscard]] constexpr int sell_threads(const auto& sell) {
    if (sell.threads_per_row > 0) return sell.threads_per_row;
    if (sell.slice_height == 16) return 2;
    if (sell.slice_height == 8) return 4;
    if (sell.slice_height != 32) return 1;
    const auto longest_of_one = Offset{sizeof(sell.values[0]) == 4 ? tuned::sell_middling_rows : tuned::sell_short_rows};
    return static_cast<Offset>(sell.values.size()) > longest_of_one * sell.lane_count() ? 2 : 1;
}

/// The Kokkos kernel: one thread per row.
struct SellRow {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) {
            return sell.slice_height == 32 ? use(SellRows<1, 32, kind>{}) : use(SellRows<1, 0, kind>{});
        });
    }
};

/// The CUDA kernel with a fixed number of threads per row, compiled for slices of as many rows as a warp, of 32 rows, and of
/// any number. With eight threads per row or more, which a recipe must ask for, the height is known at run time only, because
/// each height takes seconds to compile.
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

/// With columns of 32 bits, or of 16.
template <ValueType Value>
struct SellLayout final : VariantLayout<Value, Sell<Value, Index, HostArray>, Sell<Value, std::uint16_t, HostArray>> {
    static constexpr const char* name = "sell";
    Origin origin;  // of each lane

    [[nodiscard]] HostArray<Index> row_lengths() const;
    /// True if the CUDA kernel reads the lengths of rows rather than padding (long_rows.hpp): unless the recipe sets
    /// threads_per_row, if a row is long, if most slots are padding, or if slices do not fill a warp. Otherwise reading the
    /// lengths takes longer than reading the padding.
    [[nodiscard]] bool by_lengths() const;
    /// The least bytes of a product that reads no padding.
    [[nodiscard]] std::int64_t bytes_by_rows(const SellLongRows& long_rows) const;
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
};

/// The CUDA kernel `slices`.
template <ValueType Value>
struct SellSlices;

[[nodiscard]] LayoutEntry sell_entry();
[[nodiscard]] std::vector<KernelEntry> sell_cusparse_kernels();

}  // namespace workbench
