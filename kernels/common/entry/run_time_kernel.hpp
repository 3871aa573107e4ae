// The CUDA kernel of a schedule that NVRTC compiles when it is prepared: in a format beside the recipe, for several vectors,
// and where the program lacks it (is_compiled_in).
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/contract/kernel.hpp"
#include "kernels/common/compilation/kernel_instance.hpp"
#include "kernels/common/schedule/run.hpp"
#include "kernels/common/storage/fields.hpp"

namespace workbench {

/// The name of a type as source code: "workbench::MyCsr16Rows<8>".
template <typename Type>
[[nodiscard]] constexpr std::string_view type_name() {
    const std::string_view text = __PRETTY_FUNCTION__;  // "... [with Type = workbench::MyCsr16Rows<8>; ...]"
    const std::size_t begin = text.find("Type = ") + 7;
    return text.substr(begin, text.find_first_of(";]", begin) - begin);
}

/// A schedule over arrays of a type that NVRTC knows, for arrays on a GPU.
struct RunTimeSchedule {
    KernelInstance instance;
    Offset threads = 0;
    unsigned shared_bytes = 0;
    bool atomic = false;
    int lanes = 1;
};

/// "multiply_rows<workbench::MyCsr16Rows<8>, ..., double": appends types to the name of a kernel template. Arguments that are
/// no types may stand before them ("multiply_slices<2, 1") and may follow.
[[nodiscard]] std::string with_types(std::string name, std::initializer_list<std::string_view> types);
template <typename... Types>
[[nodiscard]] std::string with_types(std::string name) {
    return with_types(std::move(name), {type_name<Types>()...});
}

/// The types of an instance beside that of the schedule, and what a schedule needs to know of them.
struct RunTimeTypes {
    const char* file = "";  // as in KernelInstance
    std::string_view arrays = {};
    std::string_view value = {};
    std::size_t bytes_of_value = 0;
    unsigned shared_bytes = 0;  // of arrays with one array of values
};
/// stored: arrays on the host, or views.
template <ValueType Value, typename Stored>
[[nodiscard]] RunTimeTypes run_time_types(const char* file, const Stored& stored) {
    RunTimeTypes types{file, type_name<InStorage<Stored, ArrayView>>(), type_name<Value>(), sizeof(Value)};
    if constexpr (requires { stored.values; }) types.shared_bytes = bytes_of_dictionary(stored.values);
    return types;
}

/// schedule: its type.
[[nodiscard]] RunTimeSchedule schedule_of_types(const RunTimeTypes& types, int vectors, std::string_view schedule,
                                                Offset threads, unsigned shared_bytes, bool atomic, int lanes);
/// arrays: views, or these without values.
template <typename S>
[[nodiscard]] RunTimeSchedule run_time_schedule(const RunTimeTypes& types, int vectors, const auto& arrays) {
    unsigned shared_bytes = types.shared_bytes;
    if constexpr (S::hooks.own_values) shared_bytes = bytes_of_dictionary(S::values(arrays));
    return schedule_of_types(types, vectors, type_name<S>(), S::threads(arrays), shared_bytes, S::atomic, S::lanes);
}

/// Arrays on a GPU and their views, without types.
struct ArraysOnGpu {
    std::shared_ptr<const void> owner = {};
    std::vector<std::byte> view = {};

    void set_view(const auto& typed) {
        view.resize(sizeof(typed));
        std::memcpy(view.data(), &typed, sizeof(typed));
    }
};

/// What a kernel launches, one schedule after another, for which vectors and rows.
struct RunTimePlan {
    std::span<const Index> rows = {};  // as in PrepareRows
    int vectors = 1;
    std::string layout;
    Index row_count = 0;                         // of the layout
    std::optional<std::int64_t> own_bytes = {};  // Kernel::own_bytes_to_move
    bool first_has_all_rows = true;              // the first schedule writes every row
    std::vector<RunTimeSchedule> schedules = {};

    void add(RunTimeSchedule&& schedule);
};

/// Throws MachineError unless X and Y begin where the loads of kernels for several vectors require it.
void require_alignment_of_vectors(const void* x, const void* y);

/// Launches schedules one after another.
template <ValueType Value>
class RunTimeRowsKernel final : public Kernel<Value> {
public:
    RunTimeRowsKernel(ArraysOnGpu arrays, const RunTimePlan& plan, Device& device);

    void run(const Value* x, Value* y, bool accumulate) override;
    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    struct LoadedSchedule {
        Offset threads = 0;
        unsigned shared_bytes = 0;
        std::unique_ptr<LoadedKernel> kernel;
    };

    void zero(Value* y);

    ArraysOnGpu arrays_;
    int vectors_;
    std::size_t elements_of_y_;
    std::optional<std::int64_t> bytes_;
    Device& device_;
    std::vector<LoadedSchedule> steps_;
    bool zeroes_first_;
    DeviceArray<Index> rows_;
    DeviceArray<Index> zeroed_;  // elements of y; empty: all, or none is zeroed
    DeviceArray<Value> zeros_;
};

/// An instance of a kernel with a loop of its own, which NVRTC compiles when it is prepared.
class RunTimeLoop {
public:
    /// file, name: as in KernelInstance.
    RunTimeLoop(std::string file, std::string name, Device& device) : RunTimeLoop({std::move(file), std::move(name)}, device) {}
    RunTimeLoop(const KernelInstance& instance, Device& device) : kernel_(load_instance(instance, device)) {}

    /// arguments: of the very types that the kernel takes.
    void launch(Offset blocks, int threads_of_block, unsigned shared_bytes, auto... arguments) const {
        std::array<void*, sizeof...(arguments)> addresses{&arguments...};
        kernel_->launch(blocks, threads_of_block, shared_bytes, addresses.data());
    }

private:
    std::unique_ptr<LoadedKernel> kernel_;
};

/// True of arrays whose kernels with loops of their own are in the program. NVRTC compiles those for codes and for values that
/// are all equal or rounded.
template <typename Arrays, typename Value>
concept HasFullValues = requires(const Arrays& arrays) {
    { arrays.values.data() } -> std::same_as<const Value*>;
};

}  // namespace workbench
