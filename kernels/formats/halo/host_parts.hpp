// The kernel of halo for the host. A core reads blocks row by row faster than lane by lane, so the kernel stores them in an
// different order: compressed rows of blocks, in which the blocks that also represent their mirrors come first. Parts run in
// parallel; all rows of a pair are in one part, so that no two threads write one row.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/matrix/block_rows.hpp"
#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/host_rows.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/formats/halo/layout.hpp"
#include "kernels/formats/halo/places.hpp"

namespace workbench {

/// Additions to a row: the transposes of pairs of the rows before it in its part, in their order; then, as one sum, its own
/// pairs and its other blocks, each by ascending columns.
template <ValueType Value>
class HaloParts final : public Kernel<Value> {
public:
    explicit HaloParts(const HaloLayout<Value>& layout)
        : size_{layout.row_count, layout.column_count},
          block_size_(layout.block_size),
          part_nodes_(layout.part_nodes),
          pattern_(layout.pattern) {
        make_zeros(part_blocks_, std::size_t(layout.parts()) + 1);
        make_zeros(rows_, part_nodes_.empty() ? 0 : part_nodes_.back());
        for_each_in_parallel(layout.parts(), 1, [&](std::int64_t part) {
            for_each_block(layout, static_cast<Index>(part), [&](Index row, bool is_pair, const Source&) {
                ++part_blocks_[part + 1];
                ++rows_[row].end;
                rows_[row].end_of_pairs += is_pair ? 1 : 0;
            });
            Index first = 0;
            for (Index row = part_nodes_[part]; row < part_nodes_[part + 1]; ++row) {
                rows_[row].end_of_pairs += first;
                first = rows_[row].end += first;
            }
        });
        sum_up(part_blocks_);
        make_room(columns_, part_blocks_.back());
        make_room(values_, part_blocks_.back() * layout.area());
        for_each_in_parallel(layout.parts(), 1, [&](std::int64_t part) { store_part(layout, static_cast<Index>(part)); });
    }

