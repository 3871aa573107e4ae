// Compiles an author's file into something that can be loaded. The file is compiled unchanged after the header of its layout;
// compiler messages refer to the author's file and line numbers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/system/compile.hpp"

namespace workbench {

/// Compiles for the host into a shared object `library` with $CXX or the first of c++, g++ and clang++ on PATH, with OpenMP and
/// for this processor. `folder` is an empty scratch folder. Throws RecipeError with the compiler's messages, or MachineError if
/// there is no compiler.
void compile_for_host(const std::filesystem::path& file, const std::string& header, const std::filesystem::path& folder,
                      const std::filesystem::path& library);

/// Compiles for a GPU architecture ("sm_90") and returns the image that the driver loads. `macros` ("THREADS_PER_ROW=8") are
/// defined first. Opens NVRTC on the first call. Throws RecipeError with NVRTC's messages, or MachineError if NVRTC is missing.
[[nodiscard]] std::string compile_for_gpu(const std::filesystem::path& file, const std::string& header,
                                          const std::string& architecture, const std::vector<std::string>& macros);

/// The checksum of the headers that a format in one file and the kernels of schedules are compiled with.
[[nodiscard]] const std::string& checksum_of_headers();

/// The same of the headers in another folder, which is read at each call.
[[nodiscard]] std::string checksum_of_headers_in(const std::filesystem::path& root);

struct GpuKernelImage {
    std::string image;     // as the driver loads it
    std::string function;  // its mangled name
};

/// Compiles an instance of a kernel template, "workbench::multiply_rows<...>", for a GPU architecture. `file` declares the
/// arrays and the schedule; `headers` is the folder of the workbench's headers. What was compiled is kept (kept_bytes), and is
/// compiled again by another NVRTC, or if a header has changed. Throws like compile_for_gpu.
[[nodiscard]] GpuKernelImage compile_instance_for_gpu(const std::filesystem::path& file, const std::filesystem::path& headers,
                                                      const std::string& instance, const std::string& architecture);

/// Why NVRTC cannot be opened; empty if it can.
[[nodiscard]] std::string nvrtc_absence_reason();

/// Used by these two functions and their tests. Returns the author's text after an include of the header and a #line directive
/// that restores its name and line numbers.
[[nodiscard]] std::string source_behind_header(const std::filesystem::path& file);

}  // namespace workbench
