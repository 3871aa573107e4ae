// CSR with columns of 16 bits, counted from the first nonzero of their row: a nonzero takes 2 bytes less, if no row reaches
// over more than 65536 columns.
#pragma once

#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/any_coding.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

template <typename StoredValue, template <typename> typename Array>
struct Csr16 : MatrixSize {
    Array<Offset> row_offsets;
    Array<Index> first_columns;               // 0 for a row without nonzeros
    Array<std::uint16_t> columns_from_first;  // the column minus the first one of its row
    ValueArray<StoredValue, Array> values;

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), structure_array<&Csr16::row_offsets>("rows + 1"),
                          structure_array<&Csr16::first_columns>("rows"), column_array<&Csr16::columns_from_first>("nonzeros"),
                          coded_value_array<&Csr16::values>("nonzeros"));
    }
};

/// `row_lanes` threads share a row.
template <int row_lanes>
struct Csr16Rows final : ScheduleBase<Hooks{.lanes = row_lanes, .counts_alike = (row_lanes > 1), .own_columns = true}> {
    template <int lanes>
    using OfLanes = Csr16Rows<lanes>;

    static constexpr Offset threads(const auto& arrays) { return CompressedRows<row_lanes>::threads(arrays); }
    static constexpr auto run(const auto& arrays, Offset thread, const auto& load) {
        auto run = CompressedRows<row_lanes>::run(arrays, thread, load);
        if (run.row >= 0) run.first_column = load.kept(arrays.first_columns.data() + run.row);
        return run;
    }
    static constexpr const auto& columns(const auto& arrays) { return arrays.columns_from_first; }
};

template <ValueType Value>
struct Csr16Layout final : CompressedLayout<Value, InAnyCoding<Csr16, Value>, Csr16Rows<1>> {
    static constexpr const char* name = "csr16";
};

[[nodiscard]] LayoutEntry csr16_entry();

/// The CUDA kernel `lanes` of arrays that were made on the GPU.
template <ValueType Value, typename Stored>
[[nodiscard]] std::unique_ptr<Kernel<Value>> csr16_kernel_on_gpu(Csr16<Stored, DeviceArray>&& csr16, Device& device);

}  // namespace workbench
