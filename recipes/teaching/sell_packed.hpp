// Sliced ELL with one word of 32 bits per slot, a format that the workbench does not have: the upper bits are the code of the
// value, the lower bits the difference of the column from that of the slot before. It resembles PackSELL (values of fewer bits
// and differences in one word); here a dictionary keeps the values exact. Source of the differences and of the dictionary:
// Kourtis, Goumas, Koziris, "Optimizing sparse matrix-vector multiplication using index and value compression" (2008).
#pragma once

#include "sell_delta.hpp"

namespace workbench {

/// As SellDelta, with values[slot] = code << column_bits | difference. The largest difference is a jump, which has code 0, the
/// value 0.
template <typename StoredValue, template <typename> typename Array>
struct SellPacked : MatrixSize {
    Array<Offset> slice_steps;
    Array<Index> first_columns;
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&SellPacked::slice_steps>("slices + 1"),
                          structure_array<&SellPacked::first_columns>("rows"), coded_value_array<&SellPacked::values>("slots"));
    }
};

/// One thread per row. Its state is the column of the last slot, counted from the row's first column.
struct SellPackedRows final : ScheduleBase<Hooks{.entries_in_flight = tuned::sell_entries_in_flight,
                                                 .resident_blocks = tuned::sell_resident_blocks_of_one_load,
                                                 .no_column = NoColumn::slot_read,
                                                 .own_state = true}> {
    static constexpr Offset threads(const auto& arrays) { return SellDeltaRows::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        return SellDeltaRows::run(arrays, thread, load);
    }
    static constexpr Index state(const auto&, const auto&, const auto&) { return 0; }
    static constexpr Index next_column(const auto& arrays, const auto&, const RunSlot& place, const auto& load, Index& column) {
        const std::uint32_t jump = (1U << arrays.values.column_bits) - 1;
        const std::uint32_t difference = load(arrays.values.codes.data() + place.slot) & jump;
        column += static_cast<Index>(difference);
        return difference == jump ? -1 : column;
    }
};

#ifndef __CUDACC_RTC__  // NVRTC compiles the CUDA kernel from what is above

template <ValueType Value>
struct SellPackedLayout final : PatternLayout<Value, SellPacked<Coded<Value, std::uint32_t>, HostArray>, SellPackedRows> {
    static constexpr const char* name = "sell_packed";
};

inline LayoutEntry sell_packed_entry() {
    constexpr auto fill = []<ValueType Value>(SellPackedLayout<Value>& layout, const StagedMatrix& staged,
                                              const Parameters& parameters) {
        const CsrMatrix& matrix = staged.matrix;
        const ValueCodes<Value> codes = codes_for<Value>(matrix, most_values_of_words, true);
        const auto largest_code = static_cast<std::uint32_t>(codes.dictionary().size() - 1);
        const Index column_bits = std::min(32 - static_cast<Index>(std::bit_width(largest_code)), 30);
        const Index jump = (1 << column_bits) - 1;
        const Offset slots = fill_slices(layout, matrix, jump, parameters.real("slots_per_nonzero"));
        layout.values.column_bits = column_bits;
        layout.values.dictionary = codes.dictionary();
        layout.values.codes.assign(static_cast<std::size_t>(slots), static_cast<std::uint32_t>(jump));
        for_each_slot_of_slices(layout, matrix, jump, [&](Offset slot, Index difference, Offset nonzero) {
            const std::uint32_t code = nonzero < 0 ? 0 : codes.code_of(static_cast<Value>(matrix.values[nonzero]));
            layout.values.codes[slot] = code << column_bits | static_cast<std::uint32_t>(difference);
        });
        layout.pattern = Pattern(matrix);
    };
    // Verifications of layouts with coded values draw integers that are equal where values are.
    const ParameterDeclaration values_in_dictionary{.name = "values",
                                                    .type = ParameterType::choice,
                                                    .default_value = std::string("dictionary"),
                                                    .words = {"dictionary"},
                                                    .help = "how values are stored: codes of the distinct values"};
    return format<SellPackedLayout>({.summary = "sliced ELL with the code of a value and a difference of columns in one word",
                                     .source = "Kourtis, Goumas and Koziris (2008)",
                                     .parameters = {values_in_dictionary, slots_per_nonzero_parameter()}},
                                    fill)
        .host<SellPackedRows>("slices", "rows in parallel")
        .cuda<SellPackedRows>("slices", "one thread per row");
}

#endif

}  // namespace workbench
