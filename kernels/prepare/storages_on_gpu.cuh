// The storages that plans make on the GPU, from the rows in their order.
#pragma once

#include "kernels/prepare/cuthill_mckee.cuh"
#include "kernels/prepare/planned_on_gpu.cuh"

namespace workbench {

/// The reordered rows, or rows of blocks, of a matrix.
struct ReorderedRows {
    Index rows = 0;
    DeviceMemory offsets;           // Offset [rows + 1]
    DeviceMemory entries;           // std::uint32_t [entries] their numbers in the input
    WorkspaceArray<Index> columns;  // [entries] ascending strictly in each row

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
};

/// Each throws Unsuitable where the host must prepare the matrix.
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows rows, const WholeRows& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows rows, const PaddedRows& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows rows, const RowSlices& storage);
template <ValueType Value>
void store_on_gpu(const StorageTask<Value>& task, ReorderedRows rows, const BlockSlices& storage);

/// How the nonzeros of a plan are divided into tiles: boundaries of row blocks and segments, and the orders of the rows in
/// them.
struct TilesOfPlan {
    std::vector<Index> row_blocks;
    std::vector<Index> segments;
    std::vector<PlaceInTiles> orders;  // one after another
};
template <ValueType Value>
void store_tiles(const StorageTask<Value>& task, ReorderedRows rows, const TileBatches& storage, const TilesOfPlan& plan);

/// Memory for `count` items that outlives the workspace.
template <typename Item>
[[nodiscard]] DeviceMemory room_for(Device& device, std::size_t count, const char* purpose) {
    return device.allocate(count * sizeof(Item), purpose);
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
