// From an author's file to something that can be loaded. The file is compiled as it is, behind the header of its layout;
// messages of the compilers name it and its own lines.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace workbench {

/// For the host, into a shared object `library`: $CXX, or the first of c++, g++ and clang++ on PATH; with OpenMP and for this
/// processor. `folder` is an empty one of the caller's. Throws RecipeError with the compiler's messages, or MachineError where
/// there is no compiler.
void compile_for_host(const std::filesystem::path& file, const std::string& header, const std::filesystem::path& folder,
                      const std::filesystem::path& library);

/// For a GPU of an architecture, as "sm_90": what the driver loads. `macros` are defined before, as "THREADS_PER_ROW=8". NVRTC
/// is opened when this is called. Throws RecipeError with its messages, or MachineError where NVRTC is not there.
[[nodiscard]] std::string compile_for_gpu(const std::filesystem::path& file, const std::string& header,
                                          const std::string& architecture, const std::vector<std::string>& macros);

/// Why NVRTC cannot be opened; empty where it can.
[[nodiscard]] std::string nvrtc_absence_reason();

// For these two and their tests.

/// The author's text. Throws RecipeError where it cannot be read.
[[nodiscard]] std::string source_text(const std::filesystem::path& file);
/// The same behind the header and a line that gives it its own name and line numbers back.
[[nodiscard]] std::string source_behind_header(const std::filesystem::path& file);
/// What is thrown for messages of a compiler: the first lines of them.
[[noreturn]] void throw_compile_error(const std::filesystem::path& file, const std::string& compiler,
                                      const std::string& messages);

}  // namespace workbench
