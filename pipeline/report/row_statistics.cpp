#include "pipeline/report/row_statistics.hpp"

#include "core/text/text_table.hpp"
#include "pipeline/report/figures.hpp"

namespace workbench {

std::string row_statistics_text(const std::vector<MeasuredMatrix>& matrices) {
    const auto cells = cells_of(metric_figures(), &Figure<Metrics>::rows);
    TextTable table;
    table.header = {"matrix"};
    for (const auto& cell : cells) table.header.push_back(cell.shown().label);
    for (const auto& [matrix, metrics] : matrices) {
        table.rows.push_back({matrix.source});
        for (const auto& cell : cells) table.rows.back().push_back(cell.text(metrics));
    }
    return table.text();
}

std::vector<std::pair<std::string, std::string>> legend_of_row_statistics() {
    return legend_of(cells_of(metric_figures(), &Figure<Metrics>::rows));
}

}  // namespace workbench
