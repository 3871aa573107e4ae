// The charts of many runs, as files.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "pipeline/bench/records.hpp"
#include "viz/chart.hpp"

namespace workbench {

/// A chart and the name of its files, without ending.
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
/// with performance profiles' (2002)), speed-up against each of these metrics of the input, a roofline, a table of colours, and
/// where recipes differ in one or two numbers alone, curves or a map over these. The best recipes of the ranking are shown, as
/// many as there are colours.
[[nodiscard]] Plots plots_of(const std::vector<Record>& records, const std::vector<std::string>& metrics);

/// Writes NAME.png and NAME.svg of each. Returns the names of the files.
std::vector<std::string> write_plots(const Plots& plots, const std::filesystem::path& folder);

}  // namespace workbench
