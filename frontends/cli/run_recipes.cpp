#include "frontends/cli/run_recipes.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "frontends/cli/interruption.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/report/pictures.hpp"
#include "studies/bench/ranking.hpp"
#include "studies/bench/records.hpp"

namespace workbench {
namespace {

std::filesystem::path folder_of(const RunOutput& output, const Recipe& recipe) {
    const std::filesystem::path folder = output.folder / recipe.file.stem();
    return recipe.sweep.folder.empty() ? folder : folder / recipe.sweep.folder;
}

/// Unlike fmt::print, does not throw if stdout fails, so that the files are still written; run_program checks stdout.
void print(const std::string& text) { (void)std::fputs(text.c_str(), stdout); }

template <typename Work>
void record_failure(RunReport& report, const Work& work) {
    try {
        work();
    } catch (...) {
        report.failures.push_back(current_failure());
    }
}

/// Collects the rasters for a run's pictures. If that fails, the run continues without pictures.
class Pictures {
public:
    Pictures() = default;
    Pictures(const RunOutput& output, const Recipe& recipe)
        : output_(&output), matrix_(&recipe.matrix), slice_height_(slice_height_of(recipe)) {
        if (output.pictures) book_.emplace();
    }

    void add(const StagedMatrix& staged, StageOutcome& outcome) {
        try {
            if (!book_) return;
            const bool has_graph = output_->page && std::exchange(is_input_, false);
            outcome.attached =
                page_of(staged, output_->page, has_graph ? page_places(*matrix_, staged.matrix, false) : std::vector<Point>{});
        } catch (...) {
            failure_ = current_failure();
            book_.reset();
        }
        if (book_) book_->add(page_of(outcome));
    }

    /// Adds a stage that ran for an earlier recipe, which may have failed to collect its raster.
    void add(const StageOutcome& outcome) {
        if (book_ && outcome.attached == nullptr) {
            failure_ = Failure{ExitCode::machine_error,
                               fmt::format("stage '{}' ran for an earlier recipe that has no pictures", outcome.id)};
            book_.reset();
        }
        if (book_) book_->add(page_of(outcome));
    }

    void write(const std::filesystem::path& folder, RunReport& report, std::optional<double> ceiling) const {
        if (failure_) report.failures.push_back({failure_->exit_code, "no pictures: " + failure_->text});
        if (!book_) return;
        book_->write(folder, report, ceiling ? std::optional(DensityScale{*ceiling}) : std::nullopt, slice_height_);
    }

