// The pictures of a run: one a stage, one more where a stage orders the rows within tiles, and all stages on one sheet.
#pragma once

#include <filesystem>
#include <vector>

#include "pipeline/run/report.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/stage_picture.hpp"
#include "viz/tile_profile.hpp"

namespace workbench {

/// The captions of the stages' pictures. All captions of a run list the same figures, so that nothing moves from picture to
/// picture, each beside its value after the stage before.
[[nodiscard]] std::vector<StageCaption> captions_of(const RunReport& report);

/// Collects what the pictures need while the stages run (the matrix itself is gone afterwards), and draws them at the end, when
/// the common density scale is known.
class PictureBook {
public:
    void add(const StagedMatrix& staged);

    /// Writes 0_input.png, 1_NAME.png, ... and stages.png into the folder and notes their names in the report; 3_NAME_tiles.png
    /// where stage 3 has changed the profiles of tiles. One that cannot be drawn or written is a failure of the report, and the
    /// others are there.
    void write(const std::filesystem::path& folder, RunReport& report) const;

private:
    std::vector<PatternRaster> rasters_;
    std::vector<TileProfiles> profiles_;
};

}  // namespace workbench
