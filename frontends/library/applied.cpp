#include "frontends/library/applied.hpp"

#include <algorithm>
#include <span>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "frontends/library/checked_matrix.hpp"
#include "kernels/device/cuda_device.hpp"

namespace workbench {

void require_no_parallel_region() {
    if (in_parallel_region()) {
        throw std::invalid_argument("an operator cannot be constructed or changed in a parallel region of OpenMP");
    }
}

}  // namespace workbench

namespace spmv_workbench {
namespace {

using workbench::CsrOnDevice;
using workbench::Offset;

template <typename Value>
void invert(std::vector<Value>& diagonal) {
    for (Value& value : diagonal) value = value == 0 ? Value{1} : 1 / value;
}

/// [rows] 0 where there is no entry.
template <typename Value>
std::vector<Value> diagonal_of(const workbench::CsrMatrix& matrix) {
    std::vector<Value> diagonal(static_cast<std::size_t>(matrix.rows));
    for (workbench::Index row = 0; row < matrix.rows; ++row) {
        const auto columns = matrix.row_columns(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) continue;
        diagonal[row] = static_cast<Value>(matrix.values[matrix.row_offsets[row] + (found - columns.begin())]);
    }
    return diagonal;
}

/// The matrix as the device's functions take it. Throws InputError if the sizes of the arrays disagree.
template <typename Value>
CsrOnDevice<Value> on_gpu(const DeviceCsrView<Value>& view) {
    const bool long_offsets = view.short_row_offsets.size() == 0;
    const std::size_t offsets = long_offsets ? view.row_offsets.size() : view.short_row_offsets.size();
    if (view.rows < 0 || view.columns < 0 || offsets != static_cast<std::size_t>(view.rows) + 1) {
        throw workbench::InputError(fmt::format("the matrix: {} row offsets for {} rows and {} columns; expected rows + 1",
                                                offsets, view.rows, view.columns));
    }
    if (view.values.size() != view.column_indices.size()) {
        throw workbench::InputError(fmt::format("the matrix: {} column indices and {} values; expected as many of each",
                                                view.column_indices.size(), view.values.size()));
    }
    return {
        .rows = view.rows,
        .columns = view.columns,
        .nonzeros = static_cast<Offset>(view.values.size()),
        .row_offsets = long_offsets ? static_cast<const void*>(view.row_offsets.address()) : view.short_row_offsets.address(),
        .long_offsets = long_offsets,
        .column_indices = view.column_indices.address(),
        .values = view.values.address()};
}

template <typename Element>
std::vector<Element> on_host(DeviceArray<const Element> array, workbench::Device& device) {
    std::vector<Element> copy(array.size());
    if (array.size() > 0) workbench::copy_from_gpu(device, array.address(), std::span(copy));
    return copy;
}

}  // namespace

template <typename Value>
Operator<Value>::Applied::Applied(std::shared_ptr<const Recipe::Checked> from, const CsrView<Value>& matrix,
                                  const Options& options, bool with_diagonal)
    : checked(std::move(from)) {
    apply(matrix, options, with_diagonal);
}

template <typename Value>
Operator<Value>::Applied::Applied(std::shared_ptr<const Recipe::Checked> from, const DeviceCsrView<Value>& matrix,
                                  const Options& options, bool with_diagonal)
    : checked(std::move(from)) {
    std::string reason;
    try {
        apply_there(matrix, options, with_diagonal);
        return;
    } catch (const workbench::LeftToHost& left) {
        reason = left.what();
        recipe.reset();
    }
    const std::unique_ptr<workbench::Device> device = workbench::make_cuda_device_on(options.stream);
    if (device == nullptr) throw workbench::MachineError("no GPU for a matrix on the GPU: " + workbench::cuda_absence_reason());
    const auto offsets = on_host(matrix.row_offsets, *device);
    const auto short_offsets = on_host(matrix.short_row_offsets, *device);
    const auto columns = on_host(matrix.column_indices, *device);
    const auto values = on_host(matrix.values, *device);
    if (short_offsets.empty()) {
        apply({matrix.rows, matrix.columns, offsets, columns, values}, options, with_diagonal);
    } else {
        apply({matrix.rows, matrix.columns, short_offsets, columns, values}, options, with_diagonal);
    }
    recipe->note("prepared on the host: " + reason);
}

template <typename Value>
void Operator<Value>::Applied::apply(const CsrView<Value>& view, const Options& options, bool with_diagonal) {
    workbench::CsrMatrix matrix = workbench::checked_matrix(view);
    entry_order = workbench::entry_order(view, matrix);
    if (with_diagonal) {
        inverse_diagonal = diagonal_of<Value>(matrix);
        invert(inverse_diagonal);
    }
    recipe.emplace(checked->recipe, std::move(matrix), options);
}

template <typename Value>
void Operator<Value>::Applied::apply_there(const DeviceCsrView<Value>& view, const Options& options, bool with_diagonal) {
    const CsrOnDevice<Value> matrix = on_gpu(view);
    recipe.emplace(checked->recipe, matrix, options);
    if (!with_diagonal) return;
    inverse_diagonal = recipe->sliced().diagonal(matrix);
    invert(inverse_diagonal);
}

template struct Operator<float>::Applied;
template struct Operator<double>::Applied;

}  // namespace spmv_workbench
