#include "pipeline/report/pictures.hpp"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <variant>

#include <fmt/format.h>

#include "core/system/whole_file.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "pipeline/report/figures.hpp"
#include "viz/image.hpp"
#include "viz/storage_sheet.hpp"

namespace workbench {
namespace {

/// The labels of captions on a contact sheet, most informative first.
std::vector<std::string> telling_labels() {
    std::map<int, std::string> labels;
    for (const auto& figure : metric_figures()) {
        if (figure.telling > 0) labels[figure.telling] = figure.caption.label;
    }
    std::vector<std::string> sorted;
    for (const auto& [place, label] : labels) sorted.push_back(label);
    return sorted;
}

std::string size_of(const MatrixReport& matrix) {
    return fmt::format("{}: {} × {}, {}", matrix.source, with_commas(matrix.rows), with_commas(matrix.columns),
                       counted_with_commas(matrix.nonzeros, "nonzero"));
}

std::string joined(std::initializer_list<std::string> parts) {
    std::string text;
    for (const std::string& part : parts) {
        if (!part.empty()) text += (text.empty() ? "" : "  ·  ") + part;
    }
    return text;
}

/// The first figure of a caption's line as a number; none if it is no number.
std::optional<double> number_in(const FigureCell<Metrics>& cell, const Metrics& metrics) {
    if (!cell.there(metrics)) return {};
    const FigureValue value = cell.figures.front()->value(metrics);
    if (const auto* count = std::get_if<std::int64_t>(&value)) return static_cast<double>(*count);
    const auto* number = std::get_if<double>(&value);
    return number == nullptr ? std::optional<double>() : *number;
}

const FigureCell<Metrics>* caption_cell(const std::string& label) {
    static const std::vector<FigureCell<Metrics>> cells = cells_of(metric_figures(), &Figure<Metrics>::caption);
    const auto cell = std::find_if(cells.begin(), cells.end(), [&](const auto& one) { return one.shown().label == label; });
    return cell == cells.end() ? nullptr : &*cell;
}

/// CaptionLine::factor of a line of a stage and of the stage before.
double factor_of(const std::string& label, const Metrics& before, const Metrics& after) {
    const FigureCell<Metrics>* const cell = caption_cell(label);
    if (cell == nullptr) return 1;
    const std::optional<double> a = number_in(*cell, before);
    const std::optional<double> b = number_in(*cell, after);
    if (a == b || !b) return 1;
    if (!a) return std::numeric_limits<double>::infinity();
    const auto [least, most] = cell->figures.front()->more_is_better ? std::pair(*a, *b) : std::pair(*b, *a);
    return least <= 0 ? std::numeric_limits<double>::infinity() : most / least;
}

constexpr const char* padding_label = "SELL-32 padding";

/// True for the padding in slices of any height.
bool is_padding(const std::string& label) { return label.starts_with("SELL-") && label.ends_with(" padding"); }

/// The padding in slices of the layout after each stage; empty unless all stages have it.
std::vector<double> slice_padding(std::span<const PatternRaster> rasters) {
    std::vector<double> shares;
    for (const PatternRaster& raster : rasters) {
        if (const std::optional<double> share = padding_of_slices(raster)) shares.push_back(*share);
    }
    return shares.size() == rasters.size() ? shares : std::vector<double>();
}

/// Selects the lines that fit on a picture: the most informative ones and those that a stage changes, in their order.
void keep_most_telling(std::vector<StageCaption>& captions) {
    constexpr std::size_t most_lines = 16;
    const std::size_t count = captions.front().lines.size();
    if (count <= most_lines) return;
    const std::vector<std::string> telling = telling_labels();
    std::vector<std::pair<std::size_t, std::size_t>> ranked;  // rank, line
    for (std::size_t k = 0; k < count; ++k) {
        const CaptionLine& first = captions.front().lines[k];
        const bool changes = std::any_of(captions.begin(), captions.end(),
                                         [&](const StageCaption& other) { return other.lines[k].value != first.value; });
        const auto place = std::find(telling.begin(), telling.end(), first.label) - telling.begin();
        ranked.emplace_back(static_cast<std::size_t>(place) + (changes ? 0 : count), k);
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    std::set<std::size_t> kept;
    for (std::size_t i = 0; i < most_lines; ++i) kept.insert(ranked[i].second);
    for (StageCaption& caption : captions) {
        std::vector<CaptionLine> lines;
        for (const std::size_t k : kept) lines.push_back(std::move(caption.lines[k]));
        caption.lines = std::move(lines);
        caption.left_out = count - most_lines;
    }
}

/// Adds the padding of what is stored to the last stage, if the stages themselves have none, as after a split.
void add_stored_padding(const StorageMap& storage, std::vector<StageFrame>& frames) {
    std::vector<CaptionLine>& lines = frames.back().caption.lines;
    const bool has_padding = std::any_of(lines.begin(), lines.end(),
                                         [](const CaptionLine& line) { return is_padding(line.label) && line.value != "-"; });
    if (frames.size() < 2 || has_padding || storage.padding() == 0) return;
    lines.insert(lines.begin(), {"padding as stored", fmt::format("{:.1f} %", 100 * storage.padding_share()), "-",
                                 std::numeric_limits<double>::infinity()});
}

}  // namespace

StageCaption short_caption(const StageCaption& caption, const std::vector<StageCaption>& all) {
    constexpr std::size_t most_lines = 5;
    // The title of the sheet names the matrix.
    StageCaption result{caption.title, &caption == &all.front() ? "" : caption.subtitle, {}};
    result.notes = caption.notes;
    for (const std::string& label : telling_labels()) {
        for (std::size_t k = 0; k < caption.lines.size() && result.lines.size() < most_lines; ++k) {
            const bool changes = std::any_of(all.begin(), all.end(), [&](const StageCaption& other) {
                return other.lines[k].value != all.front().lines[k].value;
            });
            const bool is_there = caption.lines[k].value != "-" || caption.lines[k].before == "-";
            const bool is_padding_of_layout = label == padding_label && is_padding(caption.lines[k].label);
            if ((caption.lines[k].label == label || is_padding_of_layout) && is_there && (changes || all.size() == 1)) {
                result.lines.push_back(caption.lines[k]);
            }
        }
    }
    return result;
}

SheetHead head_of(const RunReport& report) { return {report.title(), joined({size_of(report.matrix), report.recipe_source})}; }

/// A smaller share of padding is as good.
constexpr double least_share = 1e-3;

std::vector<StageCaption> captions_of(const RunReport& report, std::span<const PatternRaster> rasters) {
    std::vector<StageCaption> captions;
    const std::vector<double> shares = slice_padding(rasters.first(std::min(rasters.size(), report.stages.size())));
    for (std::size_t i = 0; i < report.stages.size(); ++i) {
        const StageOutcome& stage = report.stages[i];
        StageCaption caption{fmt::format("{}  {}", i, stage.label()), i == 0 ? report.matrix.source : stage.choices, {}};
        for (const auto& [what, text] : stage.notes) caption.notes.push_back(fmt::format("{}: {}", what, text));
        const bool apart = stage.stored_apart || stage.metrics.tiles.has_value();
        for (auto& [label, value] : caption_of(stage.metrics)) {
            const FigureCell<Metrics>* const cell = caption_cell(label);
            if (apart && cell != nullptr && cell->figures.front()->of_whole) continue;
            if (label == padding_label && i < shares.size()) {
                caption.lines.push_back(
                    {fmt::format("SELL-{} padding", rasters[i].slice_height), fmt::format("{:.1f} %", 100 * shares[i]), {}});
            } else {
                caption.lines.push_back({label, value, {}});
            }
        }
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
            if (i == 0) {
                lines.push_back({label, value, ""});
                continue;
            }
            const std::size_t before = report.stage_before(i);
            const double factor = value == "-" ? 1
                                  : is_padding(label) && i < shares.size()
                                      ? shares[before] / std::max(shares[i], least_share)
                                      : factor_of(label, report.stages[before].metrics, report.stages[i].metrics);
            lines.push_back({label, value, captions[before].lines[lines.size()].value, factor});
        }
        captions[i].lines = std::move(lines);
        captions[i].origin = joined({report.title(), size_of(report.matrix), report.recipe_source});
    }
    if (!captions.empty()) keep_most_telling(captions);
    return captions;
}

Index slice_height_of(const Recipe& recipe) {
    if (recipe.layouts.size() != 1) return 0;
    const RecipeLayout& layout = recipe.layouts.front();
    const Needs needs = layout.entry->needs(layout.parameters);
    const auto height = layout.parameters.values().find("slice_height");
    if (!needs.unsplit || !needs.cuts.empty() || height == layout.parameters.values().end()) return 0;
    const auto* const rows = std::get_if<std::int64_t>(&height->second);
    return rows == nullptr ? 0 : static_cast<Index>(*rows);
}

std::shared_ptr<const StagePage> page_of(const StageOutcome& outcome) {
    return std::static_pointer_cast<const StagePage>(outcome.attached);
}

std::shared_ptr<const StagePage> page_of(const StagedMatrix& staged, bool with_pattern, std::vector<Point> places) {
    return std::make_shared<const StagePage>(StagePage{rasterise(staged, picture_resolution), profile_tiles(staged),
                                                       with_pattern ? page_pattern(staged, std::move(places)) : nullptr});
}

std::vector<std::shared_ptr<const PagePattern>> PictureBook::patterns() const {
    std::vector<std::shared_ptr<const PagePattern>> patterns;
    for (const auto& page : pages_) {
        if (page->pattern == nullptr) return {};
        patterns.push_back(page->pattern);
    }
    return patterns;
}

void PictureBook::write(const std::filesystem::path& folder, RunReport& report, std::optional<DensityScale> given,
                        Index slice_height) const {
    const std::size_t count = std::min(pages_.size(), report.stages.size());  // stages that ran
    if (count == 0) return;
    std::vector<PatternRaster> rasters;
    for (const auto& page : pages_) {
        rasters.push_back(page->raster);
        rasters.back().slice_height = slice_height;  // stages may be shared by recipes with other layouts
    }
    const DensityScale scale = given.value_or(common_scale(rasters));
    report.density_ceiling = scale.ceiling;
    const std::vector<StageCaption> captions = captions_of(report, rasters);
    /// The name, or an empty text if there is no such picture.
    const auto write_one = [&](const std::string& name, const auto& picture) -> std::string {
        try {
            write_png(folder / name, image_of(picture));
            return name;
        } catch (...) {
            report.failures.push_back(current_failure());
            return "";
        }
    };
    std::vector<StageFrame> frames;
    for (std::size_t i = 0; i < count; ++i) {
        StageOutcome& stage = report.stages[i];
        stage.picture = write_one(fmt::format("{}_{}.png", i, stage.id), StagePicture{rasters[i], scale, captions[i]});
        const TileProfiles& profiles = pages_[i]->profiles;
        const TileProfiles& before = pages_[i == 0 ? 0 : report.stage_before(i)]->profiles;
        if (profiles.shows_change_of(before)) {
            stage.tile_picture =
                write_one(fmt::format("{}_{}_tiles.png", i, stage.id), TileProfilePicture{before, profiles, captions[i]});
        }
        frames.push_back({rasters[i], short_caption(captions[i], captions)});
    }
    if (report.storage != nullptr) add_stored_padding(*report.storage, frames);
    report.contact_sheet = write_one("stages.png", ContactSheet{frames, scale, head_of(report), 0, report.storage.get()});
}

StoragePicture storage_picture(const RunReport& report, const StorageMap& map) {
    return {report.title() + ": stored arrays", fmt::format("{}  ·  {}", head_of(report).origin, name_of(map.precision)), map};
}

void write_storage_pictures(const std::filesystem::path& folder, RunReport& report) {
    if (report.storage == nullptr) return;
    const StorageMap& map = *report.storage;
    const StoragePicture picture = storage_picture(report, map);
    try {
        write_png(folder / "storage.png", storage_sheet(picture.title, picture.subtitle, map));
        report.storage_picture = "storage.png";
        if (map.has_reads()) {
            write_png(folder / "storage_reads.png",
                      reads_sheet(report.title() + ": which thread reads what", picture.subtitle, map));
        }
        write_whole_file(folder / "storage.svg", svg_of(picture));
    } catch (...) {
        report.failures.push_back(current_failure());
    }
}

}  // namespace workbench
