// Neighbouring elements of an array in one load or store.
#pragma once

#include <bit>

#include "kernels/common/storage/coded_values.hpp"

namespace workbench {

/// `count` consecutive elements, aligned to their total size.
template <typename Element, int count>
struct alignas(count * sizeof(Element)) Packet {
    Element elements[count];
};

/// A streaming load (StreamingLoad) of a packet of 4, 8 or 16 bytes.
template <int count, typename Element>
__device__ __forceinline__ Packet<Element, count> load_packet(const Element* address) {
    using Loaded = Packet<Element, count>;
    if constexpr (sizeof(Loaded) == 4) {
        return std::bit_cast<Loaded>(__ldcs(reinterpret_cast<const unsigned*>(address)));
    } else if constexpr (sizeof(Loaded) == 8) {
        return std::bit_cast<Loaded>(__ldcs(reinterpret_cast<const uint2*>(address)));
    } else {
        static_assert(sizeof(Loaded) == 16);
        return std::bit_cast<Loaded>(__ldcs(reinterpret_cast<const uint4*>(address)));
    }
}

/// Reads the matrix in packets. is_wanted(i): true if the kernel uses element i of the packet, which only loaders that record
/// reads need to know.
struct StreamingPackets {
    template <int count, typename Element>
    __device__ __forceinline__ Packet<Element, count> load(const Element* address, const auto&) const {
        return load_packet<count>(address);
    }
    template <int count, typename Value>
    __device__ __forceinline__ Packet<Value, count> load(const ConstantPointer<Value>& values, const auto&) const {
        Packet<Value, count> packet;
#pragma unroll
        for (int i = 0; i < count; ++i) packet.elements[i] = values.value;
        return packet;
    }
    template <typename Value>
    __device__ __forceinline__ Value load_one(const ConstantPointer<Value>& values, bool) const {
        return values.value;
    }
    /// One element, if a whole packet would reach beyond the array: an ordinary load, which leaves the compiler more registers.
    template <typename Element>
    __device__ __forceinline__ Element load_one(const Element* address, bool) const {
        return *address;
    }
};

}  // namespace workbench
