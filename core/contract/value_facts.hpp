// Facts about the values of a matrix that are known before a layout stores them.
#pragma once

#include <optional>
#include <string>

#include "core/contract/parameters.hpp"
#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The most distinct values that are counted, and that any coding takes.
inline constexpr Offset most_coded_values = 1023;
/// The most distinct blocks of node_size^2 values that are counted, and that any coding takes.
inline constexpr Offset most_coded_blocks = 4095;

struct ValueFacts {
    Precision precision = Precision::f64;
    Index columns = 0;
    std::optional<Offset> distinct = {};  // values in the precision; none if there are more than most_coded_values
    bool exact_in_f32 = false;            // f32 represents all values of f64
    bool one_a_row = false;               // the values of each row are equal in the precision
    bool one_a_column = false;
    Index node_size = 1;
    /// Blocks of node_size^2 values; none if there are more than most_coded_blocks, or one unknown a node.
    std::optional<Offset> distinct_blocks = {};
};

/// node_size: unknowns of a node; 1: blocks are not counted.
[[nodiscard]] ValueFacts value_facts(const CsrMatrix& matrix, Precision precision, Index node_size = 1);

/// The reason why values with these facts cannot be stored as the parameter `values` says; empty if they can, as far as is
/// known.
[[nodiscard]] std::string reason_against_coding(const Parameters& parameters, const ValueFacts& facts);

}  // namespace workbench
