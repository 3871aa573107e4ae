#include "frontends/library/solved_together.hpp"

#include <algorithm>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/contract/solvers.hpp"

namespace workbench {

/// The course of run_several.
template <ValueType Value>
class SolvedTogether<Value>::Course {
public:
    Course(SolvedTogether& solves, const std::function<void()>& between) : solves_(solves), between_(between) {}

    void launch(std::int64_t iterations) {
        constexpr double seconds_between = 0.2;
        const Stopwatch watch;
        SeveralKrylov<Value>& krylov = *solves_.krylov_;
        krylov.launch(between_ ? std::min(iterations, at_once_) : iterations);
        if (!between_) return;
        (void)krylov.wait();
        between_();
        if (watch.seconds() < seconds_between / 2) at_once_ = std::min(2 * at_once_, solves_.plan_.most_iterations);
    }
    void restart(const std::vector<int>& which) { solves_.krylov_->restart(which); }
    /// By restarts, which compute them.
    [[nodiscard]] std::vector<double> true_residuals(const std::vector<int>& which) {
        restart(which);
        const std::vector<KrylovProgress> progress = solves_.krylov_->wait();
        std::vector<double> residuals;
        for (const int j : which) {
            const double norm = solves_.norms_[j];
            residuals.push_back(progress[j].residual / (norm > 0 ? norm : 1));
        }
        return residuals;
    }

private:
    SolvedTogether& solves_;
    const std::function<void()>& between_;
    std::int64_t at_once_ = 1;
};

template <ValueType Value>
SolvedTogether<Value>::SolvedTogether(AppliedRecipe<Value>& recipe, const SeveralPlan<Value>& plan)
    : recipe_(recipe), plan_(plan), krylov_(make_several_krylov<Value>(recipe.device(), plan)) {
    if (krylov_ == nullptr) throw MachineError(recipe.device().properties().name + ": no solver for several right-hand sides");
}

template <ValueType Value>
std::vector<double> SolvedTogether<Value>::begin(const Value* b, std::span<const Value> inverse_diagonal, double tolerance) {
    // After new values the operator has another kernel.
    if (std::shared_ptr<SeveralVectors<Value>> now = recipe_.several(plan_.count); now != product_) {
        product_ = std::move(now);
        krylov_->use([product = product_.get()](const Value* x, Value* y) { product->run_in_recipe_order(x, y); });
    }
    product_->permute(b, krylov_->right_hand_sides(), true);
    if (!inverse_diagonal.empty()) {
        std::vector<Value> of_all;
        of_all.reserve(elements());
        for (const Value element : inverse_diagonal) of_all.insert(of_all.end(), plan_.count, element);
        const DeviceMemory there = to_device(recipe_.device(), std::span<const Value>(of_all), "the diagonal");
        product_->permute(there.template as<const Value>(), krylov_->inverse_diagonal(), true);
    }
    norms_ = krylov_->begin_again(tolerance);
    return norms_;
}

template <ValueType Value>
void SolvedTogether<Value>::begin_from(const Value* x) {
    std::vector<int> which;
    for (int j = 0; j < count(); ++j) {
        if (norms_[j] > 0) which.push_back(j);
    }
    if (which.empty()) return;
    product_->permute(x, krylov_->solutions(), true);
    krylov_->restart(which);
}

template <ValueType Value>
std::vector<OneOfSeveral> SolvedTogether<Value>::run(const std::vector<SolveRules>& rules,
                                                     const std::function<void()>& between) {
    Course course(*this, between);
    std::vector<OneOfSeveral> solves = run_several(*krylov_, rules, course);
    std::vector<int> all(solves.size());
    for (std::size_t j = 0; j < all.size(); ++j) all[j] = static_cast<int>(j);
    const std::vector<double> residuals = course.true_residuals(all);
    for (std::size_t j = 0; j < all.size(); ++j) solves[j].progress.residual = residuals[j];
    return solves;
}

template <ValueType Value>
std::vector<double> SolvedTogether<Value>::right_hand_side(int which) {
    std::vector<Value> all(elements());
    copy_from_device(recipe_.device(), static_cast<const Value*>(krylov_->right_hand_sides()), std::span(all));
    std::vector<double> one(plan_.size);
    for (std::size_t row = 0; row < one.size(); ++row) one[row] = all[row * plan_.count + which];
    return one;
}

template <ValueType Value>
void SolvedTogether<Value>::copy_x(Value* x) {
    product_->permute(krylov_->solutions(), x, false);
}

template class SolvedTogether<float>;
template class SolvedTogether<double>;

}  // namespace workbench
