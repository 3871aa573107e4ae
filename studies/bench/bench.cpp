#include "studies/bench/bench.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>
#include <sstream>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/system/child.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/brought_files.hpp"
#include "pipeline/recipe/text.hpp"
#include "studies/bench/line.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds poll_interval{20};
constexpr std::size_t longest_name = 1000;  // that is printed

std::string text_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// True if the recipe, with its matrix, names a file by bytes that are not UTF-8, which a recipe as a text cannot do.
bool names_other_than_utf8(const Recipe& recipe) {
    const std::optional<TextError> error = first_text_error(resolved_recipe(recipe));
    return error && error->message.find("UTF-8") != std::string::npos;
}

constexpr const char* not_utf8 =
    "has bytes in its path that are not UTF-8, so that no recipe can name it; rename the file or its folder";

/// A folder for the child processes' files; the destructor deletes it.
class BenchFolder {
public:
    explicit BenchFolder(fs::path path) : path_(std::move(path)) { clear(); }
    ~BenchFolder() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    BenchFolder(const BenchFolder&) = delete;
    BenchFolder& operator=(const BenchFolder&) = delete;

    [[nodiscard]] const fs::path& path() const { return path_; }

    void clear() const {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
        fs::create_directories(path_, ignored);
    }

private:
    fs::path path_;
};

/// A recipe that still has to run on the current matrix.
struct Pending {
    const BenchRecipe* recipe = nullptr;
    const BenchMatrix* matrix = nullptr;
    BenchRecipeFacts facts = {};
    std::vector<BenchKey> keys = {};  // of the lines that the results file lacks
    std::string stem = {};            // name of its copy and of its results folder
};

class Bench {
public:
    Bench(const BenchPlan& plan, ResultsFile& results, const BenchObserver& observer)
        : plan_(plan), results_(results), observer_(observer), work_(results.path().string() + ".work") {
        for (const BenchRecipe& recipe : plan.recipes) {
            Recipe bare = recipe.recipe;
            bare.matrix = {};
            bare.node_size = 1;  // belongs to the recipe's own matrix
            if (names_other_than_utf8(bare)) {
                throw RecipeError(fmt::format("{}: a file that it names {}", printable(recipe.file, longest_name), not_utf8));
            }
            facts_.push_back({.name = bare.name,
                              .source = bare.source,
                              .file = recipe.file,
                              .resolved = resolved_recipe(bare, FileNames::from_here),
                              .baseline = recipe.baseline,
                              .hash = content_hash(resolved_recipe(bare))});
        }
    }

    BenchCount run() {
        for (std::size_t i = 0; i < plan_.matrices.size() && !count_.stopped; ++i) {
            const BenchMatrix& matrix = plan_.matrices[i];
            std::vector<Pending> pending = pending_for(matrix);
            if (pending.empty()) continue;
            observer_.say(fmt::format("[{}/{}] {}", i + 1, plan_.matrices.size(), printable(matrix.name, longest_name)));
            Recipe first = pending.front().recipe->recipe;
            first.matrix = matrix.choice;
            if (names_other_than_utf8(first)) {
                fail_all(pending, fmt::format("{} {}", printable(matrix.name, longest_name), not_utf8));
            }
            const Stopwatch since_start(plan_.clock);
            while (!pending.empty() && !count_.stopped) run_process(matrix, pending, since_start);
        }
        return count_;
    }

private:
    std::vector<Pending> pending_for(const BenchMatrix& matrix) {
        std::vector<Pending> pending;
        for (std::size_t i = 0; i < plan_.recipes.size(); ++i) {
            Pending one{&plan_.recipes[i], &matrix, facts_[i]};
            one.stem = fmt::format("{}_{}", i, one.recipe->recipe.file.stem().string());
            one.facts.files = contents_of_files(one.recipe->recipe);  // may have changed since the last matrix
            one.facts.copy = (work_.path() / (one.stem + ".toml")).string();
            for (const Precision precision : plan_.precisions) {
                BenchKey key{.recipe = one.facts.hash,
                             .matrix = matrix.name,
                             .bytes = matrix.bytes,
                             .precision = precision,
                             .program = plan_.version,
                             .device = plan_.device,
                             .options = fmt::format("{} {}", fmt::join(plan_.run_options, " "), backends_text(*one.recipe)),
                             .files = one.facts.files,
                             .software = plan_.software};
                if (results_.has(key.text())) {
                    ++count_.already_measured;
                } else {
                    one.keys.push_back(std::move(key));
                }
            }
            if (!one.keys.empty()) pending.push_back(std::move(one));
        }
        return pending;
    }

