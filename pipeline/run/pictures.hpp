// The pictures of a run: one a stage, one more where a stage orders the rows within tiles, and all stages on one sheet.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/run/report.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/stage_picture.hpp"
#include "viz/tile_profile.hpp"

namespace workbench {

/// Collects what the pictures need while the stages run (the matrix itself is gone afterwards), and draws them at the end, when
/// the common density scale is known.
class PictureBook {
public:
    void add(const StagedMatrix& staged);

    /// Writes 0_input.png, 1_NAME.png, ... and stages.png into the folder and notes their names in the report; 3_NAME_tiles.png
    /// where stage 3 has changed the profiles of tiles.
    /// Throws MachineError with the path and the reason.
    void write(const std::filesystem::path& folder, RunReport& report) const;

private:
    std::vector<PatternRaster> rasters_;
    std::vector<TileProfiles> profiles_;
};

}  // namespace workbench
