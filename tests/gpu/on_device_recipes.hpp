// Recipes that a GPU prepares as a whole, for tests.
#pragma once

#include <string>
#include <vector>

#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

inline Recipe parsed(const std::string& text) { return parse_recipe("[recipe]\nname = 'x'\n" + text, "x.toml", catalogue()); }

inline const std::string by_cuthill_mckee = "[[stage]]\nuse = 'cuthill_mckee'\n";
inline const std::string plain_cm = "[[stage]]\nuse = 'cuthill_mckee'\nvariant = 'plain'\n";
inline const std::string windows = "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = 64\n";
inline const std::string short_columns = "[layout]\nuse = 'sell'\nslice_height = 'auto'\ncolumn_index = 'u16'\n";

inline const std::vector<std::string> sliced_recipes{
    "[layout]\nuse = 'sell'\n",
    by_cuthill_mckee + "[layout]\nuse = 'sell'\nthreads_per_row = 1\n",
    plain_cm + windows + "[layout]\nuse = 'sell'\nslice_height = 16\n",
    by_cuthill_mckee + windows + short_columns,
    "[[stage]]\nuse = 'row_sort'\n" + short_columns,
    by_cuthill_mckee +
        "[[stage]]\nuse = 'row_sort'\norder = 'ascending'\n[layout]\nuse = 'sell'\nslice_height = 5\nthreads_per_row = 2\n",
    // Orders after orders.
    windows + by_cuthill_mckee + short_columns,
    plain_cm + windows + by_cuthill_mckee + "[[stage]]\nid = 'last'\nuse = 'row_sort'\n" + short_columns,
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 3\n[layout]\nuse = 'sell'\n",
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 3\nkeep = 'order'\n" + windows + short_columns,
    windows +
        "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\nweights = 'nonzeros'\n[[stage]]\nid = 'last'\nuse = 'row_sort'\n"
        "key = 'span'\nwithin = 'partition'\n[layout]\nuse = 'sell'\n",
};

inline const std::string by_degree = "[[stage]]\nuse = 'degree_sort'\n";
inline const std::string by_length = "[[stage]]\nuse = 'row_sort'\n";
inline const std::string any_padding = "slots_per_nonzero = 1000\n";

inline const std::string any_rows = "[layout]\nuse = 'rows'\n" + any_padding;
inline const std::string rows_in_slices = any_rows + "rows = 'slices'\nrow_lengths = true\n";

/// Recipes of whole rows and of padded rows, and orders by degree.
inline const std::vector<std::string> row_recipes{
    "[layout]\nuse = 'csr'\n",
    by_cuthill_mckee + "[layout]\nuse = 'csr'\n",
    by_degree + windows + "[layout]\nuse = 'csr'\n",
    "[layout]\nuse = 'csr16'\n",
    windows + by_degree + by_cuthill_mckee + "[layout]\nuse = 'csr16'\n",
    "[layout]\nuse = 'ell'\n" + any_padding,
    by_degree + "order = 'ascending'\n[layout]\nuse = 'ell'\norder = 'row_major'\n" + any_padding,
    "[layout]\nuse = 'ellr'\n" + any_padding,
    by_cuthill_mckee + by_length + "[layout]\nuse = 'ellr'\n" + any_padding,
    by_degree + short_columns,
    any_rows + "rows = 'one'\ncolumn_index = 'u32'\n",
    by_degree + any_rows + "rows = 'one'\nthreads_per_row = 2\n",
    by_length + any_rows + "column_index = 'u32'\norder = 'row_major'\nthreads_per_row = 4\n",
    by_cuthill_mckee + any_rows + "column_index = 'u32'\nrow_lengths = true\n",
    windows + any_rows + "rows = 'slices'\ncolumn_index = 'u32'\nthreads_per_row = 1\n",
    by_cuthill_mckee + windows + rows_in_slices + "column_index = 'u32'\nvalues = 'auto'\n",
    by_degree + rows_in_slices + "columns_from = 'slice'\nslice_height = 'auto'\n",
    by_length + rows_in_slices + "columns_from = 'slice'\ncolumn_index = 'auto'\nvalues = 'auto'\nslice_height = 3\n",
};

