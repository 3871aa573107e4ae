#include "frontends/cli/distributed.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "frontends/cli/measuring.hpp"
#include "frontends/cli/options.hpp"
#include "frontends/cli/provenance.hpp"
#include "frontends/cli/recipe_changes.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/exchange/make_links.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/engine/kernel_choice.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/run_across.hpp"
#include "studies/distributed/start_ranks.hpp"
#include "studies/solve/solve_report.hpp"

namespace workbench {
namespace {

constexpr const char* report_file = "distributed.json";

/// The stage that assigns rows to ranks; null for equal pieces.
const StageEntry* stage_of(const std::string& rows_to_ranks) {
    const auto& partitions = catalogue().across_ranks.partitions;
    const auto found = partitions.find(rows_to_ranks);
    return found == partitions.end() ? nullptr : catalogue().find_stage(found->second);
}

Recipe recipe_of(const SharedArguments& arguments) {
    const std::size_t count = arguments.recipes.size();
    if (count != 1) throw RecipeError(fmt::format("--distributed takes one recipe; found {}", count));
    std::vector<Recipe> points = load_recipes(arguments.recipes, arguments.changes);
    if (points.size() != 1) throw RecipeError("--distributed takes one recipe; found a sweep over several");
    if (arguments.prepare != as_recipes_ask) points.front().prepare = arguments.prepare;
    if (points.front().prepares_on_gpu()) {
        throw RecipeError("--distributed cannot prepare on a GPU; use --prepare cpu");
    }
    return std::move(points.front());
}

/// The facts about one rank before the run.
struct RankInput {
    RankRows rows = {};
    RankFacts facts = {};
    MatrixReport matrix = {};
    std::string partitioning = "equal pieces";
    bool is_symmetric = true;  // also if no rank has the whole matrix, or nothing is solved
};

class DistributedCommand {
public:
    DistributedCommand(const SharedArguments& arguments, int samples, const std::optional<DistributedSolve>& solve,
                       Ranks& ranks)
        : arguments_(arguments), samples_(samples), solve_(solve), ranks_(ranks) {}

    ExitCode operator()() {
        const Recipe recipe = in_agreement(ranks_, [&] {
            if (is_first()) {
                check_results_file("--out", out_file().string());
                check_results_file("--json", arguments_.json);
            }
            Recipe recipe = recipe_of(arguments_);
            if (rounding_of(recipe) != Rounding::none) {
                throw RecipeError(fmt::format("{}: rounds values, which --distributed does not support", recipe.name));
            }
            return recipe;
        });
        make_device();
        const RanksReport report =
            precision_named(arguments_.precision) == Precision::f32 ? run<float>(recipe) : run<double>(recipe);
        if (is_first()) write(report);
        ranks_.barrier();
        return report.solve ? exit_code_of(report.solve->end) : ExitCode::ok;
    }

private:
    [[nodiscard]] bool is_first() const { return ranks_.rank() == 0; }
    [[nodiscard]] std::filesystem::path out_file() const { return std::filesystem::path(arguments_.out) / report_file; }

    /// Chooses GPUs on all ranks or hosts on all ranks.
    void make_device() {
        on_gpu_ = in_agreement(ranks_, [&] {
            choose_cuda_device(ranks_.rank_on_machine());
            gpu_ = make_cuda_device();
            host_ = make_host_device();
            backends_ = backends_of_one_device(arguments_.backends, gpu_ != nullptr);
            return device_of(backends_.front()) == DeviceKind::gpu;
        });
        const int with_gpu = static_cast<int>(sum_of(ranks_, on_gpu_ ? 1 : 0));
        if (with_gpu != 0 && with_gpu != ranks_.size()) {
            throw RanksFailed(
                ExitCode::machine_error,
                fmt::format(
                    "found a GPU on {} of {}, expected one on each; use --backend kokkos to run all ranks on their hosts",
                    with_gpu, counted(ranks_.size(), "rank")));
        }
        links_ = on_gpu_ ? make_cuda_links(ranks_, *gpu_) : make_host_links(ranks_, *host_);
    }

    /// Each rank reads or generates its own rows if the source allows it; otherwise rank 0 reads the whole matrix.
    RankInput read(const Recipe& recipe) {
        RankInput input;
        const Stopwatch watch;
        struct FoundMatrix {
            bool by_rows = false;
            Index rows = 0;
            CsrMatrix matrix;
            MatrixReport report;
            bool is_symmetric = true;
        };
        FoundMatrix found = in_agreement(ranks_, [&] {
            FoundMatrix of_rank;
            const std::optional<MatrixRows> source = open_matrix_rows(recipe.matrix, of_rank.report);
            of_rank.by_rows = source.has_value();
            Index first_row = 0;
            if (source) {
                of_rank.rows = source->rows;
                const RowRange piece = equal_piece(of_rank.rows, ranks_.size(), ranks_.rank());
                of_rank.matrix = source->read(piece);
                first_row = piece.first;
            } else if (is_first()) {
                std::tie(of_rank.matrix, of_rank.report) = load_matrix(recipe.matrix);
                of_rank.is_symmetric = !solve_ || !of_rank.matrix.square() || is_nearly_symmetric(of_rank.matrix);
            }
            if (solve_) require_finite(of_rank.matrix, first_row);
            return of_rank;
        });
        check_same_matrix(found.by_rows, found.rows, found.matrix.columns);
        input.facts.read_seconds = watch.seconds();
        const Stopwatch distributing;
        RankRows& rows = input.rows;
        rows = found.by_rows ? in_equal_pieces(ranks_, found.rows, std::move(found.matrix))
                             : scatter(ranks_, std::move(found.matrix));
        if (const StageEntry* const stage = stage_of(arguments_.rows_to_ranks)) {
            input.partitioning = "parts of " + stage->name;
            rows = partition(ranks_, std::move(rows), *catalogue().find_stage(catalogue().across_ranks.nodes), *stage);
        }
        input.facts.distribute_seconds = distributing.seconds();
        input.is_symmetric = found.is_symmetric;
        input.matrix = found.report;
        input.matrix.rows = rows.rows();
        input.matrix.columns = rows.columns();
        input.matrix.nonzeros = static_cast<Offset>(sum_of(ranks_, static_cast<double>(rows.matrix.nonzeros())));
        return input;
    }

