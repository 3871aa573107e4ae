// The storages that plans make on the GPU, from the rows in their order.
#pragma once

#include <bit>
#include <chrono>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/contract/value_facts.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"

namespace workbench {

/// The reordered rows, or rows of blocks, of a matrix.
struct ReorderedRows {
    Index rows = 0;
    DeviceMemory offsets;             // Offset [rows + 1]
    DeviceMemory entries;             // std::uint32_t [entries] their numbers in the input
    WorkspaceArray<Index> columns;    // [entries] ascending strictly in each row
    Index block_size = 1;             // entries are blocks of block_size x block_size, and nonzeros if it is 1
    DeviceMemory nonzeros_of_blocks;  // std::uint32_t [entries * block_size^2] by their numbers in the input; if blocks
    std::vector<Index> rows_of_y;     // [rows] that the kernel writes; empty: its own

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
    const std::uint32_t* entries_of_share =
        nullptr;                        // [matrix.nonzeros] their numbers in the input; null: the matrix is all of it
    std::size_t nonzeros_of_input = 0;  // if it is a share

    [[nodiscard]] std::size_t nonzeros() const { return static_cast<std::size_t>(matrix.nonzeros); }
    [[nodiscard]] std::size_t input_nonzeros() const { return entries_of_share == nullptr ? nonzeros() : nonzeros_of_input; }
    [[nodiscard]] ItemsOnGpu<Value> items() const {
        return {.values = values(), .count = input_nonzeros(), .chosen = entries_of_share, .chosen_count = nonzeros()};
    }

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

/// Copies the values of a matrix with these numbers to the host; null: the first `count`.
template <ValueType Value>
void copy_values(const StorageTask<Value>& task, const std::uint32_t* numbers, std::size_t count, HostArray<double>& values);
/// Copies the offsets of rows to the host, after the work of the stream.
template <ValueType Value>
void copy_lengths(const StorageTask<Value>& task, const PatternOnGpu& pattern, CsrMatrix& matrix);
/// And then their columns, and the values with these numbers.
template <ValueType Value>
void copy_entries(const StorageTask<Value>& task, const PatternOnGpu& pattern, const std::uint32_t* numbers, CsrMatrix& matrix);

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

/// EHYB for the parts of the result's facts, and its kernel `fused`. sorts: of the rows outside, one after another. Slices must
/// have fewer than 2^31 slots.
template <ValueType Value>
void store_ehyb(const StorageTask<Value>& task, const ReorderedRows& rows, const PartSlices& storage,
                const std::vector<SortShare>& sorts);

/// Divides the nonzeros, and stores each share of the plan with a kernel of its own, all of which the result runs. Throws
/// Unsuitable for an empty share.
template <ValueType Value>
void store_shares(const StorageTask<Value>& task, const ReorderedRows& rows, const DevicePlan& plan);

/// For DevicePlan::settle, without what no storage on a GPU depends on.
template <ValueType Value>
[[nodiscard]] ValueFacts facts_on_gpu(const StorageTask<Value>& task, const ReorderedRows& rows, const DeviceStorage& storage,
                                      Index node_size);

/// The storage for the values of the matrix, or of a share. plan: DevicePlan or StoredShare.
template <ValueType Value>
[[nodiscard]] DeviceStorage settled(const StorageTask<Value>& task, const ReorderedRows& rows, const auto& plan,
                                    Index node_size = 1) {
    if (!plan.settle) return plan.storage;
    std::optional<DeviceStorage> storage = plan.settle(facts_on_gpu(task, rows, plan.storage, node_size));
    if (!storage) throw Unsuitable("the host stores these values");
    return *std::move(storage);
}

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

/// [rows] Complete on return.
template <ValueType Value>
[[nodiscard]] DeviceArray<Index> lengths_of_rows(const StorageTask<Value>& task, const ReorderedRows& rows);

/// Has the result multiply by these arrays of rows: of slices by the lengths of their rows if there are any
/// (rows_kernel_on_gpu).
template <ValueType Value>
void multiply_by(const StorageTask<Value>& task, const ReorderedRows& rows, auto&& arrays, DeviceArray<Index> lengths = {}) {
    task.result.note_arrays(arrays);
    const Offset vectors = (Offset{arrays.row_count} + arrays.column_count) * static_cast<Offset>(sizeof(Value));
    RowArraysOnGpu<Value> own{std::make_shared<typename RowArraysOnGpu<Value>::Arrays>(std::move(arrays))};
    task.result.own_kernel = rows_kernel_on_gpu<Value>(std::move(own), std::move(lengths), task.matrix.nonzeros,
                                                       task.result.own_facts.bytes + vectors, rows.rows_of_y, task.device);
}

/// Memory for `count` items that outlives the workspace.
template <typename Item>
[[nodiscard]] DeviceMemory room_for(Device& device, std::size_t count, const char* purpose) {
    return device.allocate(count * sizeof(Item), purpose);
}

/// What is known of values before they are stored.
template <ValueType Value>
struct Coding {
    std::optional<CodesOnGpu<Value>> codes = {};  // also of values that are all equal
    DeviceMemory nonzeros_of_blocks = {};         // if blocks are coded
    Index area = 1;                               // of a block
    int column_bits = 0;                          // of words
    DeviceMemory equals = {};                     // of GatheredSlots
    Rounding rounding = Rounding::none;
};

template <ValueType Value>
Coding<Value> coded(const StorageTask<Value>& task, Offset most) {
    auto codes = code_on_gpu<Value>(task.device, task.items(), most, task.workspace.stream());
    if (codes) return {std::move(codes)};
    throw Unsuitable(most == 1 ? "the values are not all equal" : "there are more distinct values than codes");
}

template <ValueType Value>
ItemsOnGpu<Value> items_of_blocks(const StorageTask<Value>& task, const ReorderedRows& rows) {
    return {task.values(), rows.columns.size(), rows.nonzeros_of_blocks.as<const std::uint32_t>(),
            rows.block_size * rows.block_size};
}

template <ValueType Value>
Coding<Value> coded_blocks(const StorageTask<Value>& task, ReorderedRows& rows) {
    auto codes = code_on_gpu<Value>(task.device, items_of_blocks(task, rows), most_coded_blocks, task.workspace.stream());
    if (!codes) throw Unsuitable("there are more distinct blocks than codes");
    return {std::move(codes), std::move(rows.nonzeros_of_blocks), rows.block_size * rows.block_size};
}

[[nodiscard]] constexpr Rounding rounding_of(DeviceValues values) {
    return values == DeviceValues::rounded_f32    ? Rounding::f32
           : values == DeviceValues::rounded_bf16 ? Rounding::bf16
                                                  : Rounding::none;
}

/// Without rounding: values that f32 represents exactly.
inline Coding<double> rounded(const StorageTask<double>& task, Rounding rounding) {
    if (fit_on_gpu(task.device, task.items(), rounding, task.workspace.stream())) return {.rounding = rounding};
    throw Unsuitable(rounding == Rounding::none ? "f32 does not represent all values exactly"
                                                : "a value would be rounded to infinity");
}

/// Calls use(type of stored values, Coding) for values that are not rounded.
template <ValueType Value>
void with_coding(const StorageTask<Value>& task, DeviceValues wanted, const auto& use) {
    if (wanted == DeviceValues::one) return use(std::type_identity<Constant<Value>>{}, coded(task, 1));
    if (wanted == DeviceValues::dictionary) {
        return use(std::type_identity<Coded<Value, std::uint8_t>>{}, coded(task, most_values_of_bytes));
    }
    if constexpr (std::is_same_v<Value, double>) {
        if (wanted == DeviceValues::f32) return use(std::type_identity<float>{}, rounded(task, Rounding::none));
    }
    use(std::type_identity<Value>{}, Coding<Value>{});
}

/// Makes the array of the values of `count` slots, or of the codes of blocks, which the result fills in for these items
/// (GatheredSlots).
template <typename Stored, ValueType Value>
ValueArray<Stored, DeviceArray> gathered_values(const StorageTask<Value>& task, DeviceMemory items, std::size_t count,
                                                Coding<Value> coding, const char* purpose) {
    using Values = ValueArray<Stored, DeviceArray>;
    Values values;
    GatheredSlots<Value> made{std::move(items), count, task.nonzeros()};
    made.rounding = coding.rounding;
    made.equals = std::move(coding.equals);
    if constexpr (ConstantMember<Values>) {
        made.only = coding.codes->dictionary.front();
        values = {*made.only, static_cast<Offset>(count)};
    } else if constexpr (HasDictionary<Values>) {
        const bool of_blocks = coding.nonzeros_of_blocks.bytes() > 0;
        CodesOnGpu<Value>& codes = *coding.codes;
        if (of_blocks || count > task.nonzeros()) codes.put_zeros_first(coding.area);
        values.codes = {room_for<typename Values::Code>(task.device, count, purpose), static_cast<Offset>(count)};
        values.dictionary = {task.device, codes.dictionary, "a dictionary"};
        if constexpr (requires { values.values_of_code; }) values.values_of_code = coding.area;
        const std::size_t room = codes.dictionary.size();
        if constexpr (HasColumns<Values>) {
            values.column_bits = coding.column_bits;
            if (coding.column_bits + std::bit_width(room - 1) > 32) {
                throw Unsuitable("a word of 32 bits has no room for the columns of the widest slice and the codes");
            }
        }
        made.coded = CodedSlots<Value>{const_cast<typename Values::Code*>(values.codes.data()),
                                       coding.column_bits,
                                       const_cast<Value*>(values.dictionary.data()),
                                       room,
                                       std::move(coding.nonzeros_of_blocks),
                                       coding.area,
                                       std::move(codes)};
    } else {
        DeviceMemory stored = room_for<Stored>(task.device, count, purpose);
        if constexpr (std::is_same_v<Stored, Value>) {
            made.values = stored.template as<Value>();
        } else if constexpr (std::is_same_v<Stored, float>) {
            made.in_f32 = stored.template as<float>();
        } else {
            made.in_bf16 = stored.template as<Bf16>();
        }
        values = {std::move(stored), static_cast<Offset>(count)};
    }
    task.result.gathered.push_back(std::move(made));
    return values;
}

/// The blocks before each row of blocks of size x size, and of all: [rows of blocks + 1]. The last blocks may exceed the
/// pattern.
[[nodiscard]] WorkspaceArray<Offset> counted_blocks(Workspace& workspace, const PatternOnGpu& pattern, Index size);

/// The pattern of the `count` blocks, from these sums. nonzeros: [count * size * size] the number of the nonzero in each place
/// of each block, row by row; no_item beforehand. Null: they are not listed.
struct BlocksOnGpu {
    Index rows = 0;
    WorkspaceArray<std::uint32_t> offsets;
    WorkspaceArray<Index> columns;