    static std::string backends_text(const BenchRecipe& recipe) {
        std::string text;
        for (const Backend backend : recipe.backends) text += (text.empty() ? "" : ",") + std::string(name_of(backend));
        return text;
    }

    /// Runs every pending recipe with the backends of the first one in one process, and erases at least one of them; all of
    /// them if the matrix cannot be read.
    void run_process(const BenchMatrix& matrix, std::vector<Pending>& pending, const Stopwatch& since_start) {
        if (out_of_time(since_start)) return fail_all(pending, fmt::format("not started within {}", limit_text()));
        work_.clear();
        std::vector<std::size_t> together;
        std::vector<std::string> command;
        if (plan_.confine) command = plan_.confine(work_.path());
        command.insert(command.end(), {plan_.program.string(), "run"});
        std::set<Precision> precisions;
        for (std::size_t i = 0; i < pending.size(); ++i) {
            if (pending[i].recipe->backends != pending.front().recipe->backends) continue;
            together.push_back(i);
            Recipe recipe = pending[i].recipe->recipe;
            recipe.matrix = matrix.choice;
            recipe.node_size = 1;
            write_whole_file(pending[i].facts.copy, resolved_recipe(recipe));
            command.push_back(pending[i].facts.copy);
            for (const BenchKey& key : pending[i].keys) precisions.insert(key.precision);
        }
        const fs::path out = work_.path() / "out";
        const std::string which = precisions.size() > 1 ? "both" : std::string(name_of(*precisions.begin()));
        for (const std::string& word :
             {std::string("--no-pictures"), std::string("--out"), out.string(), std::string("--precision"), which,
              std::string("--backend"), backends_text(*pending.front().recipe), std::string("--json"),
              all_reports().string()}) {
            command.push_back(word);
        }
        command.insert(command.end(), plan_.run_options.begin(), plan_.run_options.end());
        if (!plan_.keep.empty()) command.insert(command.end(), {"--keep", plan_.keep});
        const std::size_t done = watch(command, out, pending, together, since_start);
        for (std::size_t i = done; i > 0; --i) pending.erase(pending.begin() + static_cast<std::ptrdiff_t>(together[i - 1]));
    }

    /// Runs a process and records each report as soon as it is written. Returns the number of recipes with a result.
    std::size_t watch(const std::vector<std::string>& command, const fs::path& out, std::vector<Pending>& pending,
                      const std::vector<std::size_t>& together, const Stopwatch& since_start) {
        const fs::path errors = work_.path() / "errors.txt";
        Child child(command, {.output = ChildOutput::errors, .file = errors});
        std::size_t done = 0;
        std::error_code unknown;
        for (bool over = false; !over;) {
            const std::optional<Ending> ending = child.ending();  // before the reports are read: none is missed
            over = ending.has_value();
            while (done < together.size()) {
                const fs::path report = out / pending[together[done]].stem / "report.json";
                if (!fs::exists(report, unknown)) break;
                record(pending[together[done]], text_of(report));
                ++done;
            }
            if (over && done < together.size() && !count_.stopped) {
                if (together.size() == 1 && fs::exists(all_reports(), unknown)) {  // one recipe, which the matrix does not suit
                    record(pending[together[0]], text_of(all_reports()));
                    return 1;
                }
                // A recipe has broken the device, and ended the process early: the others run in a new one.
                if (done > 0 && fs::exists(all_reports(), unknown)) return done;
                if (done == 0 && ending->signal == 0 && ending->exit_code == static_cast<int>(ExitCode::bad_input)) {
                    fail_all(pending, reason_in(errors, pending[together[0]], *ending));  // the matrix cannot be read
                    return 0;
                }
                return done + record_early_end(*ending, errors, pending, together, done);
            }
            if (over) break;
            if (observer_.stopped()) {
                count_.stopped = true;
                child.kill();
            } else if (out_of_time(since_start) && done < together.size()) {
                child.kill();
                fail(pending[together[done]], fmt::format("not finished within {}", limit_text()));
                return done + 1;
            }
            std::this_thread::sleep_for(poll_interval);
        }
        return done;
    }

