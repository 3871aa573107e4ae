// y = A x with the rows of A and the elements of x and y distributed over ranks.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/contract/links.hpp"
#include "core/matrix/staged_matrix.hpp"
#include "pipeline/engine/built_layouts.hpp"
#include "pipeline/engine/ready.hpp"
#include "studies/distributed/rank_rows.hpp"

namespace workbench {

/// How the ranks multiply; recipe and layout must be the same on all ranks.
struct RanksPlan {
    Ranks& ranks;
    Links& links;
    Device& device;
    const Recipe& recipe;                     // for the inside share
    std::vector<const KernelEntry*> kernels;  // of the recipe on this device (choose_kernels)
    const LayoutEntry& outside_layout;        // for the outside share, with default parameters
    Clock clock = {};
};

struct ExactShares;

/// One rank's part of the product, which all ranks run together. x: this rank's elements in the recipe's column order. y: this
/// rank's rows, in x's order if the matrix is square, otherwise in the input's order.
template <ValueType Value>
class RankProduct {
public:
    /// Collective. Runs the recipe's stages on the inside share, builds both layouts, prepares both kernels and verifies the
    /// product across ranks, exactly on integers and within rounding. Throws RanksFailed if any rank fails, with the exit code
    /// of a wrong result if that is the reason. The shares and the plan's members must outlive this object.
    RankProduct(const RanksPlan& plan, const RankShares& shares);
    RankProduct(const RankProduct&) = delete;
    RankProduct& operator=(const RankProduct&) = delete;

    /// y = A x. Collective; asynchronous on a GPU.
    void multiply(const Value* x, Value* y);

    // The parts of multiply, for timing; exchange is collective.
    void multiply_inside(const Value* x, Value* y);
    void exchange(const Value* x);
    void multiply_outside(Value* y);

    [[nodiscard]] const Preparation& preparation() const { return preparation_; }
    [[nodiscard]] double error_over_bound() const { return error_over_bound_; }  // the maximum over all ranks
    [[nodiscard]] int exact_vectors() const { return exact_vectors_; }  // integer vectors for which the product was exact
    /// The element of this rank's part of x that is at position i of the reordered x.
    [[nodiscard]] std::span<const Index> element_at() const { return element_at_; }
    /// The boundaries of the partition of the reordered rows, if the recipe has one, otherwise empty.
    [[nodiscard]] std::span<const Index> partition() const;
    [[nodiscard]] double outside_seconds() const { return outside_seconds_; }  // for preparing the outside share

private:
    /// Collective; called once. `candidate`: the kernel of the inside share, or null if this rank has none. row_at: this rank's
    /// row at position i of y.
    [[nodiscard]] VerifiedKernel<Value> verify(const Candidate<Value>* candidate, const ExactShares& exact,
                                               std::vector<Index> row_at);
    void place(std::vector<Index> row_at);
    void build_outside(const ExactProblem& problem);
    void prepare_outside(Values values);
    template <typename ElementOfX>
    [[nodiscard]] std::vector<Value> product_of(const ElementOfX& x_at);

    const RanksPlan& plan_;
    const RankShares& shares_;
    Recipe recipe_of_outside_;  // its layout alone
    Preparation preparation_;
    std::vector<Index> element_at_;
    std::optional<Ready<Value>> inside_;  // none if this rank has no rows or no elements of x
    std::vector<Index> row_at_;
    std::vector<Index> targets_;  // positions of the outside rows in y
    StagedMatrix staged_outside_;
    std::unique_ptr<Exchange<Value>> exchange_;
    BuiltLayout<Value> outside_;
    std::unique_ptr<Kernel<Value>> kernel_of_outside_;
    std::shared_ptr<Kernel<Value>> kernel_of_inside_;
    double error_over_bound_ = 0;
    int exact_vectors_ = 0;
    double outside_seconds_ = 0;
};

}  // namespace workbench
