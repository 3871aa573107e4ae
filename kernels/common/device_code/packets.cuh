// Neighbouring elements of an array in one load or store.
#pragma once

#include <bit>
#include <type_traits>

#include "kernels/common/device_code/loads.cuh"
#include "kernels/common/storage/coded_values.hpp"

namespace workbench {

/// `count` consecutive elements, aligned to their total size.
template <typename Element, int count>
struct alignas(count * sizeof(Element)) Packet {
    Element elements[count];
};

/// A streaming load (StreamingLoad) of a packet of 2, 4, 8 or 16 bytes.
template <int count, typename Element>
__device__ __forceinline__ Packet<Element, count> load_packet(const Element* address) {
    using Loaded = Packet<Element, count>;
    if constexpr (sizeof(Loaded) == 2) {
        return std::bit_cast<Loaded>(__ldcs(reinterpret_cast<const unsigned short*>(address)));
    } else if constexpr (sizeof(Loaded) == 4) {
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

/// Decodes values by a copy of the dictionary in shared memory.
template <typename Value>
struct DecodingPackets : StreamingPackets {
    DecodingLoad<Value> decode;

    __device__ explicit DecodingPackets(const DecodingLoad<Value>& of_block) : decode(of_block) {}
    using StreamingPackets::load;
    using StreamingPackets::load_one;
    template <int count, typename Code>
    __device__ __forceinline__ Packet<Value, count> load(const CodePointer<Value, Code>& values, const auto&) const {
        const auto codes = load_packet<count>(values.code);
        Packet<Value, count> packet;
#pragma unroll
        for (int i = 0; i < count; ++i) packet.elements[i] = decode.value_of(values, codes.elements[i]);
        return packet;
    }
    template <typename Code>
    __device__ __forceinline__ Value load_one(const CodePointer<Value, Code>& values, bool) const {
        return decode.value_of(values, *values.code);
    }
};

/// The loader of a thread block: `packets`, or for values with a dictionary one with a copy of it (loads_of_block).
template <typename Values>
__device__ __forceinline__ auto packets_of_block(const Values& values, const auto& packets) {
    if constexpr (HasDictionary<Values>) {
        return DecodingPackets(loads_of_block(values));
    } else {
        return packets;
    }
}

/// The packet with elements of another type.
template <typename Value, typename Element, int count>
__device__ __forceinline__ Packet<Value, count> converted(const Packet<Element, count>& packet) {
    if constexpr (std::is_same_v<Value, Element>) {
        return packet;
    } else {
        Packet<Value, count> other;
#pragma unroll
        for (int i = 0; i < count; ++i) other.elements[i] = packet.elements[i];
        return other;
    }
}

}  // namespace workbench
