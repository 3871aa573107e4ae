// Neighbouring elements of an array in one load or store.
#pragma once

#include <bit>

namespace workbench {

/// So many elements in a row, aligned to all of them.
template <typename Element, int count>
struct alignas(count * sizeof(Element)) Packet {
    Element elements[count];
};

/// Reads a packet that is read once (see StreamingLoad). The address is aligned to the packet, of 4, 8 or 16 bytes.
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

/// How kernels read the matrix in packets. `is_wanted` tells, for an element of the packet, whether the kernel uses what it
/// reads there: of interest only where reads are recorded (RecordingPackets).
struct StreamingPackets {
    template <int count, typename Element>
    __device__ __forceinline__ Packet<Element, count> load(const Element* address, const auto&) const {
        return load_packet<count>(address);
    }
    /// One element, where a whole packet would reach beyond the array: rare, and so by an ordinary load, which leaves the
    /// compiler more registers.
    template <typename Element>
    __device__ __forceinline__ Element load_one(const Element* address, bool) const {
        return *address;
    }
};

}  // namespace workbench
