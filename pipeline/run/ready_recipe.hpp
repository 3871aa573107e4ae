// A recipe on one matrix with one kernel, ready to multiply again and again on one device.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/measure/measure.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/run/hybrid.hpp"

namespace workbench {

/// What it took to make one ready.
struct Preparation {
    std::string recipe;
    std::string layout;
    KernelOutcome kernel;            // what became of it: verified, wrong, or unsuitable with the reason
    std::int64_t bytes = 0;          // of the layout's arrays
    std::int64_t bytes_to_move = 0;  // by a product, at least
    double stage_seconds = 0;        // with nobody looking in between: no metrics, no pictures
    double build_seconds = 0;        // of the layout
    double copy_seconds = 0;         // to the device, with the buffers that the kernel needs
    std::vector<std::string> notes;

    [[nodiscard]] double seconds() const { return stage_seconds + build_seconds + copy_seconds; }
};

/// How it is to be made ready.
template <ValueType Value>
struct ReadyPlan {
    Device& device;
    std::vector<const KernelEntry*> kernels;            // one a layout (choose_kernels)
    const Oracle<Value>* oracle = nullptr;              // verified as `run` does; null: taken as it is
    std::function<void(const std::string&)> tell = {};  // a step that may take long begins
    Clock clock = {};
    Keeping keeping = {};  // of the matrix
    // What becomes of the kernels in place of the two above, with the values of `problem` in the exact one. What it makes is
    // this recipe's kernel; the exact layout is gone afterwards.
    std::function<VerifiedKernel<Value>(const Candidate<Value>&, const ProductSpace&)> verify = {};
    const ExactProblem* problem = nullptr;
};

/// Layouts, kernel and orders of a recipe on a matrix.
template <ValueType Value>
class ReadyRecipe {
public:
    /// Runs the stages on the matrix, builds the layouts, prepares and verifies the kernel. The recipe, what it was made for
    /// (check_against) and the plan's device must outlive it. Throws InputError where the matrix does not suit a stage,
    /// MachineError, and what a kernel beside the recipe throws that cannot be compiled.
    ReadyRecipe(const Recipe& recipe, StagedMatrix matrix, const ReadyPlan<Value>& plan);
    ReadyRecipe(const ReadyRecipe&) = delete;
    ReadyRecipe& operator=(const ReadyRecipe&) = delete;
    ~ReadyRecipe() = default;

    [[nodiscard]] const Preparation& preparation() const { return preparation_; }
    /// Null unless the kernel is what it should be. It leaves y as its space says.
    [[nodiscard]] Kernel<Value>* kernel() const { return kernel_.get(); }
    [[nodiscard]] const Permutation& row_order() const { return row_order_; }
    [[nodiscard]] const Permutation& column_order() const { return column_order_; }
    /// Where the rows of y go to be usable as the next x.
    [[nodiscard]] const ProductSpace& space() const { return *space_; }

    /// It turned out to be wrong.
    void give_up(const std::string& reason);

private:
    [[nodiscard]] Candidate<Value> build(const Recipe& recipe, StagedMatrix& staged, const Keeping& keeping,
                                         const ReadyPlan<Value>& plan);

    Preparation preparation_;
    std::vector<std::string> kept_;  // stages and layouts that an earlier run kept
    double kept_seconds_ = 0;        // that it took to read them
    Permutation row_order_;
    Permutation column_order_;
    std::optional<ProductSpace> space_;
    BuiltTwice<Value> whole_;                // of one layout
    std::vector<BuiltShare<Value>> shares_;  // of a hybrid
    std::shared_ptr<Kernel<Value>> kernel_;
};

}  // namespace workbench
