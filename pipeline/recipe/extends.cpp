// Recipes that extend another one: its tables, with some of their settings replaced and stages replaced, added or removed.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>

#include "pipeline/contract/suggestion.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t longest_recipe = std::size_t{1} << 20;  // bytes
constexpr std::size_t most_stages = 1000;
constexpr std::size_t most_files = 16;

/// What a recipe calls a stage, before it has an id.
const std::string* called(const RecipeTable& stage) {
    if (!stage.id.empty()) return &stage.id;
    return stage.find("id") != nullptr ? stage.text("id") : stage.text("use");
}

/// Its settings in place of those of the same key.
void replace(RecipeTable& base, const RecipeTable& own) {
    for (const Setting& setting : own.settings) base.set(setting);
    base.broken = base.broken || own.broken;
}

/// "row_sort_1 (line 9), row_sort_2 (line 15 of base.toml)": the stages of this name.
std::string users_of(const std::string& name, const std::vector<RecipeTable>& stages, Place from,
                     const Diagnostics& diagnostics) {
    std::vector<std::string> users;
    for (const RecipeTable& stage : stages) {
        const std::string* use = stage.text("use");
        if (use == nullptr || *use != name) continue;
        users.push_back(fmt::format("{} ({})", stage.id, diagnostics.line(stage.place, from)));
    }
    return join(users);
}

/// Does the recipe say `use`, and another name than the base?
bool uses_another(const RecipeTable& base, const RecipeTable& own) {
    if (own.find("use") == nullptr) return false;
    const std::string* name = own.text("use");
    return name == nullptr || base.text("use") == nullptr || *name != *base.text("use");
}

/// Puts the stages of a recipe into those of its base.
class StageMerge {
public:
    StageMerge(std::vector<RecipeTable>& stages, Diagnostics& diagnostics)
        : stages_(stages), base_(stages), diagnostics_(diagnostics) {}

    void take(RecipeTable own) {
        const auto after = own.take("after");
        const auto before = own.take("before");
        const auto remove = own.take("remove");
        if (int(after.has_value()) + int(before.has_value()) + int(remove.has_value()) > 1) {
            refuse(own.place, "expected one of after, before and remove");
        } else if (remove) {
            remove_stage(own, *remove);
        } else if (after || before) {
            insert(own, after ? *after : *before);
        } else {
            replace_or_append(std::move(own));
        }
    }

private:
    void refuse(Place place, std::string message) { diagnostics_.add(place, std::move(message)); }

    [[nodiscard]] std::vector<RecipeTable>::iterator find(const std::string& name) {
        return std::find_if(stages_.begin(), stages_.end(), [&](const RecipeTable& stage) {
            const std::string* other = called(stage);
            return other != nullptr && *other == name;
        });
    }

    [[nodiscard]] std::string unknown(const std::string& name, Place from) const {
        return fmt::format("no stage of the recipe that is extended has the id '{}'{}", printable(name, 40),
                           expected_stage(name, base_, from, diagnostics_));
    }

    /// Where the table names its stage.
    [[nodiscard]] static Place place_of_name(const RecipeTable& own) {
        return own.place_of(own.find("id") != nullptr ? "id" : "use");
    }

    void remove_stage(const RecipeTable& own, const Setting& remove) {
        const std::string* name = called(own);
        if (remove.value != ParameterValue(true)) {
            refuse(remove.value_place, fmt::format("remove: {}, expected true", found_text(remove)));
        } else if (name == nullptr) {
            refuse(own.place, "expected the id of the stage to remove");
        } else if (const auto stage = find(*name); stage == stages_.end()) {
            refuse(place_of_name(own), unknown(*name, own.place));
        } else {
            stages_.erase(stage);
        }
        for (const Setting& setting : own.settings) {
            if (setting.key == "id" || setting.key == "use") continue;
            refuse(setting.key_place,
                   fmt::format("a stage that is removed takes no '{}'; expected its id alone", printable(setting.key, 40)));
        }
    }

    void insert(const RecipeTable& own, const Setting& beside) {
        const auto* place = beside.value ? std::get_if<std::string>(&*beside.value) : nullptr;
        const auto stage = place == nullptr ? stages_.end() : find(*place);
        if (place == nullptr) {
            refuse(beside.value_place, fmt::format("{}: {}, expected the id of a stage", beside.key, found_text(beside)));
        } else if (stage == stages_.end()) {
            refuse(beside.value_place, unknown(*place, own.place));
        } else {
            stages_.insert(beside.key == "after" ? stage + 1 : stage, own);
        }
    }