    /// A path may denote different files on different machines.
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
                fmt::format("rank {} of {} finds another matrix than rank 0, or none; all ranks must be able to read the file",
                            rank, ranks_.size()));
        }
    }

    template <ValueType Value>
    RanksReport run(const Recipe& recipe) {
        Device& device = on_gpu_ ? *gpu_ : *host_;
        const std::vector<const KernelEntry*> kernels = in_agreement(ranks_, [&] {
            const auto may_run = [&](const KernelEntry& kernel) {
                return std::find(backends_.begin(), backends_.end(), kernel.backend) != backends_.end();
            };
            std::vector<const KernelEntry*> chosen =
                choose_kernels(recipe, {device.properties().kind, arguments_.only, may_run});
            if (chosen.empty()) throw RecipeError(fmt::format("{}: {}", recipe.name, no_kernel_of(recipe)));
            return chosen;
        });
        RankInput input = read(recipe);
        std::optional<SolveAcross> solve;
        if (solve_) {
            const Index rows = input.matrix.rows;
            if (rows != input.matrix.columns) {
                throw RanksFailed(ExitCode::bad_input,
                                  fmt::format("a linear system needs a square matrix; this one has {} and {}",
                                              counted(rows, "row"), counted(input.matrix.columns, "column")));
            }
            const auto b = in_agreement(ranks_, [&] {
                return std::make_shared<std::vector<double>>(make_right_hand_side(solve_->right_hand_side, rows));
            });
            solve = SolveAcross{solve_->options, [b](Index row) { return (*b)[row]; }};
        }
        const StdoutToStderr redirection;
        const RanksPlan plan{.ranks = ranks_,
                             .links = *links_,
                             .device = device,
                             .recipe = recipe,
                             .kernels = kernels,
                             .outside_layout = *catalogue().find_layout(catalogue().across_ranks.layout_of_others)};
        RanksReport report = run_across<Value>(plan, std::move(input.rows), input.facts, solve, samples_);
        report.matrix = input.matrix;
        report.partitioning = input.partitioning;
        if (!input.is_symmetric) report.notes.emplace_back(not_symmetric);
        report.versions = versions_with(device.properties().kind == DeviceKind::gpu);
        if (report.solve) report.solve->right_hand_side = solve_->right_hand_side.text();
        return report;
    }

    void write(const RanksReport& report) const {
        write_whole_file(out_file(), ranks_json(report));
        if (!arguments_.json.empty() && arguments_.json != standard_output)
            write_whole_file(arguments_.json, ranks_json(report));
        if (arguments_.json == standard_output) {
            fmt::print("{}", ranks_json(report));
        } else {
            print_text("{}\n{}", ranks_text(report), wrapped(fmt::format("Written to {}: {}\n", arguments_.out, report_file)));
        }
        (void)std::fflush(stdout);
    }

    const SharedArguments& arguments_;
    int samples_;
    const std::optional<DistributedSolve>& solve_;
    Ranks& ranks_;
    std::unique_ptr<Device> gpu_;
    std::unique_ptr<Device> host_;
    std::vector<Backend> backends_;
    bool on_gpu_ = false;
    std::unique_ptr<Links> links_;
};

}  // namespace

void add_distributed_options(CLI::App& command, SharedArguments& arguments) {
    CLI::Option* option =
        command.add_flag("--distributed", arguments.distributed,
                         "Distribute the rows over the ranks of mpirun, each with its own GPU or on its host");
    add_choice(command, "--rows-to-ranks", arguments.rows_to_ranks, {"equal", "metis", "multilevel"},
               "equal: equally many rows per rank; metis, multilevel: parts of the matrix's graph")
        ->needs(option);
}

void exclude_from_distributed(CLI::App& command, std::vector<const char*> options) {
    command.parse_complete_callback([&command, options = std::move(options)] {
        if (command.count("--distributed") == 0) return;
        for (const char* const option : options) {
            if (command.count(option) > 0) throw CLI::ExcludesError("--distributed", option);
        }
    });
}

ExitCode run_distributed(const SharedArguments& arguments, int samples, const std::optional<DistributedSolve>& solve) {
    const std::unique_ptr<Ranks> ranks = start_ranks();
    ExitCode exit_code = ExitCode::ok;
    try {
        (void)in_agreement(*ranks, [] {
            check_thread_variables();
            return true;
        });
        const KokkosRuntime kokkos({}, ranks->ranks_on_machine());
        exit_code = DistributedCommand(arguments, samples, solve, *ranks)();
    } catch (const RanksFailed& failure) {
        // Thrown on all ranks; rank 0 reports it.
        exit_code = failure.exit_code;
        if (ranks->rank() == 0) print_error(as_error(failure.what()));
    } catch (...) {
        // The other ranks may be waiting for this one, so all are ended.
        const Failure failure = current_failure();
        print_error(fmt::format("error: rank {} of {}: {}", ranks->rank(), ranks->size(), failure.text));
        (void)std::fflush(stderr);
        ranks->end_all(failure.exit_code);
    }
    return exit_code;
}

}  // namespace workbench
