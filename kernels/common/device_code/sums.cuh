// Sums over the lanes of a warp and the threads of a block.
#pragma once

namespace workbench {

/// The sum over `lanes` neighbouring lanes, for the first of them. The whole warp calls it, with one power of two.
template <typename Value>
__device__ __forceinline__ Value sum_over_lanes(Value sum, int lanes) {
    for (int distance = lanes / 2; distance > 0; distance /= 2) sum += __shfl_down_sync(~0U, sum, distance);
    return sum;
}

/// The sum over all 32 lanes, for the first.
template <typename Value>
__device__ __forceinline__ Value sum_over_warp(Value sum) {
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(~0U, sum, distance);
    return sum;
}

/// Several sums, such as those of the rows of a matrix block.
template <typename Value, int count>
struct SumsOfRows {
    Value of[count];

    friend __device__ __forceinline__ SumsOfRows operator+(const SumsOfRows& one, const SumsOfRows& other) {
        SumsOfRows sums;
#pragma unroll
        for (int i = 0; i < count; ++i) sums.of[i] = one.of[i] + other.of[i];
        return sums;
    }
};

/// The value of the lane `distance` before. The whole warp calls it.
template <typename Value>
__device__ __forceinline__ Value from_lane_before(Value value, int distance) {
    return __shfl_up_sync(~0U, value, distance);
}
template <typename Value, int count>
__device__ __forceinline__ SumsOfRows<Value, count> from_lane_before(const SumsOfRows<Value, count>& sums, int distance) {
    SumsOfRows<Value, count> before;
#pragma unroll
    for (int i = 0; i < count; ++i) before.of[i] = __shfl_up_sync(~0U, sums.of[i], distance);
    return before;
}

/// One thread's part of a sum that continues from thread to thread. open: the sum after the last end in this part, or the whole
/// sum if there is none. Value: a number, or Sums.
template <typename Value>
struct Segment {
    bool has_end = false;
    Value open{};
};

template <typename Value>
__device__ __forceinline__ Segment<Value> joined(const Segment<Value>& before, const Segment<Value>& after) {
    return {before.has_end || after.has_end, after.has_end ? after.open : before.open + after.open};
}

template <typename Value>
struct SegmentedSums {
    Value carried_in{};  // left open by the threads before this one
    Value left_open{};   // left open by all threads of the block together
};

/// Shared memory for a segmented sum, `parts` elements a warp.
template <int threads, typename Value, int parts = 1>
struct SegmentsOfWarps {
    bool has_end[threads / 32];
    Value open[threads / 32][parts];
};

/// A segmented sum over all threads of a block; with several parts, a sum for each part: over every parts-th thread. has_end is
/// the same in the parts of a group. Contains one barrier; `of_warps` must not be used for anything else until the next one.
template <int threads, int parts, typename Value>
__device__ __forceinline__ SegmentedSums<Value> segmented_sums(const Segment<Value>& own,
                                                               SegmentsOfWarps<threads, Value, parts>& of_warps) {
    constexpr int warps = threads / 32;
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    Segment<Value> up_to = own;  // this lane and those before it
#pragma unroll
    for (int distance = parts; distance < 32; distance *= 2) {
        const Segment<Value> before{from_lane_before(static_cast<int>(up_to.has_end), distance) != 0,
                                    from_lane_before(up_to.open, distance)};
        if (lane >= distance) up_to = joined(before, up_to);
    }
    if (lane >= 32 - parts) {
        if (lane == 31) of_warps.has_end[warp] = up_to.has_end;
        of_warps.open[warp][lane % parts] = up_to.open;
    }
    Segment<Value> before{from_lane_before(static_cast<int>(up_to.has_end), parts) != 0, from_lane_before(up_to.open, parts)};
    if (lane < parts) before = {};
    __syncthreads();
    Segment<Value> warps_before;
    Segment<Value> all;
#pragma unroll
    for (int i = 0; i < warps; ++i) {
        if (i == warp) warps_before = all;
        all = joined(all, {of_warps.has_end[i], of_warps.open[i][lane % parts]});
    }
    return {joined(warps_before, before).open, all.open};
}

}  // namespace workbench
