// DASP on a GPU: one launch, whose blocks take the long rows first, then row blocks of medium rows, fragments of short rows,
// and last the rows of one entry or none. In f64 a fragment is one instruction of a tensor core: A [8 x 4] are the entries, B
// [4 x 8] in each lane x in the column of its own entry, so that row i of A meets its own x in column i of B, and C [8 x 8] has
// the sums on its diagonal. What stands beside the diagonal is of no use. In f32 a tensor core would round to 10 bits: there
// each lane multiplies its own entries, and the four lanes of a row add up at the end.
//
// Races in global memory. Each row of y stands in one list of rows and is written by one lane of the warp that has its place
// there. The exception are long rows of several pieces: each piece has a partial sum of its own, written by one lane; which
// then, after a fence, counts the pieces of its row that are done. The warp that counts the last one reads the partial sums
// past the caches of its multiprocessor, after a fence, in the order of the pieces: the same result in every run. It is the
// only one that writes the row, and its count has set the counter to 0 again for the next run, which starts after this one has
// ended. No shared memory is used.
#include "kernels/dasp/layout.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/device/cuda_device.cuh"
#include "kernels/device/loads.cuh"
#include "kernels/device/recording.cuh"
#include "kernels/device/sparse_dot.cuh"

namespace workbench {
namespace {

constexpr int threads_per_block = DaspGrid::warps * dasp_lanes;
constexpr unsigned whole_warp = ~0U;

/// Of the 8 rows of a fragment, the sum of its own in one lane of each quad: `writes`.
template <typename Value, bool tensor>
class QuadSums {
public:
    static __device__ __forceinline__ bool writes(int lane) { return lane % dasp_width == lane / dasp_rows; }

    /// For the whole warp, an entry a lane.
    __device__ __forceinline__ void add(Value value, Value x) { sum_ += value * x; }
    /// What this lane has of all rows together.
    [[nodiscard]] __device__ __forceinline__ Value share(int) const { return sum_; }
    /// For the whole warp: that of the lane's row, in the lanes that write.
    [[nodiscard]] __device__ __forceinline__ Value of_row(int) const {
        Value sum = sum_;
        sum += __shfl_xor_sync(whole_warp, sum, 1);
        return sum + __shfl_xor_sync(whole_warp, sum, 2);
    }

private:
    Value sum_ = 0;
};

/// Lane 4 i + q has columns 2 q and 2 q + 1 of row i of C, so that q = i / 2 has the diagonal.
template <>
class QuadSums<double, true> {
public:
    static __device__ __forceinline__ bool writes(int lane) { return lane % dasp_width == lane / dasp_rows; }

    __device__ __forceinline__ void add(double value, double x) {
        asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                     : "+d"(even_), "+d"(odd_)
                     : "d"(value), "d"(x));
    }
    [[nodiscard]] __device__ __forceinline__ double share(int lane) const { return writes(lane) ? of_row(lane) : 0; }
    [[nodiscard]] __device__ __forceinline__ double of_row(int lane) const { return lane / dasp_width % 2 == 0 ? even_ : odd_; }

private:
    double even_ = 0;
    double odd_ = 0;
};

template <typename Value>
__device__ __forceinline__ Value sum_of_warp(Value share) {
#pragma unroll
    for (int distance = dasp_lanes / 2; distance > 0; distance /= 2) {
        share += __shfl_xor_sync(whole_warp, share, distance);
    }
    return share;
}

template <typename Value>
struct Entry {
    Value value = 0;
    Index column = -1;  // -1: there is none
};

/// x of an entry's column.
template <typename Value>
__device__ __forceinline__ Value x_of(const Entry<Value>& entry, const Value* __restrict__ x) {
    return entry.column >= 0 ? x[entry.column] : Value{0};
}

/// Adds up `runs` of entries side by side: entry_at(r, k) is the k-th that this lane has of run r, for k < rounds, which is the
/// same in the whole warp. `in_flight` entries of each run are loaded before the first is used; ahead: the next ones are under
/// way while these wait for x.
template <int in_flight, bool ahead, int runs, typename Value>
__device__ __forceinline__ void add_up(int rounds, const auto& entry_at, const Value* __restrict__ x, auto(&sums)[runs]) {
    Entry<Value> entries[in_flight][runs];
    const auto load_from = [&](int first) {
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) entries[u][r] = entry_at(r, first + u);
        }
    };
    if constexpr (ahead) load_from(0);
    for (int first = 0; first < rounds; first += in_flight) {
        if constexpr (!ahead) load_from(first);
        Value values[in_flight][runs];
        Value x_of_entries[in_flight][runs];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) {
                values[u][r] = entries[u][r].value;
                x_of_entries[u][r] = x_of(entries[u][r], x);
            }
        }
        if constexpr (ahead) load_from(first + in_flight);
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
#pragma unroll
            for (int r = 0; r < runs; ++r) sums[r].add(values[u][r], x_of_entries[u][r]);
        }
    }
}

