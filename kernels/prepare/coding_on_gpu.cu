// Races. Threads claim the places of a table by atomicCAS, and a claimed place keeps its item; flags are set by writes of one
// same value.
#include "kernels/prepare/coding_on_gpu.cuh"

#include <algorithm>
#include <memory>
#include <numeric>
#include <span>

#include "core/matrix/random.hpp"
#include "kernels/device/cuda_check.cuh"
#include "kernels/prepare/narrowing.cuh"
#include "kernels/primitives/rows.cuh"

namespace workbench {
namespace {

using on_gpu::for_each_item;

// The number of a place fits in 16 bits. Most places stay empty, so that searches are short.
constexpr std::size_t table_places = 1 << 14;

/// A set of items, by open addressing.
struct ItemTable {
    std::uint32_t items[table_places];  // their numbers, plus 1; 0: none
    int count;
};

template <typename Value>
__device__ std::uint64_t bits_in(const ItemsOnGpu<Value>& of, std::size_t item, Index j) {
    if (of.nonzeros == nullptr) return bits_of(of.values[item]);
    const std::uint32_t nonzero = of.nonzeros[item * of.area + j];
    return nonzero == no_item ? 0 : bits_of(of.values[nonzero]);
}

template <typename Value>
__device__ bool are_equal(const ItemsOnGpu<Value>& of, std::size_t one, std::size_t other) {
    for (Index j = 0; j < of.area; ++j) {
        if (bits_in(of, one, j) != bits_in(of, other, j)) return false;
    }
    return true;
}

template <typename Value>
__global__ void collect_items(ItemsOnGpu<Value> of, int most, ItemTable* table, std::uint16_t* __restrict__ places) {
    const volatile int* const count = &table->count;
    for_each_item(of.counted(), [&](std::size_t number) {
        of.with_item(number, [&](std::size_t i) {
            std::uint64_t hash = 0;
            for (Index j = 0; j < of.area; ++j) hash = mixed(hash ^ bits_in(of, i, j));
            const auto own = static_cast<std::uint32_t>(i + 1);
            for (std::size_t place = hash % table_places; *count <= most; place = (place + 1) % table_places) {
                std::uint32_t held = static_cast<volatile std::uint32_t*>(table->items)[place];
                if (held == 0) held = atomicCAS(table->items + place, 0U, own);
                if (held == 0) atomicAdd(&table->count, 1);
                if (held != 0 && !are_equal(of, held - 1, i)) continue;
                places[i] = static_cast<std::uint16_t>(place);
                return;
            }
        });
    });
}

/// The values of some items, one after another.
template <typename Value>
__global__ void copy_items(ItemsOnGpu<Value> of, const std::uint32_t* __restrict__ chosen, std::size_t values,
                           Value* __restrict__ to) {
    for_each_item(values, [&](std::size_t i) {
        const std::size_t item = chosen[i / of.area];
        const std::uint32_t nonzero = of.nonzeros == nullptr ? item : of.nonzeros[item * of.area + i % of.area];
        to[i] = nonzero == no_item ? Value{0} : of.values[nonzero];
    });
}

__global__ void find_unfit(ItemsOnGpu<double> of, Rounding rounding, int* unfit) {
    for_each_item(of.counted(), [&](std::size_t number) {
        of.with_item(number, [&](std::size_t i) {
            const double value = of.values[i];
            // The GPU would convert each NaN to the same one.
            const bool is_exact_nan = (bits_of(value) & 0x800001FFFFFFF) == 0x8000000000000;
            const bool fits = rounding != Rounding::none ? !isfinite(value) || isfinite(rounded_on_gpu(value, rounding))
                              : isnan(value)             ? is_exact_nan
                                                         : static_cast<double>(static_cast<float>(value)) == value;
            if (!fits) *unfit = 1;
        });
    });
}

template <typename Value>
__global__ void find_unequal(ItemsOnGpu<Value> of, const std::uint32_t* __restrict__ others, int* unequal) {
    for_each_item(of.counted(), [&](std::size_t number) {
        of.with_item(number, [&](std::size_t i) {
            if (bits_of(of.values[i]) != bits_of(of.values[others[i]])) *unequal = 1;
        });
    });
}

/// An item on the GPU, 0 beforehand.
template <typename Item>
class FoundItems {
public:
    FoundItems(Device& device, cudaStream_t stream)
        : memory_(device.allocate(sizeof(Item), "facts on values")), stream_(stream) {
        check_cuda(cudaMemsetAsync(memory_.address(), 0, sizeof(Item), stream), "cudaMemsetAsync");
    }
    [[nodiscard]] Item* address() const { return memory_.template as<Item>(); }
    void wait(Item& item) const {
        check_cuda(cudaMemcpyAsync(&item, address(), sizeof(Item), cudaMemcpyDeviceToHost, stream_), "cudaMemcpyAsync");
        check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    }

private:
    DeviceMemory memory_;
    cudaStream_t stream_;
};

/// The values of some items, on the host.
template <ValueType Value>
std::vector<Value> values_of(Device& device, const ItemsOnGpu<Value>& items, const std::vector<std::uint32_t>& chosen,
                             cudaStream_t stream) {
    std::vector<Value> values(chosen.size() * static_cast<std::size_t>(items.area));
    const DeviceMemory numbers = to_device(device, std::span<const std::uint32_t>(chosen), "distinct values");
    const DeviceMemory memory = device.allocate(values.size() * sizeof(Value), "distinct values");
    copy_items<<<blocks_of(values.size(), block_threads), block_threads, 0, stream>>>(
        items, numbers.as<const std::uint32_t>(), values.size(), memory.template as<Value>());
    check_launch("copy_items");
    check_cuda(cudaMemcpyAsync(values.data(), memory.address(), memory.bytes(), cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return values;
}

}  // namespace

template <ValueType Value>
std::optional<CodesOnGpu<Value>> code_on_gpu(Device& device, const ItemsOnGpu<Value>& items, Offset most, cudaStream_t stream) {
    CodesOnGpu<Value> codes{{}, device.allocate(items.count * sizeof(std::uint16_t), "places of values"), {}};
    const FoundItems<ItemTable> table(device, stream);
    collect_items<<<blocks_of(items.counted(), block_threads), block_threads, 0, stream>>>(
        items, static_cast<int>(most), table.address(), codes.places.template as<std::uint16_t>());
    check_launch("collect_items");
    const auto found = std::make_unique<ItemTable>();
    table.wait(*found);
    if (found->count > static_cast<int>(most)) return std::nullopt;
    std::vector<std::uint32_t> chosen;
    std::vector<std::size_t> places;
    for (std::size_t place = 0; place < table_places; ++place) {
        if (found->items[place] == 0) continue;
        chosen.push_back(found->items[place] - 1);
        places.push_back(place);
    }
    const std::vector<Value> values = values_of(device, items, chosen, stream);
    const auto area = static_cast<std::size_t>(items.area);
    const auto begin_of = [&](std::size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i * area); };
    const auto is_less = [](Value a, Value b) { return bits_of(a) < bits_of(b); };
    std::vector<std::size_t> order(chosen.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::lexicographical_compare(begin_of(a), begin_of(a + 1), begin_of(b), begin_of(b + 1), is_less);
    });
    std::vector<std::uint32_t> codes_of_places(table_places);
    for (const std::size_t i : order) {
        codes_of_places[places[i]] = static_cast<std::uint32_t>(codes.dictionary.size() / area);
        codes.dictionary.insert(codes.dictionary.end(), begin_of(i), begin_of(i + 1));
    }
    codes.codes_of_places = to_device(device, std::span<const std::uint32_t>(codes_of_places), "codes of places");
    return codes;
}

template <ValueType Value>
bool are_equal_on_gpu(Device& device, const ItemsOnGpu<Value>& values, const std::uint32_t* others, cudaStream_t stream) {
    const FoundItems<int> unequal(device, stream);
    find_unequal<<<blocks_of(values.counted(), block_threads), block_threads, 0, stream>>>(values, others, unequal.address());
    check_launch("find_unequal");
    int found = 0;
    unequal.wait(found);
    return found == 0;
}

bool fit_on_gpu(Device& device, const ItemsOnGpu<double>& values, Rounding rounding, cudaStream_t stream) {
    const FoundItems<int> unfit(device, stream);
    find_unfit<<<blocks_of(values.counted(), block_threads), block_threads, 0, stream>>>(values, rounding, unfit.address());
    check_launch("find_unfit");
    int found = 0;
    unfit.wait(found);
    return found == 0;
}

template bool are_equal_on_gpu(Device&, const ItemsOnGpu<float>&, const std::uint32_t*, cudaStream_t);
template bool are_equal_on_gpu(Device&, const ItemsOnGpu<double>&, const std::uint32_t*, cudaStream_t);
template std::optional<CodesOnGpu<float>> code_on_gpu(Device&, const ItemsOnGpu<float>&, Offset, cudaStream_t);
template std::optional<CodesOnGpu<double>> code_on_gpu(Device&, const ItemsOnGpu<double>&, Offset, cudaStream_t);

}  // namespace workbench