inline const std::string rows_by_length = "[[stage]]\nuse = 'row_sort'\napply = 'rows'\n";
inline const std::string rows_in_windows =
    "[[stage]]\nid = 'rows'\nuse = 'row_sort'\napply = 'rows'\nwithin = 'window'\nwindow = 50\n";
inline const std::string one_thread = "[layout]\nuse = 'sell'\nthreads_per_row = 1\n";

/// Orders of rows alone, of matrices of any shape.
inline const std::vector<std::string> row_order_recipes{
    rows_by_length + "[layout]\nuse = 'csr'\n",
    rows_in_windows + one_thread,
    rows_by_length + "order = 'ascending'\n[layout]\nuse = 'ellr'\n" + any_padding,
    "[[stage]]\nuse = 'nonlinear_hash'\napply = 'rows'\n" + rows_in_windows + "[layout]\nuse = 'ell'\n" + any_padding,
    "[[stage]]\nuse = 'row_sort'\napply = 'rows'\nkey = 'first_column'\n" + one_thread,
    "[[stage]]\nuse = 'row_sort'\napply = 'rows'\nkey = 'span'\norder = 'ascending'\n[layout]\nuse = 'csr'\n",
};

inline const std::string nodes = "[[stage]]\nuse = 'node_blocks'\n";
inline const std::string in_blocks = "[layout]\nuse = 'block_sell'\n";
inline const std::string many_slots = in_blocks + "slots_per_nonzero = 100\n";

/// Recipes for nodes that the device finds, the first like recipes/block_sell.toml.
inline const std::vector<std::string> block_recipes{
    nodes + by_cuthill_mckee + windows + in_blocks,
    nodes + in_blocks,
    nodes + plain_cm + in_blocks + "threads_per_row = 2\n",
    nodes + "[[stage]]\nuse = 'row_sort'\norder = 'ascending'\n" + in_blocks + "threads_per_row = 4\n",
};

inline const std::string inside = "[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\nkey = 'nonzeros_inside_partition'\n";
inline const std::string divided = "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n";
inline const std::string outside = "[[stage]]\nid = 'sort_outside'\nuse = 'row_sort'\nshare = 'outside'\n";
inline const std::string by_parts = "[layout]\nuse = 'ehyb'\n";

/// Like recipes/ehyb_rcm_blocks.toml. parts: "7", or "'auto'" and further lines.
inline std::string rcm_blocks(const std::string& parts) {
    return "[[stage]]\nuse = 'rcm_blocks'\nparts = " + parts + "\n" + inside + divided + outside + by_parts;
}

/// Orders and parts of nodes that the device finds, stored row by row, in parts, in tiles, and in blocks.
inline const std::vector<std::string> node_recipes{
    nodes + by_cuthill_mckee + windows + "[layout]\nuse = 'csr'\n",
    nodes + plain_cm + by_degree + windows + short_columns,
    nodes + windows + by_cuthill_mckee + "[[stage]]\nuse = 'nonlinear_hash'\napply = 'rows'\n[layout]\nuse = 'ellr'\n" +
        any_padding,
    nodes + rcm_blocks("7"),
    nodes + rcm_blocks("'auto'"),
    nodes + by_degree + rcm_blocks("5\nweights = 'nonzeros'"),
    nodes + "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\nweights = 'bytes'\n[[stage]]\nuse = 'nonlinear_hash'\n" +
        "within = 'partition'\nsample = 3\n" + inside + "window = 7\n" + divided + by_parts,
    nodes + "[[stage]]\nuse = 'rcm_blocks'\nparts = 3\nkeep = 'order'\n" + windows + in_blocks,
    nodes + "[[stage]]\nuse = 'rcm_blocks'\nparts = 6\nweights = 'nonzeros'\n" + inside + in_blocks,
    nodes + by_cuthill_mckee +
        "[[stage]]\nuse = 'row_blocks'\nheight = 64\n[[stage]]\nuse = 'column_segmentation'\ncount = 3\n"
        "[layout]\nuse = 'hbp'\n",
};