    void replace_or_append(RecipeTable own) {
        const std::string* name = called(own);
        const auto stage = name == nullptr ? stages_.end() : find(*name);
        if (stage != stages_.end() && !stage->id.empty()) {
            own.take("id");  // it has it already
            if (uses_another(*stage, own)) {
                own.id = stage->id;
                *stage = std::move(own);
            } else {
                replace(*stage, own);
            }
        } else if (own.find("use") == nullptr && name != nullptr) {
            refuse(place_of_name(own), unknown(*name, own.place) + "; a new stage needs 'use'");
        } else if (own.find("id") == nullptr && name != nullptr && !users_in_base(*name, own.place).empty()) {
            refuse(own.place_of("use"), fmt::format("which stage is meant by '{}'? Say id = with that of one which uses it, "
                                                    "{}; or add a stage with after = or before =",
                                                    *name, users_in_base(*name, own.place)));
        } else {
            stages_.push_back(std::move(own));
        }
    }

    [[nodiscard]] std::string users_in_base(const std::string& name, Place from) const {
        return users_of(name, base_, from, diagnostics_);
    }

    std::vector<RecipeTable>& stages_;
    const std::vector<RecipeTable> base_;  // as they were
    Diagnostics& diagnostics_;
};

/// Where the base has a layout for this share; the end where it has none.
std::vector<LayoutTables>::iterator find_share(std::vector<LayoutTables>& layouts, const std::string* share) {
    return std::find_if(layouts.begin(), layouts.end(), [share](const LayoutTables& tables) {
        const std::string* other = tables.own.text("share");
        return share != nullptr && other != nullptr && *share == *other;
    });
}

/// A list of layouts replaces one layout; in a list, layouts are told apart by their shares.
void merge_layouts(RecipeDocument& base, RecipeDocument& own, Diagnostics& diagnostics) {
    base.layout = {};
    if (base.layouts.empty()) base.kernel = {};  // that of its one layout
    replace(base.kernel, own.kernel);
    for (LayoutTables& tables : own.layouts) {
        const auto layout = find_share(base.layouts, tables.own.text("share"));
        const std::optional<Setting> remove = tables.own.take("remove");
        if (remove && remove->value != ParameterValue(true)) {
            diagnostics.add(remove->value_place, fmt::format("remove: {}, expected true", found_text(*remove)));
        } else if (remove && layout == base.layouts.end()) {
            diagnostics.add(remove->key_place, "the recipe that is extended has no layout for such a share to remove");
        } else if (remove) {
            base.layouts.erase(layout);
        } else if (layout == base.layouts.end()) {
            base.layouts.push_back(std::move(tables));
        } else if (uses_another(layout->own, tables.own)) {
            *layout = std::move(tables);
        } else {
            replace(layout->own, tables.own);
            replace(layout->kernel, tables.kernel);
        }
    }
}

RecipeDocument merge(RecipeDocument base, RecipeDocument own, Diagnostics& diagnostics) {
    base.recipe.take("name");  // a variant has a name of its own
    replace(base.recipe, own.recipe);
    if (std::any_of(own.matrix.settings.begin(), own.matrix.settings.end(), names_matrix)) {
        base.matrix = std::move(own.matrix);
    } else {
        replace(base.matrix, own.matrix);
    }
    const bool own_has_one = own.layout.broken || !own.layout.settings.empty();
    if (!own.layouts.empty()) {
        merge_layouts(base, own, diagnostics);
    } else if (!base.layouts.empty() && own_has_one) {
        base.layouts.clear();
        base.layout = std::move(own.layout);
        base.kernel = std::move(own.kernel);
    } else if (uses_another(base.layout, own.layout)) {
        base.layout = std::move(own.layout);
        base.kernel = std::move(own.kernel);  // those of the base were of its layout
    } else {
        replace(base.layout, own.layout);
        replace(base.kernel, own.kernel);
    }
    StageMerge stages(base.stages, diagnostics);
    for (RecipeTable& stage : own.stages) stages.take(std::move(stage));
    return base;
}

/// Words that only a recipe with a base has a use for.
void refuse_words_of_merging(RecipeDocument& document, Diagnostics& diagnostics) {
    for (RecipeTable& stage : document.stages) {
        for (const char* word : {"after", "before", "remove"}) {
            const std::optional<Setting> setting = stage.take(word);
            if (!setting) continue;
            diagnostics.add(
                setting->key_place,
                fmt::format("'{}' is for recipes that extend another one; expected extends = \"FILE\" in [recipe]", word));
        }
    }
}

