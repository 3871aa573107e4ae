#include <optional>
#include <type_traits>

#include <fmt/format.h>

#include "pipeline/report/figures.hpp"

namespace workbench {
namespace {

bool has_partition(const Metrics& m) { return m.partition.has_value(); }
bool has_tiles(const Metrics& m) { return m.tiles.has_value(); }

FigureValue count(std::int64_t number) { return number; }

/// A member of what may be missing.
template <typename Whole, typename Number>
FigureValue member(const std::optional<Whole>& whole, Number Whole::*number) {
    if (!whole) return {};
    if constexpr (std::is_integral_v<Number>) {
        return count((*whole).*number);
    } else {
        return (*whole).*number;
    }
}

FigureValue share_inside(const Metrics& m) {
    if (!m.partition || m.nonzeros == 0) return {};
    return static_cast<double>(m.partition->nonzeros_inside) / static_cast<double>(m.nonzeros);
}

/// All warps of 32 rows as long as the longest row of the matrix.
FigureValue ell_warp_iterations(const Metrics& m) {
    return count((static_cast<Offset>(m.rows) + 31) / 32 * m.row_lengths.maximum);
}

/// The lines of one size that are read of x.
void add_lines(std::vector<Figure<Metrics>>& all, std::size_t i) {
    const Index bytes = cache_line_bytes[i];
    const std::string key = fmt::format("x_lines[{}].", i);
    const std::string label = fmt::format("x lines of {} B, B/nonzero", bytes);
    all.push_back({.key = key + "line_bytes", .type = "integer, bytes", .value = [i](const Metrics& m) {
                       return count(m.locality.x_lines[i].line_bytes);
                   }});
    all.push_back({.key = key + "lines",
                   .type = "integer",
                   .help = "sum over the row blocks of the distinct lines that their columns lie in",
                   .value = [i](const Metrics& m) { return count(m.locality.x_lines[i].lines); }});
    all.push_back({.key = key + "per_row_block",
                   .type = "number",
                   .help = "lines / row blocks",
                   .value = [i](const Metrics& m) { return m.locality.x_lines[i].per_row_block; },
                   .caption = {label, rounded}});
    all.push_back({.key = key + "bytes_per_nonzero",
                   .type = "number, bytes",
                   .help = "line_bytes · lines / nonzeros",
                   .value = [i](const Metrics& m) { return m.locality.x_lines[i].bytes_per_nonzero; },
                   .caption = {label, rounded}});
    if (i > 0) return;
    all[all.size() - 2].caption.legend = "x lines of N B, B/nonzero";
    all[all.size() - 2].caption.meaning =
        "distinct lines of x that 32 consecutive rows read, on average; and their bytes over all nonzeros";
}

std::vector<Figure<Metrics>> make_list() {
    std::vector<Figure<Metrics>> all{
        {.key = "rows",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.rows); },
         .rows = {"rows", counted, 10}},
        {.key = "columns", .type = "integer", .value = [](const Metrics& m) { return count(m.columns); }},
        {.key = "nonzeros",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.nonzeros); },
         .rows = {"nonzeros", counted, 20}},
        {.key = "bandwidth",
         .type = "integer",
         .help = "largest |i − j| over the nonzeros",
         .value = [](const Metrics& m) { return count(m.bandwidth); },
         .caption = {.label = "bandwidth",
                     .text = counted,
                     .legend = "bandwidth, mean bandwidth",
                     .meaning = "largest and mean distance of a nonzero from the diagonal, |row - column|"},
         .table = {"bandwidth", counted, 10},
         .telling = 3},
        {.key = "mean_bandwidth",
         .type = "number",
         .help = "mean |i − j| over the nonzeros",
         .value = [](const Metrics& m) { return m.mean_bandwidth; },
         .caption = {"mean bandwidth", rounded},
         .table = {"mean", rounded, 20},
         .telling = 6},
        {.key = "profile",
         .type = "integer",
         .help = "sum over the rows of i − min(i, first column of row i)",
         .value = [](const Metrics& m) { return count(m.profile); },
         .caption = {.label = "profile",
                     .text = counted,
                     .legend = "profile",
                     .meaning = "sum over the rows of row - first column, where that is positive"},
         .table = {"profile", counted, 30}},
        {.key = "row_length", .type = "object", .help = "nonzeros a row"},
        {.key = "row_length.min",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.row_lengths.minimum); },
         .caption = {.label = "row length min/mean/max", .text = plain, .legend = "row length", .meaning = "nonzeros in a row"},
         .table = {"row min/mean/max", plain, 40},
         .rows = {"min", counted, 60}},
        {.key = "row_length.mean",
         .type = "number",
         .value = [](const Metrics& m) { return m.row_lengths.mean; },
         .caption = {"row length min/mean/max", rounded},
         .table = {"row min/mean/max", rounded, 40},
         .rows = {.label = "row mean",
                  .text = rounded,
                  .place = 30,
                  .legend = "row mean, deviation",
                  .meaning = "mean and standard deviation of the nonzeros in a row"}},
        {.key = "row_length.max",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.row_lengths.maximum); },
         .caption = {"row length min/mean/max", plain},
         .table = {"row min/mean/max", plain, 40},
         .rows = {"max", counted, 70}},
        {.value = [](const Metrics& m) { return count(m.row_lengths.maximum - m.row_lengths.minimum); },
         .rows = {.label = "max-min",
                  .text = counted,
                  .place = 50,
                  .legend = "max-min, min, max",
                  .meaning = "of the nonzeros in a row"}},
        {.key = "row_length.std",
         .type = "number",
         .help = "standard deviation over all rows",
         .value = [](const Metrics& m) { return m.row_lengths.standard_deviation; },
         .caption = {"row length deviation", rounded},
         .rows = {"deviation", rounded, 40}},
        {.key = "sell32_slots",
         .type = "integer",
         .help = "places that sliced ELL with 32 rows a slice would have in this row order",
         .value = [](const Metrics& m) { return count(m.sell32_slots); }},
        {.key = "sell32_padding",
         .type = "number, share",
         .help = "of those places that would hold no nonzero",
         .value = [](const Metrics& m) { return m.sell32_padding; },
         .caption = {.label = "SELL-32 padding",
                     .text = percent,
                     .legend = "SELL-32 padding",
                     .meaning = "share of sliced ELL's slots, 32 rows a slice, that would hold no nonzero"},
         .table = {"SELL-32 padding", percent, 70},
         .telling = 5},
        {.value = ell_warp_iterations,
         .rows = {.label = "ELL iterations",
                  .text = counted,
                  .place = 90,
                  .legend = "ELL iterations",
                  .meaning = "warps of 32 rows times the longest row"}},
        {.key = "warp_iterations",
         .type = "integer",
         .help = "PELLR eq. 1: the sum over warps of 32 rows of their longest row",
         .value = [](const Metrics& m) { return count(m.warp_iterations); },
         .caption = {.label = "warp iterations",
                     .text = counted,
                     .legend = "warp iterations",
                     .meaning = "sum over blocks of 32 rows of their longest row"},
         .table = {"warp iterations", counted, 80},
         .rows = {.label = "ELLR iterations",
                  .text = counted,
                  .place = 100,
                  .legend = "ELLR iterations",
                  .meaning = "sum over the warps of their longest row, PELLR eq. 1"},
         .telling = 7},
        {.key = "sorted_warp_iterations",
         .type = "integer",
         .help = "the same if all rows were sorted by length, as PELLR does: the least that any row order reaches",
         .value = [](const Metrics& m) { return count(m.sorted_warp_iterations); },
         .rows = {.label = "PELLR iterations",
                  .text = counted,
                  .place = 110,
                  .legend = "PELLR iterations",
                  .meaning = "the same after all rows are sorted by length: the least of any order"}},
        {.key = "warp_work",
         .type = "integer",
         .help = "PELLR eq. 2: the sum over the rows of 2 length − 1; empty rows count 0",
         .value = [](const Metrics& m) { return count(m.warp_work); },
         .caption =
             {.label = "warp work", .text = counted, .legend = "warp work", .meaning = "sum over the rows of 2 length - 1"},
         .rows = {.label = "work Np",
                  .text = counted,
                  .place = 80,
                  .legend = "work Np",
                  .meaning = "sum over the rows of 2 length - 1, PELLR eq. 2"}},
        {.key = "partition", .type = "object", .help = "`null` where the matrix is not partitioned"},
        {.key = "tiles", .type = "object", .help = "`null` where the nonzeros are not split into tiles or segments"},
        {.key = "row_length.skew",
         .type = "number",
         .help = "mean of ((length − mean) / std)³; above 0: a few long rows; 0 where all are alike",
         .value = [](const Metrics& m) { return m.row_lengths.skew; },
         .caption = {.label = "row length skew",
                     .text = rounded,
                     .legend = "row length skew",
                     .meaning = "mean of ((length - mean) / deviation)^3; above 0: a few long rows"}},
        {.key = "row_span",
         .type = "object",
         .help = "columns from a row's first nonzero to its last, both included; rows that have none left out"},
        {.key = "row_span.mean",
         .type = "number",
         .value = [](const Metrics& m) { return m.locality.row_span.mean; },
         .caption = {.label = "row span mean/max",
                     .text = rounded,
                     .legend = "row span, column span",
                     .meaning = "from the first nonzero to the last, both included; empty rows and columns left out"}},
        {.key = "row_span.max",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.locality.row_span.maximum); },
         .caption = {"row span mean/max", counted}},
        {.key = "column_span", .type = "object", .help = "the same for the rows of a column"},
        {.key = "column_span.mean",
         .type = "number",
         .value = [](const Metrics& m) { return m.locality.column_span.mean; },
         .caption = {"column span mean/max", rounded}},
        {.key = "column_span.max",
         .type = "integer",
         .value = [](const Metrics& m) { return count(m.locality.column_span.maximum); },
         .caption = {"column span mean/max", counted}},
        {.key = "x_lines",
         .type = "list",
         .help = "for cache lines of 32, 64 and 128 bytes: what blocks of 32 consecutive rows read of x in f64"},
    };
    for (std::size_t i = 0; i < cache_line_bytes.size(); ++i) add_lines(all, i);
    const std::vector<Figure<Metrics>> rest{
        {.key = "neighbour_runs", .type = "object", .help = "maximal runs of consecutive columns in a row"},
        {.key = "neighbour_runs.count",
         .type = "integer",
         .help = "nonzeros without a nonzero in the column before, in their row",
         .value = [](const Metrics& m) { return count(m.locality.neighbour_runs.count); },
         .caption = {.label = "neighbour runs/length",
                     .text = counted,
                     .legend = "neighbour runs/length",
                     .meaning = "runs of consecutive columns in a row, and their mean length"}},
        {.key = "neighbour_runs.mean_length",
         .type = "number",
         .help = "nonzeros / count",
         .value = [](const Metrics& m) { return m.locality.neighbour_runs.mean_length; },
         .caption = {"neighbour runs/length", rounded}},
        {.key = "symmetry",
         .type = "object",
         .help = "of the nonzeros off the diagonal; `null` where the matrix is not square"},
        {.key = "symmetry.pattern",
         .type = "number, share",
         .help = "whose mirror image is stored",
         .value = [](const Metrics& m) { return member(m.locality.symmetry, &Symmetry::pattern); },
         .caption = {.label = "symmetry pattern/values",
                     .text = complete,
                     .legend = "symmetry pattern/values",
                     .meaning = "share of nonzeros off the diagonal whose mirror image is stored; is stored and equal"}},
        {.key = "symmetry.values",
         .type = "number, share",
         .help = "whose mirror image is stored and equal",
         .value = [](const Metrics& m) { return member(m.locality.symmetry, &Symmetry::values); },
         .caption = {"symmetry pattern/values", complete}},
        {.key = "partition.count",
         .type = "integer",
         .help = "partitions",
         .value = [](const Metrics& m) { return member(m.partition, &PartitionMetrics::count); },
         .there = has_partition,
         .caption = {"partitions", counted}},
        {.key = "partition.nonzeros_inside",
         .type = "integer",
         .help = "row and column in the same partition",
         .value = [](const Metrics& m) { return member(m.partition, &PartitionMetrics::nonzeros_inside); }},
        {.value = share_inside,
         .there = has_partition,
         .caption = {"nonzeros inside", percent},
         .table = {.label = "inside", .text = percent, .place = 50, .always = true},
         .telling = 1},
        {.key = "partition.edge_cut",
         .type = "integer",
         .help = "pairs {i, j} of rows in different partitions with a_ij or a_ji stored",
         .value = [](const Metrics& m) { return member(m.partition, &PartitionMetrics::edge_cut); },
         .there = has_partition,
         .caption = {"edge cut", counted},
         .table = {.label = "edge cut", .text = counted, .place = 60, .always = true},
         .telling = 4},
        {.key = "partition.row_imbalance",
         .type = "number",
         .help = "rows of the largest partition over the mean",
         .value = [](const Metrics& m) { return member(m.partition, &PartitionMetrics::row_imbalance); },
         .there = has_partition,
         .caption = {"imbalance rows/nonzeros", thousandths}},
        {.key = "partition.nonzero_imbalance",
         .type = "number",
         .help = "the same for the nonzeros of its rows",
         .value = [](const Metrics& m) { return member(m.partition, &PartitionMetrics::nonzero_imbalance); },
         .there = has_partition,
         .caption = {"imbalance rows/nonzeros", thousandths}},
        {.key = "tiles.count",
         .type = "integer",
         .help = "tiles with nonzeros",
         .value = [](const Metrics& m) { return member(m.tiles, &TileMetrics::count); },
         .there = has_tiles,
         .caption = {"tiles", counted}},
        {.key = "tiles.rows_present",
         .type = "integer",
         .help = "rows with nonzeros in a tile, all tiles together",
         .value = [](const Metrics& m) { return member(m.tiles, &TileMetrics::rows_present); }},
        {.key = "tiles.warp_iterations",
         .type = "integer",
         .help = "as above, for the rows of each tile as they are stored",
         .value = [](const Metrics& m) { return member(m.tiles, &TileMetrics::warp_iterations); }},
        {.key = "tiles.idle_lanes",
         .type = "number, share",
         .help = "of 32 lanes in all those iterations: those without a nonzero",
         .value = [](const Metrics& m) { return member(m.tiles, &TileMetrics::idle_lanes); },
         .there = has_tiles,
         .caption = {"idle lanes in tiles", percent},
         .table = {"idle in tiles", percent, 90},
         .telling = 2},
    };
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
}

}  // namespace

const std::vector<Figure<Metrics>>& metric_figures() {
    static const std::vector<Figure<Metrics>> all = make_list();
    return all;
}

}  // namespace workbench
