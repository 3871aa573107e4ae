// The points of a recipe: the combinations of values that it is to be tried with.
#pragma once

#include <string>
#include <vector>

#include "pipeline/recipe/document.hpp"

namespace workbench {

class Sweeps {
public:
    /// Of a document with named stages, which must outlive this. Adds an error for each sweep that cannot be made.
    Sweeps(const RecipeDocument& document, Diagnostics& diagnostics);

    /// Without a sweep the recipe is its only point. 0 where there was an error.
    [[nodiscard]] std::size_t count() const { return points_.size(); }

    [[nodiscard]] const SweepPoint& point(std::size_t i) const { return points_[i]; }

    /// The recipe with the values of a point in place of its sweeps.
    [[nodiscard]] RecipeDocument document(std::size_t point) const;

    /// The errors of the points as errors of the recipe: each once, and told with the values that bring it about where its
    /// place does not say so.
    void add_problems(const std::vector<std::vector<RecipeProblem>>& of_points, Diagnostics& diagnostics) const;

    /// Where the first sweep stands. There must be one.
    [[nodiscard]] Place first_place() const { return all_.front().place; }

private:
    struct Swept {
        std::size_t table = 0;  // of tables_of(document)
        std::string key;
        std::string name;                // "stage.metis_partition.parts"
        std::string label;               // "parts"
        std::vector<std::string> texts;  // of the values, for labels
        std::vector<Setting> values;
        Place place;
    };

    [[nodiscard]] std::size_t value_at(std::size_t point, std::size_t swept) const;
    /// "apply=columns": what those points have in common that others lack, but for what stands at the place itself.
    [[nodiscard]] std::string values_behind(const std::vector<std::size_t>& points, Place place) const;
    void label_all();
    void make_points();

    const RecipeDocument& document_;
    std::vector<Swept> all_;  // the last changes fastest
    std::vector<SweepPoint> points_;
};

}  // namespace workbench