void check_stage_count(const RecipeDocument& document, Diagnostics& diagnostics) {
    if (document.stages.size() <= most_stages) return;
    diagnostics.add({}, fmt::format("{} stages; expected at most {}", document.stages.size(), most_stages));
    diagnostics.throw_if_any();
}

class Reader {
public:
    explicit Reader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

    RecipeDocument read(int number, const std::filesystem::path& file) {
        files_.push_back(file);
        if (diagnostics_.text(number).size() > longest_recipe) {
            refuse({.file = number}, fmt::format("a file of more than {} bytes; expected a recipe", longest_recipe));
        }
        RecipeDocument document = read_document(number, diagnostics_);
        check_stage_count(document, diagnostics_);
        if (const std::optional<Setting> extends = document.recipe.take("extends")) {
            document = merge(read_base(*extends, file), std::move(document), diagnostics_);
            check_stage_count(document, diagnostics_);
        } else {
            refuse_words_of_merging(document, diagnostics_);
        }
        name_stages(document, diagnostics_);
        return document;
    }

    [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }

private:
    /// Nothing can be said about a recipe without its base.
    [[noreturn]] void refuse(Place place, std::string message) {
        diagnostics_.add(place, std::move(message));
        diagnostics_.throw_if_any();
        throw std::logic_error("an error that is none");
    }

    RecipeDocument read_base(const Setting& extends, const std::filesystem::path& from) {
        const auto* name = extends.value ? std::get_if<std::string>(&*extends.value) : nullptr;
        const Place place = extends.value_place;
        if (name == nullptr || name->empty() || name->find('\0') != std::string::npos) {
            refuse(place, fmt::format("[recipe], extends: {}, expected the file of a recipe", found_text(extends)));
        }
        const std::filesystem::path base = (from.parent_path() / *name).lexically_normal();
        check_cycle(base, place);
        if (files_.size() == most_files) refuse(place, fmt::format("a chain of more than {} recipes", most_files));
        std::string text;
        std::error_code unknown;
        if (std::filesystem::is_other(base, unknown)) refuse(place, base.string() + ": no file; expected a recipe");
        try {
            text = read_recipe_file(base);
        } catch (const RecipeError& problem) {
            refuse(place, std::string_view(problem.what()).starts_with("error: ") ? problem.what() + 7 : problem.what());
        }
        return read(diagnostics_.add_file(printable(base.string(), 1000), std::move(text)), base);
    }

    void check_cycle(const std::filesystem::path& base, Place place) {
        std::string chain;
        for (const std::filesystem::path& file : files_) {
            if (!chain.empty() || MatrixFile{file} == MatrixFile{base}) chain += file.string() + " -> ";
        }
        if (!chain.empty()) refuse(place, fmt::format("a recipe that extends itself: {}{}", chain, base.string()));
    }

    Diagnostics& diagnostics_;
    std::vector<std::filesystem::path> files_;  // by their numbers in places
};

}  // namespace

std::string expected_stage(const std::string& id, const std::vector<RecipeTable>& stages, Place from,
                           const Diagnostics& diagnostics) {
    const std::string users = users_of(id, stages, from, diagnostics);
    if (!users.empty()) return "; expected that of one which uses it: " + users;
    std::vector<std::string> ids;
    for (const RecipeTable& stage : stages) ids.push_back(stage.id);
    return ids.empty() ? "; the recipe has no stages" : expected_one_of(id, ids);
}

std::string read_recipe_file(const std::filesystem::path& file) {
    const auto refuse = [&](const std::string& reason) {
        throw RecipeError(fmt::format("error: {}: {}", file.string(), reason));
    };
    std::error_code failure;
    const auto status = std::filesystem::status(file, failure);
    if (!std::filesystem::exists(status)) refuse("no such file; expected a recipe");
    if (std::filesystem::is_directory(status)) refuse("a folder; expected a recipe");
    std::ifstream stream(file, std::ios::binary);
    if (!stream) refuse("cannot be read");
    std::string text(longest_recipe + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad()) refuse("cannot be read");
    return text;
}

RecipeDocument read_with_bases(const std::filesystem::path& recipe, Diagnostics& diagnostics) {
    Reader reader(diagnostics);
    RecipeDocument document = reader.read(0, recipe);
    document.files = reader.files();
    return document;
}

}  // namespace workbench
