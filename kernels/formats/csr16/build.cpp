#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "kernels/common/entry/format.hpp"
#include "kernels/common/storage/predicted.hpp"
#include "kernels/formats/csr16/layout.hpp"

namespace workbench {
namespace {

/// Throws Unsuitable, with the figure and advice, if a row is too wide.
void require_narrow_rows(const CsrMatrix& matrix) {
    constexpr Index most = 1 << 16;
    for (Index row = 0; row < matrix.rows; ++row) {
        const auto columns = matrix.row_columns(row);
        if (columns.empty() || columns.back() - columns.front() < most) continue;
        throw Unsuitable(
            fmt::format("row {} reaches over {} columns, but columns of 16 bits reach {}: an order of less bandwidth "
                        "(cuthill_mckee) may bring them together",
                        row, Offset{columns.back()} - columns.front() + 1, most));
    }
}

constexpr auto fill = []<ValueType Value>(Csr16Layout<Value>& layout, const StagedMatrix& staged,
                                          const Parameters& parameters) {
    const CsrMatrix& matrix = staged.matrix;
    require_narrow_rows(matrix);
    fill_in_coding<Value>(layout, matrix, parameters, [&](auto& arrays) {
        arrays.row_offsets = matrix.row_offsets;
        arrays.first_columns.resize(matrix.rows);
        make_room(arrays.columns_from_first, matrix.nonzeros());
        for_each_in_parallel(matrix.rows, 64, [&](std::int64_t row) {
            const auto columns = matrix.row_columns(static_cast<Index>(row));
            if (columns.empty()) return;
            arrays.first_columns[row] = columns.front();
            for (std::size_t k = 0; k < columns.size(); ++k) {
                arrays.columns_from_first[matrix.row_offsets[row] + k] =
                    static_cast<std::uint16_t>(columns[k] - columns.front());
            }
        });
        HostArray<Value> values;
        make_copy(values, matrix.values);
        return values;
    });
};

LayoutCost predict_csr16(const PatternForecast& pattern, const Parameters& parameters, Precision precision) {
    const Offset nonzeros = pattern.nonzeros();
    const std::int64_t bytes = (Offset{pattern.rows()} + 1) * offset_bytes + pattern.rows() * index_bytes +
                               nonzeros * (short_bytes + bytes_of_values(parameters, precision));
    LayoutCost cost = cost_of_arrays(pattern, precision, nonzeros, bytes, 0.92);
    cost.exact = !has_dictionary(parameters);  // in any order
    if (pattern.wide_groups(1) > 0) cost.unsuitable = "rows reach over more columns than 16 bits count";
    return cost;
}

std::optional<DeviceStorage> on_device(const Parameters& parameters) {
    const auto values = values_on_device(parameters);
    return values ? std::optional(WholeRows{.short_columns = true, .values = *values}) : std::nullopt;
}

}  // namespace

LayoutEntry csr16_entry() {
    return format<Csr16Layout>({.summary = "CSR with columns of 16 bits, counted from the first nonzero of their row",
                                .source = "docs/new_format.md, which walks through it",
                                .parameters = {any_coding_parameter()},
                                .settle = settle_any_coding,
                                .predict = predict_csr16,
                                .on_device = on_device,
                                .kernel_on_device = "lanes"},
                               fill)
        .host<Csr16Rows<1>>("rows", "rows in parallel, in chunks to the next idle thread")
        .cuda<Csr16Rows<8>>("lanes", "eight threads per row");
}

}  // namespace workbench
