// The distinct blocks of a matrix: those of a structured mesh with one material repeat, so that a code can represent each.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// A set of blocks of `area` values each, compared by their bits and numbered in the order of insertion, by open addressing.
template <typename Value>
class BlockSet {
public:
    BlockSet(Index area, Offset most);

    /// False if there would be more than `most`.
    bool insert(const Value* block);
    /// The number of a block, or -1.
    [[nodiscard]] Offset find(const Value* block) const;
    [[nodiscard]] Offset count() const { return static_cast<Offset>(values_.size()) / area_; }
    /// [count * area]
    [[nodiscard]] const std::vector<Value>& values() const { return values_; }

private:
    /// The place of a block in the table, or the free place where it belongs.
    [[nodiscard]] std::size_t place_of(const Value* block) const;

    Index area_;
    Offset most_;
    std::vector<std::int32_t> table_;  // numbers; -1: free
    std::vector<Value> values_;
};

/// The distinct blocks of size x size values, in the precision of Value, that hold a nonzero, one after another in ascending
/// order of their bits; none if there are more than `most`. In parallel, and found out early if there are too many. size: at
/// most largest_block (block_rows.hpp).
template <typename Value>
[[nodiscard]] std::optional<std::vector<Value>> distinct_blocks(const CsrMatrix& matrix, Index size, Offset most);

}  // namespace workbench
