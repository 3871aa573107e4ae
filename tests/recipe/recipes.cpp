#include "recipe/recipes.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <utility>
#include <variant>

#include "core/input/generators/generators.hpp"

namespace workbench {
namespace {

std::optional<Acts> acts_of(const Parameters& parameters) {
    if (parameters.has("share")) return std::nullopt;
    const std::string& apply = parameters.text("apply");
    return apply == "rows" ? Acts::rows : apply == "columns" ? Acts::columns : Acts::symmetric;
}

using Type = ParameterType;

StageEntry stage(const std::string& name, std::vector<ParameterDeclaration> parameters,
                 StageContract (*contract)(const Parameters&)) {
    StageEntry entry;
    entry.name = name;
    entry.parameters = std::move(parameters);
    entry.contract = contract;
    return entry;
}

ParameterDeclaration choice(const std::string& name, const std::vector<std::string>& words) {
    return {.name = name, .type = Type::choice, .default_value = words.front(), .words = words};
}

StageContract partition_contract(const Parameters& parameters) {
    if (!parameters.is_word("parts", "auto") && parameters.integer("parts") == 13) {
        throw ParameterError("parts", "13 partitions bring bad luck");
    }
    return {.needs = {.square = true}, .acts = Acts::symmetric, .gives_cuts = {CutKind::partition}};
}

StageContract sort_contract(const Parameters& parameters) {
    StageContract contract{.acts = acts_of(parameters)};
    if (parameters.text("within") == "partition") contract.needs.cuts = contract.keeps = {CutKind::partition};
    if (parameters.has("share")) contract.needs.shares = {parameters.share("share")};
    return contract;
}

StageContract split_contract(const Parameters& parameters) {
    if (parameters.text("by") == "first_of_row") {
        return {.needs = {.unsplit = true}, .gives_shares = {{ShareKind::first}, {ShareKind::rest}}};
    }
    return {.needs = {.cuts = {CutKind::partition}, .unsplit = true},
            .gives_shares = {{ShareKind::inside}, {ShareKind::outside}}};
}

std::vector<StageEntry> stages() {
    const ParameterDeclaration apply = choice("apply", {"symmetric", "rows", "columns"});
    return {
        stage(
            "graph_partition",
            {{.name = "parts", .type = Type::integer, .minimum = 1, .maximum = 65536, .words = {"auto"}, .unit = "partitions"},
             choice("method", {"kway", "recursive"}),
             {.name = "imbalance", .type = Type::real, .default_value = 1.03, .minimum = 1, .maximum = 2},
             {.name = "refine", .type = Type::boolean, .default_value = true}},
            partition_contract),
        stage("sort",
              {choice("within", {"all", "partition"}),
               {.name = "share", .type = Type::share, .optional = true, .formerly = "part"},
               apply},
              sort_contract),
        stage("shuffle", {{.name = "seed", .type = Type::integer, .default_value = std::int64_t{1}}, apply},
              [](const Parameters& parameters) { return StageContract{.acts = acts_of(parameters)}; }),
        stage("segments", {{.name = "width", .type = Type::integer, .minimum = 1}},
              [](const Parameters&) { return StageContract{.gives_cuts = {CutKind::segment}}; }),
        stage("column_sort", {{.name = "seed", .type = Type::integer, .optional = true}},
              [](const Parameters& parameters) {
                  if (!parameters.has("seed")) throw ParameterError("seed", "a seed is needed");
                  return StageContract{.acts = Acts::columns, .gives_columns_by_density = true};
              }),
        stage("dense_segments", {},
              [](const Parameters&) {
                  return StageContract{.needs = {.columns_by_density = true}, .gives_cuts = {CutKind::segment}};
              }),
        stage("split", {choice("by", {"inside_partition", "first_of_row"})}, split_contract)};
}

LayoutEntry layout(const std::string& name, std::vector<ParameterDeclaration> parameters, Needs (*needs)(const Parameters&),
                   const std::vector<std::pair<std::string, Backend>>& kernels) {
    LayoutEntry entry;
    entry.name = name;
    entry.parameters = std::move(parameters);
    entry.needs = needs;
    for (const auto& [kernel, backend] : kernels) entry.kernels.push_back({kernel, backend, "", {}});
    return entry;
}

FieldLists plain_fields() {
    return {{{.name = "row_count", .role = ArrayRole::number},
             {.name = "slice_offsets", .type = ElementType::i64, .count = 2},
             {.name = "values", .role = ArrayRole::value, .type = ElementType::f64}}};
}

std::vector<LayoutEntry> layouts() {
    std::vector<LayoutEntry> all = {
        layout(
            "plain",
            {{.name = "slice_height", .type = Type::integer, .default_value = std::int64_t{32}, .minimum = 1, .unit = "rows"}},
            [](const Parameters&) { return Needs{.unsplit = true}; },
            {{"rows", Backend::kokkos}, {"lanes", Backend::kokkos}, {"oracle", Backend::eigen}}),
        layout("cached", {},
               [](const Parameters&) {
                   return Needs{
                       .square = true, .cuts = {CutKind::partition}, .shares = {{ShareKind::inside}, {ShareKind::outside}}};
               },
               {{"slices", Backend::kokkos}})};
    all.front().fields = {plain_fields, plain_fields};
    return all;
}

}  // namespace

const Catalogue& small_catalogue() {
    static const Catalogue all = {stages(), layouts(), generators(), "plain"};
    return all;
}

Recipe parse(const std::string& text, const std::vector<std::string>& overrides) {
    return parse_recipe(text, "recipes/test.toml", small_catalogue(), {.overrides = overrides});
}

std::vector<Recipe> points_of(const std::string& text, const RecipeChanges& changes) {
    return parse_points(text, "recipes/test.toml", small_catalogue(), changes).points;
}

std::string errors_of(const std::string& text, const std::vector<std::string>& overrides) {
    try {
        static_cast<void>(parse(text, overrides));
    } catch (const RecipeError& error) {
        return error.what();
    }
    return "";
}

bool contains(const std::string& text, const std::string& piece) { return text.find(piece) != std::string::npos; }

void check_same(const Recipe& a, const Recipe& b) {
    CHECK(a.name == b.name);
    CHECK(a.source == b.source);
    CHECK(a.device == b.device);
    CHECK(a.prepare == b.prepare);
    CHECK(a.node_size == b.node_size);
    REQUIRE(a.matrix.from.index() == b.matrix.from.index());
    if (const auto* file = std::get_if<MatrixFile>(&a.matrix.from)) {
        CHECK(std::filesystem::absolute(file->path).lexically_normal() == std::get<MatrixFile>(b.matrix.from).path);
    }
    if (const auto* rows = std::get_if<InlineMatrix>(&a.matrix.from)) {
        CHECK(rows->rows == std::get<InlineMatrix>(b.matrix.from).rows);
    }
    if (const auto* generated = std::get_if<GeneratedMatrix>(&a.matrix.from)) {
        CHECK(generated->generator == std::get<GeneratedMatrix>(b.matrix.from).generator);
        CHECK(generated->parameters.values() == std::get<GeneratedMatrix>(b.matrix.from).parameters.values());
    }
    REQUIRE(a.stages.size() == b.stages.size());
    for (std::size_t i = 0; i < a.stages.size(); ++i) {
        CHECK(a.stages[i].id == b.stages[i].id);
        CHECK(a.stages[i].entry == b.stages[i].entry);
        CHECK(a.stages[i].parameters.values() == b.stages[i].parameters.values());
    }
    CHECK(a.side_by_side == b.side_by_side);
    REQUIRE(a.layouts.size() == b.layouts.size());
    for (std::size_t i = 0; i < a.layouts.size(); ++i) {
        CHECK(a.layouts[i].share == b.layouts[i].share);
        CHECK(a.layouts[i].entry == b.layouts[i].entry);
        CHECK(a.layouts[i].parameters.values() == b.layouts[i].parameters.values());
        CHECK(a.layouts[i].kernels == b.layouts[i].kernels);
        CHECK(a.layouts[i].sources == b.layouts[i].sources);
    }
}

}  // namespace workbench
