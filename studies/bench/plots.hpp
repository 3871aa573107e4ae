// Charts of many runs.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/bench/records.hpp"
#include "viz/chart.hpp"
#include "viz/pdf_canvas.hpp"

namespace workbench {

/// A chart and the name of its files without extension.
template <typename Chart>
struct Plot {
    std::string name;
    Chart chart;
};

struct Plots {
    std::vector<Plot<BarChart>> bars;
    std::vector<Plot<XyChart>> curves;
    std::vector<Plot<HeatMap>> maps;
};

/// For each device and precision: bars by matrix, a performance profile (Dolan and More, 'Benchmarking optimization software
/// with performance profiles' (2002)), speed-up against each of these metrics of the input, a roofline, and a heat map; for
/// each recipe with stages, the parts of its preprocessing in products (Chen, arXiv:2204.06666 (2022), figure 6); for recipes
/// that differ in one or two numbers only, a curve or a heat map over those. Shows the best most_series recipes.
[[nodiscard]] Plots plots_of(const std::vector<Record>& records, const std::vector<std::string>& metrics);

/// The names of the files of all charts (chart_files.hpp).
[[nodiscard]] std::vector<std::string> files_of(const Plots& plots, const PaperColumn& column = {});

/// Writes all files into this folder.
void write_plots(const Plots& plots, const std::filesystem::path& folder, const PaperColumn& column = {});

}  // namespace workbench
