#include "pipeline/contract/device.hpp"

#include <array>
#include <stdexcept>

namespace workbench {
namespace {

constexpr std::size_t operator""_KiB(unsigned long long count) { return count << 10; }
constexpr std::size_t operator""_MiB(unsigned long long count) { return count << 20; }
constexpr std::size_t operator""_GiB(unsigned long long count) { return count << 30; }

struct Model {
    std::string_view word;  // as a recipe writes it
    DeviceProperties properties;
};

// Source: NVIDIA's architecture papers, and the table of technical specifications in the CUDA C++ Programming Guide for the
// shared memory that a block can ask for. Memory is that of the largest board sold under the name.
const std::array<Model, 5>& models() {
    static const std::array<Model, 5> table{{
        {"k20x", {DeviceKind::gpu, "NVIDIA Tesla K20X", 14, 48_KiB, 1536_KiB, 6_GiB}},
        {"v100", {DeviceKind::gpu, "NVIDIA Tesla V100", 80, 96_KiB, 6_MiB, 32_GiB}},
        {"a100", {DeviceKind::gpu, "NVIDIA A100", 108, 163_KiB, 40_MiB, 80_GiB}},
        {"h100", {DeviceKind::gpu, "NVIDIA H100 SXM", 132, 227_KiB, 50_MiB, 80_GiB}},
        {"h200", {DeviceKind::gpu, "NVIDIA H200", 132, 227_KiB, 60_MiB, 141_GiB}},
    }};
    return table;
}

struct CacheModel {
    std::string_view device;
    CacheProperties properties;
};

// Sizes of L2: as above. Of the caches next to the processors: NVIDIA's tuning guides of Volta, Ampere and Hopper, where L1
// here leaves nothing to shared memory; K20X: Nagasaka's slides, 12 KiB of read-only cache in each quarter of a processor.
// NVIDIA does not publish the ways: 16 for L2 and 64 for L1 are assumed; 96 are what Mei and Chu, "Dissecting GPU memory
// hierarchy through microbenchmarking" (2017), give Kepler's texture cache.
const std::array<CacheModel, 10>& caches() {
    static const std::array<CacheModel, 10> table{{
        {"k20x", {"read_only", 12_KiB, 96, 4}},
        {"k20x", {"l2", 1536_KiB, 16, 0}},
        {"v100", {"l1", 128_KiB, 64, 1}},
        {"v100", {"l2", 6_MiB, 16, 0}},
        {"a100", {"l1", 192_KiB, 64, 1}},
        {"a100", {"l2", 40_MiB, 16, 0}},
        {"h100", {"l1", 256_KiB, 64, 1}},
        {"h100", {"l2", 50_MiB, 16, 0}},
        {"h200", {"l1", 256_KiB, 64, 1}},
        {"h200", {"l2", 60_MiB, 16, 0}},
    }};
    return table;
}

std::string full_name(const CacheModel& cache) { return std::string(cache.device) + ":" + cache.properties.name; }

}  // namespace

std::vector<CacheProperties> device_caches(std::string_view device) {
    std::vector<CacheProperties> found;
    for (const CacheModel& cache : caches()) {
        if (cache.device == device) found.push_back(cache.properties);
    }
    return found;
}

std::vector<std::string> device_cache_names() {
    std::vector<std::string> names;
    for (const CacheModel& cache : caches()) names.push_back(full_name(cache));
    return names;
}

CacheProperties device_cache(std::string_view name) {
    for (const CacheModel& cache : caches()) {
        if (full_name(cache) == name) return cache.properties;
    }
    throw std::out_of_range("there is no cache '" + std::string(name) + "'");
}

const DeviceProperties* find_device_model(std::string_view name) {
    for (const Model& model : models()) {
        if (model.word == name) return &model.properties;
    }
    return nullptr;
}

std::vector<std::string> device_model_names() {
    std::vector<std::string> names;
    for (const Model& model : models()) names.emplace_back(model.word);
    return names;
}

}  // namespace workbench
