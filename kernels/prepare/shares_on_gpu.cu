// The shares of a hybrid: divided on the GPU, sorted and stored row by row, each with a kernel of its own.
//
// Races. A thread writes the items of its own number, or those of its row with the other threads of that row. Nonzeros are
// counted by atomics.
#include <algorithm>
#include <iterator>
#include <ranges>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/permutation.hpp"
#include "core/matrix/shares.hpp"
#include "core/system/hybrid_kernel.hpp"
#include "core/text/words.hpp"
#include "kernels/prepare/storages_on_gpu.cuh"
#include "kernels/primitives/search.hpp"
#include "kernels/primitives/sort_and_scan.cuh"

namespace workbench {
namespace {

/// The key of entry i of a row, by which nonzeros are divided.
inline __device__ std::size_t split_key(const ReorderedOnGpu& matrix, SplitKey key, Index row, Offset i) {
    switch (key) {
        case SplitKey::row: return static_cast<std::size_t>(row);
        case SplitKey::column: return static_cast<std::size_t>(matrix.columns[i]);
        case SplitKey::place: return static_cast<std::size_t>(i - matrix.offsets[row]);
        case SplitKey::diagonal: return static_cast<std::size_t>(Offset{matrix.rows} - 1 + matrix.columns[i] - row);
        default: return static_cast<std::size_t>(i);
    }
}

/// counts: [keys] zeros beforehand.
__global__ void count_split_keys(ReorderedOnGpu matrix, SplitKey key, unsigned* counts) {
    on_gpu::for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        for (Offset i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += on_gpu::lanes) {
            atomicAdd(counts + split_key(matrix, key, row, i), 1U);
        }
    });
}

/// The share of each nonzero: table[key], or 0 and 1 for those inside and outside of the parts.
__global__ void number_shares(ReorderedOnGpu matrix, SplitKey key, const std::uint8_t* __restrict__ table,
                              const Index* __restrict__ boundaries, Index parts, std::uint8_t* __restrict__ shares) {
    on_gpu::for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        const Index part = table == nullptr ? piece_at(boundaries, parts, row) : 0;
        for (Offset i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += on_gpu::lanes) {
            if (table != nullptr) {
                shares[i] = table[split_key(matrix, key, row, i)];
            } else {
                shares[i] = matrix.columns[i] >= boundaries[part] && matrix.columns[i] < boundaries[part + 1] ? 0 : 1;
            }
        }
    });
}

/// 1 for each nonzero of a share, at the place after it.
__global__ void mark_share(const std::uint8_t* __restrict__ shares, std::size_t count, std::uint8_t share,
                           Offset* __restrict__ marks) {
    on_gpu::for_each_item(count, [&](std::size_t i) {
        marks[i + 1] = shares[i] == share ? 1 : 0;
        if (i == 0) marks[0] = 0;
    });
}

/// 1 for each row with nonzeros of a share, at the place after it. before: the nonzeros of the share before each nonzero.
__global__ void mark_rows_of_share(ReorderedOnGpu matrix, const Offset* __restrict__ before, Offset* __restrict__ marks) {
    on_gpu::for_each_item(static_cast<std::size_t>(matrix.rows), [&](std::size_t row) {
        marks[row + 1] = before[matrix.offsets[row + 1]] > before[matrix.offsets[row]] ? 1 : 0;
        if (row == 0) marks[0] = 0;
    });
}

/// The rows of a share, and their offsets.
__global__ void list_rows_of_share(ReorderedOnGpu matrix, const Offset* __restrict__ before,
                                   const Offset* __restrict__ rows_before, Index* __restrict__ rows,
                                   Offset* __restrict__ offsets) {
    on_gpu::for_each_item(static_cast<std::size_t>(matrix.rows), [&](std::size_t row) {
        const Offset place = rows_before[row];
        if (row == 0) offsets[0] = 0;
        if (rows_before[row + 1] == place) return;
        rows[place] = static_cast<Index>(row);
        offsets[place + 1] = before[matrix.offsets[row + 1]];
    });
}

__global__ void list_share(ReorderedOnGpu matrix, std::size_t count, const Offset* __restrict__ before,
                           Index* __restrict__ columns, std::uint32_t* __restrict__ entries) {
    on_gpu::for_each_item(count, [&](std::size_t i) {
        const Offset place = before[i];
        if (before[i + 1] == place) return;
        columns[place] = matrix.columns[i];
        entries[place] = matrix.entries[i];
    });
}

