#include "frontends/cli/suite_matrices.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/provenance.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// The folder for missing matrices: the first one that the suite or the user names.
std::string folder_for(const Suite& suite) {
    std::error_code unknown;
    for (const SuiteItem& item : suite.matrices) {
        if (fs::is_directory(item.text, unknown)) return item.text;
    }
    return default_matrix_folder;
}

/// The matrices among which named ones are searched.
std::vector<BenchMatrix> candidates_of(const Suite& suite) {
    std::vector<BenchMatrix> all;
    std::error_code unknown;
    const auto add = [&](const fs::path& path) {
        const bool folder = fs::is_directory(path, unknown);
        for (BenchMatrix& matrix : folder ? any_matrices_in(path) : matrices_at(path)) all.push_back(std::move(matrix));
    };
    for (const SuiteItem& item : suite.matrices) add(item.text);
    if (suite.matrices.empty() && fs::is_directory(default_matrix_folder, unknown)) add(default_matrix_folder);
    return all;
}

/// Adds the matrix files of the command line, even those that the suite does not name.
void add_files(std::vector<BenchMatrix>& matrices, const Suite& suite) {
    std::error_code unknown;
    for (const SuiteItem& item : suite.matrices) {
        if (!item.where.empty() || fs::is_directory(item.text, unknown)) continue;
        for (BenchMatrix& file : matrices_at(item.text)) {
            const bool there = std::any_of(matrices.begin(), matrices.end(),
                                           [&](const BenchMatrix& other) { return other.choice.from == file.choice.from; });
            if (!there) matrices.push_back(std::move(file));
        }
    }
}

std::string missing_text(const Suite& suite, const std::vector<SuiteMatrix>& missing, const std::string& given) {
    const std::string folder = folder_for(suite);
    const std::string into = folder == default_matrix_folder ? "" : " --into " + quoted_for_shell(folder);
    std::string text =
        fmt::format("{} of the suite's {} matrices are missing in {}:\n", missing.size(), suite.named.size(), folder);
    bool in_collection = false;
    for (const SuiteMatrix& matrix : missing) {
        if (matrix.group.empty()) {
            text += fmt::format("  {0}: its group in the collection is unknown; expected {0}.mtx or {0}.tar.gz\n", matrix.name);
        } else {
            text += fmt::format("  workbench fetch {}{}\n", matrix.full_name(), into);
            in_collection = true;
        }
    }
    if (in_collection) text += fmt::format("To fetch all of them: workbench fetch {}{}\n", quoted_for_shell(given), into);
    return text;
}

}  // namespace

bool names_files_alone(const Suite& suite) {
    std::error_code unknown;
    return !suite.matrices.empty() && std::all_of(suite.matrices.begin(), suite.matrices.end(), [&](const SuiteItem& item) {
        return item.where.empty() && !fs::is_directory(item.text, unknown);
    });
}

MatrixFacts facts_of(const Suite& suite, const SuiteMatrix& matrix) { return {suite.source, matrix.rows, matrix.nonzeros}; }

SuiteMatrices matrices_of(const Suite& suite, const std::string& given) {
    SuiteMatrices matrices;
    if (suite.named.empty()) {
        for (const SuiteItem& item : suite.matrices) {
            for (BenchMatrix& matrix : matrices_at(item.text)) matrices.here.push_back(std::move(matrix));
        }
    } else {
        const std::vector<BenchMatrix> all = candidates_of(suite);
        std::vector<SuiteMatrix> missing;
        for (const SuiteMatrix& named : suite.named) {
            const BenchMatrix* found = find_named(all, named.group, named.name);
            if (found == nullptr) {
                missing.push_back(named);
            } else {
                matrices.here.push_back({named.full_name(), found->bytes, found->choice, facts_of(suite, named)});
            }
        }
        add_files(matrices.here, suite);
        if (names_files_alone(suite)) missing.clear();
        matrices.missing = missing.size();
        if (!missing.empty()) (void)std::fputs(printable(missing_text(suite, missing, given)).c_str(), stderr);
    }
    for (const SuiteItem& item : suite.generated) {
        try {
            matrices.here.push_back({item.text, 0, generated_matrix(item.text, {}, catalogue())});
        } catch (const RecipeError& error) {
            const std::string_view what = error.what();
            if (item.where.empty()) throw;
            throw RecipeError(fmt::format("{}: {}", item.where, what.starts_with("error: ") ? what.substr(7) : what));
        }
    }
    std::map<std::string, std::uintmax_t> seen;
    std::erase_if(matrices.here, [&seen](const BenchMatrix& matrix) {  // a file may also be in a named folder
        const auto [known, is_new] = seen.emplace(matrix.name, matrix.bytes);
        return !is_new && known->second == matrix.bytes;
    });
    if (!matrices.here.empty()) return matrices;
    if (matrices.missing > 0) {
        throw InputError("all matrices of the suite are missing; fetch them as shown above, or use --matrices FILE ...");
    }
    throw RecipeError("no matrices; name them with --matrices FILE|FOLDER, --generate KIND, or in the suite");
}

}  // namespace workbench
