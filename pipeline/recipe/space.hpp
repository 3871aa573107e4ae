// Spaces: recipes with alternatives. A space names the points among which `choose` searches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct CsrMatrix;

/// One alternative of a place: a stage with its parameters, a layout with its parameters, or nothing.
struct SpaceOption {
    std::string label;                             // "metis_partition parts=264"; empty: the stage or layout is left out
    std::map<std::string, ParameterValue> values;  // that differ among the options of the place: "use", "parts"
};

/// A place in the chain where a space has alternatives, or a single option.
struct SpacePlace {
    std::string name;  // "stage.order", "layout", "layout.short"
    std::vector<SpaceOption> options;
};

/// The number of the chosen option at each place.
using SpacePoint = std::vector<std::uint32_t>;

/// Facts of a matrix that are known before stages run, for the conditions of a space: "rows", "node_size", "longest_row", ...
/// docs/spaces.md lists them.
using SpaceFacts = std::map<std::string, double>;

[[nodiscard]] SpaceFacts facts_of(const CsrMatrix& matrix, Index node_size);

/// A space that passed all checks that need no matrix. It points into the catalogue, which must outlive it.
class Space {
public:
    [[nodiscard]] const std::string& name() const;
    [[nodiscard]] const MatrixChoice& matrix() const;
    [[nodiscard]] Index node_size() const;
    /// The stages in their order, then the layouts.
    [[nodiscard]] const std::vector<SpacePlace>& places() const;

    /// The recipes that a search tries before the points, in the order of their files. They need not be points.
    [[nodiscard]] const std::vector<Recipe>& start() const;

    /// Returns true if a condition depends on the matrix.
    [[nodiscard]] bool depends_on_matrix() const;

    /// The number of legal points: those that meet the conditions of the space and the contracts of stages and layouts.
    [[nodiscard]] std::uint64_t count() const;
    /// The legal points in a fixed order; number < count().
    [[nodiscard]] SpacePoint point(std::uint64_t number) const;
    /// The inverse of point(number); none if the point is not legal.
    [[nodiscard]] std::optional<std::uint64_t> number_of(const SpacePoint& point) const;
    [[nodiscard]] bool is_legal(const SpacePoint& point) const;

    /// The recipe of a legal point. Its name lists the chosen stages and layouts, with the values that differ.
    [[nodiscard]] Recipe recipe(const SpacePoint& point) const;

    /// The legal points that differ from this legal point in one place, those that differ in one value first. Then, if its
    /// layout is a plain one, the hybrids whose stages are the same or differ in one place; if it is a hybrid, such plain
    /// points.
    [[nodiscard]] std::vector<SpacePoint> neighbours(const SpacePoint& point) const;

    struct Data;
    explicit Space(std::shared_ptr<const Data> data);

private:
    std::shared_ptr<const Data> data_;
};

/// True if the file is a space: it has a table [space].
[[nodiscard]] bool is_space(const std::filesystem::path& file);

/// Reads a space and checks it. `facts`: the facts of the matrix; if null, conditions on the matrix hold. Throws RecipeError
/// with all errors, as load_points does, also if no point is legal.
[[nodiscard]] Space load_space(const std::filesystem::path& file, const Catalogue& catalogue, const RecipeChanges& changes = {},
                               const SpaceFacts* facts = nullptr);

/// Like load_space, for a text; `file` need not exist.
[[nodiscard]] Space parse_space(std::string_view text, const std::filesystem::path& file, const Catalogue& catalogue,
                                const RecipeChanges& changes = {}, const SpaceFacts* facts = nullptr);

}  // namespace workbench
