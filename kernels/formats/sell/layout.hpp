// Sliced ELL over all rows in their current order.
// Source: Monakov, Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures"
// (2010); with rows sorted in windows it is SELL-C-sigma (Kreutzer et al., 2014).
#pragma once

#include "core/matrix/bf16.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schemes/short_columns.hpp"
#include "kernels/common/schemes/slices.hpp"
#include "kernels/common/storage/coded_values.hpp"
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

/// Words, and columns alone, need fewer registers for the entries in flight than values and columns.
[[nodiscard]] constexpr int sell_resident_blocks(SliceKind kind) {
    const bool loads_one = kind.columns == ColumnKind::of_words || kind.marks_padding;
    return loads_one ? tuned::sell_resident_blocks_of_one_load : tuned::sell_resident_blocks;
}

/// With four vectors, four threads a row take 0.44 of the time of one in rows of 74 entries, and 1.24 in rows of 32
/// (docs/results/several-vectors.md).
inline constexpr ThreadsForVectors sell_threads_for_vectors{.most = 4, .entries_of_lane = 18};

/// Row i is lane i % height of slice i / height; a warp has 32 / row_threads rows. Thread t of a row takes its entries t,
/// t + row_threads, ..., at a distance of t times the rows of a warp from the first: if a slice has as many rows as a warp, a
/// warp reads neighbouring slots. known_height 0: known at run time.
template <int row_threads, int known_height, SliceKind kind = SliceKind{}>
struct SellRows final : ScheduleBase<with_columns_of(kind, {.lanes = row_threads,
                                                            .lane_distance = 32 / row_threads,
                                                            .entries_in_flight = tuned::sell_entries_in_flight,
                                                            .resident_blocks = sell_resident_blocks(kind),
                                                            .threads_for_vectors = sell_threads_for_vectors,
                                                            .counts_alike = true,
                                                            .compiled_in = row_threads < 8,
                                                            .side_by_side = side_by_side_if(row_threads == 1)})>,
                        ColumnsOfSlices<kind> {
    static constexpr int rows_of_warp = 32 / row_threads;
    template <int lanes>
    using OfLanes = SellRows<lanes, known_height, kind>;

    static constexpr Offset threads(const auto& sell) { return (sell.lane_count() + rows_of_warp - 1) / rows_of_warp * 32; }
    static constexpr Offset threads_side_by_side(const auto& sell) requires(row_threads == 1) { return sell.slice_height; }
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

/// Two loads of a column take longer than one of 32 bits. The share is that of wide slices.
[[nodiscard]] constexpr bool is_mostly_wide(double share) { return share > 0.25; }

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

/// SellLayout::by_lengths. longest: row.
[[nodiscard]] constexpr bool reads_lengths(const auto& sell, Offset nonzeros, Offset longest) {
    if (sell.threads_per_row > 0) return false;
    const bool fills_warp = sell.slice_height == 32 || sell.slice_height * sell_threads(sell) == 32;
    return !fills_warp || static_cast<Offset>(sell.values.size()) > 2 * nonzeros || longest > sell.split_length;
}

/// The Kokkos kernel: one thread per row. A height known at compile time would gain nothing, because rows of a slice are
/// multiplied side by side.
struct SellRow {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) { return use(SellRows<1, 0, kind>{}); });
    }
};

/// By the threads of a row, for slices of any height.
struct SellLanes {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) {
            return with_lanes<1>(sell_threads(sell), [&](auto threads) { return use(SellRows<threads, 0, kind>{}); });
        });
    }
};

/// With several vectors: one thread per row, or as many as suit these (OfLanes).
struct SellRowsOfVectors {
    static auto choose(const auto& sell, const auto& use) {
        return with_column_kind(sell, [&](auto kind) {
            return sell_threads(sell) == 1 ? use(SellRows<1, 0, kind>{}) : use(SellRows<2, 0, kind>{});
        });
    }
};

/// The CUDA kernel with a fixed number of threads per row, for slices of as many rows as a warp, of 32 rows, and of any number.
/// With eight threads per row or more, which a recipe must request, the height is known at run time only.
struct SellThreads {
    using Walk = SellLanes;

    static auto choose(const auto& sell, const auto& use) {
        return SellLanes::choose(sell, [&]<int threads, SliceKind kind>(SellRows<threads, 0, kind> any_height) {
            if constexpr (threads < 8 && compiles_every_shape) {
                constexpr int rows_of_warp = 32 / threads;
                if (sell.slice_height == rows_of_warp) return use(SellRows<threads, rows_of_warp, kind>{});
                if (sell.slice_height == 32) return use(SellRows<threads, 32, kind>{});
            }
            return use(any_height);
        });
    }
};

/// Values in full or all equal with columns of 32 or 16 bits, and coded values with columns of 16 bits or in one word with
/// their columns. In f64 also values of f32 and of bf16.
template <ValueType Value, typename... More>
using SellVariants = VariantLayout<Value, Sell<Value, Index, HostArray>, Sell<Value, std::uint16_t, HostArray>,
                                   Sell<Constant<Value>, Index, HostArray>, Sell<Constant<Value>, std::uint16_t, HostArray>,
                                   Sell<Coded<Value, std::uint8_t>, std::uint16_t, HostArray>,
                                   Sell<Coded<Value, std::uint32_t>, InWords, HostArray>, More...>;
template <ValueType Value>
using SellStorage =
    std::conditional_t<std::is_same_v<Value, double>,
                       SellVariants<Value, Sell<float, std::uint16_t, HostArray>, Sell<Bf16, std::uint16_t, HostArray>>,
                       SellVariants<Value>>;

template <ValueType Value>
struct SellLayout final : SellStorage<Value> {
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
    [[nodiscard]] std::vector<Index> rows_of_padding() const override { return origin.rows_without_nonzeros(); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
};

/// The CUDA kernel `slices`.
template <ValueType Value>
struct SellSlices;

[[nodiscard]] LayoutEntry sell_entry();
[[nodiscard]] KernelEntry sell_host_kernel();
[[nodiscard]] std::vector<KernelEntry> sell_cusparse_kernels();

template <ValueType Value>
using SellOnGpu = StoredOnDevice<decltype(SellStorage<Value>::stored)>;

/// The kernel `slices` of arrays that were made on the GPU: with one thread per row or several (SellThreads), or by the lengths
/// of the rows, if there are any. bytes: Layout::bytes_to_move. rows_of_y: as in PrepareRows.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> sell_kernel_on_gpu(SellOnGpu<Value>&& stored, DeviceArray<Index>&& row_lengths,
                                                                std::int64_t bytes, std::span<const Index> rows_of_y,
                                                                Device& device);

}  // namespace workbench
