// The inside of a space: the options of each place, and the legal chains of stages with their layouts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/recipe/checks.hpp"
#include "pipeline/recipe/space.hpp"
#include "pipeline/recipe/space_condition.hpp"

namespace workbench {

/// A parameter with the value of an earlier stage: slice_height = { same_as = "stage.length_groups.slice_height" }.
struct SpaceTie {
    std::string key;
    std::size_t place = 0;
    std::string of;  // the parameter of that stage
};

/// An option with the values of its ties, checked alone.
struct SpaceVariant {
    RecipeTable table;
    CheckedStage stage = {};    // of a stage
    CheckedLayout layout = {};  // of a layout
    bool legal = false;         // its parameters agree with each other
    std::uint32_t kind = 0;     // variants of one kind have the same needs and effects
    RecipeStage recipe_stage = {};
    RecipeLayout recipe_layout = {};
    std::vector<RecipeCode> code = {};
};

/// One of the options at a place.
struct SpaceChoice {
    RecipeTable table = {};  // one value a parameter; ties are still references
    RecipeTable kernel = {};
    /// Numbers of conditions: the option is available if all of one list hold; an empty list always holds.
    std::vector<std::vector<std::size_t>> conditions = {{}};
    std::vector<SpaceTie> ties = {};
    bool left_out = false;
    std::vector<std::string> short_labels = {};  // for long names, each shorter than the one before
    /// By the options at the places of its ties.
    std::map<std::vector<std::uint32_t>, SpaceVariant> variants = {};
};

/// A place, parallel to SpacePlace.
struct SpaceSlot {
    std::optional<ShareId> share = {};  // of a layout
    bool is_stage = false;
    bool optional = false;                     // it may be left out even if its conditions hold
    std::optional<std::size_t> presence = {};  // the condition of the whole stage
    std::vector<SpaceChoice> choices = {};     // parallel to SpacePlace::options
};

/// A legal chain of stages: its options are in SpaceData::chain_options.
struct SpaceChain {
    std::uint64_t first = 0;  // the number of its first point
    std::uint32_t layouts = 0;
};

struct Space::Data {
    Recipe base;  // name, matrix and everything else that all points share
    std::vector<Recipe> start;
    bool side_by_side = false;
    std::vector<SpacePlace> places;
    std::vector<SpaceSlot> slots;
    std::vector<SpaceCondition> conditions;
    std::optional<SpaceFacts> facts;
    std::size_t stages = 0;  // the first places; the others are layouts

    std::vector<std::uint32_t> chain_options;  // [chains x stages], ascending
    std::vector<SpaceChain> chains;
    std::vector<std::vector<std::uint32_t>> layouts;  // [lists][groups of options x layout places], ascending
    std::uint64_t count = 0;

    /// The value of a parameter, or of "use", at a place of a point; none if the option lacks it.
    [[nodiscard]] std::optional<ParameterValue> value_at(const SpacePoint& point, std::size_t place,
                                                         const std::string& key) const;
    [[nodiscard]] bool holds(std::size_t condition, const SpacePoint& point) const;
    /// The key of SpaceChoice::variants.
    [[nodiscard]] static std::vector<std::uint32_t> options_of_ties(const SpaceChoice& choice, const SpacePoint& point);
    /// Null for a stage or layout that is left out, and for ties that cannot be resolved.
    [[nodiscard]] const SpaceVariant* variant_of(const SpacePoint& point, std::size_t place) const;
};

/// What an alternative may set.
struct DeclaredParameters {
    std::span<const ParameterDeclaration> parameters = {};
    bool takes_other_keys = true;
};

/// Reads the places of a space and checks each option alone.
class SpaceReader {
public:
    SpaceReader(const RecipeDocument& document, const CheckedWith& with, Space::Data& data, Diagnostics& diagnostics)
        : document_(document), with_(with), data_(data), diagnostics_(diagnostics) {}

    void read();

    /// Adds the variant of an option for the other options of a point, unless it exists.
    void add_variant(std::size_t place, std::uint32_t option, const SpacePoint& point);

private:
    void read_stage(const RecipeTable& stage);
    void read_layouts();
    void add_place(const std::string& name, SpaceSlot slot);
    /// Adds the options of a table: alternatives, and for each of them all combinations of values.
    void add_choices(const RecipeTable& whole, const RecipeTable& kernel, SpaceSlot& slot);
    void add_combinations(const RecipeTable& alternative, const RecipeTable& kernel, const std::vector<std::size_t>& conditions,
                          const DeclaredParameters& declared, SpaceSlot& slot);
    [[nodiscard]] std::optional<std::size_t> read_condition(const Setting& setting);
    [[nodiscard]] std::optional<SpaceTie> read_tie(const Setting& setting);
    /// Errors are added, except values that contradict each other, which go to `contradictions` unless it is null.
    void check_variant(SpaceChoice& choice, const SpaceSlot& slot, const RecipeTable& table,
                       const std::vector<std::uint32_t>& ties, std::vector<RecipeProblem>* contradictions);
    void complete_variant(SpaceVariant& variant, const SpaceChoice& choice, const SpaceSlot& slot);
    /// Joins options with the same parameters under different conditions; adds an error if they repeat without conditions.
    void join_repetitions(SpaceSlot& slot);
    void learn_names(const std::string& name, std::size_t place);
    [[nodiscard]] std::uint32_t kind_of(const StageContract& contract);
    [[nodiscard]] std::uint32_t kind_of(const Needs& needs, RowsOfShare rows);

    const RecipeDocument& document_;
    const CheckedWith with_;
    Space::Data& data_;
    Diagnostics& diagnostics_;
    ConditionNames names_;
    std::map<std::string, std::uint32_t> kinds_;
};

/// Labels of options, and the values by which they differ.
void describe_options(SpacePlace& place, SpaceSlot& slot);

/// The labels of a legal point in at most 80 characters; `number` is that of the point.
[[nodiscard]] std::string name_of_point(const Space::Data& data, const SpacePoint& point, std::uint64_t number);

/// Finds all legal points. Adds an error if there are none, or too many.
void find_points(SpaceReader& reader, const Catalogue& catalogue, Space::Data& data, Diagnostics& diagnostics);

}  // namespace workbench
