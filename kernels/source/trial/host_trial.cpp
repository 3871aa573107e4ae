// The trial on the host. Every array ends at an inaccessible page and its own pages are read-only, so that the first access
// outside or write inside ends the trial and reports the address. A guard beside y, in y's pages, reveals writes.
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "core/system/child.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

/// Maps pages of the file between inaccessible pages.
unsigned char* map_array(const MappedTrial& trial, TrialArray& array, int protection) {
    const std::size_t pages = array.page_bytes();
    void* const region = mmap(nullptr, pages + 2 * trial_guard_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED) conclude(trial.plan.verdict, TrialKind::refused, "no address space for the arrays");
    unsigned char* const begin = static_cast<unsigned char*>(region) + trial_guard_bytes;
    void* const mapped = mmap(begin, pages, protection, MAP_PRIVATE | MAP_FIXED, trial.file, static_cast<off_t>(array.pages));
    if (mapped == MAP_FAILED) conclude(trial.plan.verdict, TrialKind::refused, "no address space for the arrays");
    unsigned char* const address = begin + (array.offset - array.pages);
    array.address = reinterpret_cast<std::uint64_t>(address);
    return address;
}

}  // namespace

void try_on_host(const MappedTrial& trial) {
    TrialPlan& plan = trial.plan;
    void* const library = dlopen(plan.shared_object.data(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) conclude(plan.verdict, TrialKind::not_loadable, dlerror());
    using Function = void (*)(const void* arrays, const void* x, void* y, bool accumulate);
    const auto function = reinterpret_cast<Function>(dlsym(library, plan.function.data()));
    if (function == nullptr) conclude(plan.verdict, TrialKind::no_function);

    const int count = plan.array_count;
    const unsigned char* x = nullptr;
    unsigned char* y = nullptr;
    alignas(16) std::array<unsigned char, most_trial_arguments> arguments = plan.arguments;
    for (int i = 0; i < count; ++i) {
        TrialArray& array = plan.arrays[i];
        unsigned char* const address = map_array(trial, array, i == count - 1 ? PROT_READ | PROT_WRITE : PROT_READ);
        if (i == count - 1) {
            y = address;
        } else if (i == count - 2) {
            x = address;
        } else {
            std::memcpy(arguments.data() + array.pointer, &address, sizeof(address));
        }
    }
    const TrialArray& of_y = plan.arrays[count - 1];
    unsigned char* const first = y - (of_y.offset - of_y.pages);
    unsigned char* const last = first + of_y.page_bytes();
    unsigned char* const end = y + of_y.bytes;
    std::fill(first, y, trial_guard);
    std::fill(end, last, trial_guard);
    const auto changed = [](unsigned char byte) { return byte != trial_guard; };
    for (const bool accumulate : {false, true}) {
        if (plan.launch.zero_y && !accumulate) std::fill(y, end, static_cast<unsigned char>(0));
        start_product(plan, accumulate);
        function(arguments.data(), x, y, accumulate);
        set_timer(0);
        plan.array = count - 1;
        if (std::any_of(first, y, changed) || std::any_of(end, last, changed)) conclude(plan.verdict, TrialKind::wrote_outside);
    }
    conclude(plan.verdict, TrialKind::fine);
}

}  // namespace workbench
