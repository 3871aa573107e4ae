// Reads a recipe, merges it with the recipes that it extends, and names its stages.
#include <fmt/core.h>

#include <algorithm>
#include <fstream>
#include <map>

#include "core/text/suggestion.hpp"
#include "core/text/words.hpp"
#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/document.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

constexpr std::size_t most_stages = 1000;
constexpr std::size_t most_files = 16;
constexpr std::size_t longest_id = 64;

/// Ids become parts of options and file names.
bool is_id(const std::string& text) {
    const auto allowed = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '_' || letter == '-';
    };
    return !text.empty() && text.size() <= longest_id && std::ranges::all_of(text, allowed);
}

/// The name that a recipe uses for a stage, before ids are assigned.
const std::string* called(const RecipeTable& stage) {
    if (!stage.id.empty()) return &stage.id;
    return stage.find("id") != nullptr ? stage.text("id") : stage.text("use");
}

/// Replaces settings of the base by those with the same key.
void replace(RecipeTable& base, const RecipeTable& own) {
    for (const Setting& setting : own.settings) base.set(setting);
    base.broken = base.broken || own.broken;
}

/// The stages with this `use`: "row_sort_1 (line 9), row_sort_2 (line 15 of base.toml)".
std::string users_of(const std::string& name, const std::vector<RecipeTable>& stages, RecipePlace from,
                     const Diagnostics& diagnostics) {
    std::vector<std::string> users;
    for (const RecipeTable& stage : stages) {
        const std::string* use = stage.text("use");
        if (use == nullptr || *use != name) continue;
        users.push_back(fmt::format("{} ({})", stage.id, diagnostics.line(stage.place, from)));
    }
    return join(users);
}

/// True if the recipe has a `use` or a `source` that differs from the base's.
bool uses_another(const RecipeTable& base, const RecipeTable& own) {
    const auto differs = [&](const char* key) {
        if (own.find(key) == nullptr) return false;
        const std::string* name = own.text(key);
        return name == nullptr || base.text(key) == nullptr || *name != *base.text(key);
    };
    return differs("use") || differs("source");
}

/// Merges the stages of a recipe into those of its base.
class StageMerge {
public:
    StageMerge(std::vector<RecipeTable>& stages, Diagnostics& diagnostics)
        : stages_(stages), base_(stages), diagnostics_(diagnostics) {}

    void take(RecipeTable own) {
        const auto after = own.take("after");
        const auto before = own.take("before");
        const auto remove = own.take("remove");
        if (int(after.has_value()) + int(before.has_value()) + int(remove.has_value()) > 1) {
            diagnostics_.add(own.place, "found several of after, before and remove; expected one of them");
        } else if (remove) {
            remove_stage(own, *remove);
        } else if (after || before) {
            insert(own, after ? *after : *before);
        } else {
            replace_or_append(std::move(own));
        }
    }

private:
    [[nodiscard]] std::vector<RecipeTable>::iterator find(const std::string& name) {
        return std::find_if(stages_.begin(), stages_.end(), [&](const RecipeTable& stage) {
            const std::string* other = called(stage);
            return other != nullptr && *other == name;
        });
    }

    [[nodiscard]] std::string unknown(const std::string& name, RecipePlace from) const {
        return fmt::format("the extended recipe has no stage with the id '{}'{}", printable(name, 40),
                           expected_stage(name, base_, from, diagnostics_));
    }

    /// The place of the stage's name.
    [[nodiscard]] static RecipePlace place_of_name(const RecipeTable& own) {
        return own.place_of(own.find("id") != nullptr ? "id" : "use");
    }

    void remove_stage(const RecipeTable& own, const Setting& remove) {
        const std::string* name = called(own);
        if (remove.value != ParameterValue(true)) {
            diagnostics_.add(remove.value_place, "remove: {}, expected true", found_text(remove));
        } else if (name == nullptr) {
            diagnostics_.add(own.place, "found remove without an id; expected the id of a stage");
        } else if (const auto stage = find(*name); stage == stages_.end()) {
            diagnostics_.add(place_of_name(own), "{}", unknown(*name, own.place));
        } else {
            stages_.erase(stage);
        }
        for (const Setting& setting : own.settings) {
            if (setting.key == "id" || setting.key == "use") continue;
            diagnostics_.add(setting.key_place, "found '{}' for a stage to remove; expected only its id",
                             printable(setting.key, 40));
        }
    }

