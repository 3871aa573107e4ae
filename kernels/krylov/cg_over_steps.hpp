// Conjugate gradients across ranks for every device. Steps: krylov::HostSteps or krylov::CudaSteps.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/krylov/cg_across_ranks.hpp"
#include "kernels/krylov/memory.hpp"
#include "kernels/krylov/steps_across_ranks.hpp"

namespace workbench {

template <ValueType Value, typename Steps>
class CgOverSteps final : public CgAcrossRanks<Value> {
public:
    /// device: the same, as the steps see it.
    template <typename StepsDevice>
    CgOverSteps(const KrylovPlan& plan, std::span<const Value> b, std::span<const Value> inverse_diagonal, StepsDevice& device,
                Links& links, KrylovProduct<Value> product)
        : most_iterations_(plan.most_iterations),
          links_(links),
          product_(std::move(product)),
          memory_(krylov::Memory<Value>::across_ranks(b, inverse_diagonal, device)),
          steps_(plan, memory_.size(), device),
          sums_(device.allocate(sums_of_rank * sizeof(double) * static_cast<std::size_t>(links.ranks()),
                                "the sums of all ranks")) {
        begin();  // x = 0, so A x = 0 needs no product
    }

    void restart() override {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        product_(vectors.x, vectors.q);
        steps_.run_again();
        begin();
        given_ = steps_.fetch().iterations;
    }

    void launch(std::int64_t iterations) override {
        const std::int64_t last = std::min(given_ + iterations, most_iterations_);
        const krylov::Vectors<Value> vectors = memory_.vectors();
        for (; given_ < last && steps_.may_go_on(); ++given_) {
            steps_.run(krylov::AcrossUpdate(), vectors);
            multiply_and_add_up(vectors);
        }
    }

    [[nodiscard]] KrylovProgress wait() override { return krylov::progress_of(steps_.fetch()); }

    [[nodiscard]] std::vector<Value> x() override { return memory_.x(); }
    [[nodiscard]] std::vector<double> history() override { return steps_.history(); }

    [[nodiscard]] std::int64_t vector_bytes() const override {
        const bool preconditioned = memory_.vectors().inverse_diagonal != nullptr;
        const std::int64_t moved = krylov::AcrossUpdate::moved(preconditioned) + krylov::AcrossCurvature::moved(preconditioned);
        return moved * memory_.size() * static_cast<std::int64_t>(sizeof(Value));
    }

    void sum_alone() override { links_.gather(steps_.own(), sums_.template as<double>(), sums_of_rank); }

private:
    static constexpr int sums_of_rank = 3;

    /// Expects A x in q.
    void begin() {
        const krylov::Vectors<Value> vectors = memory_.vectors();
        steps_.run(krylov::AcrossBegin(), vectors);
        multiply_and_add_up(vectors);
    }

    void multiply_and_add_up(const krylov::Vectors<Value>& vectors) {
        product_(vectors.ms, vectors.t);
        steps_.run(krylov::AcrossCurvature(), vectors);
        sum_alone();
        steps_.add_up_ranks(sums_.template as<const double>(), links_.ranks());
    }

    std::int64_t most_iterations_;
    std::int64_t given_ = 0;  // iteration at which the launches end unless the solve ends earlier
    Links& links_;
    KrylovProduct<Value> product_;
    krylov::Memory<Value> memory_;
    Steps steps_;
    DeviceMemory sums_;  // [ranks * sums_of_rank]
};

/// A build without CUDA has no implementation: calling it there is a programming error.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<CgAcrossRanks<Value>> make_cuda_cg_across_ranks(const KrylovPlan& plan, std::span<const Value> b,
                                                                              std::span<const Value> inverse_diagonal,
                                                                              Device& gpu, Links& links,
                                                                              KrylovProduct<Value> product);

}  // namespace workbench
