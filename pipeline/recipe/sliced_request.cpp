#include "pipeline/recipe/sliced_request.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace workbench {
namespace {

/// True if the stage reorders rows and columns of the matrix alike.
bool reorders_alike(const Parameters& parameters) {
    return !parameters.has("share") && (!parameters.has("apply") || parameters.text("apply") == "symmetric");
}

bool add_cuthill_mckee(SlicedRequest& request, const Parameters& parameters) {
    if (request.cuthill_mckee || request.window || !reorders_alike(parameters)) return false;
    request.cuthill_mckee = true;
    request.reversed = parameters.text("variant") == "reverse";
    return true;
}

bool add_row_sort(SlicedRequest& request, const Parameters& parameters) {
    if (request.window || !reorders_alike(parameters) || parameters.text("key") != "nonzeros") return false;
    const std::string& within = parameters.text("within");
    if (within != "all" && within != "window") return false;
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    request.window = within == "all" ? most : static_cast<Index>(std::min(parameters.integer("window"), most));
    request.descending = parameters.text("order") == "descending";
    return true;
}

bool add_sell(SlicedRequest& request, const RecipeLayout& layout) {
    const Parameters& parameters = layout.parameters;
    const bool short_columns = parameters.text("column_index") == "u16";
    if (!layout.own_kernels.empty() || parameters.text("values") != "full") return false;
    if (!short_columns && parameters.text("column_index") != "u32") return false;
    const auto number_of = [&](const char* name) {
        return parameters.is_word(name, "auto") ? 0 : static_cast<Index>(parameters.integer(name));
    };
    request.short_columns = short_columns;
    request.slice_height = number_of("slice_height");
    request.threads_per_row = number_of("threads_per_row");
    request.split_length = static_cast<Index>(parameters.integer("split_length"));
    return true;
}

}  // namespace

std::optional<SlicedRequest> sliced_request(const Recipe& recipe) {
    if (recipe.is_hybrid() || recipe.node_size != 1 || recipe.layouts.front().entry->name != "sell") return std::nullopt;
    SlicedRequest request;
    for (const RecipeStage& stage : recipe.stages) {
        const bool added = stage.entry->name == "cuthill_mckee" ? add_cuthill_mckee(request, stage.parameters)
                           : stage.entry->name == "row_sort"    ? add_row_sort(request, stage.parameters)
                                                                : false;
        if (!added) return std::nullopt;
    }
    return add_sell(request, recipe.layouts.front()) ? std::optional(request) : std::nullopt;
}

}  // namespace workbench