    [[nodiscard]] PatternOnGpu pattern() const { return {rows, offsets.data(), columns.data()}; }
};
[[nodiscard]] BlocksOnGpu listed_blocks(Workspace& workspace, const PatternOnGpu& pattern, Index size,
                                        const WorkspaceArray<Offset>& sums, std::size_t count, std::uint32_t* nonzeros);

/// An order of rows or columns. Without arrays: the natural one.
struct OrderBothWays {
    WorkspaceArray<Index> to_old;  // [rows or columns]
    WorkspaceArray<Index> to_new;

    [[nodiscard]] bool is_natural() const { return to_old.size() == 0; }
};

/// old_of_new: null for the natural order.
[[nodiscard]] OrderBothWays both_ways(Workspace& workspace, const std::uint32_t* old_of_new, std::size_t count);
[[nodiscard]] OrderBothWays copy_of(Workspace& workspace, const OrderBothWays& order);

/// second[i] = first[second[i]]
template <typename Item>
void compose(Workspace& workspace, const Item* first, Item* second, std::size_t count);
/// first, and then `second`.
void follow(Workspace& workspace, OrderBothWays& first, const OrderBothWays& second);

/// The order of `count` rows from that of nodes of `size` rows; a last node of fewer rows keeps its place.
void expand(Workspace& workspace, const OrderBothWays& of_nodes, Index size, std::size_t count, Index* to_old, Index* to_new);
[[nodiscard]] OrderBothWays expanded(Workspace& workspace, const OrderBothWays& of_nodes, Index size, std::size_t count);

/// Moves the rows of a pattern, which have up to `longest` entries, and its columns, to orders with arrays. are_natural: they
/// are the natural ones. columns, numbers: [entries] of the moved rows, and their numbers in the pattern. Returns the offsets
/// of the moved rows, [rows + 1].
struct RowMove {
    const PatternOnGpu& pattern;
    std::int64_t entries = 0;
    std::int64_t longest = 0;
    const OrderBothWays& of_rows;
    const OrderBothWays& of_columns;
    bool are_natural = false;
};
[[nodiscard]] WorkspaceArray<Offset> move_rows(Workspace& workspace, const RowMove& move, Index* columns,
                                               std::uint32_t* numbers);

}  // namespace workbench
