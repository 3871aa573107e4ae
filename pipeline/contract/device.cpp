#include "pipeline/contract/device.hpp"

#include <array>

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
    std::string_view word;  // as a recipe writes it
    CacheProperties properties;
};

// Sizes: as above, and the tuning guides of Volta, Ampere and Hopper for L1, which here leaves nothing to shared memory; of
// the K20X, Nagasaka's slides (12 KiB of read-only cache for each quarter of a multiprocessor).
const std::array<CacheModel, 10>& caches() {
    static const std::array<CacheModel, 10> table{{
        {"k20x:read_only", {12_KiB, 32, 96}},
        {"k20x:l2", {1536_KiB, 32, 16}},
        {"v100:l1", {128_KiB, 32, 64}},
        {"v100:l2", {6_MiB, 32, 16}},
        {"a100:l1", {192_KiB, 32, 64}},
        {"a100:l2", {40_MiB, 32, 16}},
        {"h100:l1", {256_KiB, 32, 64}},
        {"h100:l2", {50_MiB, 32, 16}},
        {"h200:l1", {256_KiB, 32, 64}},
        {"h200:l2", {60_MiB, 32, 16}},
    }};
    return table;
}

}  // namespace

const CacheProperties* find_device_cache(std::string_view name) {
    for (const CacheModel& cache : caches()) {
        if (cache.word == name) return &cache.properties;
    }
    return nullptr;
}

std::vector<std::string> device_cache_names() {
    std::vector<std::string> names;
    for (const CacheModel& cache : caches()) names.emplace_back(cache.word);
    return names;
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
