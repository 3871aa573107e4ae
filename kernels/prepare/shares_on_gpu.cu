// The shares of a hybrid: divided on the GPU, sorted and stored row by row, each with a kernel of its own.
//
// Races. A thread writes the items of its own number, or those of its row with the other threads of that row. Nonzeros are
// counted by atomics.
#include <algorithm>
#include <iterator>
#include <numeric>
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

/// The rows of a matrix, or of a share, whose nonzeros are divided.
struct DividedRows : ReorderedOnGpu {
    const Index* numbers = nullptr;  // [rows] in the matrix; null: their own
    Index all = 0;                   // rows of the matrix

    [[nodiscard]] __device__ Index number_of(Index row) const { return numbers == nullptr ? row : numbers[row]; }
};

/// The key of entry i of a row, by which nonzeros are divided.
inline __device__ std::size_t split_key(const DividedRows& matrix, SplitKey key, Index row, Offset i) {
    switch (key) {
        case SplitKey::row: return static_cast<std::size_t>(row);
        case SplitKey::column: return static_cast<std::size_t>(matrix.columns[i]);
        case SplitKey::place: return static_cast<std::size_t>(i - matrix.offsets[row]);
        case SplitKey::diagonal:
            return static_cast<std::size_t>(Offset{matrix.all} - 1 + matrix.columns[i] - matrix.number_of(row));
        default: return static_cast<std::size_t>(i);
    }
}

/// counts: [keys] zeros beforehand.
__global__ void count_split_keys(DividedRows matrix, SplitKey key, unsigned* counts) {
    on_gpu::for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        for (Offset i = matrix.offsets[row] + lane; i < matrix.offsets[row + 1]; i += on_gpu::lanes) {
            atomicAdd(counts + split_key(matrix, key, row, i), 1U);
        }
    });
}