/// What long rows of several pieces need beside the layout.
template <typename Value>
struct Pieces {
    Value* sums = nullptr;         // [pieces]
    unsigned* counters = nullptr;  // [long rows] pieces done; 0 between runs
};

template <bool tensor, typename Value>
__device__ __forceinline__ void multiply_piece(const auto& dasp, const Pieces<Value>& pieces, Offset piece, int lane,
                                               const auto& load, const Value* __restrict__ x, Value* y, bool accumulate) {
    if (piece >= dasp.pieces()) return;
    const Offset begin = dasp.piece_offsets[piece];
    const Index number = dasp.piece_rows[piece];
    const auto steps = static_cast<int>((dasp.piece_offsets[piece + 1] - begin) / dasp_lanes);
    const Value* const values = dasp.long_values.data() + begin + lane;
    const Index* const columns = dasp.long_columns.data() + begin + lane;
    QuadSums<Value, tensor> sums[1];
    add_up<dasp_long_in_flight, true>(
        steps,
        [&](int, int k) {
            return k < steps ? Entry<Value>{load(values + k * dasp_lanes), load(columns + k * dasp_lanes)} : Entry<Value>{};
        },
        x, sums);
    Value sum = sum_of_warp(sums[0].share(lane));

    const Index first = dasp.long_pieces[number];
    const Index count = dasp.long_pieces[number + 1] - first;
    if (count > 1) {
        unsigned before = 0;
        if (lane == 0) {
            pieces.sums[piece] = sum;
            __threadfence();
            before = atomicInc(pieces.counters + number, static_cast<unsigned>(count - 1));
        }
        before = __shfl_sync(whole_warp, before, 0);
        if (before != static_cast<unsigned>(count - 1)) return;
        __threadfence();
        sum = 0;
        for (Index i = lane; i < count; i += dasp_lanes) sum += __ldcg(pieces.sums + first + i);
        sum = sum_of_warp(sum);
    }
    if (lane == 0) write_result(y + dasp.long_rows[number], sum, accumulate);
}

template <typename Shape, bool tensor, typename Value>
__device__ __forceinline__ void multiply_row_blocks(const auto& dasp, Offset first, int lane, const auto& load,
                                                    const Value* __restrict__ x, Value* y, bool accumulate) {
    constexpr int row_blocks = Shape::row_blocks;
    if (first >= dasp.row_blocks()) return;
    // Where entries stand is counted from the warp's first ones, in 32 bits.
    const Offset first_fragment = dasp.block_fragments[first];
    const Offset first_irregular = dasp.irregular_offsets[first];
    const Value* const values = dasp.regular_values.data() + first_fragment * dasp_lanes + lane;
    const Index* const columns = dasp.regular_columns.data() + first_fragment * dasp_lanes + lane;
    const Value* const irregular_values = dasp.irregular_values.data() + first_irregular;
    const Index* const irregular_columns = dasp.irregular_columns.data() + first_irregular;
    Index rows[row_blocks];
    int fragments[row_blocks];  // of each row block
    int slots[row_blocks];      // the first
    int irregular[row_blocks];  // this lane's first irregular entry, were there no fragments
    int counts[row_blocks];     // entries of this lane
    int most = 0;
    int next = 0;
#pragma unroll
    for (int r = 0; r < row_blocks; ++r) {
        const DaspLane own = lane_of_row_block(dasp, first + r, dasp.row_blocks(), lane);
        const auto left = static_cast<int>(own.irregular_end - own.irregular);
        rows[r] = own.row;
        fragments[r] = own.fragments;
        slots[r] = next;
        irregular[r] = static_cast<int>(own.irregular - first_irregular) - own.fragments * dasp_width;
        counts[r] = own.fragments + (max(left, 0) + dasp_width - 1) / dasp_width;
        most = max(most, counts[r]);
        next += own.fragments * dasp_lanes;
    }
    QuadSums<Value, tensor> sums[row_blocks];
    add_up<Shape::fragments, Shape::ahead>(
        __reduce_max_sync(whole_warp, most),
        [&](int r, int k) -> Entry<Value> {
            if (k >= counts[r]) return {};
            const bool is_regular = k < fragments[r];
            const int at = is_regular ? slots[r] + k * dasp_lanes : irregular[r] + k * dasp_width;
            return {load((is_regular ? values : irregular_values) + at), load((is_regular ? columns : irregular_columns) + at)};
        },
        x, sums);
#pragma unroll
    for (int r = 0; r < row_blocks; ++r) {
        const Value sum = sums[r].of_row(lane);
        if (sums[r].writes(lane) && rows[r] >= 0) write_result(y + rows[r], sum, accumulate);
    }
}

