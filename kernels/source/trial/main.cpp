// workbench_trial FILE_DESCRIPTOR (kernels/source/trial_plan.hpp). Only the workbench starts it.
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "core/system/child.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

int run(int argc, char** argv) {
    if (argc != 2) {
        (void)std::fputs("workbench_trial is started by the workbench\n", stderr);
        return 2;
    }
    const int file = std::atoi(argv[1]);
    void* const head = mmap(nullptr, sizeof(TrialPlan), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (head == MAP_FAILED) return 2;
    TrialPlan& plan = *static_cast<TrialPlan*>(head);
    const void* const bytes = mmap(nullptr, plan.file_bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (bytes == MAP_FAILED) return 2;
    begin_trial(plan.verdict);
    const MappedTrial trial{plan, file, static_cast<const unsigned char*>(bytes)};
    if (plan.on_gpu) try_on_gpu(trial);
    try_on_host(trial);
}

}  // namespace

void start_product(TrialPlan& plan, bool accumulating) {
    plan.accumulating = accumulating;
    set_timer(std::max(plan.limit_seconds, 1e-3));
}

}  // namespace workbench

int main(int argc, char** argv) { return workbench::run(argc, argv); }