    void insert(const RecipeTable& own, const Setting& beside) {
        const auto* place = beside.as<std::string>();
        const auto stage = place == nullptr ? stages_.end() : find(*place);
        if (place == nullptr) {
            diagnostics_.add(beside.value_place, "{}: {}, expected the id of a stage", beside.key, found_text(beside));
        } else if (stage == stages_.end()) {
            diagnostics_.add(beside.value_place, "{}", unknown(*place, own.place));
        } else {
            stages_.insert(beside.key == "after" ? stage + 1 : stage, own);
        }
    }

    void replace_or_append(RecipeTable own) {
        const std::string* name = called(own);
        const auto stage = name == nullptr ? stages_.end() : find(*name);
        if (stage != stages_.end() && !stage->id.empty()) {
            own.take("id");  // equals that of the base
            if (uses_another(*stage, own)) {
                own.id = stage->id;
                *stage = std::move(own);
            } else {
                replace(*stage, own);
            }
        } else if (own.find("use") == nullptr && name != nullptr) {
            diagnostics_.add(place_of_name(own), "{}; a new stage needs 'use'", unknown(*name, own.place));
        } else if (own.find("id") == nullptr && name != nullptr && !users_in_base(*name, own.place).empty()) {
            diagnostics_.add(own.place_of("use"),
                             "'{}' is ambiguous; expected id = with one of {}; or after = or before = for a new stage", *name,
                             users_in_base(*name, own.place));
        } else {
            stages_.push_back(std::move(own));
        }
    }

    [[nodiscard]] std::string users_in_base(const std::string& name, RecipePlace from) const {
        return users_of(name, base_, from, diagnostics_);
    }

    std::vector<RecipeTable>& stages_;
    const std::vector<RecipeTable> base_;  // as they were
    Diagnostics& diagnostics_;
};

/// The base's layout for this share, or the end.
std::vector<LayoutTables>::iterator find_share(std::vector<LayoutTables>& layouts, const std::string* share) {
    return std::ranges::find_if(layouts, [share](const LayoutTables& tables) {
        const std::string* other = tables.own.text("share");
        return share != nullptr && other != nullptr && *share == *other;
    });
}

