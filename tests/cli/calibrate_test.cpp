// workbench calibrate, and what choose makes of the file that it keeps.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "core/system/whole_file.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

/// The only file in a folder.
std::filesystem::path only_file_in(const std::filesystem::path& folder) {
    const std::filesystem::directory_iterator files(folder);
    REQUIRE(files != std::filesystem::directory_iterator());
    return files->path();
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("calibrate keeps constants, which choose uses unless the file is not valid") {
    const TemporaryFolder folder;
    const std::string settings = "XDG_CACHE_HOME='" + (folder.path() / "cache").string() + "'";
    const std::string choose =
        "choose '" WORKBENCH_SOURCE_DIR "/recipes/csr.toml' --generate laplace2d:nx=20 --backend kokkos --budget 0.1 --force";
    CHECK_FALSE(contains(workbench_in(folder.path(), choose, settings).text, "calibrat"));

    const Outcome made = workbench_in(folder.path(), "calibrate --backend kokkos --budget 0.1", settings);
    CHECK_EQ(made.exit_code, 0);
    CHECK(contains(made.text, "  constant "));
    // So little time is enough for a few products only; the default would be enough for hundreds.
    const std::size_t end = made.text.find(" product");
    REQUIRE(end != std::string::npos);
    CHECK(std::stoi(made.text.substr(made.text.rfind(' ', end - 1) + 1)) < 40);
    CHECK(contains(made.text, "mean error of the predictions: "));
    const std::filesystem::path file = only_file_in(folder.path() / "cache/spmv-workbench/calibration");
    CHECK(contains(made.text, "Kept in " + file.string() + ", which `choose` uses.\n"));
    const Outcome used = workbench_in(folder.path(), choose, settings);
    CHECK_EQ(used.exit_code, 0);
    CHECK(contains(used.text, "predictions are calibrated: " + file.string() + "\n"));

    // A product on a machine whose launches take a thousand seconds.
    nlohmann::json kept = nlohmann::json::parse(file_text(file));
    kept["launch_seconds"] = 1000;
    write_whole_file(file, kept.dump());
    (void)workbench_in(folder.path(), choose + " --json choice.json", settings);
    const nlohmann::json timed = nlohmann::json::parse(file_text(folder.path() / "choice.json")).at("ranking");
    // Times the factor of its layout. The first trial corrects the predictions of the others.
    CHECK(std::any_of(timed.begin(), timed.end(), [](const auto& one) { return one.at("predicted_seconds") > 100; }));

    write_whole_file(file, "{\"calibration\": 1");
    const Outcome ignored = workbench_in(folder.path(), choose, settings);
    CHECK_EQ(ignored.exit_code, 0);
    CHECK(contains(ignored.text, "warning: calibration ignored: " + file.string() + ": not a calibration: "));
    CHECK_EQ(workbench_in(folder.path(), "calibrate --backend kokkos --budget 0.1", settings).exit_code, 0);
    CHECK(contains(workbench_in(folder.path(), choose, settings).text, "predictions are calibrated: "));
}

TEST_CASE("calibrate reports a folder that cannot be written before it measures, and wrong options") {
    const TemporaryFolder folder;
    write_whole_file(folder.path() / "file", "");
    const Outcome refused =
        workbench_in(folder.path(), "calibrate --backend kokkos", "XDG_CACHE_HOME='" + (folder.path() / "file").string() + "'");
    CHECK_EQ(refused.exit_code, 4);
    CHECK(contains(refused.text, "file/spmv-workbench"));
    CHECK_EQ(workbench_in(folder.path(), "calibrate --backend kokkos,cuda", "").exit_code, 2);
    CHECK_EQ(workbench_in(folder.path(), "calibrate --budget 0", "").exit_code, 2);
}

}  // namespace workbench
