// The host as a device, for the Kokkos and Eigen kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>

#include "core/contract/device.hpp"

namespace workbench {

/// Kokkos must be initialised during the lifetime of the device.
[[nodiscard]] std::unique_ptr<Device> make_host_device();

/// The best of three rounds of copying one half of a buffer that exceeds all caches to the other, and of reading all of it:
/// both move all of its bytes once. time(work): the seconds of a round. `buffer` has an even number of words.
[[nodiscard]] Bandwidth measure_bandwidth(std::span<std::uint64_t> buffer,
                                          const std::function<double(const std::function<void()>&)>& time);

/// The sum over all threads of the highest bandwidth with which one of them reads a mebibyte of its part of these words, again
/// and again if the part is smaller, in bytes per second. Other work of the machine hardly lowers it. Infinite for fewer than 8
/// words a thread.
[[nodiscard]] double measure_read_bandwidth(std::span<const std::uint64_t> words);

/// The bytes of all caches of the highest level together (a processor may have several, each for some of its cores); 0 if
/// unknown. cores: the folder in which Linux describes them.
[[nodiscard]] std::size_t last_level_cache(const std::filesystem::path& cores);

}  // namespace workbench
