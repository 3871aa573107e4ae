// Errors that are reported to the user, and the exit codes of the program.
#pragma once

#include <stdexcept>
#include <string>

namespace workbench {

/// The value that the program returns to the shell.
enum class ExitCode {
    ok = 0,
    wrong_result = 1,     // a kernel failed verification
    incomplete = 1,       // some matrices could not be fetched
    unfinished = 1,       // a kernel did not end its trial
    bad_recipe = 2,       // or a bad command line
    bad_input = 3,        // the matrix cannot be read, or the recipe cannot take it
    machine_error = 4,    // no GPU, too little memory, a full disk
    iteration_limit = 5,  // 5 to 8: how a solve ended without converging
    stagnated = 6,
    indefinite = 7,
    breakdown = 8,
    dishonest = 9,       // a judged kernel was right when it was verified, and wrong when it was timed
    program_error = 70,  // an error that no user can cause
    stopped = 130,       // by Ctrl-C, as shells report it
};

/// An error whose text is meant for the user: where, what was found, what was expected.
class UserError : public std::runtime_error {
public:
    UserError(ExitCode code, const std::string& what) : std::runtime_error(what), exit_code(code) {}
    ExitCode exit_code;
};

/// A bad command line or recipe.
struct RecipeError : UserError {
    explicit RecipeError(const std::string& what) : UserError(ExitCode::bad_recipe, what) {}
};

/// A bad input matrix, or one that the recipe cannot take (such as a partition of a rectangular matrix).
struct InputError : UserError {
    explicit InputError(const std::string& what) : UserError(ExitCode::bad_input, what) {}
};

/// The machine lacks something: a GPU, memory.
struct MachineError : UserError {
    explicit MachineError(const std::string& what) : UserError(ExitCode::machine_error, what) {}
};

/// A layout or kernel does not suit this matrix (a row too long, values not finite in f32). The text names the figure that
/// exceeds a limit and the parameter to change. The report records it, and the run continues.
struct Unsuitable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A kernel or a format beside a recipe failed its trial: it crashes, or writes outside of y. The report records it as a wrong
/// result.
struct BrokenKernel : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A kernel or a format beside a recipe did not end its trial within the limit, which says nothing about its results. The text
/// names the limit and what sets it.
struct UnfinishedKernel : UserError {
    explicit UnfinishedKernel(const std::string& what) : UserError(ExitCode::unfinished, what) {}
};

}  // namespace workbench
