#include "studies/bench/matrices.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// The file name without the extensions of a matrix file; empty if it has no such extension.
std::string stem_of(const fs::path& path) {
    constexpr std::array<std::string_view, 3> texts{".mtx", ".rb", ".graph"};
    constexpr std::array<std::string_view, 4> compressions{"", ".gz", ".xz", ".zst"};
    std::string name = path.filename().string();
    const auto takes_off = [&name](const std::string& ending) {
        if (name.size() <= ending.size() || !name.ends_with(ending)) return false;
        name.resize(name.size() - ending.size());
        return true;
    };
    for (const std::string_view compression : compressions) {
        for (const std::string_view text : texts) {
            if (takes_off(std::string(text) + std::string(compression))) return name;
        }
        if (takes_off(".tar" + std::string(compression))) return name;
    }
    return takes_off(".tgz") || takes_off(".npz") || takes_off(".mat") || takes_off(".h5") ? name : "";
}

bool is_archive(const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".tgz") || name.ends_with(".tar") || name.find(".tar.") != std::string::npos;
}

/// The last component of the path, including for "." and "folder/".
std::string name_of_folder(const fs::path& folder) {
    std::error_code unknown;
    fs::path whole = fs::weakly_canonical(folder, unknown);
    if (!whole.has_filename()) whole = whole.parent_path();
    return whole.filename().string();
}

BenchMatrix matrix_at(const fs::path& file, std::string name) {
    std::error_code unknown;
    const std::uintmax_t bytes = fs::file_size(file, unknown);
    return {std::move(name), unknown ? 0 : bytes, {MatrixFile{file}, file.string()}};
}

}  // namespace

std::vector<BenchMatrix> any_matrices_in(const fs::path& folder) {
    std::vector<fs::path> files;
    std::error_code unreadable;
    const auto options = fs::directory_options::skip_permission_denied | fs::directory_options::follow_directory_symlink;
    for (fs::recursive_directory_iterator at(folder, options, unreadable), end; at != end; at.increment(unreadable)) {
        if (unreadable) break;
        if (at.depth() > 20) at.disable_recursion_pending();  // a symbolic link may form a cycle
        std::error_code unknown;
        if (at->is_regular_file(unknown) && !stem_of(at->path()).empty()) files.push_back(at->path());
    }
    if (unreadable) throw InputError(fmt::format("{}: cannot be read ({})", folder.string(), unreadable.message()));
    std::sort(files.begin(), files.end());

    std::set<fs::path> unpacked;  // folders NAME with a file NAME.mtx
    for (const fs::path& file : files) {
        if (!is_archive(file) && stem_of(file) == name_of_folder(file.parent_path())) unpacked.insert(file.parent_path());
    }
    std::vector<BenchMatrix> matrices;
    for (const fs::path& file : files) {
        const bool is_side_file = unpacked.contains(file.parent_path()) && stem_of(file) != name_of_folder(file.parent_path());
        const bool is_unpacked = is_archive(file) && unpacked.contains(file.parent_path() / stem_of(file));
        if (is_side_file || is_unpacked) continue;
        matrices.push_back(matrix_at(file, name_of_folder(folder) + "/" + file.lexically_relative(folder).generic_string()));
    }
    return matrices;
}

std::vector<BenchMatrix> matrices_in(const fs::path& folder) {
    std::vector<BenchMatrix> matrices = any_matrices_in(folder);
    if (matrices.empty()) {
        throw InputError(fmt::format(
            "{}: this folder contains no matrix; expected .mtx, .rb, .graph, .npz, .mat, .h5 or .tar files", folder.string()));
    }
    return matrices;
}

fs::path folder_of(const BenchMatrix& matrix) {
    const fs::path path = fs::absolute(std::get<MatrixFile>(matrix.choice.from).path).lexically_normal();
    const fs::path folder = path.parent_path();
    return folder.filename() == stem_of(path) ? folder.parent_path() : folder;
}

const BenchMatrix* find_named(const std::vector<BenchMatrix>& matrices, const std::string& group, const std::string& name) {
    const BenchMatrix* found = nullptr;
    for (const BenchMatrix& matrix : matrices) {
        const auto* file = std::get_if<MatrixFile>(&matrix.choice.from);
        if (file == nullptr || stem_of(file->path) != name) continue;
        if (!group.empty() && folder_of(matrix).filename() == group) return &matrix;
        if (found == nullptr) found = &matrix;
    }
    return found;
}

std::string contradiction(const MatrixFacts& facts, std::int64_t rows, std::int64_t nonzeros) {
    const bool rows_differ = facts.rows && *facts.rows != rows;
    const bool nonzeros_differ = facts.nonzeros && *facts.nonzeros != nonzeros;
    if (!rows_differ && !nonzeros_differ) return "";
    std::string found;
    std::string stated;
    const auto add = [&](const char* things, const std::optional<std::int64_t>& in_source, std::int64_t in_file) {
        if (!in_source) return;
        found += fmt::format("{}{} {}", found.empty() ? "" : " and ", in_file, things);
        stated += fmt::format("{}{}", stated.empty() ? "" : " and ", *in_source);
    };
    add("rows", facts.rows, rows);
    add("nonzeros", facts.nonzeros, nonzeros);
    return fmt::format("the file has {}, but {} states {}", found, facts.source.empty() ? "the suite" : facts.source, stated);
}

std::optional<Shard> read_shard(std::string_view text) {
    Shard shard;
    const char* const end = text.data() + text.size();
    const auto number = std::from_chars(text.data(), end, shard.number);
    if (number.ec != std::errc() || number.ptr == end || *number.ptr != '/') return std::nullopt;
    const auto count = std::from_chars(number.ptr + 1, end, shard.count);
    if (count.ec != std::errc() || count.ptr != end || shard.number < 1 || shard.number > shard.count) return std::nullopt;
    return shard;
}

std::vector<BenchMatrix> matrices_of_shard(std::vector<BenchMatrix> matrices, const Shard& shard) {
    std::vector<BenchMatrix> part;
    for (std::size_t i = shard.number - 1; i < matrices.size(); i += shard.count) part.push_back(std::move(matrices[i]));
    return part;
}

std::vector<BenchMatrix> matrices_at(const fs::path& path) {
    std::error_code unknown;
    if (fs::is_directory(path, unknown)) return matrices_in(path);
    if (!fs::exists(path, unknown)) {
        throw InputError(fmt::format("{}: no such file; expected a matrix file or a folder of matrix files", path.string()));
    }
    const fs::path whole = fs::absolute(path).lexically_normal();
    return {matrix_at(path, name_of_folder(whole.parent_path()) + "/" + whole.filename().string())};
}

}  // namespace workbench
