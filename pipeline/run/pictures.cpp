#include "pipeline/run/pictures.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "pipeline/run/figures.hpp"
#include "pipeline/run/storage_pictures.hpp"
#include "viz/png.hpp"

namespace workbench {
namespace {

/// The labels of captions that stand on a contact sheet, the most telling first.
std::vector<std::string> telling_labels() {
    std::map<int, std::string> labels;
    for (const auto& figure : metric_figures()) {
        if (figure.telling > 0) labels[figure.telling] = figure.caption.label;
    }
    std::vector<std::string> sorted;
    for (const auto& [place, label] : labels) sorted.push_back(label);
    return sorted;
}

/// A contact sheet has room for a few lines: those that some stage changes, of these at most five, the most telling first.
StageCaption short_caption(const StageCaption& caption, const std::vector<StageCaption>& all) {
    constexpr std::size_t room = 5;
    StageCaption result{caption.title, caption.subtitle, {}};
    for (const std::string& label : telling_labels()) {
        for (std::size_t k = 0; k < caption.lines.size() && result.lines.size() < room; ++k) {
            const bool changes = std::any_of(all.begin(), all.end(), [&](const StageCaption& other) {
                return other.lines[k].value != all.front().lines[k].value;
            });
            if (caption.lines[k].label == label && (changes || all.size() == 1)) result.lines.push_back(caption.lines[k]);
        }
    }
    return result;
}

}  // namespace

std::vector<StageCaption> captions_of(const RunReport& report) {
    std::vector<StageCaption> captions;
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
        const StageOutcome& stage = report.stages[i];
        StageCaption caption{fmt::format("{}  {}", i, stage.label()), i == 0 ? report.matrix.source : stage.choices, {}};
        for (auto& [label, value] : caption_of(stage.metrics)) caption.lines.push_back({label, value, {}});
        captions.push_back(std::move(caption));
    }
    std::vector<std::string> labels;
    for (const StageCaption& caption : captions) {
        for (const CaptionLine& line : caption.lines) {
            if (std::find(labels.begin(), labels.end(), line.label) == labels.end()) labels.push_back(line.label);
        }
    }
    for (std::size_t i = 0; i < captions.size(); ++i) {
        std::vector<CaptionLine> lines;
        for (const std::string& label : labels) {
            const auto known = std::find_if(captions[i].lines.begin(), captions[i].lines.end(),
                                            [&](const CaptionLine& line) { return line.label == label; });
            const std::string value = known == captions[i].lines.end() ? "-" : known->value;
            lines.push_back({label, value, i == 0 ? "" : captions[report.stage_before(i)].lines[lines.size()].value});
        }
        captions[i].lines = std::move(lines);
    }
    return captions;
}

std::shared_ptr<const StagePage> page_of(const StagedMatrix& staged, bool with_pattern) {
    return std::make_shared<const StagePage>(
        StagePage{rasterise(staged, picture_resolution), profile_tiles(staged), with_pattern ? page_pattern(staged) : nullptr});
}

std::vector<std::shared_ptr<const PagePattern>> PictureBook::patterns() const {
    std::vector<std::shared_ptr<const PagePattern>> patterns;
    for (const auto& page : pages_) {
        if (page->pattern == nullptr) return {};
        patterns.push_back(page->pattern);
    }
    return patterns;
}

void PictureBook::write(const std::filesystem::path& folder, RunReport& report) const {
    const std::size_t count = std::min(pages_.size(), report.stages.size());  // stages that were done
    if (count == 0) return;
    std::vector<PatternRaster> rasters;
    for (const auto& page : pages_) rasters.push_back(page->raster);
    const DensityScale scale = common_scale(rasters);
    const std::vector<StageCaption> captions = captions_of(report);
    /// The name, or nothing where there is no such picture.
    const auto write_one = [&](const std::string& name, const auto& draw) -> std::string {
        try {
            write_png(folder / name, draw());
            return name;
        } catch (...) {
            report.failures.push_back(current_failure());
            return "";
        }
    };
    std::vector<StageFrame> frames;
    for (std::size_t i = 0; i < count; ++i) {
        StageOutcome& stage = report.stages[i];
        stage.picture =
            write_one(fmt::format("{}_{}.png", i, stage.id), [&] { return draw_stage(rasters[i], scale, captions[i]); });
        const TileProfiles& profiles = pages_[i]->profiles;
        const TileProfiles& before = pages_[i == 0 ? 0 : report.stage_before(i)]->profiles;
        if (i > 0 && profiles.tiles > 0 && profiles.shows_change_of(before)) {
            stage.tile_picture = write_one(fmt::format("{}_{}_tiles.png", i, stage.id), [&] {
                return draw_tile_profiles(before, profiles, captions[i].title, captions[i].subtitle);
            });
        }
        frames.push_back({rasters[i], short_caption(captions[i], captions)});
    }
    report.contact_sheet = write_one(
        "stages.png", [&] { return with_storage(contact_sheet(frames, scale, report.title(), report.recipe_source), report); });
}

}  // namespace workbench
