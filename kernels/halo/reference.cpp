#include <algorithm>

#include "kernels/device/host_loops.hpp"
#include "kernels/device/prepare.hpp"
#include "kernels/halo/places.hpp"

namespace workbench {
namespace {

/// Parts in parallel, each with sums in memory of its thread. A row belongs to one part, so that no two threads write it.
template <ValueType Value>
class HaloParts final : public Kernel<Value> {
public:
    explicit HaloParts(const HaloLayout<Value>& layout) : halo_(layout) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        for_each_in_parallel(halo_.parts(), 1,
                             [&](std::int64_t part) { multiply(static_cast<Index>(part), x, y, accumulate); });
    }

private:
    void multiply(Index number, const Value* x, Value* y, bool accumulate) const {
        const HaloPart part = halo_part(halo_, number);
        const Index d = halo_.block_size;
        const auto x_at = [&](Index node, Index e) {
            const Offset column = Offset{node} * d + e;
            return column < halo_.column_count ? x[column] : Value{0};
        };
        // Mirrors belong to own places; sums for all places make a damaged layout safe to multiply.
        HostArray<Value> sums(std::size_t(std::max(part.own, part.places())) * d, Value{0});
        if (halo_.has_diagonal()) add_diagonal(number, part, x_at, sums);
        for_each_halo_block(halo_, number, [&](const PlacedBlock& block) {
            if (block.row_node < 0) return;
            const auto& values = block.is_far ? halo_.far_values : halo_.values;
            const Value* const value = values.data() + halo_slot(block.step, halo_.area(), block.lane);
            for (Index r = 0; r < d; ++r) {
                for (Index c = 0; c < d; ++c) {
                    const Value entry = value[(r * d + c) * halo_lanes];
                    sums[block.row_place * d + r] += entry * x_at(block.column_node, c);
                    if (block.is_pair) sums[block.column_place * d + c] += entry * x_at(block.row_node, r);
                }
            }
        });
        const Offset first = Offset{part.first_node} * d;
        const Offset count = std::min(Offset{part.own} * d, Offset{halo_.row_count} - first);
        for (Offset i = 0; i < count; ++i) put(y, static_cast<Index>(first + i), sums[i], accumulate);
    }

    void add_diagonal(Index number, const HaloPart& part, const auto& x_at, HostArray<Value>& sums) const {
        const Index d = halo_.block_size;
        for (Index i = 0; i < part.own; ++i) {
            Offset slot = halo_slot(halo_.diagonal_groups[number] + i / halo_lanes, halo_.triangle(), i % halo_lanes);
            for (Index r = 0; r < d; ++r) {
                for (Index c = r; c < d; ++c, slot += halo_lanes) {
                    sums[i * d + r] += halo_.diagonal[slot] * x_at(part.first_node + i, c);
                    if (c > r) sums[i * d + c] += halo_.diagonal[slot] * x_at(part.first_node + i, r);
                }
            }
        }
    }

    const HaloLayout<Value>& halo_;
};

}  // namespace

KernelEntry halo_host_kernel() {
    return {.name = "parts",
            .backend = Backend::kokkos,
            .summary = "parts in parallel, each with sums of its own",
            .prepare = prepare_as<HaloParts, HaloLayout>()};
}

}  // namespace workbench
