// Tests that several processes run together under mpirun. All ranks run the same cases; a rank that left a case early would
// leave the others waiting, so the cases use CHECK rather than REQUIRE.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>

#include "core/system/kokkos_runtime.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/exchange/make_links.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"
#include "ranks/ranks.hpp"
#include "studies/distributed/start_ranks.hpp"

namespace workbench {
namespace {

Ranks* ranks_of_program = nullptr;

/// True if each rank has a GPU.
std::unique_ptr<Device> gpu_of_rank(Ranks& ranks) {
    choose_cuda_device(ranks.rank_on_machine());
    std::unique_ptr<Device> gpu = make_cuda_device();
    const double has = gpu == nullptr ? 0 : 1;
    std::vector<double> all(ranks.size());
    ranks.gather(std::span(&has, 1), all);
    for (const double one : all) {
        if (one == 0) gpu.reset();
    }
    return gpu;
}

}  // namespace

Ranks& test_ranks() { return *ranks_of_program; }

void on_each_device(const std::function<void(Device&, Links&)>& check) {
    static const std::unique_ptr<Device> host = make_host_device();
    static const std::unique_ptr<Links> host_links = make_host_links(test_ranks(), *host);
    check(*host, *host_links);
    static const std::unique_ptr<Device> gpu = gpu_of_rank(test_ranks());
    if (gpu == nullptr) return;
    static const std::unique_ptr<Links> gpu_links = [] {
        try {
            return make_cuda_links(test_ranks(), *gpu);
        } catch (const std::exception& reason) {  // more ranks than GPUs; thrown on all ranks
            if (test_ranks().rank() == 0) std::printf("GPUs are left out: %s\n", reason.what());
            return std::unique_ptr<Links>();
        }
    }();
    if (gpu_links != nullptr) check(*gpu, *gpu_links);
}

}  // namespace workbench

int main(int argc, char** argv) {
    const std::unique_ptr<workbench::Ranks> ranks = workbench::start_ranks();
    workbench::ranks_of_program = ranks.get();
    const workbench::KokkosRuntime kokkos({}, ranks->ranks_on_machine());
    doctest::Context context(argc, argv);
    if (ranks->rank() != 0) context.setOption("minimal", true);  // prints failures only
    const int failed = context.run();
    ranks->barrier();
    return failed;
}
