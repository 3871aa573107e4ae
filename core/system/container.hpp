// File formats of other programs that are read and written with the libraries of these formats. Each has a program of its own
// (core/containers), because a damaged file can crash its library, and because the libraries depend on many others.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

struct Container {
    const char* program;  // found beside the program, if its library was there when the workbench was built
    const char* file;     // for messages
    const char* needs;    // the library and its packages, for messages
};
inline constexpr Container matlab_file{"workbench_matlab", "MATLAB file", "matio (Debian, Ubuntu: libmatio-dev)"};
inline constexpr Container hdf5_file{"workbench_hdf5", "HDF5 file", "HDF5 (Debian, Ubuntu: libhdf5-dev)"};

/// Runs the program of the container with the free memory, in bytes, and these arguments: "read FILE MEMBER NPZ" or "write FILE
/// NPZ". Throws InputError or MachineError with its message, which begins with FILE. `file` is named if the program is missing
/// or crashes.
void run_container(const Container& container, const std::filesystem::path& file, std::vector<std::string> arguments);

}  // namespace workbench
