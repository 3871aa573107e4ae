// The matrices of a suite: those that are here, and how to bring the others.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/bench/matrices.hpp"
#include "pipeline/recipe/suite.hpp"

namespace workbench {

/// Where `fetch` puts matrices, and `bench` looks for those that a suite names, unless somebody says otherwise.
inline constexpr const char* default_matrix_folder = "matrices";

struct SuiteMatrices {
    std::vector<BenchMatrix> here;
    std::size_t missing = 0;  // of those that the suite names
};

/// Whether the command line names files and no folder: whoever does that wants these and no others.
[[nodiscard]] bool names_files_alone(const Suite& suite);

/// What a bench of the suite runs on. Of a suite that names matrices these, as far as the folders have them, and each file that
/// the command line names; files alone are measured alone. Says on standard error which named matrices are missing, with the
/// command that brings each. `given`: the suite as the user named it. Throws InputError or RecipeError where there is nothing
/// to run on.
[[nodiscard]] SuiteMatrices matrices_of(const Suite& suite, const std::string& given);

[[nodiscard]] MatrixFacts facts_of(const Suite& suite, const SuiteMatrix& matrix);

}  // namespace workbench
