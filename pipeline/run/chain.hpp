// The stages of recipes, run one after the other. What several recipes of one run begin with is run once.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pipeline/keep/kept_stage.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/report/report.hpp"

namespace workbench {

/// Called as a run goes on; each may be empty.
struct RunObserver {
    std::function<void(const std::string&)> progress;                    // a step that may take long begins
    std::function<void(const StagedMatrix&, StageOutcome&)> stage_done;  // the input too, as stage 0
    std::function<void(const StageOutcome&)> stage_shared;  // in its place, where it ran for an earlier recipe: as it was left
    bool maps_storage = false;  // what the layouts of the first precision store goes into the report
};

/// The stages of a recipe up to where something is measured.
struct Chain {
    Index node_size = 1;
    std::vector<ChainStep> steps;
    std::vector<Precision> precisions;  // for which it is measured

    friend bool operator==(const Chain&, const Chain&) = default;
};

/// With how many equal steps both begin; none where not even the input is the same.
[[nodiscard]] std::optional<std::size_t> common_beginning(const Chain& a, const Chain& b);

/// What does not depend on the precision is done once; from the first stage on that does, each precision has a chain of its
/// own.
[[nodiscard]] std::vector<Chain> chains_of(const Recipe& recipe, const std::vector<Precision>& precisions,
                                           const DeviceProperties* present_gpu);

/// Runs chains on one matrix, and keeps what stages left behind for as long as a chain to come begins with it. Where memory is
/// short it is not kept, and those stages run again.
class SharedStages {
public:
    /// The matrix must outlive this. `keeping`: of this matrix, for the results of stages.
    /// `preparer`: of the matrices that stages change (StagedMatrix::preparer).
    explicit SharedStages(const CsrMatrix& input, Keeping keeping = {}, Preparer* preparer = nullptr)
        : input_(input), keeping_(std::move(keeping)), preparer_(preparer) {}

    /// Where what a chain leaves behind is kept.
    [[nodiscard]] Keeping keeping_after(const Chain& chain) const {
        return workbench::keeping_after(keeping_, chain.node_size, chain.steps);
    }

    /// The recipes that will be run, in their order.
    void expect(std::vector<std::vector<Chain>> to_come) { to_come_.assign(to_come.begin(), to_come.end()); }

    /// Of those that are expected, this one has come.
    void no_longer_expect(const std::vector<Chain>& chains);

    /// Runs one chain after the other, and `use` on what each leaves behind, which is to be left as it was. Adds an outcome for
    /// the input and for each stage; of what two chains share, once. Throws InputError where the matrix does not suit a stage.
    void run(const Recipe& recipe, const std::vector<Chain>& chains, const RunObserver& observer, const Clock& clock,
             std::vector<StageOutcome>& outcomes, const std::function<void(const Chain&, StagedMatrix&)>& use);

    /// Matrices that are kept now.
    [[nodiscard]] std::size_t kept() const;

private:
    /// What the first stages of a chain have left behind. Without a step: the outcome of the input alone.
    struct Kept {
        Chain beginning;
        std::vector<StageOutcome> outcomes;
        std::optional<StagedMatrix> staged;
    };
    /// What a chain begins with, and where those to come will.
    struct Plan {
        std::optional<Kept> begin;
        std::vector<std::size_t> keep;  // after so many steps
    };

    [[nodiscard]] std::deque<Kept>::iterator longest_kept(const Chain& chain);
    [[nodiscard]] std::vector<const Chain*> later_than(const std::vector<Chain>& chains, std::size_t i) const;
    [[nodiscard]] Plan make_plan(const Chain& chain, const std::vector<const Chain*>& later);
    [[nodiscard]] bool begins_here(const Chain& chain, std::size_t steps, const std::vector<const Chain*>& later);
    [[nodiscard]] StagedMatrix begin(const Recipe& recipe, const Chain& chain, std::optional<Kept> from,
                                     const RunObserver& observer, std::vector<StageOutcome>& done);
    /// `wanted`: the matrix is gone on with, and copied.
    void keep(const Chain& chain, const std::vector<StageOutcome>& outcomes, StagedMatrix& staged, bool wanted);

    const CsrMatrix& input_;
    Keeping keeping_;
    Preparer* preparer_;
    std::deque<std::vector<Chain>> to_come_;
    std::deque<Kept> kept_;
};

/// What the stages of a recipe may know: its device, or else the GPU that is there (null: none).
[[nodiscard]] StageContext stage_context(const Recipe& recipe, Precision precision, const DeviceProperties* present_gpu);

/// Runs the stages of a recipe, one after the other, on a matrix that check_against accepts. Throws InputError where the matrix
/// does not suit a stage.
[[nodiscard]] std::vector<StageOutcome> run_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context,
                                                   const RunObserver& observer, const Clock& clock = {});

/// What became of stages that nobody looked at in between.
struct AppliedStages {
    double seconds = 0;              // of finding and applying what they found; of what was kept, those that it once took
    std::vector<std::string> notes;  // each with the id of its stage before it
    std::vector<std::string> kept;   // ids of those whose results an earlier run kept
    double kept_seconds = 0;         // that it took to read them
    Keeping keeping;                 // of what they left behind
};

/// The same for who wants the matrix alone: without figures and pictures in between. Orders move the entries of the
/// matrix when a stage asks for them, and at the end: those between are moved once. `keeping`: of the matrix.
[[nodiscard]] AppliedStages apply_stages(const Recipe& recipe, StagedMatrix& staged, const StageContext& context,
                                         const Keeping& keeping = {}, const Clock& clock = {});

/// The input before any stage, if there is memory for it.
[[nodiscard]] StagedMatrix stage_copy(const CsrMatrix& input, Index node_size, Preparer* preparer = nullptr);

}  // namespace workbench
