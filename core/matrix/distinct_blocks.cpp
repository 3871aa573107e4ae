#include "core/matrix/distinct_blocks.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <mutex>

#include "core/matrix/block_rows.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/random.hpp"
#include "core/matrix/value_bits.hpp"

namespace workbench {
namespace {

/// The blocks of a set by their bits.
template <typename Value>
std::vector<Value> sorted(const BlockSet<Value>& set, Index area) {
    std::vector<const Value*> blocks(set.count());
    for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = set.values().data() + i * area;
    std::sort(blocks.begin(), blocks.end(), [&](const Value* a, const Value* b) {
        return std::lexicographical_compare(a, a + area, b, b + area,
                                            [](Value left, Value right) { return bits_of(left) < bits_of(right); });
    });
    std::vector<Value> values;
    for (const Value* const block : blocks) values.insert(values.end(), block, block + area);
    return values;
}

}  // namespace

template <typename Value>
BlockSet<Value>::BlockSet(Index area, Offset most)
    : area_(area), most_(most), table_(std::bit_ceil(static_cast<std::size_t>(2 * most + 2)), -1) {}

template <typename Value>
std::size_t BlockSet<Value>::place_of(const Value* block) const {
    std::uint64_t hash = 0;
    for (Index i = 0; i < area_; ++i) hash = mixed(hash ^ bits_of(block[i]));
    const std::size_t mask = table_.size() - 1;
    const auto is_other = [&](std::int32_t number) {
        return std::memcmp(values_.data() + Offset{number} * area_, block, sizeof(Value) * area_) != 0;
    };
    std::size_t place = hash & mask;
    while (table_[place] >= 0 && is_other(table_[place])) place = (place + 1) & mask;
    return place;
}

template <typename Value>
bool BlockSet<Value>::insert(const Value* block) {
    const std::size_t place = place_of(block);
    if (table_[place] >= 0) return true;
    if (count() >= most_) return false;
    table_[place] = static_cast<std::int32_t>(count());
    values_.insert(values_.end(), block, block + area_);
    return true;
}

template <typename Value>
Offset BlockSet<Value>::find(const Value* block) const {
    return table_[place_of(block)];
}

template <typename Value>
std::optional<std::vector<Value>> distinct_blocks(const CsrMatrix& matrix, Index size, Offset most) {
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    const Index area = size * size;
    std::mutex mutex;
    BlockSet<Value> all(area, most);
    std::atomic<bool> fit = true;
    for_pieces(matrix.values.size(), [&](std::size_t begin, std::size_t end) {
        BlockSet<Value> of_piece(area, most);
        std::vector<Value> block(area, Value{0});
        bool is_begun = false;
        const auto take = [&] {
            if (is_begun && !of_piece.insert(block.data())) fit = false;
            std::fill(block.begin(), block.end(), Value{0});
        };
        // The block rows whose first row begins in the piece; those without nonzeros do not matter.
        const auto block_row_at = [&](std::size_t nonzero) {
            const auto row =
                std::lower_bound(view.row_offsets.begin(), view.row_offsets.end() - 1, static_cast<Offset>(nonzero)) -
                view.row_offsets.begin();
            return block_count_of(static_cast<Index>(row), size);
        };
        const Index last = end == matrix.values.size() ? block_count_of(matrix.rows, size) : block_row_at(end);
        for (Index block_row = block_row_at(begin); block_row < last; ++block_row) {
            if (!fit.load(std::memory_order_relaxed)) return;
            Index first_column = 0;
            walk_block_row(
                view, {size, size}, block_row,
                [&](Index block_column) {
                    take();
                    is_begun = true;
                    first_column = block_column * size;
                },
                [&](Index r, Offset position) {
                    block[r * size + view.column_indices[position] - first_column] = static_cast<Value>(view.values[position]);
                });
        }
        take();
        const std::lock_guard lock(mutex);
        for (Offset i = 0; i < of_piece.count(); ++i) {
            if (!all.insert(of_piece.values().data() + i * area)) fit = false;
        }
    });
    if (!fit) return std::nullopt;
    return sorted(all, area);
}

template class BlockSet<float>;
template class BlockSet<double>;
template std::optional<std::vector<float>> distinct_blocks(const CsrMatrix&, Index, Offset);
template std::optional<std::vector<double>> distinct_blocks(const CsrMatrix&, Index, Offset);

}  // namespace workbench
