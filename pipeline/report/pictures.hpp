// The pictures of a run: one a stage, one more where a stage orders the rows within tiles, all stages on one sheet, and the
// arrays that its layouts store.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/page.hpp"
#include "pipeline/report/report.hpp"
#include "viz/contact_sheet.hpp"
#include "viz/stage_picture.hpp"
#include "viz/storage_picture.hpp"
#include "viz/tile_profile.hpp"

namespace workbench {

/// The captions of the stages' pictures. All captions of a run list the same figures, so that nothing moves from picture to
/// picture, each beside its value after the stage before. `rasters`: those of the stages, or none; with slices of the layout,
/// the padding is that of its slices instead of slices of 32 rows.
[[nodiscard]] std::vector<StageCaption> captions_of(const RunReport& report, std::span<const PatternRaster> rasters = {});

/// The lines of a caption for a sheet of all stages: at most five that a stage changes, most informative first.
[[nodiscard]] StageCaption short_caption(const StageCaption& caption, const std::vector<StageCaption>& all);

/// The head of a sheet of all stages.
[[nodiscard]] SheetHead head_of(const RunReport& report);

/// The height of the slices in which the layout of a recipe stores the rows of the matrix in their order; 0 if it has none, or
/// determines their height itself.
[[nodiscard]] Index slice_height_of(const Recipe& recipe);

/// The data of the matrix for the pictures of a stage, which are drawn after the matrix has gone.
struct StagePage {
    PatternRaster raster;
    TileProfiles profiles;
    std::shared_ptr<const PagePattern> pattern;  // null: no report.html is wanted
};

/// `places`: see PagePattern.
[[nodiscard]] std::shared_ptr<const StagePage> page_of(const StagedMatrix& staged, bool with_pattern = false,
                                                       std::vector<Point> places = {});

/// The page that is attached to the outcome of a stage; null: none is, or it is released.
[[nodiscard]] std::shared_ptr<const StagePage> page_of(const StageOutcome& outcome);

/// Collects pages while the stages run, and draws them at the end, when the common density scale is known.
class PictureBook {
public:
    void add(std::shared_ptr<const StagePage> page) { pages_.push_back(std::move(page)); }
    void add(const StagedMatrix& staged) { add(page_of(staged)); }

    /// Writes 0_input.png, 1_NAME.png, ... and stages.png into the folder and notes their names in the report; 3_NAME_tiles.png
    /// where stage 3 has changed the profiles of tiles. A picture that cannot be drawn or written is listed as a failure in the
    /// report; the others are written.
    /// `scale`: the density scale of the shades; by default one that suits these pictures, whose ceiling is stored in the
    /// report. `slice_height`: the slice height of the layout, see PatternRaster.
    void write(const std::filesystem::path& folder, RunReport& report, std::optional<DensityScale> scale = {},
               Index slice_height = 0) const;

    /// The patterns of the stages in their order; empty if one of them was not collected.
    [[nodiscard]] std::vector<std::shared_ptr<const PagePattern>> patterns() const;

private:
    std::vector<std::shared_ptr<const StagePage>> pages_;
};

/// The whole map of a report's layouts; it must outlive the picture.
[[nodiscard]] StoragePicture storage_picture(const RunReport& report, const StorageMap& map);

/// Writes storage.png, a 16:9 sheet, storage_reads.png and storage.svg, which shows the whole map, if the report has a map. A
/// file that cannot be written becomes a failure of the report.
void write_storage_pictures(const std::filesystem::path& folder, RunReport& report);

}  // namespace workbench
