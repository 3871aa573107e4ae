// Runs code beside the recipe as a stage. The code is a program that is started in a fresh folder, where it finds
//   matrix.npz       the matrix in its current order, as scipy.sparse.load_npz reads it
//   parameters.json  what the stage should give, the sizes and cuts of the matrix, and the stage's own parameters
// and writes, as .npy, .mtx or .txt (number_list.hpp),
//   order            gives = "order": entry i is the old number of new row i
//   partition        gives = "partition": the part of each row; or order and cuts_partition, the boundaries in that order
//   shares           gives = "shares": the label of each nonzero; or shares.npz as workbench export writes it
// and, optionally, notes.json, an object of texts for the report. docs/beside_the_recipe.md describes it for authors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/contract/stage.hpp"

namespace workbench {

inline constexpr const char* code_parameters_file = "parameters.json";
inline constexpr const char* code_matrix_file = "matrix.npz";
inline constexpr const char* code_notes_file = "notes.json";

/// The exit code of a program whose last line of output is the message for the user.
inline constexpr int code_says_why = 3;

/// `gives`, `apply`, `within`, `names`, `limit_seconds` and `check_purity`.
[[nodiscard]] std::vector<ParameterDeclaration> parameters_of_code(ParameterDeclaration own);

/// The contract that follows from `gives`, `apply`, `within` and `names`. `other` is a key of another stage with code, which is
/// refused.
[[nodiscard]] StageContract contract_of_code(const Parameters& parameters, const std::string& other);

/// The parameters that are not the stage's: those of the code.
[[nodiscard]] std::map<std::string, ParameterValue> parameters_for_code(const Parameters& parameters,
                                                                        const std::vector<ParameterDeclaration>& own);

struct CodeRun {
    std::vector<std::string> command;
    std::string shown;  // for messages: "my_order.py"
    const StagedMatrix& staged;
    const Parameters& parameters;
    const std::vector<ParameterDeclaration>& declared;
    Precision precision = Precision::f64;
};

/// Runs the program, twice to check its purity, and checks what it gives. Throws Unsuitable with one line if it does not start,
/// crashes, runs too long or gives something else.
[[nodiscard]] StageResult run_code(const CodeRun& run);

}  // namespace workbench
