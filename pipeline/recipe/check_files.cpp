// Files that stages name: data, sources and programs beside the recipe.
#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "core/text/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {

ParameterType type_of(const ParameterValue& value) {
    constexpr std::array types = {ParameterType::boolean, ParameterType::integer, ParameterType::real, ParameterType::text};
    return types.at(value.index());
}

namespace {

/// True for a key that TOML takes without quotes.
bool is_bare(const std::string& key) {
    const auto allowed = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '_' || letter == '-';
    };
    return !key.empty() && std::ranges::all_of(key, allowed);
}

/// Makes the paths in the settings of one stage absolute.
class Paths {
public:
    Paths(const RecipeDocument& document, std::string owner, Diagnostics& diagnostics)
        : document_(document), owner_(std::move(owner)), diagnostics_(diagnostics) {}

    /// A setting of type file or source.
    void resolve_file(Setting& setting, ParameterType type) {
        const auto* text = setting.as<std::string>();
        if (text == nullptr || text->empty() || text->find('\0') != std::string::npos) return;  // check_parameters refuses it
        const std::filesystem::path file = path_of(*text, setting.value_place);
        const auto refuse = [&](const std::string& reason) {
            diagnostics_.add(setting.value_place, "{}, {}: {}; expected {}, relative to the {}", owner_, setting.key, reason,
                             type == ParameterType::source ? "a C++ file" : "a file", base_of(setting.value_place));
        };
        if (!is_allowed(file)) {
            refuse_folder(setting);
            return;
        }
        std::error_code failure;
        const auto status = std::filesystem::status(file, failure);
        const std::string shown = printable(file.string(), 200);
        if (!std::filesystem::exists(status)) {
            refuse("no file " + shown);
        } else if (!std::filesystem::is_regular_file(status)) {
            refuse(shown + (std::filesystem::is_directory(status) ? " is a folder" : " is not a regular file"));
        } else {
            setting.value = file.string();
        }
    }

    /// A setting of type command: a list of words, or one text. Words that name a file relative to the recipe become its path.
    void resolve_command(Setting& setting) {
        std::vector<std::string> words;
        if (setting.texts) {
            for (const TextItem& item : *setting.texts) words.push_back(item.text);
        } else if (const auto* text = setting.as<std::string>()) {
            const auto parsed = command_words(*text);
            if (!parsed) {
                diagnostics_.add(setting.value_place, "{}, {}: found a quote that is not closed", owner_, setting.key);
                return;
            }
            words = *parsed;
        } else {
            return;
        }
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (words[i].empty() || words[i].find('\0') != std::string::npos) continue;
            // A program without a folder is searched on PATH.
            if (i == 0 && words[i].find('/') == std::string::npos) continue;
            const std::filesystem::path file = path_of(words[i], setting.value_place);
            std::error_code ignored;
            if (!std::filesystem::is_regular_file(file, ignored)) continue;
            if (!is_allowed(file)) {
                refuse_folder(setting);
                return;
            }
            words[i] = file.string();
        }
        setting.texts.reset();
        setting.value = command_of(words);
    }

private:
    [[nodiscard]] std::filesystem::path path_of(const std::string& text, RecipePlace place) const {
        const bool of_file = place.option < 0 && static_cast<std::size_t>(place.file) < document_.files.size();
        const std::filesystem::path file =
            of_file ? document_.files[static_cast<std::size_t>(place.file)].parent_path() / text : std::filesystem::path(text);
        return std::filesystem::absolute(file).lexically_normal();
    }

    [[nodiscard]] static const char* base_of(RecipePlace place) { return place.option < 0 ? "recipe" : "current folder"; }

    [[nodiscard]] bool is_allowed(const std::filesystem::path& file) const {
        return !document_.within || is_in_folder(file, *document_.within);
    }

    void refuse_folder(const Setting& setting) {
        diagnostics_.add(setting.value_place, "{}, {}: found a file outside the folder {}; expected a file in it", owner_,
                         setting.key, printable(document_.within->string(), 1000));
    }

    const RecipeDocument& document_;
    std::string owner_;
    Diagnostics& diagnostics_;
};

}  // namespace

std::vector<ParameterDeclaration> declarations_of(const StageEntry& entry, const RecipeTable& table) {
    std::vector<ParameterDeclaration> declarations = entry.parameters;
    if (!entry.takes_other_keys) return declarations;
    const std::vector<std::string> names = names_of(entry.parameters);
    for (const Setting& setting : table.settings) {
        const bool known = setting.key == "use" || setting.key == "id" || std::ranges::count(names, setting.key) > 0;
        // A word that resembles a parameter is probably a misspelt one.
        if (known || !is_bare(setting.key) || !did_you_mean(setting.key, names).empty()) continue;
        const ParameterType type = setting.value ? type_of(*setting.value) : ParameterType::text;  // a list is refused later
        declarations.push_back({.name = setting.key, .type = type, .optional = true});
    }
    return declarations;
}

RecipeTable with_absolute_paths(const RecipeTable& table, const RecipeDocument& document, const std::string& owner,
                                const std::vector<ParameterDeclaration>& declarations, Diagnostics& diagnostics) {
    RecipeTable result = table;
    Paths paths(document, owner, diagnostics);
    for (const ParameterDeclaration& declaration : declarations) {
        const auto setting = std::ranges::find(result.settings, declaration.name, &Setting::key);
        if (setting == result.settings.end()) continue;
        if (declaration.type == ParameterType::command) paths.resolve_command(*setting);
        if (declaration.type == ParameterType::file || declaration.type == ParameterType::source) {
            paths.resolve_file(*setting, declaration.type);
        }
    }
    return result;
}

std::vector<RecipeCode> code_of(const RecipeDocument& document, const Recipe& recipe) {
    std::vector<RecipeCode> code;
    for (std::size_t i = 0; i < recipe.stages.size(); ++i) {
        const RecipeStage& stage = recipe.stages[i];
        for (const ParameterDeclaration& declaration : stage.entry->parameters) {
            if (!is_code(declaration.type) || !stage.parameters.has(declaration.name)) continue;
            code.push_back({fmt::format("stage '{}': {} {}", stage.id, declaration.name,
                                        printable(stage.parameters.text(declaration.name), 200)),
                            document.stages[i].place_of(declaration.name)});
        }
    }
    for (std::size_t i = 0; i < recipe.layouts.size(); ++i) {
        const RecipeLayout& layout = recipe.layouts[i];
        const bool several = !document.layouts.empty();
        const RecipeTable& own = several ? document.layouts[i].own : document.layout;
        const RecipeTable& kernel = several ? document.layouts[i].kernel : document.kernel;
        if (!layout.entry->file.empty()) {
            code.push_back(
                {fmt::format("layout '{}': source {}", layout.entry->name, printable(layout.entry->file.string(), 200)),
                 own.place_of("source")});
        }
        for (const KernelSource& source : layout.sources) {
            const char* const key = source.backend == Backend::cuda ? "cuda_source" : "cpu_source";
            code.push_back({fmt::format("kernel '{}': {} {}", source.name(), key, printable(source.file.string(), 200)),
                            kernel.place_of(key)});
        }
    }
    return code;
}

}  // namespace workbench