/// The share of each nonzero: table[key], or 0 and 1 for those inside and outside of the parts.
__global__ void number_shares(DividedRows matrix, SplitKey key, const std::uint8_t* __restrict__ table,
                              const Index* __restrict__ boundaries, Index parts, std::uint8_t* __restrict__ shares) {
    on_gpu::for_each_row(matrix.rows, [&](Index row, unsigned lane) {
        const Index part = table == nullptr ? piece_at(boundaries, parts, matrix.number_of(row)) : 0;
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
    ShareId id;
    ReorderedRows matrix;  // rows_of_y: those of the whole matrix
    std::uint32_t longest = 0;
};

/// Divides the nonzeros of a matrix, and then of its shares, and sorts the rows of shares.
template <ValueType Value>
class ShareMaker {
public:
    ShareMaker(const StorageTask<Value>& task, const ReorderedRows& rows)
        : task_(task), workspace_(task.workspace), whole_(rows) {}

    void take(const SplitNonzeros& split, const std::string& stage) {
        if (split.parent == ShareId{}) {
            shares_ = parts_of({whole_.view(task_.longest), nullptr, whole_.rows}, {}, split, stage);
            return;
        }
        (void)share(split.parent);  // has nonzeros
        const auto parent = std::ranges::find(shares_, split.parent, &ShareOnGpu::id);
        const std::vector<Index>& rows = parent->matrix.rows_of_y;
        const auto numbers = workspace_.upload<Index>(std::span(rows));
        std::vector<ShareOnGpu> parts =
            parts_of({parent->matrix.view(parent->longest), numbers.data(), whole_.rows}, rows, split, stage);
        const auto place = shares_.erase(parent);
        shares_.insert(place, std::move_iterator(parts.begin()), std::move_iterator(parts.end()));
    }

    void take(const SortShare& sort, const std::string&) {
        for (ShareOnGpu& share : shares_) {
            if (sort.share.includes(share.id)) share.matrix = sorted(share, sort);
        }
    }

    void take(const auto&, const std::string&) {}

    /// Throws Unsuitable for an empty share.
    [[nodiscard]] ShareOnGpu& share(const ShareId& id) {
        ShareOnGpu& found = *std::ranges::find(shares_, id, &ShareOnGpu::id);
        if (found.matrix.rows == 0) throw Unsuitable("share '" + name_of(id) + "' has no nonzeros");
        return found;
    }

private:
    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] static unsigned blocks_for(Index rows) {
        return blocks_of(static_cast<std::size_t>(rows) * on_gpu::lanes, block_threads);
    }
    [[nodiscard]] static unsigned blocks(std::size_t count) { return blocks_of(count, block_threads); }
    void note(const std::string& stage, const std::string& text) {
        task_.result.own_facts.notes.push_back(stage + ": " + text);
    }

    /// The shares of a split. numbers: those of the rows in the matrix, if they are those of a share.
    [[nodiscard]] std::vector<ShareOnGpu> parts_of(const DividedRows& rows, const std::vector<Index>& numbers,
                                                   const SplitNonzeros& split, const std::string& stage) {
        std::vector<Offset> offsets(static_cast<std::size_t>(rows.rows) + 1);
        copy_from_device(task_.device, rows.offsets, std::span(offsets));
        const auto nonzeros = static_cast<std::size_t>(offsets.back());
        const std::vector<Index>& partition = task_.result.own_facts.partition;
        WorkspaceArray<Index> boundaries;
        WorkspaceArray<std::uint8_t> table;
        if (split.table) {
            const SplitTable made = make_table(rows, numbers, offsets, split);
            for (const auto& [what, text] : made.notes) note(stage, what + ": " + text);
            table = workspace_.upload(std::span(made.shares));
        } else {
            boundaries = workspace_.upload<Index>(std::span(partition));
        }
        const auto shares = workspace_.make<std::uint8_t>(nonzeros);
        number_shares<<<blocks_for(rows.rows), block_threads, 0, stream()>>>(
            rows, split.key, table.data(), boundaries.data(), static_cast<Index>(boundaries.size()) - 1, shares.data());
        check_launch("number_shares");
        std::vector<ShareOnGpu> parts;
        for (std::size_t number = 0; number < split.shares.size(); ++number) {
            ShareOnGpu share = listed(rows, shares, static_cast<std::uint8_t>(number));
            share.id = *share_within(split.parent, split.shares[number]);
            for (Index& row : share.matrix.rows_of_y) row = numbers.empty() ? row : numbers[static_cast<std::size_t>(row)];
            note(stage, name_of(share.id) + ": " +
                            counted_with_commas(static_cast<std::int64_t>(share.matrix.columns.size()), "nonzero") + " in " +
                            counted_with_commas(share.matrix.rows, "row"));
            parts.push_back(std::move(share));
        }
        return parts;
    }

    [[nodiscard]] SplitTable make_table(const DividedRows& rows, const std::vector<Index>& numbers,
                                        const std::vector<Offset>& offsets, const SplitNonzeros& split) {
        const auto nonzeros = static_cast<std::size_t>(offsets.back());
        CsrMatrix matrix;
        matrix.rows = rows.all;
        matrix.columns = task_.matrix.columns;
        matrix.row_offsets.assign(offsets.begin(), offsets.end());
        if (split.reads >= SplitReads::columns) {
            make_room(matrix.column_indices, nonzeros);
            copy_from_device(task_.device, rows.columns, std::span(matrix.column_indices));
        }
        if (split.reads == SplitReads::values) {
            if (std::is_same_v<Value, float>) throw Unsuitable("nonzeros are divided by their values of f64");
            copy_values(task_, rows.entries, nonzeros, matrix.values);
        }
        Share share;
        share.rows.assign(numbers.begin(), numbers.end());
        share.row_offsets = matrix.row_offsets;
        if (!numbers.empty()) share.entries.resize(nonzeros);
        std::iota(share.entries.begin(), share.entries.end(), Offset{0});
        const ShareView view = numbers.empty() ? ShareView(matrix) : ShareView(share);
        const std::vector<Offset> counts =
            split.reads == SplitReads::counts ? counted_keys(rows, split.key) : std::vector<Offset>();
        return split.table({view, matrix, task_.result.own_facts.partition, counts});
    }

    [[nodiscard]] std::vector<Offset> counted_keys(const DividedRows& rows, SplitKey key) {
        const auto columns = static_cast<std::size_t>(task_.matrix.columns);
        const std::size_t above = key == SplitKey::column ? 0 : static_cast<std::size_t>(rows.all) - 1;
        const auto counts = workspace_.make<unsigned>(above + columns);
        check_cuda(cudaMemsetAsync(counts.data(), 0, counts.size() * sizeof(unsigned), stream()), "cudaMemsetAsync");
        count_split_keys<<<blocks_for(rows.rows), block_threads, 0, stream()>>>(rows, key, counts.data());
        check_launch("count_split_keys");
        const std::vector<unsigned> found = workspace_.download(counts);
        return {found.begin(), found.end()};
    }

    /// The nonzeros with a number of a share. rows_of_y: the places of their rows.
    [[nodiscard]] ShareOnGpu listed(const DividedRows& divided, const WorkspaceArray<std::uint8_t>& shares,
                                    std::uint8_t number) {
        const auto rows = static_cast<std::size_t>(divided.rows);
        const std::size_t nonzeros = shares.size();
        auto before = workspace_.make<Offset>(nonzeros + 1);
        mark_share<<<blocks(nonzeros), block_threads, 0, stream()>>>(shares.data(), nonzeros, number, before.data());
        check_launch("mark_share");
        sum_up(workspace_, before);
        auto rows_before = workspace_.make<Offset>(rows + 1);
        mark_rows_of_share<<<blocks(rows), block_threads, 0, stream()>>>(divided, before.data(), rows_before.data());
        check_launch("mark_rows_of_share");
        sum_up(workspace_, rows_before);
        const auto entries = static_cast<std::size_t>(workspace_.download_item(before, nonzeros));
        const auto present = static_cast<std::size_t>(workspace_.download_item(rows_before, rows));
        ShareOnGpu share;
        if (entries == 0) return share;
        share.matrix = room_for_rows(present, entries);
        const auto places = workspace_.make<Index>(present);
        list_rows_of_share<<<blocks(rows), block_threads, 0, stream()>>>(divided, before.data(), rows_before.data(),
                                                                         places.data(), share.matrix.offsets.as<Offset>());
        check_launch("list_rows_of_share");
        list_share<<<blocks(nonzeros), block_threads, 0, stream()>>>(
            divided, nonzeros, before.data(), share.matrix.columns.data(), share.matrix.entries.as<std::uint32_t>());
        check_launch("list_share");
        share.matrix.rows_of_y = workspace_.download(places);
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

    /// Its rows by their parts, without another order. groups: the boundaries of the parts among them.
    void group_by_parts(ShareOnGpu& share, std::vector<Index>& groups) {
        const std::vector<Index>& partition = task_.result.own_facts.partition;
        const auto& rows = share.matrix.rows_of_y;
        const auto part_of = [&](Index row) { return std::ranges::upper_bound(partition, row) - partition.begin(); };
        std::vector<std::uint32_t> places(rows.size());
        std::iota(places.begin(), places.end(), 0U);
        if (!std::ranges::is_sorted(rows, {}, part_of)) {
            std::ranges::stable_sort(places, {}, [&](std::uint32_t place) { return part_of(rows[place]); });
            share.matrix = moved(share, workspace_.upload<std::uint32_t>(std::span(places)));
        }
        groups.clear();
        for (const Index begin : partition) {
            const auto first = std::ranges::partition_point(rows, [begin](Index row) { return row < begin; });
            groups.push_back(static_cast<Index>(first - rows.begin()));
        }
    }

    [[nodiscard]] ReorderedRows sorted(ShareOnGpu& share, const SortShare& sort) {
        std::vector<Index> bounds{0, share.matrix.rows};
        if (share.matrix.rows == 0) return std::move(share.matrix);
        if (sort.within_partition) group_by_parts(share, bounds);
        WorkspaceArray<Index> parts;
        WorkspaceArray<Index> numbers;
        if (sort.key == RowKey::inside_partition) {
            parts = workspace_.upload<Index>(std::span(task_.result.own_facts.partition));
            numbers = workspace_.upload<Index>(std::span(share.matrix.rows_of_y));
        }
        const ReorderedOnGpu given = share.matrix.view(share.longest);
        const auto groups = workspace_.upload<Index>(std::span(bounds));
        const RowsToPlace rows{.offsets = given.offsets,
                               .columns = given.columns,
                               .count = given.rows,
                               .column_count = task_.matrix.columns,
                               .groups = groups.data(),
                               .group_count = static_cast<Index>(bounds.size()) - 1,
                               .longest = share.longest,
                               .partition = parts.data(),
                               .parts = static_cast<Index>(parts.size()) - 1,
                               .numbers = numbers.data()};
        return moved(share, placed_rows(workspace_, rows, sort));
    }

    /// places: [rows of the share] the present place of each.
    [[nodiscard]] ReorderedRows moved(const ShareOnGpu& share, const WorkspaceArray<std::uint32_t>& places) {
        const ReorderedOnGpu given = share.matrix.view(share.longest);
        const auto count = static_cast<std::size_t>(given.rows);
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
    const ReorderedRows& whole_;
    std::vector<ShareOnGpu> shares_;
};

/// Stores a share for its places in y. Returns its kernel, and adds the rest to the result of the task.
template <ValueType Value>
MadeKernel<Value> stored(const StorageTask<Value>& task, ShareOnGpu& share, const StoredShare& plan) {
    CsrOnDevice<Value> matrix = task.matrix;
    matrix.rows = share.matrix.rows;
    matrix.nonzeros = static_cast<std::int64_t>(share.matrix.columns.size());
    PlannedOnGpu<Value> made(task.device);
    const StorageTask<Value> of_share{task.workspace, task.device, matrix,
                                      share.longest,  made,        share.matrix.entries.template as<const std::uint32_t>(),
                                      task.nonzeros()};
    std::visit(
        [&]<typename Storage>(const Storage& storage) {
            if constexpr (requires { storage.values; } && !std::is_same_v<Storage, BlockSlices>) {
                store_on_gpu(of_share, share.matrix, storage);
            }
        },
        settled(of_share, share.matrix, plan));
    PlannedOnGpu<Value>& result = task.result;
    result.own_facts.waited_seconds += made.own_facts.waited_seconds;
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
    ShareMaker<Value> maker(task, rows);
    for (const PlanStep& each : plan.steps) {
        std::visit([&](const auto& step) { maker.take(step, each.stage); }, each.step);
    }
    std::vector<ShareOnGpu*> shares;
    for (const StoredShare& each : plan.shares) shares.push_back(&maker.share(each.share));
    std::vector<KernelOfShare<Value>> kernels;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        std::vector<Index>& targets = shares[i]->matrix.rows_of_y;
        const auto count = static_cast<Index>(targets.size());
        if (count == rows.rows && Permutation::from_old_of_new(targets).is_identity()) {
            targets = rows.rows_of_y;
        } else {
            task.result.own_facts.bytes += static_cast<std::int64_t>(targets.size() * sizeof(Index));
            if (!rows.rows_of_y.empty()) std::ranges::for_each(targets, [&](Index& row) { row = rows.rows_of_y[row]; });
        }
        const auto make = [&task, &share = *shares[i], &each = plan.shares[i]](Device&, int) {
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
