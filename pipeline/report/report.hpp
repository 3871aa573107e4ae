// The result of one run as data, and its views: JSON and text.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "core/contract/device.hpp"
#include "core/contract/failure.hpp"
#include "core/matrix/value_statistics.hpp"
#include "pipeline/engine/outcomes.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct StorageMap;  // viz/storage_map.hpp

struct MatrixReport {
    std::string source;  // the file, or the generator with its parameters
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    double read_seconds = 0;
    std::optional<ValueStatistics> values = {};  // for `workbench info`
};

struct DeviceReport {
    DeviceProperties properties;
    Bandwidth bandwidth;
};

struct RunReport {
    std::string recipe_name;
    std::string recipe_source;
    std::string recipe_file;
    std::string resolved_recipe;  // TOML that runs unchanged
    SweepPoint sweep;             // empty: no sweep
    MatrixReport matrix;
    std::vector<StageOutcome> stages;           // the first is the input
    std::vector<LayoutOutcome> layouts;         // one per precision; for a hybrid the whole, then each share
    std::shared_ptr<const StorageMap> storage;  // of the first precision; null: not requested, unsuitable or failed
    std::vector<KernelOutcome> kernels;         // baselines first
    CacheState cache = CacheState::cold;
    int vectors = 1;              // of each product
    std::uint32_t turn_seed = 0;  // of the random order in which kernels took turns
    std::vector<DeviceReport> devices;
    std::map<std::string, std::string> machine;
    std::map<std::string, std::string> versions;
    double process_seconds = 0;             // loading and compiling kernels on a GPU, once a process and part of no price
    std::vector<std::string> notes;         // "no CUDA device: ..."
    std::vector<Failure> failures;          // reasons why the recipe ended early, pictures that could not be written
    std::string contact_sheet;              // file; empty: none
    std::string storage_picture;            // file; an SVG of the same name and the sheet of reads are beside it
    std::string page;                       // file; empty: none
    std::optional<double> density_ceiling;  // upper end of the pictures' shades, nonzeros per bin; none without pictures

    /// "EHYB", or "EHYB: parts=132".
    [[nodiscard]] std::string title() const;
    /// The conditions of all times, for headings: "warm cache", or "warm cache, 8 vectors".
    [[nodiscard]] std::string conditions() const;
    /// Seconds of all stages that apply to a precision.
    [[nodiscard]] double stage_seconds(Precision precision) const;
    /// The stage, or the input, that stage i > 0 started from.
    [[nodiscard]] std::size_t stage_before(std::size_t i) const;
    /// True for a hybrid.
    [[nodiscard]] bool has_shares() const;
    /// True if every kernel that ran was verified.
    [[nodiscard]] bool all_verified() const;
};

/// What a terminal says about RunReport::process_seconds.
[[nodiscard]] std::string note_on_loading(double process_seconds);

/// The figures of a stage for its caption, as label and value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> caption_of(const Metrics& metrics);

/// The meanings of those figures, one line each.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of_metrics();

/// One JSON object, described in docs/report.md. NaN and infinities, which JSON lacks, are null.
[[nodiscard]] nlohmann::ordered_json json_of(const RunReport& report);
[[nodiscard]] std::string to_json(const RunReport& report);

/// One JSON object, in the format that viz/storage_map.hpp describes.
[[nodiscard]] nlohmann::ordered_json json_of(const StorageMap& map);

/// The reports of several recipes that ran in one process: {"runs": [...]}.
[[nodiscard]] std::string to_json(const std::vector<RunReport>& reports);

/// The metrics of a matrix as a JSON object, for `info --json`.
[[nodiscard]] std::string to_json(const MatrixReport& matrix, const Metrics& metrics);

/// The files of pictures and the page that a report names, with the files beside them.
[[nodiscard]] std::set<std::string> pictures_of(const RunReport& report);

/// The files that a report.json names; none if there is no such file or it is not a report.
[[nodiscard]] std::set<std::string> pictures_of_report(const std::filesystem::path& file);

/// The density_ceiling of a report.json, for pictures on the same scale. Throws RecipeError if the file is not such a report or
/// its run drew no pictures.
[[nodiscard]] double density_ceiling_of_report(const std::filesystem::path& file);

/// Tables for a terminal: stages, kernels, footprint, notes, warnings and failures.
[[nodiscard]] std::string to_text(const RunReport& report);

}  // namespace workbench
