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

/// The data of the matrix after a stage for the page of a run, which is written after the matrix has gone. What a section of
/// the page contains is packed here, once for all pages that show the stage.
struct PagePattern {
    Pyramid pyramid;
    PackedLevel finest;  // of the pyramid
    std::vector<Cuts> cuts;
    std::string sample_places;  // rows, then columns
    std::string tiles;          // packed_tiles
    Index tile_count = 0;
    std::string stored_lengths;  // of the rows of the second of two shares, in the order of its storage
    bool rows_moved = false;     // another order than the input's
    bool columns_moved = false;
    std::string original_rows;  // the input's number of each; empty where they did not move, and of large matrices
    std::string original_columns;

    // For the input alone.
    std::size_t sampled = 0;
    std::string sample_rows;
    std::string sample_columns;
    std::string sample_values;
    std::string places;  // of the graph's vertices (GraphView); empty: no graph is shown
    std::string values;  // in the order of the input, up to most_entries_with_values
};

[[nodiscard]] std::shared_ptr<const PagePattern> page_pattern(const StagedMatrix& staged,
                                                              const std::vector<Point>& places = {});

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
};

/// The file. Where not everything fits into the budget, bins become coarser, and original numbers are left out; the page says
/// so. Throws MachineError where memory runs out.
[[nodiscard]] std::string page_html(std::span<const PageRun> runs, const PageFacts& facts, std::size_t budget = page_budget);

/// The data of the same page, not compressed, for a page that is open already (PageFile::data). `budget`: of these bytes.
[[nodiscard]] std::string page_data(std::span<const PageRun> runs, const PageFacts& facts,
                                    std::size_t budget = 2 * page_budget);

}  // namespace workbench
