// The places at which layouts store the values of a matrix, so that other values of the same pattern need no new layout.
#pragma once

#include <span>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "kernels/common/storage/encode_values.hpp"
#include "pipeline/measure/candidate.hpp"

namespace workbench {

/// Throws Unsuitable with the first row in which the pattern of the matrix is not the known one.
void require_pattern(const CsrMatrix& matrix, const CsrMatrix& known);

/// For each slot of a candidate's layouts, the entry of the caller's matrix whose value it holds. Found by one walk over the
/// slots, which all layouts have; storing values is then a parallel gather. It takes 8 bytes a slot, and 4 a nonzero.
template <ValueType Value>
class ValuePlaces {
public:
    /// entry_order: see GivenMatrix. The candidate's layouts must outlive this, and must not be constant objects.
    ValuePlaces(const Candidate<Value>& candidate, std::span<const Offset> entry_order);

    /// The pattern of the caller's matrix, without values.
    [[nodiscard]] const CsrMatrix& pattern() const { return pattern_; }

    /// Stores values, in the order of the caller's arrays. Throws Unsuitable, before it changes anything, if a
    /// coding cannot represent them (all equal, exact in f32, as many distinct ones as the dictionary has), or if a layout
    /// stores an entry and its mirror once and their values differ.
    void store(std::span<const Value> values);

private:
    struct PlacedArray {
        LayoutField field;
        HostArray<Offset> entry_of_slot;   // -1: padding
        HostArray<Offset> mirror_of_slot;  // another entry with the same value, or -1; empty: no slot has one
    };

    void check(const PlacedArray& array, std::span<const Value> values) const;

    std::vector<PlacedArray> arrays_;  // the value arrays of all layouts
    CsrMatrix pattern_;
};

}  // namespace workbench