/// A share of a hybrid. layout: its name, and further lines.
inline std::string stored(const std::string& share, const std::string& layout, const std::string& more = "") {
    return "[[layout]]\nshare = '" + share + "'\nuse = '" + layout + "'\n" + more;
}
inline std::string split(const std::string& by, const std::string& more = "") {
    return "[[stage]]\nuse = 'split'\nby = '" + by + "'\n" + more;
}
inline std::string sorted_share(const std::string& share, const std::string& more = "") {
    return "[[stage]]\nid = 'sort_" + share + "'\nuse = 'row_sort'\nshare = '" + share + "'\n" + more;
}

/// Hybrids of matrices of any shape.
inline const std::vector<std::string> share_recipes{
    split("row_length", "longer_than = 3\n") + sorted_share("short", "within = 'window'\nwindow = 8\n") +
        stored("long", "csr") + stored("short", "sell", "slice_height = 4\n"),
    split("row_length", "bounds = ['p25', 'p75']\n") + sorted_share("bin_2", "key = 'similarity'\n") +
        stored("bin_0", "csr16") + stored("bin_1", "ell", any_padding) + stored("bin_2", "sell"),
    rows_by_length + split("first_k") + sorted_share("rest", "key = 'first_column'\norder = 'ascending'\n") +
        stored("rest", "csr") + stored("first", "ell", any_padding),
    split("diagonals", "fill = 0.4\n") + stored("dense_diagonals", "ellr", any_padding) +
        stored("sparse_diagonals", "rows", any_padding + "rows = 'slices'\nrow_lengths = true\ncolumn_index = 'u32'\n"),
    rows_by_length + split("columns", "density = 0.2\n") + stored("dense_columns", "sell") + stored("sparse_columns", "csr"),
    split("columns", "bounds = ['p50']\n") + "[kernel]\nside_by_side = true\n" + stored("bin_0", "sell") +
        stored("bin_1", "csr"),
    rows_in_windows + split("rows", "bounds = ['p25', 'p60']\n") + "[kernel]\nside_by_side = true\n" + stored("bin_0", "sell") +
        stored("bin_1", "csr16") + stored("bin_2", "csr"),
    split("distance", "distance = 9\n") + stored("near", "csr") + stored("far", "csr16"),
};

/// Hybrids of coded values, of any shape.
inline const std::vector<std::string> coded_share_recipes{
    split("row_length", "longer_than = 4\n") + stored("long", "csr", "values = 'auto'\n") +
        stored("short", "sell", "column_index = 'auto'\nvalues = 'auto'\n"),
    rows_by_length + split("first_k", "k = 2\n") + stored("first", "ell", any_padding + "values = 'auto'\n") +
        stored("rest", "csr16", "values = 'auto'\n"),
    split("columns", "bounds = ['p50']\n") + stored("bin_0", "ellr", any_padding + "values = 'auto'\n") +
        stored("bin_1", "sell", "column_index = 'u16'\nvalues = 'auto'\n"),
};

/// Hybrids of shares that are divided again, and of nonzeros that are divided one by one; by values only in f64.
inline const std::vector<std::string> divided_share_recipes{
    split("row_length", "longer_than = 5\n") + "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'first_k'\nk = 2\n" +
        "share = 'short'\n" + stored("long", "csr") + stored("short/first", "ell", any_padding) + stored("short/rest", "sell"),
    rows_by_length + split("columns", "bounds = ['p50']\n") + sorted_share("bin_1", "order = 'ascending'\n") +
        "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'distance'\ndistance = 12\nshare = 'bin_1'\n" +
        "[[stage]]\nid = 'sort_far'\nuse = 'row_sort'\nshare = 'bin_1/far'\nkey = 'span'\n" + stored("bin_1/near", "sell") +
        stored("bin_0", "csr") + stored("bin_1/far", "sell"),
    split("row_length", "longer_than = 2\n") + "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'diagonals'\nfill = 0.1\n" +
        "share = 'long'\n" + stored("short", "csr") + stored("long/dense_diagonals", "sell") +
        stored("long/sparse_diagonals", "csr16"),
    split("blocks", "size = 2\nfill = 0.6\n") + stored("dense_blocks", "sell") + stored("sparse_blocks", "csr"),
    rows_in_windows + split("row_length", "longer_than = 3\n") +
        "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'blocks'\nheight = 3\nwidth = 2\nfill = 0.5\nshare = 'long'\n" +
        stored("short", "csr") + stored("long/dense_blocks", "csr") + stored("long/sparse_blocks", "sell"),
};
inline const std::vector<std::string> value_share_recipes{
    split("value", "value = 'commonest'\n") + stored("chosen", "csr", "values = 'one'\n") + stored("others", "sell"),
    rows_by_length + split("value", "larger_than = 0.5\n") + stored("chosen", "sell") + stored("others", "csr"),
    split("row_length", "longer_than = 3\n") +
        "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'value'\nlarger_than = 0.4\nshare = 'long'\n" + stored("short", "csr") +
        stored("long/chosen", "csr") + stored("long/others", "csr"),
};

