#include "pipeline/recipe/space.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/core.h>

#include "core/contract/value_facts.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/space_condition.hpp"
#include "pipeline/recipe/space_data.hpp"
#include "pipeline/recipe/text.hpp"

namespace workbench {
namespace {

/// The changes of the command line that a space can have: another matrix, and values of stages.
void apply_space_changes(RecipeDocument& document, const RecipeChanges& changes, Diagnostics& diagnostics) {
    RecipeChanges allowed = changes;
    allowed.overrides.clear();
    allowed.sweeps.clear();
    for (const std::string& change : changes.overrides) {
        const std::string recipe = recipe_of_change(change);
        const std::string_view what = std::string_view(change).substr(recipe.empty() ? 0 : recipe.size() + 1);
        if (what.starts_with("matrix.") || what.starts_with("stage.")) {
            allowed.overrides.push_back(change);
        } else {
            diagnostics.add(diagnostics.add_option("--set " + change),
                            "{} is a space; expected matrix.KEY=VALUE or stage.ID.KEY=VALUE",
                            printable(document.files.front().string(), 200));
        }
    }
    for (const std::string& change : changes.sweeps) {
        diagnostics.add(diagnostics.add_option("--sweep " + change), "{} is a space; expected values to try in the file",
                        printable(document.files.front().string(), 200));
    }
    apply_changes(document, allowed, {}, diagnostics);
}

/// The recipe files that a path names: the file, or those in the folder, sorted by name; none if there are none.
std::vector<std::filesystem::path> recipe_files(const std::filesystem::path& path) {
    std::error_code unknown;
    if (std::filesystem::is_regular_file(path, unknown)) return {path};
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(path, unknown)) {
        if (entry.path().extension() == ".toml") files.push_back(entry.path());
    }
    std::ranges::sort(files);
    return files;
}

/// The recipes of `start`, a path or a list of paths. Throws RecipeError with the errors of a recipe.
std::vector<Recipe> check_start(const RecipeTable& header, const std::filesystem::path& folder, const Catalogue& catalogue,
                                const RecipeChanges& changes, Diagnostics& diagnostics) {
    const Setting* const setting = header.find("start");
    if (setting == nullptr) return {};
    std::vector<TextItem> paths;
    if (const std::string* const path = setting->as<std::string>()) {
        paths = {{*path, setting->value_place}};
    } else if (setting->texts) {
        paths = *setting->texts;
    } else {
        diagnostics.add(setting->value_place, "[space], start: {}, expected a file or a folder of recipes, or a list of them",
                        found_text(*setting));
    }
    const RecipeChanges limits{.bases_within = changes.bases_within,
                               .no_code_because = changes.no_code_because,
                               .unread_formats = changes.unread_formats};
    std::vector<Recipe> recipes;
    for (const TextItem& path : paths) {
        const std::vector<std::filesystem::path> files = recipe_files(folder / path.text);
        if (files.empty()) {
            diagnostics.add(
                path.place,
                "[space], start: '{}' is neither a recipe nor a folder of recipes; expected one, relative to the space",
                printable(path.text, 200));
        }
        for (const std::filesystem::path& file : files) {
            const LoadedRecipe loaded = load_points(file, catalogue, limits);
            recipes.insert(recipes.end(), loaded.points.begin(), loaded.points.end());
        }
    }
    return recipes;
}

/// The differences between two options: the values that one of them lacks, or has otherwise.
std::size_t differing_values(const SpaceOption& a, const SpaceOption& b) {
    std::size_t count = 0;
    for (const auto& [key, value] : a.values) {
        const auto other = b.values.find(key);
        count += other == b.values.end() || other->second != value ? 1 : 0;
    }
    for (const auto& [key, value] : b.values) count += a.values.contains(key) ? 0 : 1;
    return count;
}

std::span<const std::uint32_t> row(const std::vector<std::uint32_t>& table, std::size_t width, std::size_t i) {
    return std::span(table).subspan(i * width, width);
}

/// The number of the row of an ascending table with these values; none if there is no such row.
std::optional<std::size_t> find_row(const std::vector<std::uint32_t>& table, std::size_t rows,
                                    std::span<const std::uint32_t> values) {
    std::size_t low = 0;
    for (std::size_t count = rows; count > 0;) {
        const std::size_t half = count / 2;
        if (std::ranges::lexicographical_compare(row(table, values.size(), low + half), values)) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    if (low == rows || !std::ranges::equal(row(table, values.size(), low), values)) return std::nullopt;
    return low;
}

/// True if the layouts of a point are those of shares.
bool is_hybrid(const Space::Data& data, const SpacePoint& point) {
    for (std::size_t place = data.stages; place < point.size(); ++place) {
        if (data.slots[place].share && !data.slots[place].choices[point[place]].left_out) return true;
    }
    return false;
}

constexpr Index most_sampled_rows = 100'000;

/// The fraction of rows that have the columns of the row before, by a sample of rows at equal distances.
double twin_rows_of(const CsrMatrix& matrix) {
    if (matrix.rows < 2) return 0;
    const Index step = 1 + (matrix.rows - 2) / most_sampled_rows;
    std::int64_t sampled = 0;
    std::int64_t twins = 0;
    for (std::int64_t row = 1; row < matrix.rows; row += step) {
        const auto columns = matrix.row_columns(static_cast<Index>(row));
        ++sampled;
        if (!columns.empty() && std::ranges::equal(columns, matrix.row_columns(static_cast<Index>(row - 1)))) ++twins;
    }
    return static_cast<double>(twins) / static_cast<double>(sampled);
}

/// The number of distinct values; if there are more than most_coded_values, one more than these.
double distinct_values_of(const CsrMatrix& matrix) {
    return static_cast<double>(value_facts(matrix, Precision::f64).distinct.value_or(most_coded_values + 1));
}

}  // namespace

Space::Space(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

const std::string& Space::name() const { return data_->base.name; }
const MatrixChoice& Space::matrix() const { return data_->base.matrix; }
Index Space::node_size() const { return data_->base.node_size; }
const std::vector<Recipe>& Space::start() const { return data_->start; }
const std::vector<SpacePlace>& Space::places() const { return data_->places; }
std::uint64_t Space::count() const { return data_->count; }

bool Space::depends_on_matrix() const {
    return std::ranges::any_of(data_->conditions, [](const SpaceCondition& each) { return each.has_facts(); });
}

SpacePoint Space::point(std::uint64_t number) const {
    if (number >= data_->count) throw std::out_of_range("a space has no point of this number");
    const auto behind = std::ranges::upper_bound(data_->chains, number, {}, &SpaceChain::first);
    const auto chain = static_cast<std::size_t>(behind - data_->chains.begin()) - 1;
    const std::span<const std::uint32_t> stages = row(data_->chain_options, data_->stages, chain);
    const std::span<const std::uint32_t> layouts =
        row(data_->layouts[data_->chains[chain].layouts], data_->places.size() - data_->stages,
            static_cast<std::size_t>(number - data_->chains[chain].first));
    SpacePoint point(stages.begin(), stages.end());
    point.insert(point.end(), layouts.begin(), layouts.end());
    return point;
}

std::optional<std::uint64_t> Space::number_of(const SpacePoint& point) const {
    if (point.size() != data_->places.size()) return std::nullopt;
    const std::span<const std::uint32_t> options(point);
    const auto chain = find_row(data_->chain_options, data_->chains.size(), options.first(data_->stages));
    if (!chain) return std::nullopt;
    const std::vector<std::uint32_t>& layouts = data_->layouts[data_->chains[*chain].layouts];
    const auto layout = find_row(layouts, layouts.size() / (point.size() - data_->stages), options.subspan(data_->stages));
    return layout ? std::optional(data_->chains[*chain].first + *layout) : std::nullopt;
}

bool Space::is_legal(const SpacePoint& point) const { return number_of(point).has_value(); }

Recipe Space::recipe(const SpacePoint& point) const {
    const std::optional<std::uint64_t> number = number_of(point);
    if (!number) throw std::invalid_argument("a point of a space that is not legal");
    Recipe recipe = data_->base;
    recipe.name = name_of_point(*data_, point, *number);
    for (std::size_t place = 0; place < point.size(); ++place) {
        const SpaceVariant* const variant = data_->variant_of(point, place);
        if (variant == nullptr) continue;
        if (data_->slots[place].is_stage) {
            recipe.stages.push_back(variant->recipe_stage);
        } else {
            recipe.layouts.push_back(variant->recipe_layout);
        }
        recipe.code.insert(recipe.code.end(), variant->code.begin(), variant->code.end());
    }
    recipe.side_by_side = data_->side_by_side && recipe.is_hybrid();
    mark_rounding(recipe);
    return recipe;
}

std::vector<SpacePoint> Space::neighbours(const SpacePoint& point) const {
    std::vector<SpacePoint> near;
    std::vector<SpacePoint> far;
    SpacePoint other = point;
    for (std::size_t place = 0; place < point.size(); ++place) {
        const std::vector<SpaceOption>& options = data_->places[place].options;
        for (std::uint32_t option = 0; option < options.size(); ++option) {
            if (option == point[place]) continue;
            other[place] = option;
            if (!is_legal(other)) continue;
            const bool is_near = differing_values(options[option], options[point[place]]) == 1;
            (is_near ? near : far).push_back(other);
        }
        other[place] = point[place];
    }
    near.insert(near.end(), far.begin(), far.end());
    const auto add_other_kind = [&] {
        const auto chain = find_row(data_->chain_options, data_->chains.size(), std::span(other).first(data_->stages));
        if (!chain) return;
        const std::uint64_t end = *chain + 1 < data_->chains.size() ? data_->chains[*chain + 1].first : data_->count;
        for (std::uint64_t number = data_->chains[*chain].first; number < end; ++number) {
            SpacePoint candidate = this->point(number);
            if (is_hybrid(*data_, candidate) != is_hybrid(*data_, point)) near.push_back(std::move(candidate));
        }
    };
    add_other_kind();
    for (std::size_t place = 0; place < data_->stages; ++place) {
        for (std::uint32_t option = 0; option < data_->places[place].options.size(); ++option) {
            other[place] = option;
            if (option != point[place]) add_other_kind();
        }
        other[place] = point[place];
    }
    return near;
}

bool is_space(const std::filesystem::path& file) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(file, unknown) && has_space_table(read_recipe_file(file, "space"));
}

Space load_space(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes,
                 const SpaceFacts* facts) {
    return parse_space(read_recipe_file(file, "space"), file, catalogue, changes, facts);
}

Space parse_space(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                  const RecipeChanges& changes, const SpaceFacts* facts) {
    Diagnostics diagnostics(printable(file.string(), 1000), std::string(text));
    RecipeDocument document = read_space_document(diagnostics);
    document.files = {file};
    document.within = changes.bases_within;
    for (RecipeTable& stage : document.stages) use_of_code(stage);
    name_stages(document, diagnostics);
    apply_space_changes(document, changes, diagnostics);

    const auto data = std::make_shared<Space::Data>();
    if (facts != nullptr) data->facts = *facts;
    data->base.file = file;
    const bool has_header = document.recipe.place.line > 0 || document.recipe.broken;
    if (!has_header) diagnostics.add({}, "no [space]; expected this table in the place of [recipe]");
    check_header(document.recipe, "[space]", data->base, diagnostics);
    data->start = check_start(document.recipe, file.parent_path(), catalogue, changes, diagnostics);
    data->base.matrix = check_matrix(document.matrix, document.files, catalogue, &data->base.node_size, diagnostics);
    SpaceReader reader(document, {catalogue, changes.no_code_because, changes.unread_formats}, *data, diagnostics);
    reader.read();
    diagnostics.throw_if_any();
    find_points(reader, catalogue, *data, diagnostics);
    diagnostics.throw_if_any();
    for (std::size_t place = 0; place < data->places.size(); ++place) {
        describe_options(data->places[place], data->slots[place]);
    }
    return Space(data);
}

const std::map<std::string, bool>& names_of_facts() {
    static const std::map<std::string, bool> names = {
        {"rows", false},        {"columns", false},   {"nonzeros", false},       {"node_size", false},  {"square", true},
        {"longest_row", false}, {"mean_row", false},  {"row_deviation", false},  {"empty_rows", false}, {"shortest_row", false},
        {"skew", false},        {"twin_rows", false}, {"distinct_values", false}};
    return names;
}

SpaceFacts facts_of(const CsrMatrix& matrix, Index node_size) {
    Offset longest = 0;
    Offset shortest = matrix.rows == 0 ? 0 : matrix.columns;
    std::int64_t empty = 0;
    double squares = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset length = matrix.row_length(row);
        longest = std::max(longest, length);
        shortest = std::min(shortest, length);
        empty += length == 0 ? 1 : 0;
        squares += static_cast<double>(length) * static_cast<double>(length);
    }
    const double rows = std::max<double>(matrix.rows, 1);
    const double mean = static_cast<double>(matrix.nonzeros()) / rows;
    return {{"rows", matrix.rows},
            {"columns", matrix.columns},
            {"nonzeros", static_cast<double>(matrix.nonzeros())},
            {"node_size", node_size},
            {"square", matrix.square() ? 1 : 0},
            {"longest_row", static_cast<double>(longest)},
            {"shortest_row", static_cast<double>(shortest)},
            {"mean_row", mean},
            {"row_deviation", std::sqrt(std::max(squares / rows - mean * mean, 0.0))},
            {"empty_rows", static_cast<double>(empty) / rows},
            {"skew", mean > 0 ? static_cast<double>(longest) / mean : 1},
            {"twin_rows", twin_rows_of(matrix)},
            {"distinct_values", distinct_values_of(matrix)}};
}

}  // namespace workbench