    /// Records a process that ended before all its recipes were done. Returns the number of recipes that this fails: one if it
    /// crashed, all that are left if it refused its input.
    std::size_t record_early_end(const Ending& ending, const fs::path& errors, std::vector<Pending>& pending,
                                 const std::vector<std::size_t>& together, std::size_t done) {
        const bool refused = ending.signal == 0 && ending.exit_code < 127;
        const std::size_t end = refused ? together.size() : done + 1;
        for (std::size_t i = done; i < end;) {
            const std::string reason = reason_in(errors, pending[together[i]], ending);
            std::vector<const Pending*> failed;
            for (; i < end && reason_in(errors, pending[together[i]], ending) == reason; ++i) {
                failed.push_back(&pending[together[i]]);
            }
            fail_together(failed, reason);
        }
        return end - done;
    }

    /// Stores the failure for each recipe, and prints it once. Throws if the disk is full, which is no failure of a recipe.
    void fail_together(const std::vector<const Pending*>& failed, const std::string& reason) {
        for (const int error : {ENOSPC, EDQUOT}) {
            if (reason.find(std::strerror(error)) == std::string::npos) continue;
            throw MachineError(fmt::format("{}; this failure is not stored: free space, then repeat the command", reason));
        }
        if (failed.size() == 1) return fail(*failed.front(), reason);
        for (const Pending* one : failed) {
            for (const BenchKey& key : one->keys) store(key, line_of_failure(key, one->facts, reason));
        }
        observer_.say(fmt::format("  {}: failed: {}", counted_with_commas(failed.size(), "recipe"), reason));
    }

    /// The file to which a process writes all its reports when it ends.
    [[nodiscard]] fs::path all_reports() const { return work_.path() / "all.json"; }

    /// The first error message of a process, or else how it ended.
    static std::string reason_in(const fs::path& errors, const Pending& pending, const Ending& ending) {
        if (ending.signal != 0) return ending.text_of_loss();
        std::istringstream lines(text_of(errors));
        std::string reason;
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("error: ") && reason.empty()) reason = line.substr(7);
        }
        if (reason.empty()) return ending.text();
        return in_given_name(with_matrix_name(std::move(reason), *pending.matrix), pending.facts);
    }

    /// Replaces the path of the matrix by its name, so that lines do not depend on the machine.
    static std::string with_matrix_name(std::string text, const BenchMatrix& matrix) {
        const auto* file = std::get_if<MatrixFile>(&matrix.choice.from);
        if (file == nullptr) return text;
        const std::string whole = fs::absolute(file->path).lexically_normal().string();
        for (std::size_t at = 0; (at = text.find(whole, at)) != std::string::npos; at += matrix.name.size()) {
            text.replace(at, whole.size(), matrix.name);
        }
        return text;
    }

    void record(const Pending& pending, const std::string& whole_report) {
        const std::string report = with_matrix_name(whole_report, *pending.matrix);
        for (const BenchKey& key : pending.keys) {
            BenchLine line;
            try {
                line = line_of_report(key, pending.facts, nlohmann::ordered_json::parse(report), plan_.keep_samples,
                                      pending.matrix->facts);
            } catch (const std::exception& wrong) {
                line = line_of_failure(key, pending.facts, fmt::format("its report cannot be read: {}", wrong.what()));
            }
            add(pending, key, line);
        }
    }

    void fail(const Pending& pending, const std::string& reason) {
        for (const BenchKey& key : pending.keys) add(pending, key, line_of_failure(key, pending.facts, reason));
    }

    void fail_all(std::vector<Pending>& pending, const std::string& reason) {
        std::vector<const Pending*> all;
        for (const Pending& one : pending) all.push_back(&one);
        fail_together(all, reason);
        pending.clear();
    }

    /// Stores the line and counts it.
    void store(const BenchKey& key, const BenchLine& line) {
        results_.add(key.text(), line.text);
        int& kind = line.status == "measured"     ? count_.measured
                    : line.status == "unsuitable" ? count_.unsuitable
                    : line.status == "wrong"      ? count_.wrong
                                                  : count_.failed;
        ++kind;
    }

    void add(const Pending& pending, const BenchKey& key, const BenchLine& line) {
        store(key, line);
        const std::string status = line.status == "measured" ? "" : line.status + ": ";
        observer_.say(fmt::format("  {} {}: {}{}", pending.facts.name, name_of(key.precision), status, line.summary));
        if (std::exchange(warned_of_, pending.matrix) != pending.matrix) warnings_.clear();
        for (const std::string& warning : line.warnings) {
            if (warnings_.insert(warning).second) observer_.say("    warning: " + warning);
        }
    }

    [[nodiscard]] bool out_of_time(const Stopwatch& since_start) const {
        return plan_.limit_seconds > 0 && since_start.seconds() > plan_.limit_seconds;
    }
    [[nodiscard]] std::string limit_text() const { return fmt::format("the limit of {} s per matrix", plan_.limit_seconds); }

    const BenchPlan& plan_;
    ResultsFile& results_;
    const BenchObserver& observer_;
    BenchFolder work_;
    std::vector<BenchRecipeFacts> facts_;
    BenchCount count_;
    const BenchMatrix* warned_of_ = nullptr;  // the matrix of the last line
    std::set<std::string> warnings_;          // of this matrix, each of which is printed once
};

}  // namespace

