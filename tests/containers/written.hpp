// Common checks of file formats that programs beside the workbench read and write.
#pragma once

#include <string>

#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// The matrix of `example`.
const CsrMatrix& example_matrix();

/// Checks that files with this ending contain what was written.
void check_written(const std::string& ending);

}  // namespace workbench
