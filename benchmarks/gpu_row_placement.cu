// Runs the methods of gpu_row_placement.cpp with cold caches.
#include "gpu_row_placement.hpp"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <algorithm>
#include <bit>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <memory>
#include <stdexcept>

#include "gpu_row_placement_kernels.cuh"
#include "kernels/primitives/workspace.cuh"

namespace workbench {
namespace {

__global__ void flush(uint4* memory, std::size_t count) {
    for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count; i += gridDim.x * std::size_t{256}) {
        memory[i] = make_uint4(1, 2, 3, 4);
    }
}

// ---- all tiles at once

__global__ void number_rows(std::size_t count, Index rows, Index* __restrict__ numbers) {
    for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count; i += gridDim.x * std::size_t{256}) {
        numbers[i] = static_cast<Index>(i % rows);
    }
}

__global__ void join_tile_and_length(const Index* __restrict__ lengths, std::size_t count, Index rows, int bits,
                                     std::uint64_t* __restrict__ keys, Index* __restrict__ numbers) {
    for (std::size_t i = blockIdx.x * std::size_t{256} + threadIdx.x; i < count; i += gridDim.x * std::size_t{256}) {
        keys[i] = static_cast<std::uint64_t>(i / rows) << bits | static_cast<std::uint64_t>(lengths[i]);
        numbers[i] = static_cast<Index>(i % rows);
    }
}

struct FirstRow {
    Index rows;
    __host__ __device__ Index operator()(Index tile) const { return tile * rows; }
};

// ---- the contest

class Contest {
public:
    Contest(const TilesToPlace& tiles, int repetitions) : tiles_(tiles), repetitions_(repetitions) {
        lengths_ = workspace_.upload<Index>(std::span(tiles.lengths));
        places_ = workspace_.make<Index>(tiles.lengths.size());
        flushed_ = workspace_.make<uint4>((std::size_t{256} << 20) / sizeof(uint4));
        check_cuda(cudaEventCreate(&begin_), "cudaEventCreate");
        check_cuda(cudaEventCreate(&end_), "cudaEventCreate");
    }
    Contest(const Contest&) = delete;
    Contest& operator=(const Contest&) = delete;
    ~Contest() {
        (void)cudaEventDestroy(begin_);
        (void)cudaEventDestroy(end_);
    }

    /// `work()` launches the method on the stream. The first run is not timed.
    template <typename Work>
    void run(const std::string& name, const Work& work) {
        GpuMethod method{name, std::vector<Index>(tiles_.lengths.size()), {}};
        for (int run = -1; run < repetitions_; ++run) {
            check_cuda(cudaMemsetAsync(places_.data(), 0xFF, places_.size() * sizeof(Index), stream()), "cudaMemsetAsync");
            flush<<<1056, 256, 0, stream()>>>(flushed_.data(), flushed_.size());
            check_cuda(cudaEventRecord(begin_, stream()), "cudaEventRecord");
            work();
            check_launch(name.c_str());
            check_cuda(cudaEventRecord(end_, stream()), "cudaEventRecord");
            check_cuda(cudaEventSynchronize(end_), "cudaEventSynchronize");
            float milliseconds = 0;
            check_cuda(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
            if (run >= 0) method.seconds.push_back(1e-3 * milliseconds);
        }
        workspace_.download(places_, std::span(method.places));
        methods.push_back(std::move(method));
    }

    [[nodiscard]] cudaStream_t stream() const { return workspace_.stream(); }
    [[nodiscard]] Workspace& workspace() { return workspace_; }
    [[nodiscard]] const Index* lengths() const { return lengths_.data(); }
    [[nodiscard]] Index* places() const { return places_.data(); }

    std::vector<GpuMethod> methods;

private:
    const TilesToPlace& tiles_;
    int repetitions_;
    Workspace workspace_;
    DeviceArray<Index> lengths_;
    DeviceArray<Index> places_;
    DeviceArray<uint4> flushed_;
    cudaEvent_t begin_ = nullptr;
    cudaEvent_t end_ = nullptr;
};

/// The threads of a tile: a warp, or about as many as rows, whichever was the fastest.
template <typename Launch>
void with_threads(Index rows, const Launch& launch) {
    if (rows <= 64) return launch(std::integral_constant<int, 32>{});
    if (rows <= 128) return launch(std::integral_constant<int, 64>{});
    return launch(std::integral_constant<int, 128>{});
}

template <typename Kernel>
void allow_shared(Kernel kernel, std::size_t bytes) {
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
               "cudaFuncSetAttribute");
}

