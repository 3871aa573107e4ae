// The matrices of a bench: files, and folders as they come from the SuiteSparse collection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

/// What the source of a suite says of a matrix.
struct MatrixFacts {
    std::string source = {};
    std::optional<std::int64_t> rows = {};
    std::optional<std::int64_t> nonzeros = {};
};

/// "the file has 12 rows and 41 nonzeros, not 12 and 40 as in: S"; empty where nothing contradicts the source.
[[nodiscard]] std::string contradiction(const MatrixFacts& facts, std::int64_t rows, std::int64_t nonzeros);

struct BenchMatrix {
    std::string name;          // of a file the folder that was named and what leads from there to it: "small/1138_bus.mtx.gz"
    std::uintmax_t bytes = 0;  // of the file; 0 where it is generated
    MatrixChoice choice;
    MatrixFacts facts = {};
};

/// The matrix files in a folder and the folders in it, ordered by name. Told by their endings: .mtx, .rb, .graph, each also
/// .gz, .xz, .zst; .npz; .tar, .tar.gz, .tgz, .tar.xz, .tar.zst. Of a folder with a file of its own name, NAME/NAME.mtx, only
/// that is taken: what else the collection puts there are right sides and coordinates; and NAME.tar.gz beside such a folder is
/// left out. Throws InputError where the folder cannot be read.
[[nodiscard]] std::vector<BenchMatrix> any_matrices_in(const std::filesystem::path& folder);

/// The same; throws InputError where there are none.
[[nodiscard]] std::vector<BenchMatrix> matrices_in(const std::filesystem::path& folder);

/// The folder that the file of a matrix lies in; of FOLDER/NAME/NAME.mtx that is FOLDER. An absolute path.
[[nodiscard]] std::filesystem::path folder_of(const BenchMatrix& matrix);

/// The file of a matrix that is called so, whatever its endings: of all with that name one that lies in a folder GROUP, as
/// GROUP/NAME.tar.gz or GROUP/NAME/NAME.mtx, otherwise the first. Null where there is none.
[[nodiscard]] const BenchMatrix* find_named(const std::vector<BenchMatrix>& matrices, const std::string& group,
                                            const std::string& name);

/// The one file, or those of the folder. Throws InputError where there is neither.
[[nodiscard]] std::vector<BenchMatrix> matrices_at(const std::filesystem::path& path);

}  // namespace workbench
