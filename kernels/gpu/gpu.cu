#include "kernels/gpu/gpu.hpp"

#include <map>
#include <mutex>

#include "core/contract/planned_matrix.hpp"
#include "core/contract/solvers.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/krylov/cuda_krylov.cuh"
#include "kernels/prepare/plan_on_gpu.hpp"

namespace workbench {
namespace {

class GpuSolvers final : public Solvers {
public:
    explicit GpuSolvers(CudaDevice& gpu) : gpu_(gpu) {}

    [[nodiscard]] std::unique_ptr<KrylovByProducts<float>> krylov(const KrylovPlan& plan, std::span<const float> b,
                                                                  std::span<const float> inverse_diagonal) override {
        return make_cuda_krylov(plan, b, inverse_diagonal, gpu_);
    }
    [[nodiscard]] std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                   std::span<const double> inverse_diagonal) override {
        return make_cuda_krylov(plan, b, inverse_diagonal, gpu_);
    }
    [[nodiscard]] std::unique_ptr<SeveralKrylov<float>> several(const SeveralPlan<float>& plan) override {
        return make_cuda_several_krylov(plan, gpu_);
    }
    [[nodiscard]] std::unique_ptr<SeveralKrylov<double>> several(const SeveralPlan<double>& plan) override {
        return make_cuda_several_krylov(plan, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<float>> persistent(const PersistentProblem<float>& problem) override {
        return make_cuda_persistent_solver<float>(problem, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PersistentSolver<double>> persistent(const PersistentProblem<double>& problem) override {
        return make_cuda_persistent_solver<double>(problem, gpu_);
    }

private:
    CudaDevice& gpu_;
};

class GpuPlanRunner final : public PlanRunner {
public:
    explicit GpuPlanRunner(CudaDevice& gpu) : gpu_(gpu) {}

    [[nodiscard]] std::unique_ptr<PlannedMatrix<float>> run(const DevicePlan& plan, const CsrOnDevice<float>& matrix) override {
        return run_plan_on_gpu(plan, matrix, gpu_);
    }
    [[nodiscard]] std::unique_ptr<PlannedMatrix<double>> run(const DevicePlan& plan,
                                                             const CsrOnDevice<double>& matrix) override {
        return run_plan_on_gpu(plan, matrix, gpu_);
    }

private:
    CudaDevice& gpu_;
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

std::unique_ptr<Device> make_cuda_device_for_solver(void* stream) {
    if (stream != nullptr || !cuda_absence_reason().empty()) return make_cuda_device_on(stream);
    static std::mutex turn;
    static std::map<int, cudaStream_t> shared;  // by the number of the GPU; they live as long as the process
    const std::lock_guard<std::mutex> lock(turn);
    int number = 0;
    check_cuda(cudaGetDevice(&number), "cudaGetDevice");
    cudaStream_t& of_device = shared[number];
    // Not cudaStreamNonBlocking: it keeps its order with the default stream.
    if (of_device == nullptr) check_cuda(cudaStreamCreateWithFlags(&of_device, cudaStreamDefault), "cudaStreamCreateWithFlags");
    return make_cuda_device_on(of_device);
}

}  // namespace workbench
