#include "pipeline/cli/distributed.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <variant>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "kernels/device/cuda_device.hpp"
#include "kernels/device/host_device.hpp"
#include "kernels/exchange/make_links.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/cli/aside.hpp"
#include "pipeline/cli/matrix_source.hpp"
#include "pipeline/cli/measuring.hpp"
#include "pipeline/cli/prepare.hpp"
#include "pipeline/cli/versions.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/contract/whole_file.hpp"
#include "pipeline/distributed/agreement.hpp"
#include "pipeline/distributed/over_ranks.hpp"
#include "pipeline/distributed/run_across.hpp"
#include "pipeline/distributed/start_ranks.hpp"
#include "pipeline/run/kernel_choice.hpp"
#include "pipeline/run/kokkos_runtime.hpp"
#include "pipeline/solve/solve_report.hpp"
#include "pipeline/text/text_table.hpp"

namespace workbench {
namespace {

constexpr const char* standard_output = "-";
constexpr const char* outside_layout = "sell";
constexpr const char* report_file = "distributed.json";

const StageEntry* stage_of(const std::string& rows_to_ranks) {
    if (rows_to_ranks == "equal") return nullptr;
    return catalogue().find_stage(rows_to_ranks == "metis" ? "metis_partition" : "multilevel_partition");
}

/// The one recipe that all ranks follow.
Recipe recipe_of(const DistributedRun& run) {
    if (run.recipes.size() != 1) throw RecipeError(fmt::format("--distributed takes one recipe; found {}", run.recipes.size()));
    std::vector<Recipe> points = load_recipes(run.recipes, run.changes);
    if (points.size() != 1) throw RecipeError("--distributed takes one recipe; found a sweep over several");
    if (where_to_prepare(run.prepare, points) == "gpu") {
        throw RecipeError("preparing on a GPU is not for --distributed; --prepare cpu does without");
    }
    return std::move(points.front());
}

class DistributedCommand {
public:
    DistributedCommand(const DistributedRun& run, Ranks& ranks) : run_(run), ranks_(ranks) {}

    ExitCode operator()() {
        const Recipe recipe = in_agreement(ranks_, [&] {
            if (is_first()) {
                check_writable(out_file());
                if (!run_.json.empty() && run_.json != standard_output) check_writable(run_.json);
            }
            return recipe_of(run_);
        });
        make_device();
        const RanksReport report = run_.precision == Precision::f32 ? go<float>(recipe) : go<double>(recipe);
        if (is_first()) write(report);
        ranks_.barrier();
        return report.solve ? exit_code_of(report.solve->end) : ExitCode::ok;
    }

private:
    [[nodiscard]] bool is_first() const { return ranks_.rank() == 0; }
    [[nodiscard]] std::filesystem::path out_file() const { return std::filesystem::path(run_.out) / report_file; }

    /// All on GPUs, or all on hosts.
    void make_device() {
        on_gpu_ = in_agreement(ranks_, [&] {
            choose_cuda_device(ranks_.rank_on_machine());
            gpu_ = make_cuda_device();
            host_ = make_host_device();
            backends_ = backends_of_one_device(run_.backends, gpu_ != nullptr);
            return device_of(backends_.front()) == DeviceKind::gpu;
        });
        const int with = static_cast<int>(sum_of(ranks_, on_gpu_ ? 1 : 0));
        if (with != 0 && with != ranks_.size()) {
            throw RanksFailed(
                ExitCode::machine_error,
                fmt::format("{} of {} ranks have a GPU; --backend kokkos runs all on their hosts", with, ranks_.size()));
        }
        links_ = on_gpu_ ? make_cuda_links(ranks_, *gpu_) : make_host_links(ranks_, *host_);
    }

    /// Each rank reads or makes its rows where it can; otherwise rank 0 does so for all.
    RankRows read(const Recipe& recipe, RanksReport& report, RankFacts& own) {
        const Stopwatch watch;
        struct Found {
            bool by_rows = false;
            Index rows = 0;
            CsrMatrix matrix;
            MatrixReport report;
        };
        Found found = in_agreement(ranks_, [&] {
            Found of_rank;
            const std::optional<MatrixRows> source = open_matrix_rows(recipe.matrix, of_rank.report);
            of_rank.by_rows = source.has_value();
            if (source) {
                of_rank.rows = source->rows;
                of_rank.matrix = source->read(equal_piece(of_rank.rows, ranks_.size(), ranks_.rank()));
            } else if (is_first()) {
                std::tie(of_rank.matrix, of_rank.report) = load_matrix(recipe.matrix);
            }
            return of_rank;
        });
        check_same_matrix(found.by_rows, found.rows, found.matrix.columns);
        own.read_seconds = watch.seconds();
        report.matrix = found.report;
        const Stopwatch distributing;
        RankRows rows = found.by_rows ? in_equal_pieces(ranks_, found.rows, std::move(found.matrix))
                                      : scatter(ranks_, std::move(found.matrix));
        report.ranks_by = "equal pieces";
        if (const StageEntry* const stage = stage_of(run_.distributed.rows_to_ranks)) {
            report.ranks_by = "parts of " + stage->name;
            rows = partition(ranks_, std::move(rows), *catalogue().find_stage("node_blocks"), *stage);
        }
        own.distribute_seconds = distributing.seconds();
        report.matrix.rows = rows.rows();
        report.matrix.columns = rows.columns();
        report.matrix.nonzeros = static_cast<Offset>(sum_of(ranks_, static_cast<double>(rows.matrix.nonzeros())));
        return rows;
    }

