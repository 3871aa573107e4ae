#include "frontends/cli/matrix_runner.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/compile.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {

void sort_by_matrix(std::vector<Recipe>& recipes) {
    std::vector<MatrixChoice> matrices;
    std::vector<std::pair<std::size_t, Recipe>> numbered;
    std::map<std::filesystem::path, std::set<std::size_t>> of_file;
    for (Recipe& recipe : recipes) {
        const auto known = std::find(matrices.begin(), matrices.end(), recipe.matrix);
        const auto number = static_cast<std::size_t>(known - matrices.begin());
        if (known == matrices.end()) matrices.push_back(recipe.matrix);
        of_file[recipe.file].insert(number);
        numbered.emplace_back(number, std::move(recipe));
    }
    const std::filesystem::path first = numbered.front().second.file;
    for (const auto& [file, numbers] : of_file) {
        if (numbers == of_file.at(first)) continue;
        throw RecipeError(fmt::format(
            "{} and {} name different matrices, but the recipes of a run share one; choose it with --matrix or --generate",
            first.string(), file.string()));
    }
    std::stable_sort(numbered.begin(), numbered.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::transform(numbered.begin(), numbered.end(), recipes.begin(), [](auto& each) { return std::move(each.second); });
}

MatrixRunner::MatrixRunner(const MeasuringArguments& arguments, const std::vector<Recipe>& recipes)
    : recipes_(recipes),
      options_(options_of(arguments)),
      gpu_(gpu_for(arguments, options_, note_)),
      keep_(keep_folder(arguments.keep, *host_)) {
    options_.keep = pointer_to(keep_);
}

void MatrixRunner::add_facts(RunReport& report) const {
    report.matrix = report_;
    report.process_seconds = loading_seconds_ + (seconds_of_compiling_kernels() - compiled_in_loading_);
    add_provenance(report, *host_, has_gpu());
    if (!note_.empty()) report.notes.push_back(note_);
}

Runner& MatrixRunner::operator()(const Recipe& recipe) {
    if (runner_ && recipe.matrix == choice_) return *runner_;
    runner_.reset();
    report_ = {};
    matrix_ = {};
    Progress progress;
    progress.show("reading the matrix");
    std::tie(matrix_, report_) = load_matrix(recipe.matrix);
    choice_ = recipe.matrix;
    runner_.emplace(matrix_, catalogue(), Devices{*host_, gpu_.get()}, options_);
    std::vector<Recipe> to_come;
    const auto on_this = [&](const Recipe& other) { return other.matrix == choice_; };
    std::copy_if(recipes_.begin(), recipes_.end(), std::back_inserter(to_come), on_this);
    if (has_gpu() && loading_seconds_ == 0) {
        progress.show("kernels are loaded");
        loading_seconds_ = load_kernels(matrix_, catalogue(), Devices{*host_, gpu_.get()}, options_, to_come);
        compiled_in_loading_ = seconds_of_compiling_kernels();
    }
    runner_->expect(to_come);
    return *runner_;
}

}  // namespace workbench
