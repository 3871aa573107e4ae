#include <fmt/format.h>

#include "pipeline/report/figures.hpp"

namespace workbench {
namespace {

bool has_partition(const Metrics& m) { return m.partition.has_value(); }
bool has_tiles(const Metrics& m) { return m.tiles.has_value(); }

/// Only there does the distance from the diagonal say something.
bool is_square(const Metrics& m) { return m.rows == m.columns; }

FigureValue share_inside(const Metrics& m) {
    if (!m.partition || m.nonzeros == 0) return {};
    return static_cast<double>(m.partition->nonzeros_inside) / static_cast<double>(m.nonzeros);
}

FigureValue length_range(const Metrics& m) { return std::int64_t{m.row_lengths.maximum - m.row_lengths.minimum}; }

/// All warps of 32 rows as long as the longest row of the matrix.
FigureValue ell_warp_iterations(const Metrics& m) {
    return (static_cast<std::int64_t>(m.rows) + 31) / 32 * m.row_lengths.maximum;
}

Figures<Metrics> size_figures() {
    return {{.key = "rows", .value = at(&Metrics::rows), .rows = {.label = "rows", .place = 10}},
            {.key = "columns", .value = at(&Metrics::columns)},
            {.key = "nonzeros", .value = at(&Metrics::nonzeros), .rows = {.label = "nonzeros", .place = 20}},
            {.key = "bandwidth",
             .value = at(&Metrics::bandwidth),
             .there = is_square,
             .caption = {.label = "bandwidth",
                         .meaning = "largest and mean distance of a nonzero from the diagonal, |row - column|",
                         .legend = "bandwidth, mean bandwidth"},
             .table = {.label = "bandwidth", .place = 10},
             .telling = 3},
            {.key = "mean_bandwidth",
             .value = at(&Metrics::mean_bandwidth),
             .there = is_square,
             .caption = {"mean bandwidth"},
             .table = {.label = "mean", .place = 20},
             .telling = 6},
            {.key = "profile",
             .value = at(&Metrics::profile),
             .there = is_square,
             .caption = {.label = "profile", .meaning = "sum over the rows of row - first column, where that is positive"},
             .table = {.label = "profile", .place = 30}}};
}

Figures<Metrics> row_length_figures() {
    const std::string caption = "row length min/mean/max";
    const std::string column = "row min/mean/max";
    return {{.key = "row_length"},
            {.key = "row_length.min",
             .value = at(&Metrics::row_lengths, &RowLengths::minimum),
             .caption = {.label = caption, .meaning = "nonzeros per row", .legend = "row length"},
             .table = {.label = column, .place = 40},
             .rows = {.label = "min", .place = 60}},
            {.key = "row_length.mean",
             .value = at(&Metrics::row_lengths, &RowLengths::mean),
             .caption = {caption},
             .table = {.label = column, .place = 40},
             .rows = {.label = "row mean",
                      .meaning = "mean and standard deviation of the nonzeros per row",
                      .place = 30,
                      .legend = "row mean, deviation"}},
            {.key = "row_length.max",
             .value = at(&Metrics::row_lengths, &RowLengths::maximum),
             .caption = {.label = caption},
             .table = {.label = column, .place = 40},
             .rows = {.label = "max", .place = 70}},
            {.value = length_range,
             .rows = {.label = "max-min",
                      .meaning = "range and extremes of the nonzeros per row",
                      .place = 50,
                      .legend = "max-min, min, max"}},
            {.key = "row_length.std",
             .value = at(&Metrics::row_lengths, &RowLengths::standard_deviation),
             .caption = {.label = "row length deviation", .meaning = "standard deviation of the nonzeros per row"},
             .rows = {.label = "deviation", .place = 40}}};
}

Figures<Metrics> warp_figures() {
    return {
        {.key = "sell32_slots", .value = at(&Metrics::sell32_slots)},
        {.key = "sell32_padding",
         .unit = "share",
         .value = at(&Metrics::sell32_padding),
         .caption = {.label = "SELL-32 padding",
                     .meaning = "share of the slots of sliced ELL, slice height 32, without a nonzero"},
         .table = {.label = "SELL-32 padding", .place = 70},
         .telling = 5,
         .of_whole = true},
        {.value = ell_warp_iterations,
         .rows = {.label = "ELL iterations", .meaning = "warps of 32 rows times the longest row", .place = 90}},
        {.key = "warp_iterations",
         .value = at(&Metrics::warp_iterations),
         .caption = {.label = "warp iterations", .meaning = "sum over blocks of 32 rows of their longest row"},
         .table = {.label = "warp iterations", .place = 80},
         .rows = {.label = "ELLR iterations", .meaning = "sum over the warps of their longest row, PELLR eq. 1", .place = 100},
         .telling = 7,
         .of_whole = true},
        {.key = "sorted_warp_iterations",
         .value = at(&Metrics::sorted_warp_iterations),
         .rows = {.label = "PELLR iterations",
                  .meaning = "the same with all rows sorted by length: the minimum over all row orders",
                  .place = 110}},
        {.key = "warp_work",
         .value = at(&Metrics::warp_work),
         .caption = {.label = "warp work", .meaning = "sum over the rows of 2 length - 1"},
         .rows = {.label = "work Np", .meaning = "sum over the rows of 2 length - 1, PELLR eq. 2", .place = 80}}};
}

Figures<Metrics> span_figures() {
    return {{.key = "row_length.skew",
             .value = at(&Metrics::row_lengths, &RowLengths::skew),
             .caption = {.label = "row length skew",
                         .meaning = "mean of ((length - mean) / deviation)^3; above 0 if a few rows are long"}},
            {.key = "row_span"},
            {.key = "row_span.mean",
             .value = at(&Metrics::locality, &Locality::row_span, &Span::mean),
             .caption = {.label = "row span mean/max",
                         .meaning = "from the first to the last nonzero, both included; without empty rows and columns",
                         .legend = "row span, column span"}},
            {.key = "row_span.max",
             .value = at(&Metrics::locality, &Locality::row_span, &Span::maximum),
             .caption = {"row span mean/max"}},
            {.key = "column_span"},
            {.key = "column_span.mean",
             .value = at(&Metrics::locality, &Locality::column_span, &Span::mean),
             .caption = {"column span mean/max"}},
            {.key = "column_span.max",
             .value = at(&Metrics::locality, &Locality::column_span, &Span::maximum),
             .caption = {"column span mean/max"}}};
}

/// The lines of each size that row blocks read of x.
Figures<Metrics> line_figures() {
    Figures<Metrics> all{{.key = "x_lines"}};
    for (std::size_t i = 0; i < cache_line_bytes.size(); ++i) {
        const std::string key = fmt::format("x_lines[{}].", i);
        const std::string label = fmt::format("x lines of {} B, B/nonzero", cache_line_bytes[i]);
        const auto of_lines = [i](auto member) {
            return [=](const Metrics& m) { return value_at(m.locality.x_lines[i], member); };
        };
        all.push_back({.key = key + "line_bytes", .unit = "bytes", .value = of_lines(&CacheLines::line_bytes)});
        all.push_back({.key = key + "lines", .value = of_lines(&CacheLines::lines)});
        all.push_back({.key = key + "per_row_block", .value = of_lines(&CacheLines::per_row_block), .caption = {label}});
        if (i == 0) {
            all.back().caption.legend = "x lines of N B, B/nonzero";
            all.back().caption.meaning =
                "mean number of distinct lines of x that 32 consecutive rows read; their bytes per nonzero";
        }
        all.push_back({.key = key + "bytes_per_nonzero",
                       .unit = "bytes",
                       .value = of_lines(&CacheLines::bytes_per_nonzero),
                       .caption = {label}});
    }
    return all;
}

Figures<Metrics> neighbour_figures() {
    return {{.key = "neighbour_runs"},
            {.key = "neighbour_runs.count",
             .value = at(&Metrics::locality, &Locality::neighbour_runs, &NeighbourRuns::count),
             .caption = {.label = "neighbour runs/length",
                         .meaning = "runs of consecutive columns in a row, and their mean length"}},
            {.key = "neighbour_runs.mean_length",
             .value = at(&Metrics::locality, &Locality::neighbour_runs, &NeighbourRuns::mean_length),
             .caption = {"neighbour runs/length"}},
            {.key = "symmetry"},
            {.key = "symmetry.pattern",
             .unit = "share",
             .value = at(&Metrics::locality, &Locality::symmetry, &Symmetry::pattern),
             .caption = {.label = "symmetry pattern/values",
                         .meaning = "shares of the off-diagonal nonzeros whose mirror image is stored, and is stored and equal",
                         .text = complete}},
            {.key = "symmetry.values",
             .unit = "share",
             .value = at(&Metrics::locality, &Locality::symmetry, &Symmetry::values),
             .caption = {.label = "symmetry pattern/values", .text = complete}}};
}

Figures<Metrics> partition_figures() {
    return {
        {.key = "partition"},
        {.key = "partition.count",
         .value = at(&Metrics::partition, &PartitionMetrics::count),
         .there = has_partition,
         .caption = {.label = "partitions", .meaning = "sets into which a stage has divided rows and columns alike"}},
        {.key = "partition.nonzeros_inside", .value = at(&Metrics::partition, &PartitionMetrics::nonzeros_inside)},
        {.unit = "share",
         .value = share_inside,
         .there = has_partition,
         .caption = {.label = "nonzeros inside", .meaning = "share of the nonzeros with row and column in one partition"},
         .table = {.label = "inside", .place = 50, .always = true},
         .telling = 1,
         .more_is_better = true},
        {.key = "partition.edge_cut",
         .value = at(&Metrics::partition, &PartitionMetrics::edge_cut),
         .there = has_partition,
         .caption = {.label = "edge cut", .meaning = "pairs {i, j} of rows in different partitions with a_ij or a_ji stored"},
         .table = {.label = "edge cut", .place = 60, .always = true},
         .telling = 4},
        {.key = "partition.row_imbalance",
         .value = at(&Metrics::partition, &PartitionMetrics::row_imbalance),
         .there = has_partition,
         .caption = {.label = "imbalance rows/nonzeros",
                     .meaning = "rows and nonzeros of the largest partition over the mean",
                     .text = thousandths}},
        {.key = "partition.nonzero_imbalance",
         .value = at(&Metrics::partition, &PartitionMetrics::nonzero_imbalance),
         .there = has_partition,
         .caption = {.label = "imbalance rows/nonzeros", .text = thousandths}}};
}

Figures<Metrics> tile_figures() {
    return {{.key = "tiles"},
            {.key = "tiles.count",
             .value = at(&Metrics::tiles, &TileMetrics::count),
             .there = has_tiles,
             .caption = {.label = "tiles", .meaning = "blocks of rows and columns with nonzeros"}},
            {.key = "tiles.rows_present", .value = at(&Metrics::tiles, &TileMetrics::rows_present)},
            {.key = "tiles.warp_iterations", .value = at(&Metrics::tiles, &TileMetrics::warp_iterations)},
            {.key = "tiles.idle_lanes",
             .unit = "share",
             .value = at(&Metrics::tiles, &TileMetrics::idle_lanes),
             .there = has_tiles,
             .caption = {.label = "idle lanes in tiles",
                         .meaning = "share of the lanes without a nonzero while warps of 32 rows go through the tiles"},
             .table = {.label = "idle in tiles", .place = 90},
             .telling = 2}};
}

}  // namespace

const Figures<Metrics>& metric_figures() {
    static const Figures<Metrics> all = joined({size_figures(), row_length_figures(), warp_figures(), span_figures(),
                                                line_figures(), neighbour_figures(), partition_figures(), tile_figures()});
    return all;
}

}  // namespace workbench
