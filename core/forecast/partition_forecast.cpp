#include "core/forecast/partition_forecast.hpp"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <vector>

namespace workbench {
namespace {

/// A breadth-first ball of rows around a seed, as an estimate of one part of a good partition.
struct Ball {
    Offset inside = 0;  // nonzeros with both ends in the ball
    Offset nonzeros = 0;
    Offset halo = 0;  // columns outside that its rows have
    Index rows = 0;
};

Ball grow_ball(const CsrMatrix& matrix, Index seed, Index size) {
    enum class Membership : std::uint8_t { unseen, inside, outside };
    std::vector<Membership> places(matrix.rows, Membership::unseen);
    std::vector<Index> queue{seed};
    places[seed] = Membership::inside;
    Ball ball;
    for (std::size_t next = 0; next < queue.size(); ++next) {
        for (const Index column : matrix.row_columns(queue[next])) {
            if (static_cast<Index>(queue.size()) >= size) break;
            if (places[column] == Membership::unseen) queue.push_back(column);
            places[column] = Membership::inside;
        }
    }
    for (const Index row : queue) {
        for (const Index column : matrix.row_columns(row)) {
            ball.inside += places[column] == Membership::inside ? 1 : 0;
            ball.halo += places[column] == Membership::unseen ? 1 : 0;
            if (places[column] == Membership::unseen) places[column] = Membership::outside;
            ++ball.nonzeros;
        }
    }
    ball.rows = static_cast<Index>(queue.size());
    return ball;
}

}  // namespace

BallsForecast grow_balls(const CsrMatrix& matrix, Index size) {
    constexpr int seeds = 4;
    BallsForecast found;
    for (int i = 0; i < seeds; ++i) {
        const auto seed = static_cast<Index>((std::int64_t{2} * i + 1) * matrix.rows / (2 * seeds));
        const Ball ball = grow_ball(matrix, seed, size);
        found.outside += (1 - ratio(static_cast<double>(ball.inside), static_cast<double>(ball.nonzeros))) / seeds;
        found.halo += ratio(static_cast<double>(ball.halo), ball.rows) / seeds;
    }
    return found;
}

PartitionForecast measured_partition(const StagedMatrix& staged, const Cuts& cuts) {
    constexpr Index sampled_parts = 4;
    PartitionForecast found{.parts = cuts.count(), .stored = true};
    Offset nonzeros = 0;
    Offset inside = 0;
    Offset rows = 0;
    Offset outside_columns = 0;
    for (Index i = 0; i < std::min<Index>(sampled_parts, cuts.count()); ++i) {
        const auto part = static_cast<Index>(std::int64_t{i} * cuts.count() / std::min<Index>(sampled_parts, cuts.count()));
        const Index begin = cuts.begin(part);
        const Index end = cuts.end(part);
        std::unordered_set<Index> outside;
        for (Index row = begin; row < end; ++row) {
            for (const Index column : staged.matrix.row_columns(row)) {
                const bool is_inside = column >= begin && column < end;
                inside += is_inside ? 1 : 0;
                if (!is_inside) outside.insert(column);
                ++nonzeros;
            }
        }
        rows += end - begin;
        outside_columns += static_cast<Offset>(outside.size());
    }
    found.inside = nonzeros == 0 ? 1 : ratio(static_cast<double>(inside), static_cast<double>(nonzeros));
    found.halo = ratio(static_cast<double>(outside_columns), static_cast<double>(rows));
    return found;
}

}  // namespace workbench
