// The stages of recipes, run one after another. Stages that several recipes of a run begin with run once.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/engine/outcomes.hpp"
#include "pipeline/keep/kept_result.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// Called when a step begins that may take long; empty: nothing is reported.
using ReportStep = std::function<void(const std::string&)>;

/// Follows a run; each function may be empty.
struct RunObserver {
    ReportStep progress;
    std::function<void(const StagedMatrix&, StageOutcome&)> stage_done;  // the input too, as stage 0
    std::function<void(const StageOutcome&)> stage_shared;  // instead, with its outcome, if the stage ran for an earlier recipe
    bool maps_storage = false;                              // true: the report gets the storage map of the first precision
};

/// The stages of a recipe up to the point where kernels are measured.
struct Chain {
    Index node_size = 1;
    std::vector<ChainStep> steps;
    std::vector<Precision> precisions;  // that are measured after these steps

    friend bool operator==(const Chain&, const Chain&) = default;
};

/// The number of equal steps that both begin with; none if not even the input is the same.
[[nodiscard]] std::optional<std::size_t> common_beginning(const Chain& a, const Chain& b);

/// One chain for all precisions, or one per precision if a stage depends on it.
[[nodiscard]] std::vector<Chain> chains_of(const Recipe& recipe, const std::vector<Precision>& precisions,
                                           const DeviceProperties* present_gpu);

/// A recipe whose stages are run.
struct StageRun {
    const Recipe& recipe;
    const RunObserver& observer;
    Clock clock = {};
};

/// Runs chains on one matrix, and keeps the results of stages as long as a later chain begins with them. If memory is short,
/// nothing is kept, and the stages run again.
class SharedStages {
public:
    /// The matrix must outlive this. `keeping` is the key of this matrix.
    explicit SharedStages(const CsrMatrix& input, Keeping keeping = {}) : input_(input), keeping_(std::move(keeping)) {}

    /// The key of the matrix after a chain.
    [[nodiscard]] Keeping keeping_after(const Chain& chain) const {
        return workbench::keeping_after(keeping_, chain.node_size, chain.steps);
    }

    /// From now on, keeps the result of each stage of the last run, whichever recipe comes next.
    void keep_all() { keeps_all_ = true; }

    /// The recipes that will be run, in their order.
    void expect(std::vector<std::vector<Chain>> to_come) { to_come_.assign(to_come.begin(), to_come.end()); }

    /// Removes one of the expected recipes: its turn has come.
    void no_longer_expect(const std::vector<Chain>& chains);

    /// Runs one chain after another, and calls `use` with the matrix after each, which `use` must not change. Appends an
    /// outcome for the input and for each stage, once for a stage that chains share. Throws InputError if the matrix does not
    /// suit a stage; `outcomes` then contains the outcomes of the stages before it.
    void run(const StageRun& run, const std::vector<Chain>& chains, std::vector<StageOutcome>& outcomes,
             const std::function<void(const Chain&, StagedMatrix&)>& use);

    /// The number of matrices that are kept now.
    [[nodiscard]] std::size_t kept() const;

private:
    /// The result of the first stages of a chain. Without a step: only the outcome of the input.
    struct Kept {
        Chain beginning;
        std::vector<StageOutcome> outcomes;
        std::optional<StagedMatrix> staged;
    };
    /// The kept result with which a chain begins, and the numbers of steps whose results later chains need.
    struct Plan {
        std::optional<Kept> begin;
        std::vector<std::size_t> keep;
    };
    /// A chain that is run, and the stages that are done so far, the input first.
    struct Running {
        const Chain& chain;
        std::vector<const Chain*> later;
        StagedMatrix staged = {};
        std::vector<StageOutcome> done = {};
        bool intact = true;  // false while a stage changes `staged`
    };

    void expect_beginnings(const std::vector<Chain>& chains);
    [[nodiscard]] std::deque<Kept>::iterator longest_kept(const Chain& chain);
    [[nodiscard]] std::vector<const Chain*> later_than(const std::vector<Chain>& chains, std::size_t i) const;
    [[nodiscard]] Plan make_plan(const Chain& chain, const std::vector<const Chain*>& later);
    [[nodiscard]] bool later_begins_here(const Running& running);
    void begin(const StageRun& run, std::optional<Kept> from, Running& running);
    void run_next(const StageRun& run, Running& running);
    /// `copied`: the matrix is still needed.
    void keep(Running& running, bool copied);

    const CsrMatrix& input_;
    Keeping keeping_;
    bool keeps_all_ = false;
    std::deque<std::vector<Chain>> to_come_;
    std::deque<Kept> kept_;
};

/// `only_for`: the stage runs for this precision alone.
[[nodiscard]] ChainStep step_of(const RecipeStage& stage, const StageContext& context, std::optional<Precision> only_for = {});

/// The context of the stages of a recipe: its device, otherwise the GPU of this machine (null: none).
[[nodiscard]] StageContext stage_context(const Recipe& recipe, Precision precision, const DeviceProperties* present_gpu);

/// The stages of one recipe on one matrix.
struct AppliedStages {
    std::vector<StageOutcome> outcomes;  // of the stages; with stage_done also that of the input, first, and all with metrics
    double seconds = 0;                  // to find and apply the changes; for kept results, in the run that computed them
    Keeping keeping;                     // the key of the matrix after all stages
};

/// The results of stages that have run, by their numbers.
using KnownResults = std::map<std::size_t, Obtained<StageResult>>;

/// Runs the stages of a recipe on a matrix that check_against accepts. Unless stage_done is to see the matrix after each stage,
/// its entries move only when a stage reads them, and at the end. `keeping` is the key of the matrix. `known`: of these stages
/// and this matrix, which do not run again. Throws InputError if the matrix does not suit a stage.
[[nodiscard]] AppliedStages apply_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context,
                                         const RunObserver& observer = {}, const Clock& clock = {}, const Keeping& keeping = {},
                                         const KnownResults& known = {});

/// A copy of the input, before any stage. Throws MachineError if there is no memory for it.
[[nodiscard]] StagedMatrix stage_copy(const CsrMatrix& input, Index node_size);

}  // namespace workbench