template <bool tensor, typename Value>
__device__ __forceinline__ void multiply_short(const auto& dasp, Offset first, int lane, const auto& load,
                                               const Value* __restrict__ x, Value* y, bool accumulate) {
    Entry<Value> entries[dasp_short_in_flight];
    DaspShort quads[dasp_short_in_flight];
    Value x_of_entries[dasp_short_in_flight];
#pragma unroll
    for (int i = 0; i < dasp_short_in_flight; ++i) {
        if (first + i >= dasp.short_fragments()) continue;
        const Offset slot = (first + i) * dasp_lanes + lane;
        entries[i] = {load(dasp.short_values.data() + slot), load(dasp.short_columns.data() + slot)};
        quads[i] = lane_of_short_fragment(dasp, first + i, lane);
    }
#pragma unroll
    for (int i = 0; i < dasp_short_in_flight; ++i) x_of_entries[i] = x_of(entries[i], x);
#pragma unroll
    for (int i = 0; i < dasp_short_in_flight; ++i) {
        const bool is_first = lane % dasp_width < quads[i].split;
        const auto sum_where = [&](bool condition) {  // both factors: 0 times what is not finite is not 0
            QuadSums<Value, tensor> sums;
            sums.add(condition ? entries[i].value : Value{0}, condition ? x_of_entries[i] : Value{0});
            return sums.of_row(lane);
        };
        const Value of_first = sum_where(is_first);
        const Value of_second = sum_where(!is_first);
        if (!QuadSums<Value, tensor>::writes(lane)) continue;
        if (quads[i].first >= 0) write_result(y + quads[i].first, of_first, accumulate);
        if (quads[i].second >= 0) write_result(y + quads[i].second, of_second, accumulate);
    }
}

template <typename Value>
__device__ __forceinline__ void multiply_lone(const auto& dasp, Offset place, const auto& load, const Value* __restrict__ x,
                                              Value* y, bool accumulate) {
    const Offset singles = dasp.single_rows.size();
    if (place < singles) {
        write_result(y + dasp.single_rows[place],
                     load(dasp.single_values.data() + place) * x[load(dasp.single_columns.data() + place)], accumulate);
    } else if (place < dasp.lone_rows() && !accumulate) {
        y[dasp.empty_rows[place - singles]] = 0;
    }
}

template <typename Shape, bool tensor, typename Load, typename Stored, typename Value>
__global__ void __launch_bounds__(threads_per_block, Shape::blocks_per_processor)
    multiply_classes(const __grid_constant__ Stored dasp, const __grid_constant__ DaspGrid grid, const Load load,
                     const Pieces<Value> pieces, const Value* __restrict__ x, Value* __restrict__ y, bool accumulate) {
    const int lane = static_cast<int>(threadIdx.x) % dasp_lanes;
    const auto warp_from = [](Offset first_block) {
        return (static_cast<Offset>(blockIdx.x) - first_block) * DaspGrid::warps + threadIdx.x / dasp_lanes;
    };
    const auto block = static_cast<Offset>(blockIdx.x);
    if (block < grid.medium) {
        multiply_piece<tensor>(dasp, pieces, warp_from(0), lane, load, x, y, accumulate);
    } else if (block < grid.shorts) {
        multiply_row_blocks<Shape, tensor>(dasp, warp_from(grid.medium) * Shape::row_blocks, lane, load, x, y, accumulate);
    } else if (block < grid.lone) {
        multiply_short<tensor>(dasp, warp_from(grid.shorts) * dasp_short_in_flight, lane, load, x, y, accumulate);
    } else {
        multiply_lone(dasp, warp_from(grid.lone) * dasp_lanes + lane, load, x, y, accumulate);
    }
}

/// The layout on a device, with what a run needs.
template <typename Shape, bool tensor, ValueType Value>
class DaspOnDevice {
public:
    DaspOnDevice(const DaspLayout<Value>& layout, Device& device)
        : dasp_(copy_to(device, layout.stored(), "dasp")),
          grid_(Shape::grid(dasp_)),
          stream_(cuda_device(device).stream()),
          sums_(device.allocate(layout.piece_rows.size() * sizeof(Value), "dasp sums of pieces")),
          counters_(to_device(device, std::span<const unsigned>(std::vector<unsigned>(layout.long_rows.size())),
                              "dasp pieces done")) {}

