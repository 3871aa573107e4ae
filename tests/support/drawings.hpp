// Whether the drawing of a layout shows what its builder builds, and other things that tests of one layout share.
#pragma once

#include <sstream>
#include <string>

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

/// An array as the drawings show it: its name and its elements.
template <typename Array>
[[nodiscard]] std::string list(const std::string& name, const Array& elements) {
    std::ostringstream line;
    line << name;
    for (const auto& element : elements) line << ' ' << element;
    return line.str();
}

}  // namespace workbench
