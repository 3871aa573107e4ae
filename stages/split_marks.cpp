#include "stages/split_marks.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

/// Calls visit(row of the matrix, entry) for the entries of a stored row.
template <typename Visit>
void for_each_entry(const ShareView& view, Index stored, const Visit& visit) {
    for (Offset k = 0; k < view.length(stored); ++k) visit(view.row(stored), view.entry(stored, k));
}

/// [numbers] A histogram of number_of(row, entry) in 0 .. numbers - 1. Each thread has its own histogram, unless these would
/// need more memory than the entries.
template <typename NumberOf>
std::vector<Offset> histogram(const ShareView& view, Offset numbers, const NumberOf& number_of) {
    std::vector<Offset> counts(numbers, 0);
    const Index pieces = host_threads();
    if (pieces > 1 && numbers * pieces > view.entry_count()) {
        Kokkos::parallel_for("count_entries", HostRange<>(0, view.row_count()), [&](Index stored) {
            for_each_entry(view, stored, [&](Index row, Offset entry) {
                std::atomic_ref<Offset>(counts[number_of(row, entry)]).fetch_add(1, std::memory_order_relaxed);
            });
        });
        return counts;
    }
    std::vector<std::vector<Offset>> counts_of_piece(pieces);
    guarded_for("count_entries", HostRange<>(0, pieces), [&](Index piece) {
        std::vector<Offset>& own = counts_of_piece[piece];
        own.assign(numbers, 0);
        const auto begin = static_cast<Index>(Offset{view.row_count()} * piece / pieces);
        const auto end = static_cast<Index>(Offset{view.row_count()} * (piece + 1) / pieces);
        for (Index stored = begin; stored < end; ++stored) {
            for_each_entry(view, stored, [&](Index row, Offset entry) { ++own[number_of(row, entry)]; });
        }
    });
    for (const std::vector<Offset>& own : counts_of_piece) {
        for (Offset number = 0; number < numbers; ++number) counts[number] += own[number];
    }
    return counts;
}

/// The stored rows of a view, sorted by their rows in the matrix.
std::vector<Index> stored_by_row(const ShareView& view) {
    std::vector<Index> stored = all_of(view.row_count());
    std::sort(stored.begin(), stored.end(), [&](Index a, Index b) { return view.row(a) < view.row(b); });
    return stored;
}

/// A block of a block row, and the number of entries in it.
struct CountedBlock {
    Index column = 0;
    Offset entries = 0;
};

/// The blocks of one block row.
class BlockRow {
public:
    /// Counts an entry. Consecutive entries of a row are often in the same block.
    void add(Index block) {
        if (blocks_.empty() || blocks_.back().column != block) blocks_.push_back({block});
        ++blocks_.back().entries;
    }

    /// Merges and sorts the blocks by column.
    [[nodiscard]] const std::vector<CountedBlock>& gather() {
        std::sort(blocks_.begin(), blocks_.end(), [](const auto& a, const auto& b) { return a.column < b.column; });
        std::size_t last = 0;
        for (std::size_t i = 1; i < blocks_.size(); ++i) {
            if (blocks_[i].column == blocks_[last].column) {
                blocks_[last].entries += blocks_[i].entries;
            } else {
                blocks_[++last] = blocks_[i];
            }
        }
        if (!blocks_.empty()) blocks_.resize(last + 1);
        return blocks_;
    }

private:
    std::vector<CountedBlock> blocks_;
};

/// Marks the entries of the stored rows of one block row. Returns the numbers of dense blocks and of all blocks.
std::pair<Offset, Offset> mark_block_row(const CsrMatrix& matrix, const ShareView& view, std::span<const Index> stored_rows,
                                         const DenseBlocks& shape, unsigned char* marked) {
    BlockRow block_row;
    for (const Index stored : stored_rows) {
        for_each_entry(view, stored, [&](Index, Offset entry) { block_row.add(matrix.column_indices[entry] / shape.width); });
    }
    const std::vector<CountedBlock>& blocks = block_row.gather();
    const Offset first_row = Offset{view.row(stored_rows.front()) / shape.height} * shape.height;
    const Offset height = std::min<Offset>(shape.height, matrix.rows - first_row);
    std::vector<Index> dense;
    for (const CountedBlock& block : blocks) {
        const Offset width = std::min<Offset>(shape.width, matrix.columns - Offset{block.column} * shape.width);
        if (static_cast<double>(block.entries) >= shape.fill * static_cast<double>(height * width))
            dense.push_back(block.column);
    }
    for (const Index stored : stored_rows) {
        auto next = dense.begin();  // blocks ascend, like the columns of a row
        for_each_entry(view, stored, [&](Index, Offset entry) {
            const Index block = matrix.column_indices[entry] / shape.width;
            while (next != dense.end() && *next < block) ++next;
            marked[entry] = next != dense.end() && *next == block ? 1 : 0;
        });
    }
    return {static_cast<Offset>(dense.size()), static_cast<Offset>(blocks.size())};
}

}  // namespace

std::vector<Offset> counts_by_key(const CsrMatrix& matrix, const ShareView& view, SplitKey key) {
    if (key == SplitKey::column) {
        return histogram(view, matrix.columns, [&](Index, Offset entry) { return Offset{matrix.column_indices[entry]}; });
    }
    const Offset below_main = std::max<Offset>(matrix.rows, 1) - 1;
    return histogram(view, below_main + matrix.columns,
                     [&](Index row, Offset entry) { return below_main + matrix.column_indices[entry] - row; });
}

Marks mark_dense_blocks(const CsrMatrix& matrix, const ShareView& view, const DenseBlocks& shape) {
    const std::vector<Index> stored = stored_by_row(view);
    std::vector<std::size_t> begins;  // of the block rows
    for (std::size_t i = 0; i < stored.size(); ++i) {
        if (i == 0 || view.row(stored[i]) / shape.height != view.row(stored[i - 1]) / shape.height) begins.push_back(i);
    }
    begins.push_back(stored.size());
    Marks marks;
    make_zeros(marks.marked, static_cast<std::size_t>(matrix.nonzeros()));
    std::atomic<Offset> dense = 0;
    std::atomic<Offset> present = 0;
    guarded_for("mark_blocks", HostRange<>(0, static_cast<Index>(begins.size()) - 1), [&](Index i) {
        const std::span<const Index> rows(stored.data() + begins[i], begins[i + 1] - begins[i]);
        const auto [of_row, present_of_row] = mark_block_row(matrix, view, rows, shape, marks.marked.data());
        dense += of_row;
        present += present_of_row;
    });
    marks.dense = dense;
    marks.present = present;
    return marks;
}

}  // namespace workbench