/// The length of each sorted row, at the place after it.
__global__ void measure_sorted(const std::uint32_t* __restrict__ sorted, std::size_t count, const Offset* __restrict__ given,
                               Offset* __restrict__ lengths) {
    on_gpu::for_each_item(count, [&](std::size_t place) {
        lengths[place + 1] = given[sorted[place] + 1] - given[sorted[place]];
        if (place == 0) lengths[0] = 0;
    });
}

__global__ void copy_sorted(const std::uint32_t* __restrict__ sorted, ReorderedOnGpu given, const Offset* __restrict__ offsets,
                            Index* __restrict__ columns, std::uint32_t* __restrict__ entries) {
    on_gpu::for_each_row(given.rows, [&](Index row, unsigned lane) {
        const Offset from = given.offsets[sorted[row]];
        for (Offset k = lane; k < offsets[row + 1] - offsets[row]; k += on_gpu::lanes) {
            columns[offsets[row] + k] = given.columns[from + k];
            entries[offsets[row] + k] = given.entries[from + k];
        }
    });
}

/// A share as a matrix of the rows that are present in it.
struct ShareOnGpu {
    ReorderedRows matrix;  // rows_of_y: those of the whole matrix
    std::uint32_t longest = 0;
};

template <ValueType Value>
class ShareMaker {
public:
    ShareMaker(const StorageTask<Value>& task, const ReorderedRows& rows, const SplitNonzeros& split)
        : task_(task), workspace_(task.workspace), rows_(rows), matrix_(rows_.view(task.longest)), split_(split) {}

    /// The number of the share of each nonzero.
    void divide(const std::string& stage) {
        shares_ = workspace_.make<std::uint8_t>(nonzeros());
        const std::vector<Index>& partition = task_.result.own_facts.partition;
        WorkspaceArray<Index> boundaries;
        WorkspaceArray<std::uint8_t> table;
        if (split_.table) {
            const SplitTable made = make_table(partition);
            for (const auto& [what, text] : made.notes) note(stage, what + ": " + text);
            table = workspace_.upload(std::span(made.shares));
        } else {
            boundaries = workspace_.upload<Index>(std::span(partition));
        }
        number_shares<<<blocks_for_rows(), block_threads, 0, stream()>>>(
            matrix_, split_.key, table.data(), boundaries.data(), static_cast<Index>(boundaries.size()) - 1, shares_.data());
        check_launch("number_shares");
    }

    /// The rows and nonzeros of a share, sorted.
    [[nodiscard]] ShareOnGpu share(ShareKind kind, const DevicePlan& plan, const std::string& stage) {
        const auto number = std::ranges::find(split_.shares, kind) - split_.shares.begin();
        ShareOnGpu share = listed(static_cast<std::uint8_t>(number), kind);
        note(stage, std::string(name_of(kind)) + ": " +
                        counted_with_commas(static_cast<std::int64_t>(share.matrix.columns.size()), "nonzero") + " in " +
                        counted_with_commas(share.matrix.rows, "row"));
        for (const DeviceStep& step : plan.steps | std::views::values) {
            const auto* const sort = std::get_if<SortShare>(&step);
            if (sort != nullptr && sort->share == kind) share.matrix = sorted(share, *sort);
        }
        return share;
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] std::size_t nonzeros() const { return rows_.columns.size(); }
    [[nodiscard]] unsigned blocks_for_rows() const {
        return blocks_of(static_cast<std::size_t>(matrix_.rows) * on_gpu::lanes, block_threads);
    }
    [[nodiscard]] static unsigned blocks(std::size_t count) { return blocks_of(count, block_threads); }
    void note(const std::string& stage, const std::string& text) {
        task_.result.own_facts.notes.push_back(stage + ": " + text);
    }

    [[nodiscard]] SplitTable make_table(const std::vector<Index>& partition) {
        CsrMatrix rows;
        rows.rows = matrix_.rows;
        rows.columns = task_.matrix.columns;
        rows.row_offsets.resize(static_cast<std::size_t>(matrix_.rows) + 1);
        copy_from_device(task_.device, matrix_.offsets, std::span(rows.row_offsets));
        const std::vector<Offset> counts = split_.counts ? counted_keys() : std::vector<Offset>();
        return split_.table({ShareView(rows), rows.rows, rows.columns, partition, counts});
    }