    void run(const Value* x, Value* y, bool accumulate) override {
        if (accumulate && !is_finite_vector(x, size_.column_count)) {
            for_each_in_parallel(std::ssize(part_nodes_) - 1, 1, [&](std::int64_t part) { add_nonzeros(part, x, y); });
            return;
        }
        with_known<1, 2, 3, 4, 5, 6>(block_size_, [&](auto d) {
            constexpr int size = number_of(d);
            const bool all_whole = size_.row_count % size == 0 && size_.column_count % size == 0;
            for_each_in_parallel(std::ssize(part_nodes_) - 1, 1, [&](std::int64_t part) {
                all_whole ? multiply<size, true>(part, x, y, accumulate) : multiply<size, false>(part, x, y, accumulate);
            });
        });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override {
        const auto bytes_of = [](const auto& array) { return static_cast<std::int64_t>(array.size() * sizeof(array[0])); };
        return bytes_of(rows_) + bytes_of(columns_) + bytes_of(values_) +
               static_cast<std::int64_t>(sizeof(Value)) * (std::int64_t{size_.row_count} + size_.column_count);
    }

private:
    /// A block as the layout stores it: entry e is first[e * halo_lanes].
    struct Source {
        Index column = 0;
        bool transposed = false;
        const Value* first = nullptr;  // null: on the diagonal
    };

    /// The ends of the pairs and of all blocks of a row, counted from the first block of its part.
    struct Row {
        Index end_of_pairs = 0;
        Index end = 0;
    };

    /// Calls visit(node of the row, is it a pair, block) for the blocks of a part.
    static void for_each_block(const HaloLayout<Value>& halo, Index number, const auto& visit) {
        const HaloPart part = halo_part(halo, number);
        for_each_halo_block(halo.stored(), number, [&](const PlacedBlock& block) {
            if (block.row_node < 0 || block.row_place >= part.own) return;
            const auto& values = block.is_far ? halo.far_values : halo.values;
            const bool is_pair = block.is_pair && block.column_place < part.own;
            // A pair belongs to the row above, so that neighbouring rows of a mesh have equally many: the lengths of the loops
            // are then predicted.
            const bool transposed = is_pair && block.column_node < block.row_node;
            visit(transposed ? block.column_node : block.row_node, is_pair,
                  Source{transposed ? block.row_node : block.column_node, transposed,
                         values.data() + halo_slot(block.step, halo.area(), block.lane)});
        });
        if (!halo.has_diagonal()) return;
        for (Index node = part.first_node; node < part.first_node + part.own; ++node) {
            visit(node, false, Source{node, false, nullptr});
        }
    }

    void store_part(const HaloLayout<Value>& layout, Index part) {
        const Index d = layout.block_size;
        const Index first = part_nodes_[part];
        const Index nodes = part_nodes_[part + 1] - first;
        const auto begin_of = [&](Index i) { return i == 0 ? 0 : rows_[first + i - 1].end; };
        std::vector<Source> sources(part_blocks_[part + 1] - part_blocks_[part]);
        std::vector<Row> next(nodes);
        for (Index i = 0; i < nodes; ++i) next[i] = {begin_of(i), rows_[first + i].end_of_pairs};
        for_each_block(layout, part, [&](Index row, bool is_pair, const Source& block) {
            sources[is_pair ? next[row - first].end_of_pairs++ : next[row - first].end++] = block;
        });
        Value* values = values_.data() + part_blocks_[part] * d * d;
        Index* column = columns_.data() + part_blocks_[part];
        for (Index i = 0; i < nodes; ++i) {
            const auto at = [&](Index place) { return sources.begin() + place; };
            std::ranges::sort(at(begin_of(i)), at(rows_[first + i].end_of_pairs), {}, &Source::column);
            std::ranges::sort(at(rows_[first + i].end_of_pairs), at(rows_[first + i].end), {}, &Source::column);
            for (auto block = at(begin_of(i)); block != at(rows_[first + i].end); ++block, values += d * d) {
                *column++ = block->column;
                block->first == nullptr ? copy_diagonal(layout, part, first + i, values) : copy_block(*block, d, values);
            }
        }
    }

    static void copy_block(const Source& block, Index d, Value* values) {
        for (Index r = 0; r < d; ++r) {
            for (Index c = 0; c < d; ++c) {
                values[block.transposed ? c * d + r : r * d + c] = block.first[(r * d + c) * halo_lanes];
            }
        }
    }

    static void copy_diagonal(const HaloLayout<Value>& halo, Index part, Index row, Value* values) {
        const Index d = halo.block_size;
        const Index i = row - halo.part_nodes[part];
        Offset slot = halo_slot(halo.diagonal_groups[part] + i / halo_lanes, halo.triangle(), i % halo_lanes);
        for (Index r = 0; r < d; ++r) {
            for (Index c = r; c < d; ++c, slot += halo_lanes) values[r * d + c] = values[c * d + r] = halo.diagonal[slot];
        }
    }

    /// Adds a block to the sums of its row, and its transpose to y of its columns.
    template <int d, bool is_pair>
    static void add_block(const Value* values, const Value* x, const std::array<Value, d>& x_of_row, std::array<Value, d>& sums,
                          Value* y) {
        std::array<Value, d> mirrored{};
        if constexpr (is_pair) std::copy_n(y, d, mirrored.begin());
#pragma GCC unroll 6
        for (int r = 0; r < d; ++r) {
#pragma GCC unroll 6
            for (int c = 0; c < d; ++c) {
                sums[r] += values[r * d + c] * x[c];
                if constexpr (is_pair) mirrored[c] += values[r * d + c] * x_of_row[r];
            }
        }
        if constexpr (is_pair) std::copy_n(mirrored.begin(), d, y);
    }

    /// Adds blocks [begin, end) of a row. all_whole: no block exceeds the matrix.
    template <int d, bool is_pair, bool all_whole>
    void add_blocks(Offset begin, Offset end, const Value* x, const std::array<Value, d>& x_of_row, std::array<Value, d>& sums,
                    Value* y) const {
        constexpr int values_of_line = 64 / static_cast<int>(sizeof(Value));
        const Index whole = size_.column_count / d;
        for (Offset place = begin; place < end; ++place) {
            const Value* const values = values_.data() + place * d * d;
            for (int i = 0; i < d * d; i += values_of_line) __builtin_prefetch(values + bytes_ahead / sizeof(Value) + i);
            const Index column = columns_[place];
            if (all_whole || column < whole) {
                add_block<d, is_pair>(values, x + Offset{column} * d, x_of_row, sums, y + Offset{column} * d);
                continue;
            }
            const Index there = size_.column_count - whole * d;
            std::array<Value, d> last_x{};
            std::array<Value, d> last_y{};
            std::copy_n(x + Offset{column} * d, there, last_x.begin());
            if constexpr (is_pair) std::copy_n(y + Offset{column} * d, there, last_y.begin());
            add_block<d, is_pair>(values, last_x.data(), x_of_row, sums, last_y.data());
            if constexpr (is_pair) std::copy_n(last_y.begin(), there, y + Offset{column} * d);
        }
    }

    template <int d, bool all_whole>
    void multiply(std::int64_t part, const Value* x, Value* y, bool accumulate) const {
        const auto rows_until = [&](Index node) { return std::min(Offset{node} * d, Offset{size_.row_count}); };
        const Index end = part_nodes_[part + 1];
        if (!accumulate) std::fill(y + rows_until(part_nodes_[part]), y + rows_until(end), Value{0});
        const Offset first_block = part_blocks_[part];
        Offset begin = first_block;
        for (Index node = part_nodes_[part]; node < end; ++node) {
            const Offset row = Offset{node} * d;
            const Offset end_of_pairs = first_block + rows_[node].end_of_pairs;
            const Offset end_of_row = first_block + rows_[node].end;
            std::array<Value, d> sums{};
            std::array<Value, d> x_of_row{};
            const int there = all_whole || rows_until(node + 1) == row + d ? d : static_cast<int>(rows_until(node + 1) - row);
            if (begin < end_of_pairs) std::copy_n(x + row, there, x_of_row.begin());
            add_blocks<d, true, all_whole>(begin, end_of_pairs, x, x_of_row, sums, y);
            add_blocks<d, false, all_whole>(end_of_pairs, end_of_row, x, x_of_row, sums, y);
            for (int r = 0; r < there; ++r) y[row + r] += sums[r];
            begin = end_of_row;
        }
        const Offset first_row = rows_until(part_nodes_[part]);
        const Offset rows = rows_until(end) - first_row;
        if (accumulate || are_finite(y + first_row, rows)) return;
        std::fill_n(y + first_row, rows, Value{0});
        add_nonzeros(part, x, y);
    }

    /// Adds the products of a part to y, without padding.
    [[gnu::cold, gnu::noinline]] void add_nonzeros(std::int64_t part, const Value* x, Value* y) const {
        const Index d = block_size_;
        Offset place = part_blocks_[part];
        for (Index node = part_nodes_[part]; node < part_nodes_[part + 1]; ++node) {
            const Offset end_of_pairs = part_blocks_[part] + rows_[node].end_of_pairs;
            for (; place < part_blocks_[part] + rows_[node].end; ++place) {
                for (Index e = 0; e < d * d; ++e) {
                    const Offset row = Offset{node} * d + e / d;
                    const Offset column = Offset{columns_[place]} * d + e % d;
                    const Value value = values_[place * d * d + e];
                    if (pattern_.has(row, column)) y[row] += value * x[column];
                    if (place < end_of_pairs && pattern_.has(column, row)) y[column] += value * x[row];
                }
            }
        }
    }

    MatrixSize size_;
    Index block_size_;
    HostArray<Index> part_nodes_;    // [parts + 1]
    HostArray<Offset> part_blocks_;  // [parts + 1]
    HostArray<Row> rows_;            // [nodes]
    HostArray<Index> columns_;       // [blocks] nodes
    HostArray<Value> values_;        // [blocks * block_size * block_size] block by block, row by row
    const Pattern& pattern_;
};

}  // namespace workbench