/// Enough blocks to fill the GPU. Each processes several tiles, so that its tables are cleared only once.
unsigned resident_blocks(const TilesToPlace& tiles, int threads) {
    constexpr int processors = 132;
    return static_cast<unsigned>(std::min(tiles.count(), processors * std::min(32, 2048 / threads)));
}

template <bool by_class>
void launch_in_lanes(Contest& contest, const TilesToPlace& tiles) {
    const auto launch = [&](auto width) {
        const std::size_t lanes = static_cast<std::size_t>(tiles.count()) * width;
        place_in_lanes<width.value, by_class><<<blocks_of(lanes, 256), 256, 0, contest.stream()>>>(
            contest.lengths(), tiles.count(), tiles.rows, contest.places());
    };
    if (tiles.rows <= 8) return launch(std::integral_constant<int, 8>{});
    if (tiles.rows <= 16) return launch(std::integral_constant<int, 16>{});
    launch(std::integral_constant<int, 32>{});
}

void hash(Contest& contest, const TilesToPlace& tiles, Index sample) {
    if (tiles.rows <= 32 && sample >= tiles.rows) {
        contest.run("hash, fitted to " + std::to_string(tiles.rows) + " rows", [&] { launch_in_lanes<true>(contest, tiles); });
        return;
    }
    with_threads(tiles.rows, [&](auto threads) {
        contest.run("hash, fitted to " + std::to_string(std::min(sample, tiles.rows)) + " rows", [&] {
            place_by_hash<threads>
                <<<resident_blocks(tiles, threads), threads.value, hash_table_bytes(tiles.rows), contest.stream()>>>(
                    contest.lengths(), tiles.count(), tiles.rows, sample, contest.places());
        });
    });
}

template <int threads, int items>
void block_sort(Contest& contest, const TilesToPlace& tiles, int bits) {
    contest.run("radix sort in a block", [&] {
        place_by_block_sort<threads, items><<<resident_blocks(tiles, threads), threads, 0, contest.stream()>>>(
            contest.lengths(), tiles.count(), tiles.rows, bits, contest.places());
    });
}

void segmented_sorts(Contest& contest, const TilesToPlace& tiles, int bits) {
    Workspace& workspace = contest.workspace();
    const auto count = static_cast<int>(tiles.lengths.size());
    const auto first = thrust::make_transform_iterator(thrust::counting_iterator<Index>(0), FirstRow{tiles.rows});
    const auto numbers = workspace.make<Index>(tiles.lengths.size());
    const auto sorted = workspace.make<Index>(tiles.lengths.size());
    std::size_t bytes = 0;
    const auto sort = [&](void* memory) {
        return cub::DeviceSegmentedSort::StableSortPairs(memory, bytes, contest.lengths(), sorted.data(), numbers.data(),
                                                         contest.places(), count, tiles.count(), first, first + 1,
                                                         contest.stream());
    };
    check_cuda(sort(nullptr), "DeviceSegmentedSort");
    const auto memory = workspace.make<unsigned char>(bytes);
    contest.run("segmented sort", [&] {
        number_rows<<<1056, 256, 0, contest.stream()>>>(tiles.lengths.size(), tiles.rows, numbers.data());
        check_cuda(sort(memory.data()), "DeviceSegmentedSort");
    });

    const auto keys = workspace.make<std::uint64_t>(tiles.lengths.size());
    const auto sorted_keys = workspace.make<std::uint64_t>(tiles.lengths.size());
    const int tile_bits = std::bit_width(static_cast<std::uint32_t>(tiles.count()));
    bytes = 0;
    const auto sort_all = [&](void* with) {
        return cub::DeviceRadixSort::SortPairs(with, bytes, keys.data(), sorted_keys.data(), numbers.data(), contest.places(),
                                               count, 0, bits + tile_bits, contest.stream());
    };
    check_cuda(sort_all(nullptr), "DeviceRadixSort");
    const auto memory_of_all = workspace.make<unsigned char>(bytes);
    contest.run("one radix sort of all tiles", [&] {
        join_tile_and_length<<<1056, 256, 0, contest.stream()>>>(contest.lengths(), tiles.lengths.size(), tiles.rows, bits,
                                                                 keys.data(), numbers.data());
        check_cuda(sort_all(memory_of_all.data()), "DeviceRadixSort");
    });
}

}  // namespace

