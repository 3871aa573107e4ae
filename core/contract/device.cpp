#include "core/contract/device.hpp"

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

// Source: NVIDIA's architecture papers and data sheets; for shared memory the table of technical specifications in the CUDA C++
// Programming Guide; for the processors of a GB200's GPUs, which NVIDIA does not publish, what the driver reports. Memory is
// that of the largest board sold under the name.
const std::array<Model, 6>& models() {
    static const std::array<Model, 6> table{{
        {"k20x", {DeviceKind::gpu, "NVIDIA Tesla K20X", 14, 48_KiB, 1536_KiB, 6_GiB, 48_KiB, 250e9}},
        {"v100", {DeviceKind::gpu, "NVIDIA Tesla V100", 80, 96_KiB, 6_MiB, 32_GiB, 96_KiB, 900e9}},
        {"a100", {DeviceKind::gpu, "NVIDIA A100", 108, 163_KiB, 40_MiB, 80_GiB, 164_KiB, 2039e9}},
        {"h100", {DeviceKind::gpu, "NVIDIA H100 SXM", 132, 227_KiB, 50_MiB, 80_GiB, 228_KiB, 3350e9}},
        {"h200", {DeviceKind::gpu, "NVIDIA H200", 132, 227_KiB, 60_MiB, 141_GiB, 228_KiB, 4800e9}},
        {"gb200", {DeviceKind::gpu, "NVIDIA GB200", 152, 227_KiB, 126_MiB, 186_GiB, 228_KiB, 8000e9}},
    }};
    return table;
}

struct KnownCache {
    std::string_view device;
    CacheProperties properties;
};

// Sizes of L2: as above. Sizes of the caches next to the processors: NVIDIA's tuning guides of Volta, Ampere, Hopper and
// Blackwell, with all of L1 and none of it shared memory; K20X: Nagasaka's slides, 12 KiB of read-only cache in each quarter of
// a processor. NVIDIA does not publish the ways: 16 for L2 and 64 for L1 are assumed; 96 are what Mei and Chu, "Dissecting GPU
// memory hierarchy through microbenchmarking" (2017), give Kepler's texture cache.
const std::array<KnownCache, 12>& caches() {
    static const std::array<KnownCache, 12> table{{
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
        {"gb200", {"l1", 256_KiB, 64, 1}},
        {"gb200", {"l2", 126_MiB, 16, 0}},
    }};
    return table;
}

std::string full_name(const KnownCache& cache) { return std::string(cache.device) + ":" + cache.properties.name; }

}  // namespace

std::vector<CacheProperties> device_caches(std::string_view device) {
    std::vector<CacheProperties> found;
    for (const KnownCache& cache : caches()) {
        if (cache.device == device) found.push_back(cache.properties);
    }
    return found;
}

std::vector<std::string> device_cache_names() {
    std::vector<std::string> names;
    for (const KnownCache& cache : caches()) names.push_back(full_name(cache));
    return names;
}

CacheProperties device_cache(std::string_view name) {
    for (const KnownCache& cache : caches()) {
        if (full_name(cache) == name) return cache.properties;
    }
    throw std::out_of_range("there is no cache '" + std::string(name) + "'");
}

void Device::upload_pieces(std::size_t bytes, const FillPiece& fill, DeviceMemory& to) {
    std::vector<std::byte> all(bytes);
    if (bytes > 0) fill(0, all);
    upload(all, to);
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): overrides keep it
std::unique_ptr<PendingCopy> Device::begin_upload(std::size_t bytes, FillPiece fill, DeviceMemory& to) {
    class Complete final : public PendingCopy {
        void wait() override {}
    };
    upload_pieces(bytes, fill, to);
    return std::make_unique<Complete>();
}

const DeviceProperties* find_device_model(std::string_view name) {
    for (const Model& model : models()) {
        if (model.word == name) return &model.properties;
    }
    return nullptr;
}

const DeviceProperties& tuned_device_model() { return *find_device_model("h200"); }

std::vector<std::string> device_model_names() {
    std::vector<std::string> names;
    for (const Model& model : models()) names.emplace_back(model.word);
    return names;
}

}  // namespace workbench
