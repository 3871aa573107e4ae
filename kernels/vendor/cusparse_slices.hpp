// Converts a matrix to cuSPARSE's sliced ELL.
#pragma once

#include "core/matrix/host_array.hpp"
#include "kernels/vendor/cusparse.hpp"

namespace workbench {

/// Rows in slices of equal height, in their given order, each slice padded to its longest row. Padding has value 0 and column
/// -1.
template <ValueType Value>
class CusparseSlices {
public:
    /// lengths: [rows], nonzeros per row. Throws Unsuitable if the slots exceed 32 bits or the host's memory.
    CusparseSlices(HostArray<Offset> lengths, Index slice_height);

    /// Stores entry k of each row; entry(row, k) returns its column and value.
    template <typename GetEntry>
    void fill(const GetEntry& entry) {
        for (Index row = 0; row < static_cast<Index>(lengths_.size()); ++row) {
            Offset slot = Offset{offsets_[row / height_]} + row % height_;
            for (Offset k = 0; k < lengths_[row]; ++k, slot += height_) {
                const auto [column, value] = entry(row, k);
                columns_[slot] = column;
                values_[slot] = value;
            }
        }
    }

    [[nodiscard]] CusparseMatrix to(Device& device, Index columns, Offset nonzeros) const;

private:
    HostArray<Offset> lengths_;  // [rows]
    Index height_;
    HostArray<std::int32_t> offsets_{0};  // [slices + 1]
    HostArray<Index> columns_;            // [slots]
    HostArray<Value> values_;             // [slots]
};

}  // namespace workbench
