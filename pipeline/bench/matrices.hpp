// The matrices of a bench: files, and folders as they come from the SuiteSparse collection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

struct BenchMatrix {
    std::string name;          // of a file the folder that was named and what leads from there to it: "small/1138_bus.mtx.gz"
    std::uintmax_t bytes = 0;  // of the file; 0 where it is generated
    MatrixChoice choice;
};

/// The matrix files in a folder and the folders in it, ordered by name. Told by their endings: .mtx, .rb, .graph, each also
/// .gz, .xz, .zst; .npz; .tar, .tar.gz, .tgz, .tar.xz, .tar.zst. Of a folder with a file of its own name, NAME/NAME.mtx, only
/// that is taken: what else the collection puts there are right sides and coordinates; and NAME.tar.gz beside such a folder is
/// left out. Throws InputError where there are none.
[[nodiscard]] std::vector<BenchMatrix> matrices_in(const std::filesystem::path& folder);

/// The one file, or those of the folder. Throws InputError where there is neither.
[[nodiscard]] std::vector<BenchMatrix> matrices_at(const std::filesystem::path& path);

}  // namespace workbench