/// Hybrids after orders and parts of symmetric patterns.
inline const std::vector<std::string> share_recipes_of_graphs{
    by_cuthill_mckee + windows + split("distance", "distance = 30\n") + stored("near", "sell") + stored("far", "csr"),
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n" + inside + divided + outside + stored("inside", "sell") +
        stored("outside", "sell"),
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\n" + split("partition", "partitions = [1, 3]\n") + stored("chosen", "csr") +
        stored("others", "ell", any_padding),
    nodes + "[[stage]]\nuse = 'rcm_blocks'\nparts = 3\n" + divided + stored("inside", "sell") + stored("outside", "csr16"),
    // Sorts by parts, also of rows that are not in the order of their parts.
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 5\n" + divided + sorted_share("outside", "within = 'partition'\n") +
        sorted_share("inside", "within = 'partition'\nwindow = 9\nkey = 'span'\n") + stored("inside", "sell") +
        stored("outside", "csr"),
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\n" + split("row_length", "longer_than = 3\n") + sorted_share("long") +
        "[[stage]]\nid = 'then'\nuse = 'row_sort'\nshare = 'long'\nwithin = 'partition'\nkey = 'first_column'\n" +
        sorted_share("short", "key = 'nonzeros_inside_partition'\n") +
        "[[stage]]\nid = 'again'\nuse = 'split'\nby = 'inside_partition'\nshare = 'long'\n" + stored("long/inside", "sell") +
        stored("long/outside", "csr") + stored("short", "csr"),
};

inline std::string stage(const std::string& name, const std::string& more = "") {
    return "[[stage]]\nuse = '" + name + "'\n" + more;
}

/// Orders and parts that the host finds, between steps of the GPU; of symmetric patterns.
inline const std::vector<std::string> host_stage_recipes{
    stage("metis_partition", "parts = 6\n") + inside + divided + outside + by_parts,
    stage("multilevel_partition", "parts = 5\n") + inside + divided + outside + stored("inside", "sell") +
        stored("outside", "csr"),
    by_degree + stage("gorder") + windows + short_columns,
    nodes + windows + stage("king") + "[layout]\nuse = 'ellr'\n" + any_padding,
    stage("rabbit_order") + by_cuthill_mckee + "[layout]\nuse = 'csr16'\n",
    nodes + stage("nested_dissection") + windows + many_slots,
    by_cuthill_mckee + stage("bfs_blocks", "parts = 3\n") + stage("row_blocks", "height = 40\nwithin = 'partition'\n") +
        stage("column_segmentation", "count = 2\n") + "[layout]\nuse = 'hbp'\n",
    by_degree + stage("column_sort") + one_thread,
};

/// Orders of patterns that are not symmetric, which the host finds.
inline const std::vector<std::string> one_way_recipes{
    by_cuthill_mckee + windows + short_columns,
    by_degree + "[layout]\nuse = 'csr'\n",
    windows + rcm_blocks("3"),
    stage("random_order") + by_degree + plain_cm + "[layout]\nuse = 'csr'\n",
};

/// Orders of rows, of matrices of any shape, which the host finds.
inline const std::vector<std::string> host_row_recipes{
    stage("random_order", "apply = 'rows'\n") + one_thread,
    rows_by_length + stage("gray", "apply = 'rows'\n") + rows_in_windows + "[layout]\nuse = 'csr'\n",
    stage("random_order", "apply = 'rows'\n") + split("row_length", "longer_than = 3\n") + stored("long", "csr") +
        stored("short", "sell"),
};

}  // namespace workbench
