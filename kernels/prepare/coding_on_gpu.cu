// Races. Threads claim the places of a table by atomicCAS, and a claimed place keeps its value; flags are set by writes of one
// same value.
#include "kernels/prepare/coding_on_gpu.cuh"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "core/matrix/random.hpp"
#include "core/matrix/value_bits.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/primitives/rows.cuh"

namespace workbench {
namespace {

using on_gpu::for_each_item;
using Bits = unsigned long long;

constexpr std::size_t places = 1024;

/// A set of values, by open addressing.
struct ValueTable {
    Bits values[places];  // the complements of their bits; 0: none
    int count;            // of the values, or more than the most
    int has_zero;         // a complement is 0
};

template <typename Value>
__global__ void collect_values(const Value* __restrict__ values, std::size_t count, int most, ValueTable* table) {
    for_each_item(count, [&](std::size_t i) {
        const Bits own = ~Bits{bits_of(values[i])};
        if (own == 0) table->has_zero = 1;
        if (own == 0 || *static_cast<volatile int*>(&table->count) > most) return;
        std::size_t place = mixed(own) % places;
        for (std::size_t tried = 0; tried < places; ++tried, place = (place + 1) % places) {
            Bits held = static_cast<volatile Bits*>(table->values)[place];
            if (held == 0) held = atomicCAS(table->values + place, Bits{0}, own);
            if (held == 0) atomicAdd(&table->count, 1);
            if (held == 0 || held == own) return;
        }
        atomicAdd(&table->count, most + 1);  // the table is full
    });
}

__global__ void find_inexact(const double* __restrict__ values, std::size_t count, int* inexact) {
    for_each_item(count, [&](std::size_t i) {
        // f32 has NaNs that are quiet, with fewer bits, to which the GPU itself converts no NaN.
        const bool is_exact = isnan(values[i]) ? (bits_of(values[i]) & 0x800001FFFFFFF) == 0x8000000000000
                                               : static_cast<double>(static_cast<float>(values[i])) == values[i];
        if (!is_exact) *inexact = 1;
    });
}

/// An item on the GPU, 0 beforehand.
template <typename Item>
class Found {
public:
    Found(Device& device, cudaStream_t stream) : memory_(device.allocate(sizeof(Item), "facts on values")), stream_(stream) {
        check_cuda(cudaMemsetAsync(memory_.address(), 0, sizeof(Item), stream), "cudaMemsetAsync");
    }
    [[nodiscard]] Item* address() const { return memory_.template as<Item>(); }
    [[nodiscard]] Item wait() const {
        Item item{};
        check_cuda(cudaMemcpyAsync(&item, address(), sizeof(Item), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
        return item;
    }

private:
    DeviceMemory memory_;
    cudaStream_t stream_;
};

}  // namespace

template <ValueType Value>
std::optional<std::vector<Value>> distinct_on_gpu(Device& device, const Value* values, std::size_t count, Offset most,
                                                  cudaStream_t stream) {
    const Found<ValueTable> table(device, stream);
    collect_values<<<blocks_of(count, block_threads), block_threads, 0, stream>>>(values, count, static_cast<int>(most),
                                                                                  table.address());
    check_launch("collect_values");
    const ValueTable found = table.wait();
    if (found.count + found.has_zero > static_cast<int>(most)) return std::nullopt;
    std::vector<Bits> bits;
    if (found.has_zero != 0) bits.push_back(~Bits{0});
    for (const Bits each : found.values) {
        if (each != 0) bits.push_back(~each);
    }
    std::sort(bits.begin(), bits.end());
    std::vector<Value> distinct;
    for (const Bits each : bits) {
        if constexpr (sizeof(Value) == sizeof(Bits)) {
            distinct.push_back(std::bit_cast<Value>(each));
        } else {
            distinct.push_back(std::bit_cast<Value>(static_cast<std::uint32_t>(each)));
        }
    }
    return distinct;
}

bool are_exact_in_f32_on_gpu(Device& device, const double* values, std::size_t count, cudaStream_t stream) {
    const Found<int> inexact(device, stream);
    find_inexact<<<blocks_of(count, block_threads), block_threads, 0, stream>>>(values, count, inexact.address());
    check_launch("find_inexact");
    return inexact.wait() == 0;
}

template std::optional<std::vector<float>> distinct_on_gpu(Device&, const float*, std::size_t, Offset, cudaStream_t);
template std::optional<std::vector<double>> distinct_on_gpu(Device&, const double*, std::size_t, Offset, cudaStream_t);

}  // namespace workbench
