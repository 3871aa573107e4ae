#include "kernels/common/entry/run_time_kernel.hpp"

#include <cstdint>
#include <string>

#include "core/contract/errors.hpp"
#include "kernels/common/schedule/vector_tiles.hpp"

namespace workbench {

std::string with_types(std::string name, std::initializer_list<std::string_view> types) {
    const char* between = name.find('<') == std::string::npos ? "<" : ", ";
    for (const std::string_view type : types) {
        name.append(between).append(type);
        between = ", ";
    }
    return name;
}

RunTimeSchedule schedule_of_types(const RunTimeTypes& types, int vectors, std::string_view schedule, Offset threads,
                                  unsigned shared_bytes, bool atomic, int lanes) {
    const bool is_one = vectors == 1;
    const std::string name =
        with_types(is_one ? "multiply_rows" : "multiply_rows_of_vectors", {schedule, types.arrays, types.value});
    const std::string end = is_one ? ">" : ", " + std::to_string(vectors) + ">";
    return {{types.file, name + end, is_one}, threads, shared_bytes, atomic, lanes};
}

void require_alignment_of_vectors(const void* x, const void* y) {
    constexpr std::uintptr_t longest_load = 16;  // bytes
    if ((reinterpret_cast<std::uintptr_t>(x) | reinterpret_cast<std::uintptr_t>(y)) % longest_load == 0) return;
    throw MachineError("several vectors on a GPU begin at a multiple of 16 bytes; these do not");
}

void RunTimePlan::add(RunTimeSchedule&& schedule) { schedules.push_back(std::move(schedule)); }

template <ValueType Value>
RunTimeRowsKernel<Value>::RunTimeRowsKernel(ArraysOnGpu arrays, const RunTimePlan& plan, Device& device)
    : arrays_(std::move(arrays)),
      vectors_(plan.vectors),
      elements_of_y_(static_cast<std::size_t>(plan.row_count) * plan.vectors),
      bytes_(plan.own_bytes),
      device_(device),
      zeroes_first_(plan.schedules.front().atomic || !plan.first_has_all_rows),
      rows_(device, plan.rows, plan.layout + " rows of y") {
    for (const RunTimeSchedule& schedule : plan.schedules) {
        const int parts = vectors_ == 1 ? 1 : vector_tiles(schedule.lanes, vectors_, sizeof(Value)).parts;
        if (schedule.threads == 0) continue;
        steps_.push_back({schedule.threads * parts, schedule.shared_bytes, load_instance(schedule.instance, device)});
    }
    zeroes_first_ = zeroes_first_ || (plan.schedules.front().threads == 0 && plan.row_count > 0);
    if (!zeroes_first_ || plan.rows.empty()) return;
    HostArray<Index> elements;
    for (const Index row : plan.rows) {
        for (int j = 0; j < vectors_; ++j) elements.push_back(row * vectors_ + j);
    }
    zeroed_ = {device, elements, plan.layout + " elements of y"};
    zeros_ = {device, HostArray<Value>(elements.size(), Value{0}), plan.layout + " zeros"};
}

template <ValueType Value>
void RunTimeRowsKernel<Value>::zero(Value* y) {
    if (zeroed_.size() > 0) {
        device_.scatter(zeros_.data(), zeroed_.data(), static_cast<Index>(zeroed_.size()), y);
    } else {
        device_.zero(y, elements_of_y_ * sizeof(Value));
    }
}

template <ValueType Value>
void RunTimeRowsKernel<Value>::run(const Value* x, Value* y, bool accumulate) {
    if (vectors_ > 1) require_alignment_of_vectors(x, y);
    if (zeroes_first_ && !accumulate) zero(y);
    bool adds = accumulate || zeroes_first_;
    const Index* target = rows_.size() == 0 ? nullptr : rows_.data();  // TargetRows of the kernel
    for (LoadedSchedule& step : steps_) {
        void* arguments[] = {arrays_.view.data(), &target, &x, &y, &adds};
        step.kernel->launch((step.threads + row_threads - 1) / row_threads, row_threads, step.shared_bytes, arguments);
        adds = true;
    }
}

template class RunTimeRowsKernel<float>;
template class RunTimeRowsKernel<double>;

}  // namespace workbench
