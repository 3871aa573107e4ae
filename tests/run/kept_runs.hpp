// Runs that keep their results, for tests of what is kept.
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/layouts/scripted.hpp"

namespace workbench {

namespace fs = std::filesystem;

inline constexpr const char* ehyb = R"([[stage]]
use = 'metis_partition'
parts = 4
[[stage]]
use = 'row_sort'
within = 'partition'
[[stage]]
use = 'split'
by = 'inside_partition'
[[stage]]
id = 'sort_outside'
use = 'row_sort'
share = 'outside'
[layout]
use = 'ehyb'
)";

inline constexpr const char* hybrid = R"([[stage]]
use = 'split'
by = 'row_length'
longer_than = 4
[[layout]]
share = 'long'
use = 'csr'
[[layout]]
share = 'short'
use = 'sell'
)";

/// Segments of x that fit 49 bytes: 6 columns in f64, 12 in f32.
inline constexpr const char* segments_that_fit = R"([[stage]]
use = 'column_sort'
[[stage]]
use = 'column_segmentation'
fit = 'k20x:read_only'
cache_share = 0.004
[[stage]]
use = 'row_sort'
share = 'segment'
[layout]
use = 'segmented'
)";

/// The kept files of a folder by the names of their contents: "metis_partition", "ehyb_f64".
inline std::multiset<std::string> names_in(const fs::path& folder) {
    std::multiset<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_directory()) names.insert(name.substr(0, name.find('-')));
    }
    return names;
}

inline fs::path file_in(const fs::path& folder, const std::string& name) {
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.path().filename().string().starts_with(name + '-')) return entry.path();
    }
    FAIL("there is no ", name);
    return {};
}

/// Replaces a file by a new one, because truncating a file that was just written would wait for the disk.
inline void write_text(const fs::path& file, const std::string& text) {
    fs::remove(file);
    std::ofstream(file, std::ios::binary) << text;
}

/// One run that finds kept results like a new process.
inline RunReport run_keeping(const std::string& text, const CsrMatrix& matrix, const fs::path& folder,
                             const std::string& maker = "a program",
                             const std::vector<Precision>& precisions = {Precision::f64}) {
    KeepFolder keep(folder, maker);
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    RunOptions options;
    options.precisions = precisions;
    options.backends = {Backend::kokkos};
    options.timing = {CacheState::warm, 0, 0};
    options.keep = &keep;
    Runner runner(matrix, catalogue(), {host}, options);
    RunReport report = runner.run(parse_recipe(text, "test.toml", catalogue()), {});
    CHECK(report.all_verified());
    return report;
}

inline std::set<std::string> kept_of(const RunReport& report) {
    std::set<std::string> kept;
    for (const StageOutcome& stage : report.stages) {
        if (stage.kept_seconds) kept.insert(stage.id);
    }
    for (const LayoutOutcome& layout : report.layouts) {
        if (layout.kept_seconds) kept.insert(layout.name + (layout.share.empty() ? "" : " " + layout.share));
    }
    return kept;
}

/// The notes about files in the folder.
inline std::vector<std::string> notes_on(const fs::path& folder, const RunReport& report) {
    std::vector<std::string> notes;
    for (const std::string& note : report.notes) {
        if (note.starts_with(folder.string())) notes.push_back(note);
    }
    return notes;
}

using NameSet = std::set<std::string>;
inline const NameSet all_of_ehyb{"metis_partition", "row_sort", "split", "sort_outside", "ehyb"};

}  // namespace workbench
