#include "stages/divide_view.hpp"

namespace workbench {

ShareOfRows share_of_lengths(const ShareId& id, const ShareView& view, std::span<const Index> lengths) {
    const auto count = static_cast<std::size_t>(view.row_count());
    HostArray<Offset> place;  // [stored rows + 1] in the share
    make_zeros(place, count + 1);
    const auto for_rows = [count](const auto& visit) {
        for_pieces(count, [&](std::size_t begin, std::size_t end) {
            for (std::size_t stored = begin; stored < end; ++stored) visit(static_cast<Index>(stored));
        });
    };
    for_rows([&](Index stored) { place[stored + 1] = lengths[stored] > 0 ? 1 : 0; });
    sum_up(place);

    ShareOfRows result{.share = {.id = id, .rows = unwritten_array<Index>(place.back())},
                       .stored_rows = unwritten_array<Index>(place.back())};
    Share& share = result.share;
    make_zeros(share.row_offsets, place.back() + 1);
    for_rows([&](Index stored) {
        const Offset present = place[stored];
        if (place[stored + 1] == present) return;
        result.stored_rows[present] = stored;
        share.rows[present] = view.row(stored);
        share.row_offsets[present + 1] = lengths[stored];
    });
    sum_up(share.row_offsets);
    return result;
}

}  // namespace workbench
