#include "kernels/staircase_sell/storage_size.hpp"

#include "kernels/staircase_sell/length_groups.hpp"

namespace workbench {

std::int64_t staircase_sell_size(Offset slots, const ElementSizes& sizes) {
    return bounded_product(slots, sizes.index + sizes.value);
}

Offset staircase_sell_slots(std::span<const Offset> ascending_lengths, std::span<const Index> groups, Index slice_height) {
    Offset slots = 0;
    for (std::size_t group = 0; group + 1 < groups.size(); ++group) {
        const Offset rows = rounded_up(Offset{groups[group + 1]} - groups[group], slice_height);
        if (rows > 0) slots += rows * ascending_lengths[groups[group + 1] - 1];
    }
    return slots;
}

std::vector<StorageSize> staircase_sell_storage_sizes(const StorageQuestion& question) {
    const Index height = question.slice_height;
    std::vector<StorageSize> all;
    for (const double alpha : question.alphas) {
        const std::vector<Index> groups = length_groups(question.ascending_lengths, height, alpha);
        const Offset slots = staircase_sell_slots(question.ascending_lengths, groups, height);
        all.push_back({"Staircase SELL", "table 5.2", height, alpha, slots, staircase_sell_size(slots, question.sizes)});
    }
    return all;
}

}  // namespace workbench
