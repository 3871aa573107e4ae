// The common part of the programs that read and write matrices in file formats of other programs, which the workbench starts
// (core/system/container.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "core/matrix/csr_matrix.hpp"
#include "core/output/numpy_writer.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {

/// Writes the arrays of a file of scipy.sparse.save_npz, which the workbench then reads and checks. `format`: csr, csc or coo.
void write_arrays(WholeFile& npz, std::string_view format, std::array<std::int64_t, 2> shape,
                  std::span<const NamedArray> arrays);

struct ContainerFormat {
    /// Reads the matrix of this name, or the only one if the name is empty. Throws InputError and MachineError.
    void (*read)(const std::filesystem::path& file, const std::string& member, WholeFile& npz);
    /// Writes to a new file. Throws MachineError.
    void (*write)(const std::filesystem::path& file, const CsrMatrix& matrix);
};

/// The main function of the programs. Arguments: "BYTES read FILE MEMBER NPZ" or "BYTES write FILE NPZ"; BYTES limits the
/// memory. Prints the message of an error and returns its exit code.
int run_container_program(int count, char** arguments, const ContainerFormat& format) noexcept;

}  // namespace workbench