/// Several layouts replace a single one; otherwise layouts are matched by their shares.
void merge_layouts(RecipeDocument& base, RecipeDocument& own, Diagnostics& diagnostics) {
    base.layout = {};
    if (base.layouts.empty()) base.kernel = {};  // of its single layout
    replace(base.kernel, own.kernel);
    for (LayoutTables& tables : own.layouts) {
        const auto layout = find_share(base.layouts, tables.own.text("share"));
        const std::optional<Setting> remove = tables.own.take("remove");
        if (remove && remove->value != ParameterValue(true)) {
            diagnostics.add(remove->value_place, "remove: {}, expected true", found_text(*remove));
        } else if (remove && layout == base.layouts.end()) {
            diagnostics.add(remove->key_place, "the extended recipe has no layout for this share; expected one to remove");
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
    base.recipe.take("name");  // not inherited
    replace(base.recipe, own.recipe);
    if (std::ranges::any_of(own.matrix.settings, names_matrix)) {
        base.matrix = std::move(own.matrix);
    } else {
        replace(base.matrix, own.matrix);
    }
    const bool has_one_layout = own.layout.broken || !own.layout.settings.empty();
    if (!own.layouts.empty()) {
        merge_layouts(base, own, diagnostics);
    } else if ((!base.layouts.empty() && has_one_layout) || uses_another(base.layout, own.layout)) {
        base.layouts.clear();
        base.layout = std::move(own.layout);
        base.kernel = std::move(own.kernel);  // the base's kernels belong to its layout
    } else {
        replace(base.layout, own.layout);
        replace(base.kernel, own.kernel);
    }
    StageMerge stages(base.stages, diagnostics);
    for (RecipeTable& stage : own.stages) stages.take(std::move(stage));
    return base;
}

/// Adds an error for each key that only makes sense in a recipe that extends another one.
void refuse_words_of_merging(RecipeDocument& document, Diagnostics& diagnostics) {
    for (RecipeTable& stage : document.stages) {
        for (const char* word : {"after", "before", "remove"}) {
            const std::optional<Setting> setting = stage.take(word);
            if (!setting) continue;
            diagnostics.add(setting->key_place, "'{}' needs a recipe to extend; expected extends = \"FILE\" in [recipe]", word);
        }
    }
}

void check_stage_count(const RecipeDocument& document, Diagnostics& diagnostics) {
    if (document.stages.size() <= most_stages) return;
    diagnostics.add({}, "found {}; expected at most {}", counted(document.stages.size(), "stage"), most_stages);
    diagnostics.throw_if_any();
}

class ExtendsReader {
public:
    ExtendsReader(const std::optional<std::filesystem::path>& within, Diagnostics& diagnostics)
        : within_(within), diagnostics_(diagnostics) {}

    RecipeDocument read(int number, const std::filesystem::path& file) {
        files_.push_back(file);
        RecipeDocument document = read_document(number, diagnostics_);
        for (RecipeTable& stage : document.stages) use_of_code(stage);
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
    /// A recipe cannot be checked without its base.
    [[noreturn]] void refuse(RecipePlace place, const std::string& message) {
        diagnostics_.add(place, "{}", message);
        diagnostics_.throw_if_any();
        throw std::logic_error("throw_if_any must throw");
    }

    RecipeDocument read_base(const Setting& extends, const std::filesystem::path& from) {
        const auto* name = extends.as<std::string>();
        const RecipePlace place = extends.value_place;
        if (name == nullptr || name->empty() || name->find('\0') != std::string::npos) {
            refuse(place, fmt::format("[recipe], extends: {}, expected the file of a recipe", found_text(extends)));
        }
        const std::filesystem::path base = (from.parent_path() / *name).lexically_normal();
        check_cycle(base, place);
        if (files_.size() == most_files)
            refuse(place, fmt::format("found a chain of more than {} recipes; expected fewer", most_files));
        check_folder(base, place);
        std::string text;
        std::error_code unknown;
        if (std::filesystem::is_other(base, unknown)) refuse(place, base.string() + ": not a regular file; expected a recipe");
        try {
            text = read_recipe_file(base);
        } catch (const RecipeError& problem) {
            refuse(place, std::string_view(problem.what()).starts_with("error: ") ? problem.what() + 7 : problem.what());
        }
        return read(diagnostics_.add_file(printable(base.string(), 1000), std::move(text)), base);
    }

    /// Says nothing about a file outside the folder, not even if it exists.
    void check_folder(const std::filesystem::path& base, RecipePlace place) {
        if (!within_ || is_in_folder(base, *within_)) return;
        refuse(place, fmt::format("[recipe], extends: found a file outside the folder {}; expected a recipe in it",
                                  printable(within_->string(), 1000)));
    }

    void check_cycle(const std::filesystem::path& base, RecipePlace place) {
        std::string chain;
        for (const std::filesystem::path& file : files_) {
            if (!chain.empty() || MatrixFile{file} == MatrixFile{base}) chain += file.string() + " -> ";
        }
        if (!chain.empty()) refuse(place, fmt::format("found a recipe that extends itself: {}{}", chain, base.string()));
    }

    const std::optional<std::filesystem::path>& within_;
    Diagnostics& diagnostics_;
    std::vector<std::filesystem::path> files_;  // by RecipePlace::file
};

}  // namespace

void use_of_code(RecipeTable& stage) {
    for (const char* const key : {"program", "source"}) {
        const Setting* const code = stage.find(key);
        if (code == nullptr || stage.find("use") != nullptr) continue;
        const auto add = [&stage, place = *code](const char* name, const std::string& value) {
            Setting setting;
            setting.key = name;
            setting.value_place = place.value_place;
            setting.value = value;
            stage.settings.push_back(std::move(setting));
        };
        std::vector<std::string> words;
        if (code->texts) {
            for (const TextItem& item : *code->texts) words.push_back(item.text);
        } else if (const auto* text = code->as<std::string>()) {
            words = command_words(*text).value_or(std::vector<std::string>());
        }
        // "my_order" for ["python3", "my_order.py", "3"]: the first word with an extension, otherwise the program.
        const auto has_extension = [](const std::string& word) { return std::filesystem::path(word).has_extension(); };
        const auto named = std::ranges::find_if(words, has_extension);
        const std::string id =
            words.empty() ? "" : std::filesystem::path(named == words.end() ? words.front() : *named).stem().string();
        if (stage.find("id") == nullptr && is_id(id)) add("id", id);
        add("use", key);
    }
}

bool is_in_folder(const std::filesystem::path& file, const std::filesystem::path& folder) {
    std::error_code failure;
    const std::filesystem::path whole_folder = std::filesystem::weakly_canonical(folder, failure);
    const std::filesystem::path whole_file =
        failure ? file : std::filesystem::weakly_canonical(std::filesystem::absolute(file), failure);
    const auto [end_of_folder, rest] =
        std::mismatch(whole_folder.begin(), whole_folder.end(), whole_file.begin(), whole_file.end());
    return !failure && end_of_folder == whole_folder.end() && rest != whole_file.end();
}

void name_stages(RecipeDocument& document, Diagnostics& diagnostics) {
    std::map<std::string, RecipePlace> place_of_id;
    for (const RecipeTable& stage : document.stages) {
        if (!stage.id.empty()) place_of_id.emplace(stage.id, stage.place);
    }
    std::map<std::string, int> unnamed;  // stages by `use`
    for (RecipeTable& stage : document.stages) {
        if (!stage.id.empty()) continue;
        const Setting* asked = stage.find("id");
        const std::string* use = stage.text("use");
        if (asked == nullptr) {
            if (use != nullptr) ++unnamed[*use];
            continue;
        }
        const RecipePlace place = asked->value_place;
        const auto* id = asked->as<std::string>();
        if (id == nullptr || !is_id(*id)) {
            diagnostics.add(place, "id: {}, expected a word of at most {} letters, digits, '_' and '-'", found_text(*asked),
                            longest_id);
        } else if (const auto [first, fresh] = place_of_id.emplace(*id, stage.place); fresh) {
            stage.id = *id;
        } else {
            diagnostics.add(place, "id '{}' already names the stage on {}", *id, diagnostics.line(first->second, place));
        }
    }
    std::map<std::string, int> last_number;
    for (RecipeTable& stage : document.stages) {
        const std::string* use = stage.text("use");
        if (!stage.id.empty() || stage.find("id") != nullptr || use == nullptr) continue;
        const bool alone = unnamed[*use] == 1;
        if (const auto taken = place_of_id.find(*use); alone && taken != place_of_id.end()) {
            diagnostics.add(stage.place_of("use"), "'{}' is the id of the stage on {}; expected another id for this stage",
                            *use, diagnostics.line(taken->second, stage.place));
            continue;
        }
        do {
            stage.id = alone ? *use : fmt::format("{}_{}", *use, ++last_number[*use]);
        } while (!place_of_id.emplace(stage.id, stage.place).second);
    }
}

std::string expected_stage(const std::string& id, const std::vector<RecipeTable>& stages, RecipePlace from,
                           const Diagnostics& diagnostics) {
    const std::string users = users_of(id, stages, from, diagnostics);
    if (!users.empty()) return "; expected the id of a stage that uses it: " + users;
    std::vector<std::string> ids;
    for (const RecipeTable& stage : stages) ids.push_back(stage.id);
    return ids.empty() ? "; the recipe has no stages" : expected_one_of(id, ids);
}

std::string read_recipe_file(const std::filesystem::path& file, std::string_view what) {
    const auto refuse = [&](const std::string& reason) {
        throw RecipeError(fmt::format("error: {}: {}", printable(file.string(), 1000), reason));
    };
    std::error_code failure;
    const auto status = std::filesystem::status(file, failure);
    if (!std::filesystem::exists(status)) refuse(fmt::format("no such file; expected a {}", what));
    if (std::filesystem::is_directory(status)) refuse(fmt::format("found a folder; expected a {}", what));
    std::ifstream stream(file, std::ios::binary);
    if (!stream) refuse("cannot be read");
    std::string text(longest_recipe + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(stream.gcount()));
    if (stream.bad()) refuse("cannot be read");
    return text;
}

RecipeDocument read_with_bases(const std::filesystem::path& recipe, const std::optional<std::filesystem::path>& within,
                               Diagnostics& diagnostics) {
    ExtendsReader reader(within, diagnostics);
    RecipeDocument document = reader.read(0, recipe);
    document.files = reader.files();
    document.within = within;
    return document;
}

}  // namespace workbench
