// The storages that plans make on the GPU, from the rows in their order.
#pragma once

#include <chrono>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"

namespace workbench {

/// The reordered rows, or rows of blocks, of a matrix.
struct ReorderedRows {
    Index rows = 0;
    DeviceMemory offsets;                              // Offset [rows + 1]
    DeviceMemory entries;                              // std::uint32_t [entries] their numbers in the input
    WorkspaceArray<Index> columns;                     // [entries] ascending strictly in each row
    Index block_size = 1;                              // entries are blocks of block_size x block_size, and nonzeros if it is 1
    WorkspaceArray<std::uint32_t> nonzeros_of_blocks;  // [entries * block_size^2] by their numbers in the input; if blocks

    /// longest: row of the matrix.
    [[nodiscard]] ReorderedOnGpu view(std::uint32_t longest) const {
        return {offsets.as<const Offset>(), columns.data(), entries.as<const std::uint32_t>(), rows, longest};
    }
};

/// What the storages of a plan need beside the rows. The result gets the arrays, what new values need, and the kernel.
template <ValueType Value>
struct StorageTask {
    Workspace& workspace;
    Device& device;
    const CsrOnDevice<Value>& matrix;  // as it was given
    std::uint32_t longest = 0;         // row of the matrix
    PlannedOnGpu<Value>& result;

    /// Those of the matrix, which may have to arrive.
    [[nodiscard]] const Value* values() const {
        if (matrix.values_coming != nullptr) {
            const auto begin = std::chrono::steady_clock::now();
            matrix.values_coming->wait();
            result.own_facts.waited_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        return matrix.values;
    }
};

/// Each throws Unsuitable where the host must prepare the matrix. Each may take arrays of the rows, which must outlive the work
/// of the stream.
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const WholeRows& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const PaddedRows& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const RowSlices& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows& rows, const BlockSlices& storage);

/// How the nonzeros of a plan are divided into tiles: boundaries of row blocks and segments, and the orders of the rows in
/// them.
struct TilesOfPlan {
    std::vector<Index> row_blocks;
    std::vector<Index> segments;
    std::vector<PlaceInTiles> orders;  // one after another
};
template <ValueType Value>
void store_tiles(const StorageTask<Value>& task, const ReorderedRows& rows, const TileBatches& storage,
                 const TilesOfPlan& plan);

/// Memory for `count` items that outlives the workspace.
template <typename Item>
[[nodiscard]] DeviceMemory room_for(Device& device, std::size_t count, const char* purpose) {
    return device.allocate(count * sizeof(Item), purpose);
}

/// Calls use(type of stored values, distinct values) for the coding of the values; the latter are for codes, and for values
/// that are all equal.
template <ValueType Value>
void with_coding(const StorageTask<Value>& task, DeviceValues wanted, const auto& use) {
    const cudaStream_t stream = task.workspace.stream();
    const auto nonzeros = static_cast<std::size_t>(task.matrix.nonzeros);
    const bool automatic = wanted == DeviceValues::automatic;
    if (automatic || wanted == DeviceValues::one || wanted == DeviceValues::dictionary) {
        const Offset most = wanted == DeviceValues::one ? 1 : most_values_of_bytes;
        const auto distinct = distinct_on_gpu(task.device, task.values(), nonzeros, most, stream);
        if (distinct && distinct->size() == 1 && wanted != DeviceValues::dictionary) {
            return use(std::type_identity<Constant<Value>>{}, *distinct);
        }
        if (distinct) return use(std::type_identity<Coded<Value, std::uint8_t>>{}, *distinct);
        if (wanted == DeviceValues::one) throw Unsuitable("the values are not all equal");
        if (!automatic) throw Unsuitable("there are more distinct values than codes");
    }
    if constexpr (std::is_same_v<Value, double>) {
        const bool tries = automatic || wanted == DeviceValues::f32;
        if (tries && are_exact_in_f32_on_gpu(task.device, task.values(), nonzeros, stream)) {
            return use(std::type_identity<float>{}, std::vector<Value>());
        }
        if (wanted == DeviceValues::f32) throw Unsuitable("f32 does not represent all values exactly");
    }
    use(std::type_identity<Value>{}, std::vector<Value>());
}

/// Makes the array of the values of slots, which the result fills in from these nonzeros (GatheredSlots).
template <typename Stored, ValueType Value>
ValueArray<Stored, DeviceArray> gathered_values(const StorageTask<Value>& task, DeviceMemory nonzeros, std::size_t slots,
                                                const std::vector<Value>& distinct, const char* purpose) {
    ValueArray<Stored, DeviceArray> values;
    GatheredSlots<Value> made{std::move(nonzeros), slots};
    if constexpr (ConstantMember<decltype(values)>) {
        made.only = distinct.front();
        values = {distinct.front(), static_cast<Offset>(slots)};
    } else if constexpr (HasDictionary<decltype(values)>) {
        const ValueCodes<Value> codes(distinct, slots > static_cast<std::size_t>(task.matrix.nonzeros));
        DeviceMemory stored = room_for<std::uint8_t>(task.device, slots, purpose);
        DeviceMemory dictionary = to_device(task.device, std::span<const Value>(codes.dictionary()), "a dictionary");
        made.codes = stored.as<std::uint8_t>();
        made.dictionary = dictionary.template as<Value>();
        made.distinct = made.room = static_cast<Index>(codes.dictionary().size());
        values.codes = {std::move(stored), static_cast<Offset>(slots)};
        values.dictionary = {std::move(dictionary), Offset{made.room}};
    } else {
        DeviceMemory stored = room_for<Stored>(task.device, slots, purpose);
        if constexpr (std::is_same_v<Stored, Value>) {
            made.values = stored.template as<Value>();
        } else {
            made.in_f32 = stored.template as<float>();
        }
        values = {std::move(stored), static_cast<Offset>(slots)};
    }
    task.result.gathered.push_back(std::move(made));
    return values;
}

/// The way from the rows of a pattern to those of an order.
struct RowMove {
    WorkspaceArray<Index> to_old;    // [rows]
    WorkspaceArray<Index> to_new;    // [rows]
    WorkspaceArray<Offset> offsets;  // [rows + 1] of the moved rows
};

/// Moves the rows and columns of a pattern, whose rows have up to `longest` entries, to an order. old_rows: the old row in each
/// place, or null for the order of the pattern. columns, numbers: [entries] of the moved rows, and their numbers in the
/// pattern.
[[nodiscard]] RowMove move_rows(Workspace& workspace, const PatternOnGpu& pattern, std::int64_t entries, std::int64_t longest,
                                const std::uint32_t* old_rows, Index* columns, std::uint32_t* numbers);

}  // namespace workbench
