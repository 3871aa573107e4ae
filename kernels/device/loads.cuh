// How kernels read the arrays of a matrix. Schedules, which run on the host too, take one of these (schedule/run.hpp).
#pragma once

namespace workbench {

/// The matrix is read once: marked as streaming, it is evicted first, which keeps the caches for x.
struct StreamingLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcs(address);
    }
    /// A thread that has no element of its own may load another one, which it does not want, to keep loads free of branches.
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address, bool /*is_wanted*/) const {
        return __ldcs(address);
    }
    template <typename Element>
    __device__ __forceinline__ Element kept(const Element* address) const {
        return __ldg(address);
    }
};

/// ld.global.cv: never read from a cache and kept in L2 alone, as if other threads wrote there.
struct VolatileLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcv(address);
    }
};

}  // namespace workbench
