#include "kernels/common/entry/format.hpp"

namespace workbench {

void add_kernel(LayoutEntry& entry, KernelEntry&& kernel) { entry.kernels.push_back(std::move(kernel)); }

void add_schedule(LayoutEntry& entry, std::string kernel, const ForEachPrecision<WalkReads>& walk) {
    entry.schedules.push_back({std::move(kernel), walk});
}

void complete_entry(LayoutEntry& entry, const char* name, const ForEachPrecision<EmptyLayout>& empty,
                    const ForEachPrecision<ListFields>& fields) {
    if (entry.name.empty()) entry.name = name;
    if (entry.needs == nullptr) entry.needs = [](const Parameters&) { return Needs{.unsplit = true}; };
    entry.empty = empty;
    entry.fields = fields;
}

}  // namespace workbench
