// What one run found, as data; and its views: JSON and text.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/contract/device.hpp"
#include "pipeline/contract/failure.hpp"
#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/metrics.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

struct StagePage;   // pictures.hpp
struct StorageMap;  // viz/storage_map.hpp

struct MatrixReport {
    std::string source;  // the file, or the generator with its parameters
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    double read_seconds = 0;
};

/// The input (stage 0) or what a stage left behind.
struct StageOutcome {
    std::string id;
    std::string name;
    Parameters parameters;
    std::optional<Precision> precision;  // it ran for this one alone; none: for all of the run
    std::string choices;                 // those that the recipe gives: "parts = 16, weights = \"rows\""
    double seconds = 0;                  // of the stage and of applying its change; no metrics, no pictures
    Metrics metrics;
    bool shared = false;  // it ran for an earlier recipe of this run, and its time is from there
    /// That it took to read what an earlier run kept of it; its time is from there, but for applying it. None: it was made.
    std::optional<double> kept_seconds;
    std::vector<std::pair<std::string, std::string>> notes;
    std::shared_ptr<const StagePage> page;  // what its pictures are drawn from; null: not collected, or no longer there
    std::string picture;                    // file, relative to the report; empty where none was made
    std::string tile_picture;               // row lengths in tiles before and after; empty where the stage has not changed them

    /// "row_sort", or "row_sort f32" where it ran for one precision alone.
    [[nodiscard]] std::string label() const;
};

struct LayoutOutcome {
    struct Array {
        std::string name;
        ArrayRole role = ArrayRole::structure;
        std::size_t count = 0;
        std::size_t bytes = 0;
    };

    std::string name;
    std::string share;  // of a hybrid: the share that it holds; empty: all nonzeros
    Parameters parameters;
    Precision precision = Precision::f64;
    Index rows = 0;  // that it stores; 0 for a hybrid as a whole
    Offset nonzeros = 0;
    std::string unsuitable;  // the reason; empty: it was built
    double seconds = 0;
    std::optional<double> kept_seconds;  // as of a stage; of a hybrid as a whole where all of its shares were kept
    std::vector<Array> footprint;
    std::vector<std::pair<std::string, std::string>> notes;  // of the layout; a hybrid's are its shares'

    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] std::size_t slots() const;  // places for a nonzero, padding included
};

struct DeviceReport {
    DeviceProperties properties;
    Bandwidth bandwidth;
};

struct RunReport {
    std::string recipe_name;
    std::string recipe_source;
    std::string recipe_file;
    std::string resolved_recipe;  // TOML that runs again as it is
    SweepPoint sweep;             // nothing in it where nothing is swept
    MatrixReport matrix;
    std::vector<StageOutcome> stages;           // the first is the input
    std::vector<LayoutOutcome> layouts;         // one for each precision; of a hybrid the whole, then each share
    std::shared_ptr<const StorageMap> storage;  // of the first precision; null: not wanted, unsuitable, or a failure
    std::vector<KernelOutcome> kernels;         // baselines first
    CacheState cache = CacheState::cold;
    std::uint32_t turn_seed = 0;  // of the order in which kernels took turns
    std::vector<DeviceReport> devices;
    std::map<std::string, std::string> machine;
    std::map<std::string, std::string> versions;
    std::vector<std::string> notes;         // "no CUDA device: ..."
    std::vector<Failure> failures;          // what ended the recipe early, pictures that could not be written
    std::string contact_sheet;              // file; empty where none was made
    std::string storage_picture;            // likewise; beside it lie an SVG of its name and the sheet of reads
    std::string page;                       // file; empty where none was made
    std::optional<double> density_ceiling;  // of the pictures' shades: nonzeros in a bin; none where nothing was drawn

    /// "EHYB", or "EHYB: parts=132".
    [[nodiscard]] std::string title() const;
    /// Seconds of all stages that ran for a precision.
    [[nodiscard]] double stage_seconds(Precision precision) const;
    /// The stage, or the input, whose result stage i > 0 began with.
    [[nodiscard]] std::size_t stage_before(std::size_t i) const;
    /// True for a hybrid.
    [[nodiscard]] bool has_shares() const;
    /// True if every kernel that ran gave the right result.
    [[nodiscard]] bool all_verified() const;
};

/// The figures of a stage worth a caption, as label and value.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> caption_of(const Metrics& metrics);

/// What those figures mean, a line each.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> legend_of_metrics();

/// One JSON object, described in docs/report.md.
[[nodiscard]] std::string to_json(const RunReport& report);

/// The same for several recipes that ran in one process: {"runs": [...]}.
[[nodiscard]] std::string to_json(const std::vector<RunReport>& reports);

/// The metrics of a matrix as a JSON object, for `info --json`.
[[nodiscard]] std::string to_json(const MatrixReport& matrix, const Metrics& metrics);

/// The pictures and the page that a report names, with those beside them.
[[nodiscard]] std::set<std::string> pictures_of(const RunReport& report);

/// The same of a report.json; none where there is no such file, or something else in it.
[[nodiscard]] std::set<std::string> pictures_of_report(const std::filesystem::path& file);

/// The density_ceiling of a report.json, for pictures on the same scale. Throws RecipeError where the file is no such report,
/// or one of a run without pictures.
[[nodiscard]] double density_ceiling_of_report(const std::filesystem::path& file);

/// Tables for a terminal: a row a stage, a row a kernel, the footprint, notes, warnings and failures.
[[nodiscard]] std::string to_text(const RunReport& report);

}  // namespace workbench
