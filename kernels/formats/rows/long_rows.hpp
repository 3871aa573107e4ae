// Sliced ELL by the lengths of its rows on a GPU: one thread per row, which stops at the end of the row, and whole blocks of
// threads for long rows.
#pragma once

#include <vector>

#include "kernels/common/entry/run_time_kernel.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/formats/rows/layout.hpp"

namespace workbench {

inline constexpr int threads_of_sell_block = 256;

/// The part of a long row that a block has: `entries` of it, at most tuned::sell_part_length, beginning with `first`. If a row
/// has several parts, their sums are stored, this one as number `sum`.
struct SellPart {
    Index row = 0;
    Index first = 0;
    Index entries = 0;
    Index sum = -1;
};

/// A row of several parts, whose sums are neighbours.
struct SellSums {
    Index row = 0;
    Index first = 0;
    Index count = 0;
};

/// Views of slices with the lengths of their rows, and the parts of long rows.
template <typename SellView>
struct SellWithLengths : SellView {
    ArrayView<Index> row_lengths;  // [rows]
    ArrayView<SellPart> parts;
};

/// The first blocks have a part of a long row each, whose threads take every 256th entry of it. Then one thread per row, unless
/// the row is long. Padding is not read. known_height: that of the slices if it is known at compile time, otherwise 0.
template <int known_height, SliceKind kind = SliceKind{}>
struct SellWholeRows final
    : ScheduleBase<with_columns_of(kind, {.entries_in_flight = tuned::sell_entries_in_flight_by_lengths})>,
      ColumnsOfSlices<kind> {
    static constexpr Offset threads(const auto& sell) { return threads_of_parts(sell) + sell.row_count; }
    static constexpr Offset threads_of_parts(const auto& sell) { return sell.parts.size() * threads_of_sell_block; }
    static constexpr auto run(const auto& sell, Offset thread, const auto&) {
        const Offset of_parts = threads_of_parts(sell);
        if (thread < of_parts) {
            return run_of_part(sell, sell.parts[thread / threads_of_sell_block],
                               static_cast<int>(thread % threads_of_sell_block));
        }
        const Offset row = thread - of_parts;
        const auto of_row = run_of_row(sell, row);
        if (of_row.row < 0) return decltype(run_of_part(sell, {}, 0)){};
        return in_slice(sell, Run<int, Index>{of_row.row, of_row.first, of_row.count, number_of(of_row.stride)}, of_row.row);
    }
    static constexpr auto run_of_part(const auto& sell, const SellPart& part, int thread) {
        const auto slot = slot_of(sell, part.row);
        const Index left = part.entries - thread;
        return in_slice(sell,
                        Run<int, Index>{part.row, slot.first + Offset{part.first + thread} * slot.height,
                                        left <= 0 ? 0 : (left + threads_of_sell_block - 1) / threads_of_sell_block,
                                        slot.height * threads_of_sell_block},
                        part.row);
    }
    static constexpr auto run_of_row(const auto& sell, Offset row) {
        using Stride = std::conditional_t<known_height == 0, int, Known<known_height>>;
        const auto of_row = [&] {
            const Index length = sell.row_lengths[row];
            const auto slot = slot_of(sell, static_cast<Index>(row));
            Run<Stride, Index> run{static_cast<Index>(row), slot.first, length};
            if constexpr (known_height == 0) run.stride = slot.height;
            if (length > sell.split_length) run.row = -1;
            return in_slice(sell, run, static_cast<Index>(row));
        };
        return row < sell.row_count ? of_row() : decltype(of_row()){};
    }

private:
    struct FirstSlot {
        Offset first = 0;
        int height = 0;
    };
    static constexpr unsigned height_of(const auto& sell) {
        return known_height == 0 ? static_cast<unsigned>(sell.slice_height) : known_height;
    }
    static constexpr FirstSlot slot_of(const auto& sell, Index row) {
        const unsigned height = height_of(sell);
        const auto lane = static_cast<unsigned>(row);
        return {sell.slice_offsets[lane / height] + lane % height, static_cast<int>(height)};
    }
    static constexpr auto in_slice(const auto& sell, const auto& run, Index row) {
        return with_columns_of_slice<kind>(sell, run, static_cast<unsigned>(row) / height_of(sell));
    }
};

/// Calls use(schedule) with the schedule for these slices. Few recipes have slices whose columns count from those of rows.
auto with_sell_whole_rows(const auto& sell, const auto& use) {
    return with_column_kind(sell, [&](auto kind) {
        if constexpr (compiles_every_shape && is_compiled_for_slices(kind, 1)) {
            if (sell.slice_height == 32) return use(SellWholeRows<32, kind>{});
        }
        return use(SellWholeRows<0, kind>{});
    });
}

#ifndef __CUDACC_RTC__  // NVRTC compiles kernels from what is above

struct SellLongRows {
    std::vector<SellPart> parts;  // of the longest row first
    std::vector<SellSums> sums;

    [[nodiscard]] Index sum_count() const { return sums.empty() ? 0 : sums.back().first + sums.back().count; }
};

/// The rows of more than `longest` entries, in parts.
[[nodiscard]] SellLongRows find_long_rows(const HostArray<Index>& lengths, Index longest);

/// The first columns of slices with short columns.
template <typename Arrays>
[[nodiscard]] std::span<const Index> first_columns_of_slices(const Arrays& slices) {
    if constexpr (HasShortColumns<Arrays>) return slices.first_columns;
    return {};
}

/// The least bytes of a product that reads no padding. first_columns: of slices with short columns. bytes: of one that reads
/// all slots.
template <typename Value>
[[nodiscard]] std::int64_t bytes_by_rows(const auto& sell, const HostArray<Index>& lengths,
                                         std::span<const Index> first_columns, const SellLongRows& long_rows,
                                         std::int64_t bytes) {
    auto padding = static_cast<Offset>(sell.values.size());
    for (const Index length : lengths) padding -= length;
    if constexpr (HasShortColumns<std::remove_cvref_t<decltype(sell)>>) {
        auto of_high_columns = static_cast<Offset>(sell.high_columns.size());
        for (Index row = 0; row < sell.row_count; ++row) {
            if (first_columns[row / sell.slice_height] < 0) of_high_columns -= lengths[row];
        }
        bytes -= of_high_columns * static_cast<std::int64_t>(sizeof(std::uint16_t));
    }
    if (!shape_of_rows<decltype(sell)>.lengths) bytes += sell.row_count * static_cast<std::int64_t>(sizeof(Index));
    return bytes - padding * bytes_of_slot(sell) +
           static_cast<std::int64_t>(long_rows.parts.size() * sizeof(SellPart) + 2 * sizeof(Value) * long_rows.sum_count());
}

/// Slices on a GPU and the lengths of their rows, without types.
struct SlicesByLengths {
    ArraysOnGpu arrays = {};  // SellWithLengths
    Index row_count = 0;
    std::size_t alternative = 0;     // of the layout
    std::string_view schedule = {};  // its type, and that of the arrays, for NVRTC, unless the program has the kernel
    std::string_view type_of_arrays = {};
    unsigned shared_bytes = 0;
    std::int64_t bytes = 0;  // Kernel::own_bytes_to_move
    SellLongRows long_rows = {};
    DeviceArray<Index> row_lengths = {};
    DeviceArray<SellPart> parts = {};
};

/// Their kernel. rows_of_y: as in PrepareRows.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> kernel_by_lengths(SlicesByLengths&& slices, std::span<const Index> rows_of_y,
                                                               Device& device);

#endif

}  // namespace workbench