    [[nodiscard]] std::vector<Offset> counted_keys() {
        const auto columns = static_cast<std::size_t>(task_.matrix.columns);
        const std::size_t above = split_.key == SplitKey::column ? 0 : static_cast<std::size_t>(matrix_.rows) - 1;
        const auto counts = workspace_.make<unsigned>(above + columns);
        check_cuda(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(unsigned), stream()), "cudaMemsetAsync");
        count_split_keys<<<blocks_for_rows(), block_threads, 0, stream()>>>(matrix_, split_.key, counts.data());
        check_launch("count_split_keys");
        const std::vector<unsigned> found = workspace_.download(counts);
        return {found.begin(), found.end()};
    }

    [[nodiscard]] ShareOnGpu listed(std::uint8_t number, ShareKind kind) {
        const auto rows = static_cast<std::size_t>(matrix_.rows);
        auto before = workspace_.make<Offset>(nonzeros() + 1);
        mark_share<<<blocks(nonzeros()), block_threads, 0, stream()>>>(shares_.data(), nonzeros(), number, before.data());
        check_launch("mark_share");
        sum_up(workspace_, before);
        auto rows_before = workspace_.make<Offset>(rows + 1);
        mark_rows_of_share<<<blocks(rows), block_threads, 0, stream()>>>(matrix_, before.data(), rows_before.data());
        check_launch("mark_rows_of_share");
        sum_up(workspace_, rows_before);
        const auto entries = static_cast<std::size_t>(workspace_.download_item(before, nonzeros()));
        const auto present = static_cast<std::size_t>(workspace_.download_item(rows_before, rows));
        if (entries == 0) throw Unsuitable("share '" + std::string(name_of(kind)) + "' has no nonzeros");
        ShareOnGpu share{room_for_rows(present, entries)};
        const auto numbers = workspace_.make<Index>(present);
        list_rows_of_share<<<blocks(rows), block_threads, 0, stream()>>>(matrix_, before.data(), rows_before.data(),
                                                                         numbers.data(), share.matrix.offsets.as<Offset>());
        check_launch("list_rows_of_share");
        list_share<<<blocks(nonzeros()), block_threads, 0, stream()>>>(
            matrix_, nonzeros(), before.data(), share.matrix.columns.data(), share.matrix.entries.as<std::uint32_t>());
        check_launch("list_share");
        share.matrix.rows_of_y = workspace_.download(numbers);
        std::vector<Offset> offsets(present + 1);
        copy_from_device(task_.device, share.matrix.offsets.as<const Offset>(), std::span(offsets));
        for (std::size_t row = 0; row < present; ++row) {
            share.longest = std::max(share.longest, static_cast<std::uint32_t>(offsets[row + 1] - offsets[row]));
        }
        return share;
    }

    [[nodiscard]] ReorderedRows room_for_rows(std::size_t rows, std::size_t entries) {
        ReorderedRows made;
        made.rows = static_cast<Index>(rows);
        made.offsets = room_for<Offset>(task_.device, rows + 1, "row offsets");
        made.entries = room_for<std::uint32_t>(task_.device, entries, "the order of the nonzeros");
        made.columns = workspace_.make<Index>(entries);
        return made;
    }

    [[nodiscard]] ReorderedRows sorted(const ShareOnGpu& share, const SortShare& sort) {
        const ReorderedOnGpu given = share.matrix.view(share.longest);
        const auto count = static_cast<std::size_t>(given.rows);
        const std::vector<Index> one_group{0, given.rows};
        const auto groups = workspace_.upload<Index>(std::span(one_group));
        const RowsToPlace rows{.offsets = given.offsets,
                               .columns = given.columns,
                               .count = given.rows,
                               .column_count = task_.matrix.columns,
                               .groups = groups.data(),
                               .group_count = 1,
                               .longest = share.longest};
        const auto places = placed_rows(workspace_, rows, sort);
        ReorderedRows made = room_for_rows(count, share.matrix.columns.size());
        auto offsets = workspace_.make<Offset>(count + 1);
        measure_sorted<<<blocks(count), block_threads, 0, stream()>>>(places.data(), count, given.offsets, offsets.data());
        check_launch("measure_sorted");
        sum_up(workspace_, offsets);
        copy_sorted<<<blocks_of(count * on_gpu::lanes, block_threads), block_threads, 0, stream()>>>(
            places.data(), given, offsets.data(), made.columns.data(), made.entries.template as<std::uint32_t>());
        check_launch("copy_sorted");
        check_cuda(
            cudaMemcpyAsync(made.offsets.address(), offsets.data(), made.offsets.bytes(), cudaMemcpyDeviceToDevice, stream()),
            "cudaMemcpyAsync");
        for (const std::uint32_t place : workspace_.download(places)) {
            made.rows_of_y.push_back(share.matrix.rows_of_y[place]);
        }
        return made;
    }

    const StorageTask<Value>& task_;
    Workspace& workspace_;
    const ReorderedRows& rows_;
    ReorderedOnGpu matrix_;
    const SplitNonzeros& split_;
    WorkspaceArray<std::uint8_t> shares_;  // [nonzeros]
};

