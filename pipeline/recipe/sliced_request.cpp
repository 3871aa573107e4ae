#include "pipeline/recipe/sliced_request.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "core/contract/device.hpp"

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

/// The chain of recipes/ehyb_rcm_blocks.toml.
std::optional<SlicedRequest> ehyb_request(const Recipe& recipe) {
    constexpr std::array<std::string_view, 4> chain{"rcm_blocks", "row_sort", "split", "row_sort"};
    const auto name_of_stage = [](const RecipeStage& stage) -> std::string_view { return stage.entry->name; };
    const RecipeLayout& layout = recipe.layouts.front();
    if (!std::ranges::equal(recipe.stages, chain, {}, name_of_stage) || recipe.node_size != 1) return std::nullopt;
    if (!layout.own_kernels.empty() || layout.parameters.text("column_index") != "u16") return std::nullopt;

    const Parameters& blocks = recipe.stages[0].parameters;
    const Parameters& inside = recipe.stages[1].parameters;
    const Parameters& split = recipe.stages[2].parameters;
    const Parameters& outside = recipe.stages[3].parameters;
    const auto has = [](const Parameters& parameters, const char* name, std::string_view word) {
        return parameters.has(name) && parameters.text(name) == word;
    };
    const bool suits = has(blocks, "weights", "rows") && reorders_alike(inside) && has(inside, "within", "partition") &&
                       has(inside, "key", "nonzeros_inside_partition") && !inside.has("window") &&
                       has(split, "by", "inside_partition") && has(outside, "share", "outside") &&
                       has(outside, "within", "all") && has(outside, "key", "nonzeros");
    if (!suits) return std::nullopt;
    SlicedRequest request;
    request.cuthill_mckee = true;
    request.descending = inside.text("order") == "descending";
    request.parts = {blocks, recipe.device.empty() ? nullptr : find_device_model(recipe.device)};
    request.outside_descending = outside.text("order") == "descending";
    return request;
}

}  // namespace

std::optional<SlicedRequest> sliced_request(const Recipe& recipe) {
    if (recipe.is_hybrid()) return std::nullopt;
    if (recipe.layouts.front().entry->name == "ehyb") return ehyb_request(recipe);
    SlicedRequest request;
    request.node_size = recipe.node_size;
    for (const RecipeStage& stage : recipe.stages) {
        if (!add_stage(request, stage)) return std::nullopt;
    }
    return add_layout(request, recipe.layouts.front()) ? std::optional(request) : std::nullopt;
}

}  // namespace workbench
