// Compares the drawing of a layout with what its builder builds; shared by the tests of the layouts.
#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/csr_matrix.hpp"
#include "support/message_of.hpp"

namespace workbench {

/// The matrix of the drawings, kernels/common/drawn_matrix.hpp.
[[nodiscard]] CsrMatrix drawn();

/// Does the drawing begin with the picture of drawn()?
[[nodiscard]] bool draws_the_matrix(const LayoutEntry& entry);

/// Does the drawing show these words, however far they stand apart?
[[nodiscard]] bool draws(const LayoutEntry& entry, const std::string& words);

/// An array as the drawings show it: its name and its elements, bytes as numbers.
template <typename Array>
[[nodiscard]] std::string list(const std::string& name, const Array& elements) {
    std::ostringstream line;
    line << name;
    for (const auto& element : elements) {
        line << ' ';
        if constexpr (sizeof(element) == 1) {
            line << +element;
        } else {
            line << element;
        }
    }
    return line.str();
}

/// The first lanes of slices, as the drawings show them: steps apart by a bar, a dot for padding.
template <typename Element, typename Slices>
[[nodiscard]] std::string first_lanes(const std::string& name, const Slices& slices, const std::vector<Element>& array,
                                      Index lanes) {
    std::ostringstream line;
    line << name;
    for (Index slice = 0; slice < slices.slice_count(); ++slice) {
        const Offset width = (slices.slice_offsets[slice + 1] - slices.slice_offsets[slice]) / slices.slice_height;
        for (Offset k = 0; k < width; ++k) {
            if (k > 0) line << " |";
            for (Index lane = 0; lane < lanes; ++lane) {
                const Offset slot = slices.slice_offsets[slice] + k * slices.slice_height + lane;
                line << ' ';
                slices.values[slot] == 0 ? line << '.' : line << array[slot];
            }
        }
    }
    return line.str();
}

/// An array in the pieces between its offsets, apart by bars.
template <typename Element>
[[nodiscard]] std::string by_pieces(const std::string& name, const std::vector<Offset>& offsets,
                                    const std::vector<Element>& array) {
    std::ostringstream line;
    line << name;
    for (std::size_t piece = 0; piece + 1 < offsets.size(); ++piece) {
        if (piece > 0) line << " |";
        for (Offset k = offsets[piece]; k < offsets[piece + 1]; ++k) line << ' ' << array[k];
    }
    return line.str();
}

}  // namespace workbench
