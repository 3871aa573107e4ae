#include "kernels/gpu/gpu.hpp"

#include <algorithm>
#include <exception>
#include <vector>

#include "core/contract/planned_matrix.hpp"
#include "core/contract/solvers.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "kernels/device/cuda_device.cuh"
#include "kernels/krylov/cuda_krylov.cuh"
#include "kernels/krylov/cuda_persistent.cuh"
#include "kernels/prepare/plan_on_gpu.hpp"

namespace workbench {
namespace {

class GpuSolvers final : public Solvers {
public:
    explicit GpuSolvers(CudaDevice& gpu) : gpu_(gpu) {}

    [[nodiscard]] std::unique_ptr<Krylov<float>> krylov(const KrylovPlan& plan, std::span<const float> b,
                                                        std::span<const float> inverse_diagonal) override {
        return make_cuda_krylov(plan, b, inverse_diagonal, gpu_);
    }
    [[nodiscard]] std::unique_ptr<Krylov<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                         std::span<const double> inverse_diagonal) override {
        return make_cuda_krylov(plan, b, inverse_diagonal, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<float>> persistent(const PersistentProblem& problem,
                                                                      std::type_identity<float>) override {
        return make_cuda_persistent_solver<float>(problem, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<double>> persistent(const PersistentProblem& problem,
                                                                       std::type_identity<double>) override {
        return make_cuda_persistent_solver<double>(problem, gpu_);
    }

private:
    CudaDevice& gpu_;
};

/// A chain: the smallest matrix that every step takes.
CsrMatrix chain_of(Index rows) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = std::max(row - 1, 0); column < std::min(row + 2, rows); ++column)
            entries.push_back({row, column, 1});
    }
    return csr_from_entries(rows, rows, entries);
}

template <ValueType Value>
void carry_out_on_chain(const DevicePlan& plan) {
    CudaDevice gpu;  // with a stream of its own
    const CsrMatrix chain = chain_of(720);
    const std::vector<Value> ones(chain.values.begin(), chain.values.end());
    const DeviceMemory offsets = to_device(gpu, std::span<const Offset>(chain.row_offsets), "row offsets");
    const DeviceMemory columns = to_device(gpu, std::span<const Index>(chain.column_indices), "columns");
    const DeviceMemory values = to_device(gpu, std::span<const Value>(ones), "values");
    (void)run_plan_on_gpu<Value>(plan,
                                 {.rows = chain.rows,
                                  .columns = chain.columns,
                                  .nonzeros = chain.nonzeros(),
                                  .row_offsets = offsets.address(),
                                  .long_offsets = true,
                                  .column_indices = columns.as<const Index>(),
                                  .values = values.template as<const Value>()},
                                 gpu);
}

class GpuPlanRunner final : public PlanRunner {
public:
    explicit GpuPlanRunner(CudaDevice& gpu) : gpu_(gpu) { check_cuda(cudaGetDevice(&number_), "cudaGetDevice"); }

    void load(const DevicePlan& plan, Precision precision) override {
        try {
            check_cuda(cudaSetDevice(number_), "cudaSetDevice");  // of this thread
            precision == Precision::f32 ? carry_out_on_chain<float>(plan) : carry_out_on_chain<double>(plan);
        } catch (const std::exception&) {
            (void)cudaGetLastError();  // the plan itself will report it
        }
    }

    [[nodiscard]] std::unique_ptr<PlannedMatrix<float>> run(const DevicePlan& plan, const CsrOnDevice<float>& matrix) override {
        return run_plan_on_gpu(plan, matrix, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PlannedMatrix<double>> run(const DevicePlan& plan,
                                                             const CsrOnDevice<double>& matrix) override {
        return run_plan_on_gpu(plan, matrix, gpu_);
    }

private:
    CudaDevice& gpu_;
    int number_ = 0;
};

class Gpu final : public CudaDevice {
public:
    using CudaDevice::CudaDevice;

    [[nodiscard]] Solvers* solvers() override { return &solvers_; }
    [[nodiscard]] PlanRunner* plan_runner() override { return &plan_runner_; }

private:
    GpuSolvers solvers_{*this};
    GpuPlanRunner plan_runner_{*this};
};

}  // namespace

std::unique_ptr<Device> make_cuda_device() {
    if (!cuda_absence_reason().empty()) return nullptr;
    return std::make_unique<Gpu>();
}

std::unique_ptr<Device> make_cuda_device_on(void* stream) {
    if (!cuda_absence_reason().empty()) return nullptr;
    return std::make_unique<Gpu>(static_cast<cudaStream_t>(stream));
}

}  // namespace workbench
