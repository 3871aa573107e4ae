// The options of the command line that change a recipe: lines such as "sweep layout.slice_height=4,8". A line "recipe" sets the
// recipe, which is otherwise a small one with sweeps.
#include <set>
#include <sstream>

#include "fuzz/target.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace {

using namespace workbench;

struct Options {
    std::filesystem::path recipe = "swept.toml";
    RecipeChanges changes;
};

Options options_of(std::string_view text) {
    Options options;
    std::istringstream lines{std::string(text)};
    for (std::string line; std::getline(lines, line);) {
        const std::size_t end = std::min(line.find(' '), line.size());
        const std::string word = line.substr(0, end);
        const std::string value = line.substr(std::min(end + 1, line.size()));
        if (word == "recipe" && value.find('/') == std::string::npos) options.recipe = value;
        if (word == "set") options.changes.overrides.push_back(value);
        if (word == "sweep") options.changes.sweeps.push_back(value);
        if (word == "generate") options.changes.generate = value;
        if (word == "matrix") options.changes.matrix = value;
        if (word == "member") options.changes.member = value;
    }
    return options;
}

/// Points must differ in their labels and in their folders, which have one name of a file each.
void check_points(const std::vector<Recipe>& points) {
    std::set<std::string> labels;
    std::set<std::string> folders;
    for (const Recipe& point : points) {
        if (points.size() > 1 && !labels.insert(point.sweep.label).second) fuzz::fail("a label twice", point.sweep.label);
        const std::string& folder = point.sweep.folder;
        if (points.size() > 1 && !folders.insert(folder).second) fuzz::fail("a folder twice", folder);
        if (folder.find('/') != std::string::npos || folder == "." || folder == ".." || folder.size() > 255) {
            fuzz::fail("not the name of a folder", folder);
        }
        const std::string resolved = resolved_recipe(point);
        if (resolved_recipe(parse_recipe(resolved, "resolved.toml", catalogue())) != resolved) {
            fuzz::fail("another recipe", resolved);
        }
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Options options = options_of(fuzz::text_of(data, size));
    const std::filesystem::path bases = fuzz::source_path("fuzz/bases");
    options.changes.bases_within = bases;
    fuzz::act_or_refuse([&] { check_points(load_points(bases / options.recipe, catalogue(), options.changes).points); });
    fuzz::act_or_refuse(
        [&] { check_matched({load_points(bases / options.recipe, catalogue(), options.changes, Unmatched::noted)}); });
    return 0;
}
