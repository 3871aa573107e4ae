#include "core/fetch/fetch_matrix.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/foreign_file.hpp"
#include "core/input/read_matrix.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Describes a download that is not an archive; empty if it may be one.
std::string not_an_archive(const fs::path& file) {
    std::array<char, 64> buffer{};
    std::ifstream stream(file, std::ios::binary);
    stream.read(buffer.data(), buffer.size());
    const std::string_view start(buffer.data(), static_cast<std::size_t>(stream.gcount()));
    if (start.starts_with("\x1f\x8b")) return "";
    if (start.empty()) return "an empty file";
    const auto known = foreign_file(start);
    return known ? known->found : "something else";
}

}  // namespace

std::string collection_url(const std::string& base, const std::string& group, const std::string& name) {
    return fmt::format("{}/MM/{}/{}.tar.gz", base.substr(0, base.find_last_not_of('/') + 1), group, name);
}

fs::path fetched_file(const fs::path& folder, const std::string& group, const std::string& name) {
    return folder / group / (name + ".tar.gz");
}

CheckedMatrix check_matrix_file(const fs::path& file) {
    try {
        const CsrMatrix matrix = read_matrix(file);
        return {.rows = matrix.rows, .columns = matrix.columns, .nonzeros = matrix.nonzeros(), .unchecked = {}};
    } catch (const MachineError& lacking) {
        return {.unchecked = lacking.what()};
    }
}

CheckedMatrix fetch_matrix(const std::string& url, const fs::path& target, const DownloadOptions& options) {
    std::error_code error;
    std::vector<fs::path> missing;  // folders to create, innermost first
    for (fs::path folder = target.parent_path(); !folder.empty() && !fs::exists(folder, error); folder = folder.parent_path()) {
        missing.push_back(folder);
    }
    fs::create_directories(target.parent_path(), error);
    if (error) throw MachineError(fmt::format("{}: cannot be created: {}", target.parent_path().string(), error.message()));
    const fs::path part = target.string() + ".part";
    try {
        download(url, part, options);
    } catch (...) {
        if (fs::file_size(part, error) == 0) discard_download(part);
        for (const fs::path& folder : missing) fs::remove(folder, error);  // fails if it is not empty
        throw;
    }
    CheckedMatrix matrix;
    try {
        if (const std::string found = not_an_archive(part); !found.empty()) {
            throw InputError(fmt::format("found {}, expected a .tar.gz archive with a matrix", found));
        }
        matrix = check_matrix_file(part);
    } catch (const InputError& wrong) {
        discard_download(part);
        throw DownloadError(fmt::format("{}: the download was deleted: {}", url, wrong.what()), false);
    }
    fs::rename(part, target, error);
    if (error) throw MachineError(fmt::format("{}: cannot be written: {}", target.string(), error.message()));
    discard_download(part);
    return matrix;
}

}  // namespace workbench
