#include "pipeline/recipe/matrix_choice.hpp"

namespace workbench {
namespace {

/// Absolute, without "." and "..", links followed as far as the path exists.
std::filesystem::path place_of(const std::filesystem::path& path) {
    const std::filesystem::path whole = std::filesystem::absolute(path);
    std::error_code failure;
    const std::filesystem::path followed = std::filesystem::weakly_canonical(whole, failure);
    return failure ? whole.lexically_normal() : followed;
}

}  // namespace

bool operator==(const MatrixFile& a, const MatrixFile& b) {
    return a.member == b.member && place_of(a.path) == place_of(b.path);
}

}  // namespace workbench
