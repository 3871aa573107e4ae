// What a process pays once for a recipe on a GPU, apart from what each matrix costs: the GPU's context, the kernels, which are
// loaded when they are first launched or compiled, and the buffers of large copies. A small part of the matrix pays it before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <fmt/format.h>

#include <spmv_workbench/spmv_workbench.hpp>

#include "core/contract/device.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/measure/timing.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// True for the first caller with this key.
[[nodiscard]] bool is_first_with(const std::string& key);

/// The leading rows and columns of a matrix. Empty if its arrays disagree, which the construction of the operator reports.
template <typename Value>
class LeadingPart {
public:
    explicit LeadingPart(const spmv_workbench::CsrView<Value>& matrix) {
        if (matrix.row_offsets.size() > 0) {
            take(matrix, matrix.row_offsets, matrix.column_indices, matrix.values);
        } else {
            take(matrix, matrix.short_row_offsets, matrix.column_indices, matrix.values);
        }
    }

    [[nodiscard]] spmv_workbench::CsrView<Value> view() const { return {rows_, rows_, offsets_, columns_, values_}; }
    [[nodiscard]] bool empty() const { return values_.empty(); }

    static constexpr std::int32_t most = 4096;  // rows

private:
    void take(const auto& matrix, const auto& offsets, const auto& columns, const auto& values) {
        rows_ = std::min({matrix.rows, matrix.columns, most});
        if (rows_ < 1 || offsets.size() <= static_cast<std::size_t>(rows_) || columns.size() != values.size()) return;
        for (std::int32_t row = 0; row < rows_; ++row) {
            const std::int64_t begin = offsets[row];
            const std::int64_t end = offsets[row + 1];
            if (begin < 0 || end < begin || end > static_cast<std::int64_t>(values.size())) return values_.clear();
            for (std::int64_t k = begin; k < end; ++k) {
                if (columns[k] < 0 || columns[k] >= rows_) continue;
                columns_.push_back(columns[k]);
                values_.push_back(values[k]);
            }
            offsets_.push_back(static_cast<std::int32_t>(columns_.size()));
        }
    }

    std::int32_t rows_ = 0;
    std::vector<std::int32_t> offsets_{0};
    std::vector<std::int32_t> columns_;
    std::vector<Value> values_;
};

/// The leading part on the host of a matrix on a GPU.
template <typename Value>
[[nodiscard]] LeadingPart<Value> leading_part_of(const spmv_workbench::DeviceCsrView<Value>& matrix, Device& device) {
    const auto copy = [&device]<typename Item>(spmv_workbench::DeviceArray<const Item> from, std::size_t count) {
        std::vector<Item> items(std::min(count, from.size()));
        if (!items.empty()) copy_from_device(device, from.address(), std::span(items));
        return items;
    };
    const auto rows = static_cast<std::size_t>(std::clamp(matrix.rows, 0, LeadingPart<Value>::most));
    std::vector<std::int64_t> offsets = copy(matrix.row_offsets, rows + 1);
    for (const std::int32_t offset : copy(matrix.short_row_offsets, rows + 1)) offsets.push_back(offset);
    const auto entries = static_cast<std::size_t>(offsets.empty() ? 0 : std::max(offsets.back(), std::int64_t{0}));
    return LeadingPart<Value>(spmv_workbench::CsrView<Value>(
        matrix.rows, matrix.columns, offsets, copy(matrix.column_indices, entries), copy(matrix.values, entries)));
}

/// Calls make(part) with a leading part of the matrix, where the matrix is, if an operator on a GPU will be made and no earlier
/// call of this process had the same recipe, type and purpose. Returns the seconds that this took. Its failures are those of
/// the whole matrix, which reports them.
template <typename Value, template <typename> typename View>
[[nodiscard]] double load_once(const Recipe& recipe, const View<Value>& matrix, const spmv_workbench::Options& options,
                               const std::string& purpose, const auto& make) {
    constexpr bool is_there = std::is_same_v<View<Value>, spmv_workbench::DeviceCsrView<Value>>;
    if (options.device == spmv_workbench::Device::host || !recipe.code.empty()) return 0;
    const Stopwatch watch;
    try {
        if (!cuda_absence_reason().empty() || choose_kernels(recipe, {DeviceKind::gpu, options.kernel}).empty()) return 0;
        const std::string key = fmt::format("{} {} {} {} {}\n{}", cuda_device_number(), sizeof(Value), is_there, purpose,
                                            options.kernel, resolved_recipe(recipe));
        if (!is_first_with(key)) return 0;
        const std::unique_ptr<Device> device = make_cuda_device_on(options.stream);
        device->prepare_copies();
        if constexpr (is_there) {
            const LeadingPart<Value> part = leading_part_of(matrix, *device);
            if (part.empty()) return 0;
            const spmv_workbench::CsrView<Value> on_host = part.view();
            const auto there = [&]<typename Item>(spmv_workbench::ArrayView<const Item> array) {
                return to_device(*device, std::span(array.data(), array.size()), "a leading part of the matrix");
            };
            const auto view = []<typename Item>(const DeviceMemory& memory, spmv_workbench::ArrayView<const Item> array) {
                return spmv_workbench::on_device(memory.as<const Item>(), array.size());
            };
            const DeviceMemory offsets = there(on_host.short_row_offsets);
            const DeviceMemory columns = there(on_host.column_indices);
            const DeviceMemory values = there(on_host.values);
            make(View<Value>{on_host.rows, on_host.columns, view(offsets, on_host.short_row_offsets),
                             view(columns, on_host.column_indices), view(values, on_host.values)});
        } else {
            const LeadingPart<Value> part(matrix);
            if (part.empty()) return 0;
            make(part.view());
        }
    } catch (const std::exception&) {  // the construction with the whole matrix reports it
    }
    return watch.seconds();
}

/// Options for a leading part, which may be a triangle where the matrix is none. It is not stopped, as it takes a fraction of a
/// second.
[[nodiscard]] inline spmv_workbench::Options for_leading_part(spmv_workbench::Options options) {
    options.stop = {};
    if (options.triangle == spmv_workbench::Triangle::refused) options.triangle = spmv_workbench::Triangle::as_given;
    return options;
}

}  // namespace workbench
