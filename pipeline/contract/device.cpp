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

}  // namespace

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
