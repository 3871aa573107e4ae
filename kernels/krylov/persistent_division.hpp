// Divides the rows of a persistent matrix into parts, in the memory of a space (persistent_builder.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "kernels/krylov/persistent_matrix.hpp"
#include "kernels/primitives/search.hpp"

namespace workbench::krylov {

namespace passes {

/// Chooses the row at which a part begins. See divide_rows.
struct ChooseBoundary {
    // A row has an element of each vector, which take about the time and the memory of eight nonzeros.
    static constexpr Offset weight_of_row = 8;

    OrderedRows matrix;
    Index parts = 1;
    Index run = 1;
    const Index* cuts = nullptr;
    Index cut_count = 0;
    Index* chosen = nullptr;  // [parts]

    constexpr void operator()(std::size_t part) const {
        const double share = weight(matrix.rows) / parts;
        const double target = share * static_cast<double>(part);
        const Index row = run * count_before(matrix.rows / run, [&](Index i) { return weight(i * run) < target; });
        double distance = share / 4;
        chosen[part] = row;
        const Index behind = count_below(cuts, cut_count, row);
        for (Index i = behind == 0 ? 0 : behind - 1; i < cut_count && i <= behind; ++i) {
            const double at_cut = weight(cuts[i]);
            const double off = at_cut > target ? at_cut - target : target - at_cut;
            if (off >= distance) continue;
            chosen[part] = (cuts[i] + run - 1) / run * run;
            distance = off;
        }
    }

    /// The work of all rows before this one.
    [[nodiscard]] constexpr double weight(Index row) const {
        return static_cast<double>(matrix.offsets[row] + weight_of_row * row);
    }
};

}  // namespace passes

/// The boundaries of `parts` parts with about equal work: a row counts as eight nonzeros. [parts + 1] Where one of the `cuts`
/// (ascending, from 0 to the number of rows, or empty) is near, a boundary is moved there; as many parts as cuts have are taken
/// as they are. Boundaries are multiples of `run`, which divides the number of rows.
template <typename Space>
[[nodiscard]] std::vector<Index> divide_rows(Space& space, const OrderedRows& matrix, Index parts, std::span<const Index> cuts,
                                             Index run = 1) {
    const auto is_multiple = [&](Index boundary) { return boundary % run == 0; };
    if (std::ssize(cuts) == parts + 1 && std::all_of(cuts.begin(), cuts.end(), is_multiple)) return {cuts.begin(), cuts.end()};
    const auto cuts_there = space.template upload<Index>(cuts);
    auto chosen = space.template make<Index>(static_cast<std::size_t>(parts));
    const auto cut_count = static_cast<Index>(cuts.size());
    space.for_each(static_cast<std::size_t>(parts),
                   passes::ChooseBoundary{matrix, parts, run, cuts_there.data(), cut_count, chosen.data()});
    std::vector<Index> boundaries = space.download(chosen);
    boundaries.push_back(matrix.rows);
    for (Index part = 1; part < parts; ++part) boundaries[part] = std::max(boundaries[part], boundaries[part - 1]);
    return boundaries;
}

}  // namespace workbench::krylov
