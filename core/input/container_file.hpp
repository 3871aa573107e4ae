// Reader of MATLAB files and of HDF5 files in the Binsparse format.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "core/matrix/csr_matrix.hpp"
#include "core/system/container.hpp"

namespace workbench {

/// The container of a file that begins with these bytes; null if it is none.
[[nodiscard]] const Container* container_of(std::string_view start);

/// Reads the matrix of this name, or the only one. Its program writes a .npz into a temporary file, which is read and checked
/// here. Throws like read_scipy_npz and run_container.
[[nodiscard]] CsrMatrix read_container(const Container& container, const std::filesystem::path& path,
                                       const std::string& member);

}  // namespace workbench
