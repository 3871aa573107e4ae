#include "frontends/library/applied.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

#include "core/text/words.hpp"
#include "frontends/library/checked_matrix.hpp"
#include "frontends/library/loaded_once.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_loops.hpp"

namespace workbench {

bool is_first_with(const std::string& key) {
    static std::mutex turn;
    static std::set<std::string> keys;
    const std::lock_guard<std::mutex> lock(turn);
    return keys.insert(key).second;
}

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
Value inverse(Value value) {
    return value == 0 ? Value{1} : 1 / value;
}

/// [rows] the number of each diagonal entry in the caller's arrays; -1: there is none.
std::vector<Offset> diagonal_entries_of(const workbench::GivenMatrix& given) {
    const workbench::CsrMatrix& matrix = given.matrix;
    std::vector<Offset> entries(static_cast<std::size_t>(matrix.rows), -1);
    workbench::for_each_in_parallel(matrix.rows, 4096, [&](std::int64_t number) {
        const auto row = static_cast<workbench::Index>(number);
        const auto columns = matrix.row_columns(row);
        const auto found = std::lower_bound(columns.begin(), columns.end(), row);
        if (found == columns.end() || *found != row) return;
        const Offset entry = matrix.row_offsets[row] + (found - columns.begin());
        entries[row] = given.entry_order.empty() ? entry : given.entry_order[entry];
    });
    return entries;
}

/// The matrix as the device's functions take it. Throws InputError if the sizes of the arrays disagree.
template <typename Value>
CsrOnDevice<Value> on_gpu(const DeviceCsrView<Value>& view) {
    const bool long_offsets = view.short_row_offsets.size() == 0;
    const std::size_t offsets = long_offsets ? view.row_offsets.size() : view.short_row_offsets.size();
    if (view.rows < 0 || view.columns < 0 || offsets != static_cast<std::size_t>(view.rows) + 1) {
        throw workbench::InputError(fmt::format("the matrix: {} for {} and {}; expected rows + 1",
                                                workbench::counted(offsets, "row offset"), workbench::counted(view.rows, "row"),
                                                workbench::counted(view.columns, "column")));
    }
    if (view.values.size() != view.column_indices.size()) {
        throw workbench::InputError(fmt::format("the matrix: {} and {}; expected as many of each",
                                                workbench::counted(view.column_indices.size(), "column index"),
                                                workbench::counted(view.values.size(), "value")));
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

Options without_stop(Options options) {
    options.stop = {};
    return options;
}

template <typename Element>
std::vector<Element> on_host(DeviceArray<const Element> array, workbench::Device& device) {
    std::vector<Element> copy(array.size());
    if (array.size() > 0) workbench::copy_from_device(device, array.address(), std::span(copy));
    return copy;
}

/// True if a square matrix has entries beside the diagonal, all of them on one side of it. The columns of its rows ascend. Rows
/// are copied to the host from both ends, where most matrices soon have an entry on either side.
template <typename Value>
bool is_one_triangle(const DeviceCsrView<Value>& view, workbench::Device& device) {
    if (view.rows != view.columns) return false;
    const auto copy_of = [&device](const auto& array, std::int64_t begin, std::int64_t count) {
        return on_host(on_device(array.address() + begin, static_cast<std::size_t>(count)), device);
    };
    const auto offsets_of = [&](std::int64_t begin, std::int64_t count) -> std::vector<std::int64_t> {
        if (view.short_row_offsets.size() == 0) return copy_of(view.row_offsets, begin, count);
        const std::vector<std::int32_t> offsets = copy_of(view.short_row_offsets, begin, count);
        return {offsets.begin(), offsets.end()};
    };
    const auto has_entry = [&](bool above) {
        const std::int64_t rows = view.rows;
        for (std::int64_t done = 0, count = 1024; done < rows; done += count, count *= 2) {
            count = std::min(count, rows - done);
            const std::int64_t begin = above ? done : rows - done - count;
            const std::vector<std::int64_t> offsets = offsets_of(begin, count + 1);
            const std::vector<std::int32_t> columns =
                copy_of(view.column_indices, offsets.front(), offsets.back() - offsets.front());
            for (std::int64_t row = 0; row < count; ++row) {
                if (offsets[row] == offsets[row + 1]) continue;
                const std::int32_t outermost = columns[(above ? offsets[row + 1] - 1 : offsets[row]) - offsets.front()];
                if (above ? outermost > begin + row : outermost < begin + row) return true;
            }
        }
        return false;
    };
    return has_entry(true) != has_entry(false);
}

}  // namespace

template <typename Value>
Operator<Value>::Applied::Applied(std::shared_ptr<const Recipe::Checked> from, const CsrView<Value>& matrix,
                                  const Options& options, const workbench::EngineWish& solver)
    : checked(std::move(from)), options(without_stop(options)) {
    apply(matrix, options, solver);
}

template <typename Value>
Operator<Value>::Applied::Applied(std::shared_ptr<const Recipe::Checked> from, const DeviceCsrView<Value>& matrix,
                                  const Options& options, const workbench::EngineWish& solver)
    : checked(std::move(from)), options(without_stop(options)) {
    std::string reason;
    try {
        apply_there(matrix, options, solver);
        return;
    } catch (const workbench::Unsuitable& left) {
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
        apply({matrix.rows, matrix.columns, offsets, columns, values}, options, solver);
    } else {
        apply({matrix.rows, matrix.columns, short_offsets, columns, values}, options, solver);
    }
    recipe->note("prepared on the host: " + reason);
}

template <typename Value>
void Operator<Value>::Applied::apply(const CsrView<Value>& view, const Options& options, const workbench::EngineWish& solver) {
    workbench::GivenMatrix given = workbench::checked_matrix(view, options.triangle);
    is_half = options.triangle == Triangle::symmetric;
    entries = view.values.size();
    if (solver.jacobi) {
        diagonal_entries = diagonal_entries_of(given);
        inverse_diagonal.resize(diagonal_entries.size());
        invert_diagonal(view.values);
    }
    entry_order = std::move(given.entry_order);
    recipe.emplace(checked->recipe, std::move(given.matrix), options, solver);
}

template <typename Value>
void Operator<Value>::Applied::apply_there(const DeviceCsrView<Value>& view, const Options& options,
                                           const workbench::EngineWish& solver) {
    if (options.triangle == Triangle::symmetric) throw workbench::Unsuitable("only half of the matrix is given");
    const CsrOnDevice<Value> matrix = on_gpu(view);
    entries = view.values.size();
    recipe.emplace(checked->recipe, matrix, options, solver);
    if (options.triangle == Triangle::refused && is_one_triangle(view, recipe->device())) {
        throw workbench::Unsuitable("all entries beside the diagonal are on one side of it");
    }
    if (!solver.jacobi) return;
    inverse_diagonal = recipe->planned().diagonal(matrix);
    for (Value& value : inverse_diagonal) value = inverse(value);
}

template <typename Value>
void Operator<Value>::Applied::invert_diagonal(ArrayView<const Value> values) {
    workbench::for_each_in_parallel(static_cast<std::int64_t>(diagonal_entries.size()), 4096, [&](std::int64_t row) {
        const Offset entry = diagonal_entries[row];
        inverse_diagonal[row] = entry < 0 ? Value{1} : inverse(values[entry]);
    });
    is_diagonal_new = true;
}

template <typename Value>
void Operator<Value>::Applied::set_values(ArrayView<const Value> values) {
    recipe->set_values(std::span(values.data(), values.size()), entry_order);
    if (!diagonal_entries.empty()) invert_diagonal(values);
}

template <typename Value>
void Operator<Value>::Applied::set_values(const CsrView<Value>& view) {
    const auto given = workbench::checked_matrix(view, is_half ? Triangle::symmetric : Triangle::as_given);
    recipe->require_pattern(given.matrix, entry_order);
    std::vector<Value> values(entries);
    for (std::size_t k = 0; k < given.matrix.values.size(); ++k) {
        values[entry_order.empty() ? k : entry_order[k]] = static_cast<Value>(given.matrix.values[k]);
    }
    set_values(values);
}

template struct Operator<float>::Applied;
template struct Operator<double>::Applied;

}  // namespace spmv_workbench
