// Compiles an author's C++ file with the compiler of this machine.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Returns the author's text. `what` describes it for messages: "the source of a kernel". Throws RecipeError if it cannot be
/// read.
[[nodiscard]] std::string source_text(const std::filesystem::path& file, std::string_view what);

/// The checksum of a C++ file with the files that it includes in quotes, found from its own folder. Of nothing if it cannot be
/// read.
[[nodiscard]] std::string checksum_of_source(const std::filesystem::path& file);

/// "#line 1 FILE", after which messages of a compiler name the author's file and lines.
[[nodiscard]] std::string line_directive(const std::filesystem::path& file);

/// Throws RecipeError with the first lines of a compiler's messages.
[[noreturn]] void throw_compile_error(const std::filesystem::path& file, const std::string& compiler,
                                      const std::string& messages);

/// The words of $CXX, or the first of c++, g++ and clang++ on PATH. Throws MachineError if there is none.
[[nodiscard]] std::vector<std::string> host_compiler();

/// Compiles `text` into the shared object `library`, as C++20 with optimization and OpenMP and for this processor. Quoted
/// includes are searched in the folder of `file`, the author's file, which messages name. `folder` is a scratch folder. Throws
/// RecipeError with the compiler's messages, or MachineError if there is no compiler.
void compile_shared_object(const std::filesystem::path& file, const std::string& text, const std::vector<std::string>& options,
                           const std::filesystem::path& folder, const std::filesystem::path& library);

struct KeptObject {
    std::filesystem::path file = {};
    bool compiled = false;  // by this call
};

/// Like compile_shared_object, but compiles equal texts once: returns a file "NAME-CHECKSUM.so" in a folder `kind` of
/// cache_folder(). `made_with` identifies everything else that the result depends on; files that the text includes in quotes
/// from its own folder, the compiler and the processor are added. If nothing can be kept, or others can write to that
/// folder, which a warning says, the result is in `folder`.
[[nodiscard]] KeptObject kept_shared_object(const std::filesystem::path& file, const std::string& text,
                                            const std::vector<std::string>& options, const std::string& kind,
                                            const std::string& made_with, const std::filesystem::path& folder);

/// The bytes that make() returns, from the file `name` in the folder `kind` of cache_folder() if they were kept there before.
/// They are kept unless others can write to that folder.
[[nodiscard]] std::string kept_bytes(const std::string& kind, const std::string& name,
                                     const std::function<std::string()>& make);

/// The seconds that this process has spent compiling kernels of its own program while it prepared them: once a process, and
/// part of no price.
[[nodiscard]] std::atomic<double>& seconds_of_compiling_kernels();

/// The folder of what is compiled once: $XDG_CACHE_HOME/spmv-workbench, ~/.cache/spmv-workbench, or one of this user for
/// temporary files.
[[nodiscard]] std::filesystem::path cache_folder();

}  // namespace workbench
