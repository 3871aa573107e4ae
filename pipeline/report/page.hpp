// The page of a run: report.html, one file for a browser, with the pattern after each stage, the figures and the kernels.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/report/report.hpp"
#include "viz/packed_pattern.hpp"
#include "viz/page_file.hpp"
#include "viz/text.hpp"

namespace workbench {

/// The most bytes that a page takes, whatever the matrix.
inline constexpr std::size_t page_budget = 6'000'000;

/// The largest number of nonzeros for which every entry is shown with its value.
inline constexpr Offset most_entries_with_values = 200'000;

/// The data of the matrix after a stage for the page of a run, which is written after the matrix has gone.
struct PagePattern {
    Pyramid pyramid;
    std::vector<Cuts> cuts;
    PatternSample sample;
    std::string tiles;  // packed_tiles
    Index tile_count = 0;
    bool rows_moved = false;  // another order than the input's
    bool columns_moved = false;
    std::vector<Index>
        original_rows;  // [rows] the input's number of each; empty where they did not move, and of large matrices
    std::vector<Index> original_columns;
    std::vector<Point> places;  // [rows] of the graph's vertices (GraphView), for the input alone; empty: no graph is shown
    HostArray<double> values;   // in the order of the input, for the input alone, and up to most_entries_with_values
};

[[nodiscard]] std::shared_ptr<const PagePattern> page_pattern(const StagedMatrix& staged, std::vector<Point> places = {});

struct PageRun {
    const RunReport& report;
    std::vector<std::shared_ptr<const PagePattern>> patterns;  // of the stages; empty, or one null: not all were collected
    Index slice_height = 0;                                    // of the layout, see PatternRaster
};

/// One run, or two that are compared.
struct PageFacts {
    std::string title;
    std::string kind;     // "run", "compare"
    std::string command;  // that was given; empty: not known
    PageCompression compression = PageCompression::best;
};

/// The file. Where not everything fits into the budget, bins become coarser, and original numbers are left out; the page says
/// so. Throws MachineError where memory runs out.
[[nodiscard]] std::string page_html(std::span<const PageRun> runs, const PageFacts& facts, std::size_t budget = page_budget);

}  // namespace workbench
