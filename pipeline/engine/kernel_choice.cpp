#include "pipeline/engine/kernel_choice.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace workbench {

bool has_long_rows(std::span<const Offset> row_offsets) {
    constexpr Offset long_row = 1024;      // entries
    constexpr double of_mean_length = 16;  // times
    Offset longest = 0;
    for (std::size_t row = 1; row < row_offsets.size(); ++row)
        longest = std::max(longest, row_offsets[row] - row_offsets[row - 1]);
    if (longest <= long_row) return false;
    const double mean = static_cast<double>(row_offsets.back()) / static_cast<double>(row_offsets.size() - 1);
    return static_cast<double>(longest) > of_mean_length * mean;
}

const KernelEntry* choose_kernel(const RecipeLayout& layout, const KernelFilter& filter) {
    const KernelEntry* found = nullptr;
    int rank_of_found = 0;
    const auto consider = [&](const KernelEntry& kernel, bool preferred) {
        if (device_of(kernel.backend) != filter.kind || (filter.may_run && !filter.may_run(kernel))) return;
        const bool is_named = !filter.only.empty() && filter.only == kernel.name;
        const bool reads_once = filter.vectors > 1 && kernel.prepare_vectors.f64;
        const bool suits_rows = reads_once && kernel.divides_rows == filter.long_rows;
        const int rank = is_named ? 9 : 1 + (suits_rows ? 1 : 0) + (preferred ? 2 : 0) + (reads_once ? 4 : 0);
        if (rank <= rank_of_found) return;
        found = &kernel;
        rank_of_found = rank;
    };
    for (const KernelEntry& kernel : layout.own_kernels) consider(kernel, true);
    for (const Backend backend : {Backend::kokkos, Backend::cuda, Backend::eigen, Backend::cusparse}) {
        const auto chosen = layout.kernels.find(backend);
        for (const KernelEntry& kernel : layout.entry->kernels) {
            if (kernel.backend == backend) consider(kernel, chosen != layout.kernels.end() && chosen->second == kernel.name);
        }
    }
    return found;
}

std::vector<const KernelEntry*> choose_kernels(const Recipe& recipe, const KernelFilter& filter) {
    std::vector<const KernelEntry*> kernels;
    for (const RecipeLayout& layout : recipe.layouts) kernels.push_back(choose_kernel(layout, filter));
    const bool complete = std::find(kernels.begin(), kernels.end(), nullptr) == kernels.end();
    const auto is_asked_for = [&](const KernelEntry* kernel) { return filter.only.empty() || filter.only == kernel->name; };
    return complete && std::any_of(kernels.begin(), kernels.end(), is_asked_for) ? kernels : std::vector<const KernelEntry*>{};
}

std::string names_of(std::span<const KernelEntry* const> kernels) {
    std::string names;
    for (const KernelEntry* kernel : kernels) names += (names.empty() ? "" : " + ") + kernel->name;
    return names;
}

const ScheduleEntry* choose_schedule(const RecipeLayout& layout) {
    const std::vector<ScheduleEntry>& schedules = layout.entry->schedules;
    const auto named = layout.kernels.find(Backend::cuda);
    for (const ScheduleEntry& schedule : schedules) {
        if (named != layout.kernels.end() && schedule.kernel == named->second) return &schedule;
    }
    return schedules.empty() ? nullptr : &schedules.front();
}

std::string no_kernel_of(const Recipe& recipe) {
    std::string layouts;
    std::string known;
    const auto list = [&known](const std::vector<KernelEntry>& kernels) {
        for (const KernelEntry& kernel : kernels) {
            known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", kernel.name, name_of(kernel.backend));
        }
    };
    for (const RecipeLayout& layout : recipe.layouts) {
        layouts += fmt::format("{}'{}'", layouts.empty() ? "" : " and ", layout.entry->name);
        list(layout.entry->kernels);
        list(layout.own_kernels);
    }
    return fmt::format("no kernel of layout {} runs with these options on this machine; {} {}", layouts,
                       recipe.is_hybrid() ? "there are" : "it has", known);
}

}  // namespace workbench
