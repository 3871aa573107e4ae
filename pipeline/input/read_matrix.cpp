#include "pipeline/input/read_matrix.hpp"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <system_error>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/matrix_market.hpp"
#include "pipeline/input/scipy_npz.hpp"
#include "pipeline/input/words.hpp"

namespace workbench {
namespace {

constexpr const char* accepted =
    "a Matrix Market file ('%%MatrixMarket ...', gzip-compressed or not) or a .npz of scipy.sparse.save_npz";

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& found) {
    throw InputError(fmt::format("{}: {}; expected {}", path.string(), found, accepted));
}

std::string first_bytes(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) fail(path, "there is no such file");
    if (std::filesystem::is_directory(status)) fail(path, "is a directory");
    if (!std::filesystem::is_regular_file(status)) fail(path, "is not a regular file");
    std::ifstream file(path, std::ios::binary);
    if (!file) fail(path, fmt::format("cannot be opened ({})", std::strerror(errno)));
    std::string bytes(64, '\0');
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    bytes.resize(static_cast<std::size_t>(file.gcount()));
    if (bytes.empty()) fail(path, "is empty");
    return bytes;
}

}  // namespace

CsrMatrix read_matrix(const std::filesystem::path& path) {
    const std::string start = first_bytes(path);
    const auto starts_with = [&start](std::string_view magic) { return start.compare(0, magic.size(), magic) == 0; };
    if (starts_with("\x1f\x8b") || starts_with("%%")) return read_matrix_market(path);
    if (starts_with("PK\x03\x04") || starts_with("PK\x05\x06")) return read_scipy_npz(path);
    fail(path, fmt::format("starts with {}", in_quotes(std::string_view(start).substr(0, start.find('\n')))));
}

}  // namespace workbench
