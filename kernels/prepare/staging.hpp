// Copies between a program's arrays and the memory that a GPU reads and writes itself, by all cores: one core alone is slower
// than the way to the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <vector>

#include "pipeline/matrix/huge_pages.hpp"
#include "pipeline/matrix/types.hpp"

namespace workbench {

void copy_together(void* to, const void* from, std::size_t bytes);

/// Offsets below 2^32 as 32 bits, and back.
void narrow_together(std::uint32_t* to, const Offset* from, std::size_t count);
void widen_together(Offset* to, const std::uint32_t* from, std::size_t count);

/// Gives an empty array so many zeros. Its pages are made at once, by all cores; the zeros, which one thread has to write, by a
/// thread of its own while the GPU is at work. The array must outlive it.
template <typename Item>
class ZerosAside {
public:
    ZerosAside(std::vector<Item>& items, std::size_t count) {
        constexpr std::size_t small = std::size_t{1} << 16;  // not worth a thread
        if (count < small) {
            items.resize(count);
            return;
        }
        items.reserve(count);
        make_pages(items.data(), count * sizeof(Item));
        written_ = std::async(std::launch::async, [&items, count] { items.resize(count); });
    }

    /// Before the array is used.
    void wait() {
        if (written_.valid()) written_.get();
    }

private:
    std::future<void> written_;
};

}  // namespace workbench
