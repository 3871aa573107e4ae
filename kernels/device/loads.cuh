// How kernels read the arrays of a matrix. A schedule, which the host calls too, is handed one of these (schedule/run.hpp).
#pragma once

namespace workbench {

/// The matrix is read once: marked as streaming it is the first to leave the caches, which stay with x.
struct StreamingLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcs(address);
    }
    template <typename Element>
    __device__ __forceinline__ Element kept(const Element* address) const {
        return __ldg(address);
    }
};

/// ld.global.cv: never taken from a cache and left in none but L2, as if others wrote there.
struct VolatileLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcv(address);
    }
};

}  // namespace workbench
