// The ways in which the program refuses, each with its exit code.
#pragma once

#include <stdexcept>
#include <string>

namespace workbench {

/// An error whose text is meant for the user: where, what was found, what was expected.
class UserError : public std::runtime_error {
public:
    UserError(int exit_code_of_it, const std::string& what) : std::runtime_error(what), exit_code(exit_code_of_it) {}
    int exit_code;
};

inline constexpr int exit_ok = 0;
inline constexpr int exit_verification_failed = 1;
inline constexpr int exit_mistake_of_the_program = 70;  // an error that no user can cause

/// A bad command line or recipe.
struct RecipeError : UserError {
    explicit RecipeError(const std::string& what) : UserError(2, what) {}
};

/// A bad input matrix, or one that the recipe cannot take (a partition of a matrix that is not square).
struct InputError : UserError {
    explicit InputError(const std::string& what) : UserError(3, what) {}
};

/// The machine lacks something: a GPU, memory.
struct MachineError : UserError {
    explicit MachineError(const std::string& what) : UserError(4, what) {}
};

/// A layout or kernel does not suit this matrix (a row too long, values not finite in f32): recorded in the report, not fatal.
/// Says the figure that stands in the way and the parameter to change.
struct Unsuitable : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// A kernel does what no kernel may do: it does not end, or writes where it must not. Recorded as a wrong result.
struct BrokenKernel : std::runtime_error {
    using std::runtime_error::runtime_error;
};

}  // namespace workbench
