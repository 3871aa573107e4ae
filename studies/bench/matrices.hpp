// Finds the matrix files of a bench, in folders laid out like the SuiteSparse collection's downloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {

/// The size of a matrix according to the publication that a suite reproduces.
struct MatrixFacts {
    std::string source = {};
    std::optional<std::int64_t> rows = {};
    std::optional<std::int64_t> nonzeros = {};
};

/// "the file has 12 rows and 41 nonzeros, but S states 12 and 40"; empty if the file agrees with the source S.
[[nodiscard]] std::string contradiction(const MatrixFacts& facts, std::int64_t rows, std::int64_t nonzeros);

struct BenchMatrix {
    std::string name;          // of a file: the last component of the given folder and the path below it: "small/a.mtx.gz"
    std::uintmax_t bytes = 0;  // file size; 0 for a generated matrix
    MatrixChoice choice;
    MatrixFacts facts = {};
};

/// The matrix files in a folder and its subfolders, ordered by name: .mtx, .rb, .graph, optionally followed by .gz, .xz or
/// .zst; .npz, .mat, .h5; .tar, .tar.gz, .tgz, .tar.xz, .tar.zst. A folder NAME that contains NAME.mtx counts as that file
/// only, since the collection's archives also contain right-hand sides and coordinates, and NAME.tar.gz beside that folder is
/// skipped. Throws InputError if the folder cannot be read.
[[nodiscard]] std::vector<BenchMatrix> any_matrices_in(const std::filesystem::path& folder);

/// Like any_matrices_in, but throws InputError if there are none.
[[nodiscard]] std::vector<BenchMatrix> matrices_in(const std::filesystem::path& folder);

/// The absolute path of the folder that contains the matrix: FOLDER for FOLDER/NAME.mtx and for FOLDER/NAME/NAME.mtx.
[[nodiscard]] std::filesystem::path folder_of(const BenchMatrix& matrix);

/// A matrix with this name, whatever its extensions: one in a folder `group` if there is one, otherwise the first; null if
/// there is none.
[[nodiscard]] const BenchMatrix* find_named(const std::vector<BenchMatrix>& matrices, const std::string& group,
                                            const std::string& name);

/// A part of the matrices of a bench: number `number` of `count`, from 1.
struct Shard {
    std::size_t number = 1;
    std::size_t count = 1;
};

/// Reads "3/16"; none if the text is not NUMBER/COUNT with 1 <= NUMBER <= COUNT.
[[nodiscard]] std::optional<Shard> read_shard(std::string_view text);

/// The matrices of a shard: every `count`-th one, from the `number`-th on, so that neighbours in a folder, which are often of
/// similar size, are spread over the shards.
[[nodiscard]] std::vector<BenchMatrix> matrices_of_shard(std::vector<BenchMatrix> matrices, const Shard& shard);

/// The matrix of a file, or the matrices in a folder. Throws InputError if the path does not exist.
[[nodiscard]] std::vector<BenchMatrix> matrices_at(const std::filesystem::path& path);

}  // namespace workbench
