// Conditions that make a matrix unsuitable for several layouts. Each function throws Unsuitable with the figures and advice.
#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "core/contract/parameters.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/cuts.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// The declaration of parameter slots_per_nonzero.
[[nodiscard]] ParameterDeclaration slots_per_nonzero_parameter(double default_value);

/// Default: the slots that fit into memory.
struct SlotBound {
    double slots_per_nonzero = std::numeric_limits<double>::infinity();
    std::string advice;  // how to need fewer slots, or allow more: "smaller blocks (block_size) have fewer"
};

/// Throws Unsuitable, with the figures and the advice, if the slots exceed the bound or the free memory. storage: "2 diagonals
/// of 40 rows". The slots are a real number because they may exceed integers.
void require_bounded_slots(const std::string& storage, double slots, Offset nonzeros, std::size_t bytes_per_slot,
                           const SlotBound& bound);

/// Throws Unsuitable if a piece has more than 65536 columns. advice: how to make pieces smaller ("raise parts of
/// metis_partition").
void require_narrow(const Cuts& pieces, const std::string& advice);

/// Throws Unsuitable, with their count and the largest magnitude, if values that are finite in f64 are not finite in Value.
template <ValueType Value>
void require_values_in_range(const CsrMatrix& matrix);

struct DescendingRows {
    std::string requirement;      // the beginning of the message: "jagged diagonals need rows in descending length"
    std::string stage;            // that sorts the rows: "row_sort with apply = \"rows\""
    std::string share_name = {};  // empty: the whole matrix
    Index window = 0;             // rows descend within windows of this size; 0: all rows
};

/// Throws Unsuitable, with the row and the stage, if a row is longer than the one stored before it in the same window.
void require_descending(const ShareView& rows, const DescendingRows& order);

}  // namespace workbench
