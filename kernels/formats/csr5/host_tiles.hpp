// CSR5 on the host.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/device/host_loops.hpp"
#include "kernels/formats/csr5/layout.hpp"

namespace workbench {

/// Each row of y has one writer before the calibrator, which starts when all tiles are done and has one thread a row: threads
/// cannot race.
template <ValueType Value, typename Stored>
class Csr5HostTiles final : public Kernel<Value> {
public:
    Csr5HostTiles(const Csr5Layout<Value>& layout, const Stored& csr5)
        : csr5_(csr5),
          beside_(rows_beside_tiles(layout)),
          bytes_(csr5_bytes(layout, beside_)),
          first_sums_(csr5_.tile_count() + (csr5_.has_tail() ? 1 : 0)) {}

    void run(const Value* x, Value* y, bool accumulate) override {
        constexpr int tile_chunk = 8;
        constexpr int row_chunk = 1024;
        for_each_in_parallel(csr5_.tile_count(), tile_chunk, [&](std::int64_t tile) { multiply_tile(tile, x, y, accumulate); });
        for (const Index row : beside_.tail_rows) multiply_tail_row(row, x, y, accumulate);
        if (!accumulate) {
            for_each_in_parallel(static_cast<std::int64_t>(beside_.empty_rows.size()), row_chunk,
                                 [&](std::int64_t i) { y[beside_.empty_rows[i]] = 0; });
        }
        for_each_in_parallel(static_cast<std::int64_t>(first_sums_.size()), row_chunk,
                             [&](std::int64_t tile) { calibrate(tile, y); });
    }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_; }

private:
    /// Reads the nonzeros in the order of their rows: a tile stays in the cache.
    void multiply_tile(Offset tile, const Value* x, Value* y, bool accumulate) {
        const bool marked = (csr5_.tile_ptr[tile] & csr5_mark) != 0;
        const Index first_row = row_of_tile(csr5_.tile_ptr[tile]);
        const bool begins_row = (lane_of_tile(csr5_, tile, 0).bit_flag & 1U) != 0;
        const auto put_segment = [&](Index segment, Value sum) {
            if (segment == 0 && !begins_row) {
                first_sums_[tile] = sum;
                return;
            }
            const Index behind = marked ? csr5_.empty_offset[csr5_.empty_offset_ptr[tile] + segment] : segment;
            put(y, first_row + behind, sum, accumulate);
        };
        Index segment = 0;
        Value sum = 0;
        for (Index lane = 0; lane < csr5_.omega; ++lane) {
            const Csr5Lane of_lane = lane_of_tile(csr5_, tile, lane);
            for (Index i = 0; i < csr5_.sigma; ++i) {
                if ((of_lane.bit_flag >> i & 1U) != 0 && (lane > 0 || i > 0)) {
                    put_segment(segment++, sum);
                    sum = 0;
                }
                const Offset slot = csr5_.slot(tile, i, lane);
                sum += csr5_.values[slot] * x[csr5_.column_indices[slot]];
            }
        }
        put_segment(segment, sum);
    }

    void multiply_tail_row(Index row, const Value* x, Value* y, bool accumulate) {
        const Offset begin = std::max(csr5_.row_offsets[row], csr5_.tail_begin());
        Value sum = 0;
        for (Offset k = begin; k < csr5_.row_offsets[row + 1]; ++k) sum += csr5_.values[k] * x[csr5_.column_indices[k]];
        if (begin > csr5_.row_offsets[row]) {
            first_sums_.back() = sum;
        } else {
            put(y, row, sum, accumulate);
        }
    }

    /// Adds the sums of neighbouring tiles that have a row of an earlier tile, if this is the first of them.
    void calibrate(Offset tile, Value* y) const {
        const auto row_of = [&](Offset i) { return row_of_tile(csr5_.tile_ptr[i]); };
        const Index row = row_of(tile);
        if (tile > 0 && row_of(tile - 1) == row) return;
        Value sum = 0;
        for (Offset i = tile; i < static_cast<Offset>(first_sums_.size()) && row_of(i) == row; ++i) sum += first_sums_[i];
        if (sum != 0) y[row] += sum;
    }

    const Stored& csr5_;
    RowsBesideTiles<HostArray> beside_;
    std::int64_t bytes_;
    HostArray<Value> first_sums_;  // [tiles, and the tail] the sum of the first segment if its row began before, otherwise 0
};

template <ValueType Value>
struct Csr5Host {
    static std::unique_ptr<Kernel<Value>> prepare(const Csr5Layout<Value>& layout, Device&) {
        return with_stored(layout, [&]<typename Stored>(const Stored& stored) -> std::unique_ptr<Kernel<Value>> {
            return std::make_unique<Csr5HostTiles<Value, Stored>>(layout, stored);
        });
    }
};

}  // namespace workbench
