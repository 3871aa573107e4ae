#include "stages/least_padding.hpp"

#include <algorithm>
#include <limits>

#include "stages/order.hpp"

namespace workbench {
namespace {

/// The distinct lengths d_0 < d_1 < ..., with sums over all shorter rows.
struct Histogram {
    std::vector<Index> lengths;
    std::vector<std::int64_t> rows_before{0};      // [distinct + 1]
    std::vector<std::int64_t> nonzeros_before{0};  // [distinct + 1]

    explicit Histogram(std::span<const Index> row_lengths) {
        std::vector<std::int64_t> counts;
        for (const Index length : row_lengths) {
            if (static_cast<std::size_t>(length) >= counts.size()) counts.resize(std::size_t{1} + length, 0);
            ++counts[length];
        }
        for (std::size_t length = 0; length < counts.size(); ++length) {
            if (counts[length] == 0) continue;
            lengths.push_back(static_cast<Index>(length));
            rows_before.push_back(rows_before.back() + counts[length]);
            nonzeros_before.push_back(nonzeros_before.back() + counts[length] * static_cast<std::int64_t>(length));
        }
    }

    [[nodiscard]] Index distinct() const { return static_cast<Index>(lengths.size()); }

    /// The padding of a group of the distinct lengths first .. end - 1.
    [[nodiscard]] std::int64_t padding(Index first, Index end) const {
        return lengths[end - 1] * (rows_before[end] - rows_before[first]) - (nonzeros_before[end] - nonzeros_before[first]);
    }
};

/// One layer of the table: the minimum padding of the first `end` lengths in g groups or fewer, and the begin of the last
/// group.
struct Layer {
    std::vector<std::int64_t> padding;  // [distinct + 1]
    std::vector<Index> last_cut;        // [distinct + 1]
};

/// Fills a layer from the previous one by divide and conquer.
struct LayerFiller {
    const Histogram& histogram;
    const Layer& previous;
    Layer& layer;

    /// Fills the elements begin .. stop - 1, whose last cuts lie in low .. high.
    void fill(Index begin, Index stop, Index low, Index high) {
        if (begin >= stop) return;
        const Index end = begin + (stop - begin) / 2;
        std::int64_t best = std::numeric_limits<std::int64_t>::max();
        for (Index cut = low; cut <= std::min(high, end - 1); ++cut) {
            const std::int64_t padding = previous.padding[cut] + histogram.padding(cut, end);
            if (padding >= best) continue;
            best = padding;
            layer.last_cut[end] = cut;
        }
        layer.padding[end] = best;
        fill(begin, end, low, layer.last_cut[end]);
        fill(end + 1, stop, layer.last_cut[end], high);
    }
};

}  // namespace

LengthGroups groups_of_least_padding(std::span<const Index> lengths, Index most_groups) {
    const Histogram histogram(lengths);
    const Index distinct = histogram.distinct();
    if (distinct == 0) return {};
    std::vector<Layer> layers;  // of 1, 2, ... groups
    Layer layer{std::vector<std::int64_t>(distinct + 1, 0), std::vector<Index>(distinct + 1, 0)};
    for (Index end = 1; end <= distinct; ++end) layer.padding[end] = histogram.padding(0, end);
    layers.push_back(layer);
    while (layers.back().padding[distinct] > 0 && static_cast<Index>(layers.size()) < most_groups) {
        LayerFiller{histogram, layers.back(), layer}.fill(1, distinct + 1, 0, distinct - 1);
        layers.push_back(layer);
    }

    LengthGroups groups{{}, layers.back().padding[distinct]};
    Index end = distinct;
    for (auto last = layers.rbegin(); last != layers.rend(); ++last) {  // no group is empty: each layer has less padding
        groups.longest.push_back(histogram.lengths[end - 1]);
        end = last->last_cut[end];
    }
    std::reverse(groups.longest.begin(), groups.longest.end());
    return groups;
}

std::vector<Index> rows_by_group(std::span<const Index> lengths, const LengthGroups& groups) {
    std::vector<Index> group_of_length;
    for (std::size_t group = 0; group < groups.longest.size(); ++group) {
        group_of_length.resize(std::size_t{1} + groups.longest[group], static_cast<Index>(group));
    }
    std::vector<Index> group_of_row(lengths.size());
    std::transform(lengths.begin(), lengths.end(), group_of_row.begin(), [&](Index length) { return group_of_length[length]; });
    std::vector<Index> order = all_of(static_cast<Index>(lengths.size()));
    stable_sort_by(order, group_of_row);
    return order;
}

}  // namespace workbench
