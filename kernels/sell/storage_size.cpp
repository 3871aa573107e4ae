#include "kernels/sell/storage_size.hpp"

#include <algorithm>

namespace workbench {

std::int64_t sell_size(Offset slices, Offset slots, const ElementSizes& sizes) {
    return bounded_sum(bounded_product(slots, sizes.index + sizes.value), bounded_product(slices + 1, sizes.offset));
}

Offset sell_slots(std::span<const Offset> lengths, Index slice_height) {
    Offset slots = 0;
    for (std::size_t first = 0; first < lengths.size(); first += slice_height) {
        const auto slice = lengths.subspan(first, std::min<std::size_t>(slice_height, lengths.size() - first));
        slots += *std::max_element(slice.begin(), slice.end()) * slice_height;
    }
    return slots;
}

std::vector<StorageSize> sell_storage_sizes(const StorageQuestion& question) {
    const Index height = question.slice_height;
    const Offset slices = rounded_up(question.matrix.rows, height) / height;
    const Offset slots = sell_slots(question.lengths, height);
    const Offset fewer = sell_slots(question.ascending_lengths, height);
    return {{"SELL", "eq. 4.5", height, {}, slots, sell_size(slices, slots, question.sizes)},
            {"SELL by length", "eq. 4.5, by length", height, {}, fewer, sell_size(slices, fewer, question.sizes)}};
}

}  // namespace workbench
