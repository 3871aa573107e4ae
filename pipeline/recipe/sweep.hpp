// Sweeps: the points of a recipe are all combinations of the values to try. References: one value for several parameters.
#pragma once

#include <string>
#include <vector>

#include "pipeline/recipe/document.hpp"

namespace workbench {

class Sweeps {
public:
    /// Finds the sweeps of a document with named stages, which must outlive this. Adds an error for each invalid sweep.
    Sweeps(const RecipeDocument& document, Diagnostics& diagnostics);

    /// Number of points: 1 without a sweep, 0 after an error.
    [[nodiscard]] std::size_t count() const { return points_.size(); }

    [[nodiscard]] const SweepPoint& point(std::size_t i) const { return points_[i]; }

    /// The document in which the values of a point replace the sweeps.
    [[nodiscard]] RecipeDocument document(std::size_t point) const;

    /// Adds the errors of all points, each once, with the swept values that cause it unless its place shows them.
    void add_problems(const std::vector<std::vector<RecipeProblem>>& of_points, Diagnostics& diagnostics) const;

private:
    struct Swept {
        std::size_t table = 0;  // index in tables_of(document)
        std::string key;
        std::string name;                // "stage.metis_partition.parts"
        std::string label;               // "parts"
        std::vector<std::string> texts;  // values as shown in labels
        std::vector<Setting> values;
        RecipePlace place;
        std::vector<std::string> followers = {};  // names of the settings that have the same value
    };

    [[nodiscard]] std::size_t value_at(std::size_t point, std::size_t swept) const;
    /// "apply=columns": the values that these points share and others lack, except those at the place itself.
    [[nodiscard]] std::string values_behind(const std::vector<std::size_t>& points, RecipePlace place) const;
    void label_all();
    void make_points();

    const RecipeDocument& document_;
    std::vector<Swept> all_;  // the last changes fastest
    std::vector<SweepPoint> points_;
};

/// Gives each reference, key = { same_as = "NAME" }, the value of that name, such as "stage.row_sort.window". Adds an error for
/// each reference to a value that the document does not have, or that is a reference itself.
void fill_references(RecipeDocument& document, Diagnostics& diagnostics);

}  // namespace workbench