    /// A file may lie on a disk that other machines do not have, or have another one at the same place.
    void check_same_matrix(bool by_rows, Index rows, Index columns) {
        const std::array<double, 3> mine{by_rows ? 1.0 : 0.0, static_cast<double>(rows),
                                         by_rows ? static_cast<double>(columns) : 0};
        std::vector<double> all(mine.size() * ranks_.size());
        ranks_.gather(mine, all);
        for (int rank = 1; rank < ranks_.size(); ++rank) {
            const auto of_rank = all.begin() + static_cast<std::ptrdiff_t>(mine.size()) * rank;
            if (std::equal(all.begin(), all.begin() + mine.size(), of_rank)) continue;
            throw RanksFailed(
                ExitCode::bad_input,
                fmt::format("rank {} of {} does not find the matrix that rank 0 finds; all must be able to read it", rank,
                            ranks_.size()));
        }
    }

    template <ValueType Value>
    RanksReport go(const Recipe& recipe) {
        RanksReport report;
        report.versions = versions();
        Device& device = on_gpu_ ? *gpu_ : *host_;
        const std::vector<const KernelEntry*> kernels = in_agreement(ranks_, [&] {
            const auto may_run = [&](const KernelEntry& kernel) {
                return std::find(backends_.begin(), backends_.end(), kernel.backend) != backends_.end();
            };
            std::vector<const KernelEntry*> chosen = choose_kernels(recipe, {device.properties().kind, run_.only, may_run});
            if (chosen.empty()) throw RecipeError(fmt::format("{}: {}", recipe.name, no_kernel_of(recipe)));
            return chosen;
        });
        RankFacts own;
        RankRows rows = read(recipe, report, own);
        std::optional<SolveAcross> solve;
        if (run_.solve) {
            if (rows.rows() != rows.columns()) {
                throw RanksFailed(
                    ExitCode::bad_input,
                    fmt::format("a system of equations needs a square matrix; this one has {} rows and {} columns", rows.rows(),
                                rows.columns()));
            }
            const auto b = in_agreement(ranks_, [&] {
                return std::make_shared<std::vector<double>>(make_right_hand_side(run_.solve->right_hand_side, rows.rows()));
            });
            solve = SolveAcross{run_.solve->options, [b](Index row) { return (*b)[row]; }};
        }
        const PrintsAside prints_aside;
        const RanksPlan plan{ranks_, *links_, device, recipe, kernels, *catalogue().find_layout(outside_layout)};
        run_across<Value>(plan, std::move(rows), own, solve, run_.samples, report);
        if (report.solve) report.solve->right_hand_side = run_.solve->right_hand_side.text();
        return report;
    }

    void write(const RanksReport& report) const {
        write_whole_file(out_file(), ranks_json(report));
        if (!run_.json.empty() && run_.json != standard_output) write_whole_file(run_.json, ranks_json(report));
        if (run_.json == standard_output) {
            fmt::print("{}", ranks_json(report));
        } else {
            fmt::print("{}\n{}", ranks_text(report), wrapped(fmt::format("Written to {}: {}\n", run_.out, report_file)));
        }
        (void)std::fflush(stdout);
    }

    const DistributedRun& run_;
    Ranks& ranks_;
    std::unique_ptr<Device> gpu_;
    std::unique_ptr<Device> host_;
    std::vector<Backend> backends_;
    bool on_gpu_ = false;
    std::unique_ptr<Links> links_;
};

}  // namespace

void add_distributed_options(CLI::App& command, DistributedArguments& arguments) {
    CLI::Option* option = command.add_flag(
        "--distributed", arguments.on, "Over the ranks that mpirun starts: each has some rows, on a GPU of its own or a host");
    command
        .add_option("--rows-to-ranks", arguments.rows_to_ranks,
                    "equal: pieces of as many rows; metis, multilevel: parts of the matrix's graph, by the stages of that name")
        ->check(CLI::IsMember({"equal", "metis", "multilevel"}))
        ->type_name("WHICH")
        ->capture_default_str()
        ->needs(option);
}

ExitCode run_distributed(const DistributedRun& run) {
    const std::unique_ptr<Ranks> ranks = start_ranks();
    ExitCode exit_code = ExitCode::ok;
    try {
        const KokkosRuntime kokkos;
        exit_code = DistributedCommand(run, *ranks)();
    } catch (const RanksFailed& failure) {
        // All ranks have come here, and one says so.
        exit_code = failure.exit_code;
        if (ranks->rank() == 0) fmt::print(stderr, "error: {}\n", failure.what());
    } catch (...) {
        // The others may be waiting for this rank.
        const Failure failure = current_failure();
        fmt::print(stderr, "error: rank {} of {}: {}\n", ranks->rank(), ranks->size(), failure.text);
        (void)std::fflush(stderr);
        ranks->end_all(failure.exit_code);
    }
    return exit_code;
}

}  // namespace workbench