std::vector<std::uint64_t> spread_numbers(std::uint64_t all, std::size_t wanted) {
    if (all <= wanted) {
        std::vector<std::uint64_t> numbers(static_cast<std::size_t>(all));
        std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
        return numbers;
    }
    constexpr std::uint64_t golden_ratio = 0x9E3779B97F4A7C15;  // its fractional part times 2^64
    std::vector<std::uint64_t> numbers;
    std::set<std::uint64_t> taken;
    for (std::uint64_t i = 0; numbers.size() < wanted; ++i) {
        const double part = std::ldexp(static_cast<double>((i * golden_ratio) >> 11), -53);
        auto number = static_cast<std::uint64_t>(part * static_cast<double>(all));
        while (!taken.insert(number).second) number = (number + 1) % all;
        numbers.push_back(number);
    }
    return numbers;
}

std::vector<Recipe> spread_points(const Space& space, std::size_t wanted) {
    std::vector<Recipe> recipes;
    for (const std::uint64_t number : spread_numbers(space.count(), wanted)) {
        recipes.push_back(space.recipe(space.point(number)));
    }
    return recipes;
}

std::vector<BenchRecipe> baseline_recipes(const Catalogue& catalogue, const std::vector<Backend>& backends, bool gpu) {
    const auto wanted = [&backends](Backend backend) {
        return std::find(backends.begin(), backends.end(), backend) != backends.end();
    };
    std::vector<BenchRecipe> recipes;
    const auto add = [&](const LayoutEntry& layout, const std::string& vendor, const std::vector<Backend>& on) {
        for (const bool reordered : {false, true}) {
            const std::string name = vendor + (reordered ? ", " + catalogue.order_title : "");
            const std::string stage =
                reordered ? fmt::format("[[stage]]\nuse = \"{}\"\nvariant = \"reverse\"\n", catalogue.baseline_order) : "";
            const std::string text =
                fmt::format("[recipe]\nname = \"{}\"\n{}[layout]\nuse = \"{}\"\n", name, stage, layout.name);
            const std::string file = fmt::format("{}{}.toml", layout.name, reordered ? "_rcm" : "");
            recipes.push_back({.recipe = parse_recipe(text, file, catalogue), .backends = on, .baseline = true});
        }
    };
    for (const LayoutEntry& layout : catalogue.layouts) {
        if (!layout.needs(Parameters(layout.parameters, {})).cuts.empty()) continue;  // needs stages that cut the matrix
        const bool has = std::any_of(layout.kernels.begin(), layout.kernels.end(),
                                     [](const KernelEntry& kernel) { return kernel.backend == Backend::cusparse; });
        if (gpu && has && (wanted(Backend::cusparse) || wanted(Backend::cuda))) {
            add(layout, layout.name == catalogue.baseline_layout ? "cuSPARSE" : "cuSPARSE " + layout.name, {Backend::cusparse});
        }
    }
    std::vector<Backend> on_host;
    for (const Backend backend : {Backend::kokkos, Backend::eigen}) {
        if (wanted(backend)) on_host.push_back(backend);
    }
    if (!on_host.empty()) add(*catalogue.find_layout(catalogue.baseline_layout), "Kokkos/Eigen CSR", on_host);
    return recipes;
}

BenchCount bench(const BenchPlan& plan, ResultsFile& results, const BenchObserver& observer) {
    return Bench(plan, results, observer).run();
}

}  // namespace workbench
