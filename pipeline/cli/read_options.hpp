// The options of every command that reads a matrix.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace workbench {

/// The files that read_matrix takes, for help texts.
inline constexpr const char* readable_files = ".mtx, .rb, .graph, also .gz, .xz, .zst, .tar; .npz";

/// Adds --member and --max-memory. `member` must live until the command line is parsed; the limit takes effect by itself.
void add_read_options(CLI::App& command, std::string& member);

/// --max-memory alone, for a command that makes its matrix.
void add_memory_option(CLI::App& command);

}  // namespace workbench
