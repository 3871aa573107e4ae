// A device that passes all work on to another one; tests derive from it to replace a part.
#pragma once

#include "core/contract/device.hpp"

namespace workbench {

class DeviceAround : public Device {
public:
    explicit DeviceAround(Device& device) : device_(device) {}

    [[nodiscard]] const DeviceProperties& properties() const override { return device_.properties(); }
    [[nodiscard]] DeviceMemory allocate(std::size_t bytes, std::string_view purpose) override {
        return device_.allocate(bytes, purpose);
    }
    void upload(std::span<const std::byte> from, DeviceMemory& to) override { device_.upload(from, to); }
    void download(const DeviceMemory& from, std::span<std::byte> to) override { device_.download(from, to); }
    void scatter(const float* v, const Index* t, Index n, float* y) override { device_.scatter(v, t, n, y); }
    void scatter(const double* v, const Index* t, Index n, double* y) override { device_.scatter(v, t, n, y); }
    void scatter_add(const float* v, const Index* t, Index n, float* y) override { device_.scatter_add(v, t, n, y); }
    void scatter_add(const double* v, const Index* t, Index n, double* y) override { device_.scatter_add(v, t, n, y); }
    void fill(void* memory, std::byte byte, std::size_t bytes) override { device_.fill(memory, byte, bytes); }
    void flush_cache() override { device_.flush_cache(); }
    [[nodiscard]] double time(const std::function<void()>& work) override { return device_.time(work); }
    [[nodiscard]] Bandwidth bandwidth() override { return device_.bandwidth(); }
    [[nodiscard]] double read_bandwidth(std::size_t bytes) override { return device_.read_bandwidth(bytes); }
    [[nodiscard]] Solvers* solvers() override { return device_.solvers(); }

private:
    Device& device_;
};

}  // namespace workbench
