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

/// 0 for "auto".
Index number_of(const Parameters& parameters, const char* name) {
    return parameters.is_word(name, "auto") ? 0 : static_cast<Index>(parameters.integer(name));
}

/// Nodes are found in the order of the input, or those of [matrix] are kept.
bool add_node_blocks(SlicedRequest& request, const Parameters& parameters) {
    if (request.cuthill_mckee || request.window) return false;
    const Index unknowns = number_of(parameters, "unknowns");
    if (unknowns > 0 || request.node_size == 1) request.node_size = unknowns;
    return true;
}

bool add_stage(SlicedRequest& request, const RecipeStage& stage) {
    const std::string& name = stage.entry->name;
    if (name == "node_blocks") return add_node_blocks(request, stage.parameters);
    if (name == "cuthill_mckee") return add_cuthill_mckee(request, stage.parameters);
    return name == "row_sort" && add_row_sort(request, stage.parameters);
}

/// Slices of rows, of which no order keeps several together.
bool add_sell(SlicedRequest& request, const Parameters& parameters) {
    const bool short_columns = parameters.text("column_index") == "u16";
    if (request.node_size != 1 || (!short_columns && parameters.text("column_index") != "u32")) return false;
    request.short_columns = short_columns;
    request.slice_height = number_of(parameters, "slice_height");
    request.threads_per_row = number_of(parameters, "threads_per_row");
    request.split_length = static_cast<Index>(parameters.integer("split_length"));
    return true;
}

bool add_block_sell(SlicedRequest& request, const Parameters& parameters) {
    request.in_blocks = true;
    request.block_size = number_of(parameters, "block_size");
    request.threads_per_row = number_of(parameters, "threads_per_row");
    request.slots_per_nonzero = parameters.real("slots_per_nonzero");
    return true;
}

bool add_layout(SlicedRequest& request, const RecipeLayout& layout) {
    const std::string& name = layout.entry->name;
    if ((name != "sell" && name != "block_sell") || !layout.own_kernels.empty()) return false;
    if (layout.parameters.text("values") != "full") return false;
    return name == "sell" ? add_sell(request, layout.parameters) : add_block_sell(request, layout.parameters);
}

}  // namespace

std::optional<SlicedRequest> sliced_request(const Recipe& recipe) {
    if (recipe.is_hybrid()) return std::nullopt;
    SlicedRequest request;
    request.node_size = recipe.node_size;
    for (const RecipeStage& stage : recipe.stages) {
        if (!add_stage(request, stage)) return std::nullopt;
    }
    return add_layout(request, recipe.layouts.front()) ? std::optional(request) : std::nullopt;
}

}  // namespace workbench
