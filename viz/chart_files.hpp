// The files of a chart: PNG and SVG, or PDF for the column of a paper.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/system/whole_file.hpp"
#include "viz/chart.hpp"
#include "viz/image.hpp"
#include "viz/pdf_canvas.hpp"

namespace workbench {

/// NAME.png and NAME.svg, or for the column of a paper NAME.pdf.
[[nodiscard]] inline std::vector<std::string> chart_files(const std::string& name, const PaperColumn& column = {}) {
    if (column.inches > 0) return {name + ".pdf"};
    return {name + ".png", name + ".svg"};
}

/// Writes these files into the folder: in a column without title, subtitle and foot, with text of 7.5 points.
template <typename Chart>
void write_chart(Chart chart, const std::string& name, const PaperColumn& column, const std::filesystem::path& folder) {
    if (column.inches > 0) {
        chart.column = column.pixels();
        write_whole_file(folder / (name + ".pdf"), file_of<PdfCanvas>(chart, column.style()));
        return;
    }
    write_png(folder / (name + ".png"), image_of(chart));
    write_whole_file(folder / (name + ".svg"), svg_of(chart));
}

}  // namespace workbench
