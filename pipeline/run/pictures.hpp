// The pictures of a run: one a stage, and all stages on one sheet.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/run/report.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/stage_picture.hpp"

namespace workbench {

/// Collects what the pictures need while the stages run (the matrix itself is gone afterwards), and draws them at the end, when the
/// common density scale is known.
class PictureBook {
public:
    /// `stages`: how many pictures there will be, the input's included.
    explicit PictureBook(std::size_t stages) : sheet_resolution_(contact_sheet_resolution(stages)) {}

    void add(const StagedMatrix& staged);

    /// Writes 0_input.png, 1_NAME.png, ... and stages.png into the folder and notes their names in the report.
    /// Throws MachineError with the path and the reason.
    void write(const std::filesystem::path& folder, RunReport& report) const;

private:
    int sheet_resolution_;
    std::vector<PatternRaster> rasters_;        // for the pictures of single stages
    std::vector<PatternRaster> sheet_rasters_;  // for the contact sheet
};

}  // namespace workbench
