// Divides the entries of a view into several shares.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/shares.hpp"

namespace workbench {

/// [stored rows of a view] The number of entries of each row in one share.
using LengthsInShare = HostArray<Index>;

/// A share whose entries are still to be listed.
struct ShareOfRows {
    Share share;
    HostArray<Index> stored_rows;  // [rows of the share] their places in the view
};

/// The share with the rows of a view that have entries in it. Rows keep their order of storage.
[[nodiscard]] ShareOfRows share_of_lengths(const ShareId& id, const ShareView& view, std::span<const Index> lengths);

/// Divides the entries of a view into shares, at most most_share_bins: entry k of a stored row is in share number_of(stored,
/// k). Shares omit rows without entries.
template <typename NumberOf>
std::vector<Share> divide_view(std::span<const ShareId> ids, const ShareView& view, const NumberOf& number_of) {
    std::array<LengthsInShare, most_share_bins> lengths;
    for (std::size_t share = 0; share < ids.size(); ++share) lengths[share] = unwritten_array<Index>(view.row_count());
    Kokkos::parallel_for("count_entries", HostRange<>(0, view.row_count()), [&](Index stored) {
        std::array<Index, most_share_bins> counts{};
        for (Offset k = 0; k < view.length(stored); ++k) ++counts[static_cast<std::size_t>(number_of(stored, k))];
        for (std::size_t share = 0; share < ids.size(); ++share) lengths[share][stored] = counts[share];
    });
    std::vector<Share> shares;
    for (std::size_t number = 0; number < ids.size(); ++number) {
        auto [share, stored_rows] = share_of_lengths(ids[number], view, lengths[number]);
        make_room(share.entries, share.row_offsets.back());
        Kokkos::parallel_for("list_entries", HostRange<std::size_t>(0, stored_rows.size()),
                             [&, &share = share, &stored_rows = stored_rows](std::size_t i) {
                                 Offset* place = share.entries.data() + share.row_offsets[i];
                                 const Index stored = stored_rows[i];
                                 const bool whole_row = share.row_offsets[i + 1] - share.row_offsets[i] == view.length(stored);
                                 for (Offset k = 0; k < view.length(stored); ++k) {
                                     const bool belongs = whole_row || static_cast<std::size_t>(number_of(stored, k)) == number;
                                     if (belongs) *place++ = view.entry(stored, k);
                                 }
                             });
        shares.push_back(std::move(share));
    }
    return shares;
}

}  // namespace workbench
