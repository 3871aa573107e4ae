#include "kernels/krylov/host_krylov.hpp"

#include <array>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/contract/kernel.hpp"
#include "core/matrix/host_threads.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/krylov/host_steps.hpp"
#include "kernels/krylov/krylov_over_steps.hpp"
#include "kernels/krylov/several_over_steps.hpp"

namespace workbench {
namespace krylov {
namespace {

class HostStepsOfSeveral {
public:
    HostStepsOfSeveral(const KrylovPlan& plan, Index size, int count, Device& /*host*/)
        : plan_(plan),
          size_(size),
          history_(count, std::vector<double>(static_cast<std::size_t>(plan.most_iterations) + 1)),
          sums_((static_cast<std::size_t>(size) + rows_of_sum - 1) / rows_of_sum) {
        begin_with_zero();
    }

    void begin_with_zero() {
        scalars_.clear();
        for (std::vector<double>& history : history_) scalars_.push_back(first_scalars(plan_, history.data()));
    }

    [[nodiscard]] const std::vector<Scalars>& fetch() const { return scalars_; }
    void store(const std::vector<Scalars>& scalars) { scalars_ = scalars; }
    void forget_loop() {}

    [[nodiscard]] std::vector<double> history(int which) const {
        const auto begin = history_[which].begin();
        return norms_of({begin, begin + scalars_[which].iterations + 1});
    }

    /// iterate(step): an iteration, with step(Step, vectors).
    template <typename Iterate>
    void loop(std::int64_t iterations, const Iterate& iterate) {
        for (Scalars& one : scalars_) one.until = std::min(one.iterations + iterations, plan_.most_iterations);
        while (go_on(scalars_.data(), count())) {
            iterate([this](auto step, const auto& vectors) { run(step, vectors); });
        }
    }

    /// The sums of each right-hand side are added up in the order of HostSteps, so that each solve has the same bits.
    template <typename Step, typename Value>
    void run(Step step, const Vectors<Value>& vectors) {
        std::vector<int> running;
        for (int j = 0; j < count(); ++j) {
            if (scalars_[j].state == KrylovState::running) running.push_back(j);
        }
        if (running.empty()) return;
        for_each_in_parallel(std::ssize(sums_), 1, [&](std::int64_t c) {
            std::array<Sums, most_vectors> sums{};
            const Offset last = std::min<Offset>(size_, (c + 1) * rows_of_sum);
            for (Offset first = c * rows_of_sum; first < last; first += rows_in_cache) {
                const RowPiece rows{first, std::min(last, first + rows_in_cache)};
                std::size_t done = 0;
                const auto run_tile = [&]<int width>(std::integral_constant<int, width>) {
                    for (; done + width <= running.size(); done += width) {
                        run_rows<width>(step, vectors, rows, &running[done], sums);
                    }
                };
                run_tile(std::integral_constant<int, 4>());
                run_tile(std::integral_constant<int, 1>());
            }
            sums_[c] = sums;
        });
        for (const int j : running) {
            Sums total;
            for (const auto& sums : sums_) {
                total.first += sums[j].first;
                total.second += sums[j].second;
            }
            step.finish(scalars_[j], total);
        }
    }

private:
    static constexpr Offset rows_of_sum = 4096;
    static constexpr Offset rows_in_cache = 64;

    struct RowPiece {
        Offset first;
        Offset last;
    };

    /// The elements of these rows of `width` right-hand sides, whose scalars and sums are in registers.
    template <int width, typename Step, typename Value>
    void run_rows(Step step, const Vectors<Value>& vectors, RowPiece rows, const int* which,
                  std::array<Sums, most_vectors>& sums) const {
        std::array<Scalars, width> scalars;
        std::array<Sums, width> own;
        for (int t = 0; t < width; ++t) {
            scalars[t] = scalars_[which[t]];
            own[t] = sums[which[t]];
        }
        for (Offset row = rows.first; row < rows.last; ++row) {
            std::array<Element<Value>, width> elements;
            const auto place = [&](int t) { return static_cast<Index>(row * count() + which[t]); };
            for (int t = 0; t < width; ++t) elements[t] = step.read(vectors, place(t));
            for (int t = 0; t < width; ++t) step.write(vectors, scalars[t], place(t), elements[t], own[t]);
        }
        for (int t = 0; t < width; ++t) sums[which[t]] = own[t];
    }

    [[nodiscard]] int count() const { return static_cast<int>(scalars_.size()); }

    KrylovPlan plan_;
    Index size_;
    std::vector<std::vector<double>> history_;
    std::vector<std::array<Sums, most_vectors>> sums_;  // of each chunk
    std::vector<Scalars> scalars_;
};

}  // namespace
}  // namespace krylov

template <ValueType Value>
std::unique_ptr<KrylovByProducts<Value>> make_host_krylov(const KrylovPlan& plan, std::span<const Value> b,
                                                          std::span<const Value> inverse_diagonal, Device& host) {
    return std::make_unique<KrylovOverSteps<Value, krylov::HostSteps>>(plan, b, inverse_diagonal, host);
}

template std::unique_ptr<KrylovByProducts<float>> make_host_krylov(const KrylovPlan&, std::span<const float>,
                                                                   std::span<const float>, Device&);
template std::unique_ptr<KrylovByProducts<double>> make_host_krylov(const KrylovPlan&, std::span<const double>,
                                                                    std::span<const double>, Device&);

template <ValueType Value>
std::unique_ptr<SeveralKrylov<Value>> make_host_several_krylov(const SeveralPlan<Value>& plan, Device& host) {
    return std::make_unique<SeveralOverSteps<Value, krylov::HostStepsOfSeveral>>(plan, host);
}

template std::unique_ptr<SeveralKrylov<float>> make_host_several_krylov(const SeveralPlan<float>&, Device&);
template std::unique_ptr<SeveralKrylov<double>> make_host_several_krylov(const SeveralPlan<double>&, Device&);

}  // namespace workbench