    /// Call it after write, when the report is complete.
    void write_page(const std::filesystem::path& folder, RunReport& report) const {
        if (!book_ || !output_->page) return;
        constexpr const char* name = "report.html";
        const std::vector<PageRun> runs{{report, book_->patterns(), slice_height_}};
        write_whole_file(folder / name, page_html(runs, {report.title(), "run", output_->command}));
        report.page = name;
    }

private:
    const RunOutput* output_ = nullptr;
    const MatrixChoice* matrix_ = nullptr;
    Index slice_height_ = 0;
    bool is_input_ = true;  // of the next stage
    std::optional<PictureBook> book_;
    std::optional<Failure> failure_;
};

struct OneRun {
    RunReport report = {};
    Pictures pictures = {};
    std::exception_ptr error = {};  // that ended it; null: none
    bool stopped = false;           // by the user; nothing else is set
    bool broke_device = false;      // no other recipe can run in this process
};

OneRun run_one(const FindRunner& runner_for, const Recipe& recipe, const RunOutput& output, const CompleteReport& complete) {
    const StdoutToStderr redirection;
    const Progress progress;
    Pictures pictures(output, recipe);
    RunObserver observer;
    observer.progress = [&progress](const std::string& step) {
        stop_if_requested();
        progress.show(step);
    };
    observer.stage_done = [&pictures](const StagedMatrix& staged, StageOutcome& outcome) { pictures.add(staged, outcome); };
    observer.maps_storage = output.pictures;
    observer.stage_shared = [&pictures](const StageOutcome& outcome) { pictures.add(outcome); };
    RunReport report;
    std::exception_ptr error;
    Runner* runner = nullptr;
    try {
        report.recipe_name = recipe.name;  // in case that the matrix cannot be read
        report.recipe_file = recipe.file.string();
        report.sweep = recipe.sweep;
        runner = &runner_for(recipe);
        runner->run(recipe, observer, report);
    } catch (const Stopped&) {
        return {.stopped = true};
    } catch (...) {
        error = std::current_exception();
        report.failures.push_back(current_failure());
    }
    const auto broken = runner == nullptr || report.failures.empty() ? std::nullopt : runner->broken_device();
    if (broken) report.failures.push_back({ExitCode::machine_error, *broken + " no longer works in this process"});
    complete(report);
    return {.report = std::move(report), .pictures = std::move(pictures), .error = error, .broke_device = broken.has_value()};
}

bool was_read(const MatrixReport& matrix) { return !matrix.source.empty(); }

/// True if the run measured nothing and the folder has the results of an earlier run, which are kept.
bool keeps_earlier(const RunReport& report, const std::filesystem::path& folder) {
    std::error_code unknown;
    return report.kernels.empty() && std::filesystem::exists(folder / "report.json", unknown);
}

/// Writes pictures, the page and report.json, then deletes pictures that only the previous report refers to. If a file cannot
/// be written, nothing is deleted.
void write_results(const std::filesystem::path& folder, const RunOutput& output, const Pictures& pictures, RunReport& report) {
    const StdoutToStderr redirection;
    const Progress progress;
    const std::filesystem::path file = folder / "report.json";
    const std::size_t failures = report.failures.size();
    progress.show("pictures");
    record_failure(report, [&] { pictures.write(folder, report, output.density_ceiling); });
    write_storage_pictures(folder, report);
    progress.show("page");
    record_failure(report, [&] { pictures.write_page(folder, report); });
    const bool complete = report.failures.size() == failures;
    std::set<std::string> stale = pictures_of_report(file);
    for (const std::string& picture : pictures_of(report)) stale.erase(picture);
    for (StageOutcome& stage : report.stages) stage.attached.reset();
    report.storage.reset();
    write_whole_file(file, to_json(report));
    if (!complete) return;
    for (const std::string& picture : stale) {
        std::error_code ignored;
        std::filesystem::remove(folder / picture, ignored);
    }
}

/// Writes the results, unless those of an earlier run are kept, and returns the tables.
std::string write_and_describe(const std::filesystem::path& folder, const RunOutput& output, OneRun& one) {
    RunReport& report = one.report;
    if (!was_read(report.matrix)) return fmt::format("{}\n  error: {}\n", report.title(), report.failures.front().text);
    if (keeps_earlier(report, folder)) {
        return to_text(report) + fmt::format("\n  the results of an earlier run in {} are kept\n", folder.string());
    }
    bool written = false;
    record_failure(report, [&] {
        write_results(folder, output, one.pictures, report);
        written = true;
    });
    return to_text(report) + (written ? fmt::format("\n  written to {}\n", folder.string()) : "");
}

/// Throws the error of a recipe that is alone and measured nothing. Writes the file of --json if the matrix does not suit the
/// recipe.
[[noreturn]] void give_up(const OneRun& one, const RunOutput& output) {
    const bool to_file = !output.json.empty() && output.json != standard_output;
    if (was_read(one.report.matrix) && to_file) write_whole_file(output.json, to_json(one.report));
    std::rethrow_exception(one.error);
}

/// "csr: 8 of 8 values are ...": why the first layout that was not built does not suit the matrix; empty if all were built.
std::string first_unsuitable(const std::vector<RunReport>& reports) {
    for (const RunReport& report : reports) {
        for (const LayoutOutcome& layout : report.layouts) {
            if (!layout.unsuitable.empty()) return fmt::format("{}: {}", layout.name, layout.unsuitable);
        }
    }
    return "";
}

/// Prints all failures and returns the exit code. `shown`: the tables contain their full texts, such as compiler messages.
ExitCode conclude(const std::vector<Recipe>& recipes, const std::vector<RunReport>& reports, bool shown) {
    ExitCode exit_code = ExitCode::ok;
    std::set<std::string> printed;
    for (std::size_t i = 0; i < reports.size(); ++i) {
        const std::string& label = recipes[i].sweep.label;
        const std::string name = recipes[i].file.string() + (label.empty() ? "" : fmt::format(" ({})", label));
        const std::string where = recipes.size() == 1 ? "" : name + ": ";
        for (const Failure& failure : reports[i].failures) {
            const bool of_matrix = !was_read(reports[i].matrix);  // an unreadable matrix is reported once
            if (of_matrix && !printed.insert(failure.text).second) continue;
            const std::size_t line_end = shown ? failure.text.find('\n') : std::string::npos;
            print_error("error: " + where + failure.text.substr(0, line_end) +
                        (line_end == std::string::npos ? "" : "; see the table"));
            if (exit_code == ExitCode::ok) exit_code = failure.exit_code;
        }
    }
    if (!std::all_of(reports.begin(), reports.end(), [](const RunReport& report) { return report.all_verified(); })) {
        print_error("error: a kernel failed verification, see WRONG RESULT in the tables or status \"wrong\" in the report");
        return ExitCode::wrong_result;
    }
    const auto empty = [](const RunReport& report) { return report.kernels.empty(); };
    if (exit_code == ExitCode::ok && std::all_of(reports.begin(), reports.end(), empty)) {
        if (const std::string reason = first_unsuitable(reports); !reason.empty()) throw InputError("no kernel ran: " + reason);
        throw RecipeError("no kernel ran: none of these layouts has a kernel for the requested backends");
    }
    return exit_code;
}

}  // namespace

void check_output(const RunOutput& output, const std::vector<Recipe>& recipes) {
    for (const Recipe& recipe : recipes) {
        check_results_file("--out", (folder_of(output, recipe) / "report.json").string());
        if (output.page) check_results_file("--out", (folder_of(output, recipe) / "report.html").string());
    }
    check_results_file("--json", output.json);
}

ExitCode run_recipes(const FindRunner& runner_for, const std::vector<Recipe>& recipes, const RunOutput& output,
                     const CompleteReport& complete) {
    const Interruption interruption;
    std::vector<RunReport> reports;
    bool stopped = false;
    for (const Recipe& recipe : recipes) {
        OneRun one = run_one(runner_for, recipe, output, complete);
        stopped = one.stopped;
        if (stopped) break;
        if (recipes.size() == 1 && one.report.kernels.empty() && one.error != nullptr) give_up(one, output);
        const std::string text = write_and_describe(folder_of(output, recipe), output, one);
        if (output.json != standard_output) {
            print((reports.empty() ? "" : "\n") + printable(text));
            (void)std::fflush(stdout);
        }
        reports.push_back(std::move(one.report));
        if (one.broke_device) break;
    }
    const std::size_t not_run = stopped ? 0 : recipes.size() - reports.size();
    if (reports.size() > 1 && output.json != standard_output) print("\n" + printable(ranking_text(records_of(reports))));
    if (stopped && reports.empty()) throw Stopped("stopped: nothing was measured, and nothing was written");
    if (!output.json.empty()) {
        const std::string text = reports.size() == 1 ? to_json(reports.front()) : to_json(reports);
        if (output.json == standard_output) {
            print(text);
        } else {
            record_failure(reports.back(), [&] { write_whole_file(output.json, text); });
        }
    }
    if (not_run > 0) {
        print_error(fmt::format("error: {} further recipe{} not run", not_run, not_run == 1 ? " was" : "s were"));
    }
    if (!stopped) return conclude(recipes, reports, output.json != standard_output);
    print_error(fmt::format("stopped: the results of {} of {} are kept in {}", reports.size(),
                            counted(recipes.size(), "recipe"), output.folder.string()));
    return ExitCode::stopped;
}

}  // namespace workbench
