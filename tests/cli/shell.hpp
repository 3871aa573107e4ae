// Runs shell commands and the program, for tests of the whole program.
#pragma once

#include <filesystem>
#include <string>

#include <nlohmann/json_fwd.hpp>

namespace workbench {

struct Outcome {
    int exit_code = -1;
    std::string text;  // standard output
};

/// The folder of the project's sources.
inline const std::filesystem::path project = WORKBENCH_SOURCE_DIR;

/// The recipe of CSR, by its full path.
inline const std::string csr_file = WORKBENCH_SOURCE_DIR "/recipes/csr.toml";

/// Options of a run: one sample per kernel, on the CPU.
inline const std::string quick = " --backend kokkos --samples 1 --seconds 0 --cache warm";

[[nodiscard]] Outcome shell(const std::string& command);

/// Runs the program in a folder, with variables `NAME=VALUE ...` in its environment. The text is standard output and standard
/// error.
[[nodiscard]] Outcome workbench_in(const std::filesystem::path& folder, const std::string& arguments,
                                   const std::string& environment = "");

/// Like workbench_in, in the project's folder.
[[nodiscard]] Outcome run(const std::string& arguments, const std::string& environment = "");

/// Replaces all occurrences.
[[nodiscard]] std::string replaced(std::string text, const std::string& from, const std::string& to);

/// Compares a text with tests/golden/cli/NAME.txt.
void compare_with_stored(const std::string& name, const std::string& text);

[[nodiscard]] nlohmann::json json_in(const std::filesystem::path& file);

}  // namespace workbench