    template <typename Load>
    void multiply(const Load& load, const Value* x, Value* y, bool accumulate) const {
        if (grid_.end == 0) return;
        multiply_classes<Shape, tensor><<<static_cast<unsigned>(grid_.end), threads_per_block, 0, stream_>>>(
            view_of(dasp_), grid_, load, Pieces<Value>{sums_.template as<Value>(), counters_.template as<unsigned>()}, x, y,
            accumulate);
        check_launch("dasp classes");
    }

    [[nodiscard]] const Dasp<Value, DeviceArray>& stored() const { return dasp_; }
    [[nodiscard]] const DaspGrid& grid() const { return grid_; }

private:
    Dasp<Value, DeviceArray> dasp_;
    DaspGrid grid_;
    cudaStream_t stream_;
    DeviceMemory sums_;
    DeviceMemory counters_;
};

template <typename Shape, bool tensor, ValueType Value>
class DaspKernel final : public Kernel<Value> {
public:
    DaspKernel(const DaspLayout<Value>& layout, Device& device)
        : dasp_(layout, device), bytes_of_product_(layout.bytes_of_product()) {}

    void run(const Value* x, Value* y, bool accumulate) override { dasp_.multiply(StreamingLoad{}, x, y, accumulate); }

    [[nodiscard]] std::optional<std::int64_t> own_bytes_to_move() const override { return bytes_of_product_; }

private:
    DaspOnDevice<Shape, tensor, Value> dasp_;
    std::int64_t bytes_of_product_;
};

template <bool tensor, ValueType Value>
std::unique_ptr<Kernel<Value>> prepare(const Layout<Value>& layout, Device& device) {
    const auto& dasp = dynamic_cast<const DaspLayout<Value>&>(layout);
    return with_dasp_shape<Value>(dasp.row_blocks(), dasp.medium_entries(),
                                  [&]<typename Shape>(Shape) -> std::unique_ptr<Kernel<Value>> {
                                      return std::make_unique<DaspKernel<Shape, tensor, Value>>(dasp, device);
                                  });
}

template <bool tensor>
KernelEntry entry(std::string name, std::string summary) {
    return {std::move(name), Backend::cuda, std::move(summary), {prepare<tensor, float>, prepare<tensor, double>}};
}

}  // namespace

std::vector<KernelEntry> dasp_cuda_kernels() {
    return {
        entry<true>("tensor", "blocks by class of rows; fragments of f64 on tensor cores"),
        entry<false>("plain", "the same with ordinary multiply-adds in f64, too"),
    };
}

template <typename Shape>
std::vector<Recorded> record_dasp_reads(const DaspLayout<double>& layout, int array, Device& device) {
    const DaspOnDevice<Shape, true, double> dasp(layout, device);
    const DeviceArray<double> x(device, std::vector<double>(layout.column_count), "x");
    const DeviceMemory y = device.allocate(layout.row_count * sizeof(double), "y");
    const auto record = [&](const DeviceArray<double>& values) {
        Recording recording(device, values, dasp.grid().end * threads_per_block);
        dasp.multiply(recording.load(), x.data(), y.as<double>(), false);
        return recording.read();
    };
    const auto is_wanted = [&](const auto& values) { return array == array_number(layout.stored(), values); };
    if (is_wanted(layout.long_values)) return record(dasp.stored().long_values);
    if (is_wanted(layout.regular_values)) return record(dasp.stored().regular_values);
    if (is_wanted(layout.irregular_values)) return record(dasp.stored().irregular_values);
    if (is_wanted(layout.short_values)) return record(dasp.stored().short_values);
    return record(dasp.stored().single_values);
}

template std::vector<Recorded> record_dasp_reads<DaspFlat>(const DaspLayout<double>&, int, Device&);
template std::vector<Recorded> record_dasp_reads<DaspSmall>(const DaspLayout<double>&, int, Device&);
template std::vector<Recorded> record_dasp_reads<DaspLong>(const DaspLayout<double>&, int, Device&);
template std::vector<Recorded> record_dasp_reads<DaspWide>(const DaspLayout<double>&, int, Device&);
template std::vector<Recorded> record_dasp_reads<DaspDeep>(const DaspLayout<double>&, int, Device&);

}  // namespace workbench
