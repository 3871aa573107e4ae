// Finds the matrices of a suite and reports missing ones.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/recipe/suite.hpp"
#include "studies/bench/matrices.hpp"

namespace workbench {

/// The default folder of fetched matrices.
inline constexpr const char* default_matrix_folder = "matrices";

struct SuiteMatrices {
    std::vector<BenchMatrix> here;
    std::size_t missing = 0;  // number of missing matrices that the suite names
};

/// True if the command line names files but no folders; then only these files are used.
[[nodiscard]] bool names_files_alone(const Suite& suite);

/// The matrices for a bench: if the suite names matrices, those found in the folders, and the files of the command line;
/// otherwise all files and folders. Prints missing matrices to standard error, with commands to fetch them. `given`: the suite
/// file as the user named it. Throws InputError or RecipeError if there are no matrices.
[[nodiscard]] SuiteMatrices matrices_of(const Suite& suite, const std::string& given);

[[nodiscard]] MatrixFacts facts_of(const Suite& suite, const SuiteMatrix& matrix);

}  // namespace workbench
