// How kernels read the arrays of a matrix. Schedules, which run on the host too, take one of these (schedule/run.hpp).
#pragma once

#include "core/matrix/bf16.hpp"
#include "kernels/common/storage/coded_values.hpp"

namespace workbench {

/// The matrix is read once: marked as streaming, it is evicted first, which keeps the caches for x.
struct StreamingLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcs(address);
    }
    __device__ __forceinline__ Bf16 operator()(const Bf16* address) const { return {__ldcs(&address->bits)}; }
    template <ValuePointer Pointer>
    __device__ __forceinline__ auto operator()(const Pointer& pointer) const {
        return pointer.decode(*this);
    }
    /// Loads an element even if it is not wanted, so that threads without an element need no branch.
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address, bool /*is_wanted*/) const {
        return __ldcs(address);
    }
    template <typename Element>
    __device__ __forceinline__ Element kept(const Element* address) const {
        return __ldg(address);
    }
};

/// Decodes values by a copy of the dictionary in shared memory.
template <typename Value>
struct DecodingLoad : StreamingLoad {
    const Value* dictionary;

    __device__ explicit DecodingLoad(const Value* in_shared_memory) : dictionary(in_shared_memory) {}
    using StreamingLoad::operator();
    template <typename Code>
    __device__ __forceinline__ Value operator()(const CodePointer<Value, Code>& pointer) const {
        return value_of(pointer, StreamingLoad::operator()(pointer.code));
    }
    template <typename Code>
    __device__ __forceinline__ Value value_of(const CodePointer<Value, Code>& pointer, Code code) const {
        return dictionary[code >> pointer.shift];
    }
};

/// The loads of a thread block: if the values have a shared dictionary, its threads copy it to the block's dynamic shared
/// memory (bytes_of_dictionary) and wait for each other.
template <typename Values>
__device__ __forceinline__ auto loads_of_block(const Values& values) {
    if constexpr (SharesDictionary<Values>) {
        using Value = std::remove_cvref_t<decltype(values.dictionary[0])>;
        extern __shared__ unsigned char dictionary_memory[];
        Value* const dictionary = reinterpret_cast<Value*>(dictionary_memory);
        const unsigned thread = threadIdx.y * blockDim.x + threadIdx.x;
        for (unsigned i = thread; i < values.dictionary.size(); i += blockDim.x * blockDim.y) {
            dictionary[i] = __ldg(values.dictionary.data() + i);
        }
        __syncthreads();
        return DecodingLoad<Value>(dictionary);
    } else {
        return StreamingLoad{};
    }
}

/// ld.global.cv: never read from a cache and kept in L2 alone, as if other threads wrote there.
struct VolatileLoad {
    template <typename Element>
    __device__ __forceinline__ Element operator()(const Element* address) const {
        return __ldcv(address);
    }
};

}  // namespace workbench