std::vector<GpuMethod> place_on_gpu(const TilesToPlace& tiles, int repetitions, Index groups,
                                    const std::vector<Index>& samples) {
    const Index longest = *std::max_element(tiles.lengths.begin(), tiles.lengths.end());
    if (tiles.rows > most_rows || longest > most_length || groups > most_groups) {
        throw std::invalid_argument("expected at most 512 rows in a tile, 4096 nonzeros in a row and 16 groups");
    }
    const int bits = std::bit_width(static_cast<std::uint32_t>(longest) + 1);  // padding sorts behind the longest row
    Contest contest(tiles, repetitions);
    for (const Index sample : samples) {
        if (sample < tiles.rows || sample == samples.front()) hash(contest, tiles, sample);
    }
    segmented_sorts(contest, tiles, bits);
    switch (tiles.rows) {
        case 8:
        case 16:
        case 32: block_sort<32, 1>(contest, tiles, bits); break;
        case 64: block_sort<32, 2>(contest, tiles, bits); break;
        case 128: block_sort<64, 2>(contest, tiles, bits); break;
        case 256: block_sort<64, 4>(contest, tiles, bits); break;
        default: block_sort<128, 4>(contest, tiles, bits); break;
    }
    if (tiles.rows <= 32) {
        contest.run("ranks by comparing in a warp", [&] { launch_in_lanes<false>(contest, tiles); });
    } else if (tiles.rows <= 64) {
        contest.run("ranks by comparing in a warp", [&] {
            place_by_rank<<<blocks_of(static_cast<std::size_t>(tiles.count()) * 32, 256), 256, 0, contest.stream()>>>(
                contest.lengths(), tiles.count(), tiles.rows, contest.places());
        });
    }
    with_threads(tiles.rows, [&](auto threads) {
        const Index bins = std::max(longest + 1, most_groups);
        const std::size_t counting = Counted::bytes(bins, threads / 32);
        const std::size_t program = counting + Program::bytes(std::min(tiles.rows, bins));
        allow_shared(place_by_counting<threads>, counting);
        contest.run("counting sort", [&] {
            place_by_counting<threads><<<resident_blocks(tiles, threads), threads.value, counting, contest.stream()>>>(
                contest.lengths(), tiles.count(), tiles.rows, bins, contest.places());
        });
        allow_shared(place_by_program<threads>, program);
        contest.run("dynamic program", [&] {
            place_by_program<threads><<<resident_blocks(tiles, threads), threads.value, program, contest.stream()>>>(
                contest.lengths(), tiles.count(), tiles.rows, bins, groups, contest.places());
        });
    });
    return std::move(contest.methods);
}

std::string gpu_name() {
    cudaDeviceProp properties{};
    check_cuda(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    return properties.name;
}

}  // namespace workbench