/// Stores a share for its places in y. Returns its kernel, and adds the rest to the result of the task.
template <ValueType Value>
MadeKernel<Value> stored(const StorageTask<Value>& task, ShareOnGpu& share, const StoredShare& plan) {
    CsrOnDevice<Value> matrix = task.matrix;
    matrix.rows = share.matrix.rows;
    matrix.nonzeros = static_cast<std::int64_t>(share.matrix.columns.size());
    PlannedOnGpu<Value> made(task.device);
    const StorageTask<Value> of_share{task.workspace, task.device, matrix, share.longest, made};
    std::visit(
        [&]<typename Storage>(const Storage& storage) {
            if constexpr (requires { storage.values; } && !std::is_same_v<Storage, BlockSlices>) {
                store_on_gpu(of_share, share.matrix, storage);
            }
        },
        plan.storage);
    PlannedOnGpu<Value>& result = task.result;
    std::ranges::move(made.gathered, std::back_inserter(result.gathered));
    for (auto& array : made.arrays)
        result.arrays.push_back({name_of(plan.share) + " " + array.name, array.address, array.bytes});
    result.own_facts.bytes += made.own_facts.bytes;
    const Offset vectors = Offset{matrix.rows} + matrix.columns;
    return {std::move(made.own_kernel), made.own_facts.bytes + vectors * static_cast<Offset>(sizeof(Value))};
}

}  // namespace

template <ValueType Value>
void store_shares(const StorageTask<Value>& task, const ReorderedRows& rows, const DevicePlan& plan) {
    const auto is_split = [](const auto& step) { return std::holds_alternative<SplitNonzeros>(step.second); };
    const auto& [stage, split] = *std::ranges::find_if(plan.steps, is_split);
    ShareMaker<Value> maker(task, rows, std::get<SplitNonzeros>(split));
    maker.divide(stage);
    std::vector<ShareOnGpu> shares;
    for (const StoredShare& each : plan.shares) shares.push_back(maker.share(each.share.kind, plan, stage));
    std::vector<KernelOfShare<Value>> kernels;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        std::vector<Index>& targets = shares[i].matrix.rows_of_y;
        const auto count = static_cast<Index>(targets.size());
        if (count == rows.rows && Permutation::from_old_of_new(targets).is_identity()) {
            targets = rows.rows_of_y;
        } else {
            task.result.own_facts.bytes += static_cast<std::int64_t>(targets.size() * sizeof(Index));
            if (!rows.rows_of_y.empty()) std::ranges::for_each(targets, [&](Index& row) { row = rows.rows_of_y[row]; });
        }
        const auto make = [&task, &share = shares[i], &each = plan.shares[i]](Device&, int) {
            return stored(task, share, each);
        };
        kernels.push_back({.make = make, .row_count = count, .rows = targets, .rows_present = count});
    }
    task.result.own_kernel =
        std::make_unique<HybridKernel<Value>>(kernels, rows.rows, task.matrix.columns, plan.side_by_side, task.device);
}

template void store_shares(const StorageTask<float>&, const ReorderedRows&, const DevicePlan&);
template void store_shares(const StorageTask<double>&, const ReorderedRows&, const DevicePlan&);

}  // namespace workbench
