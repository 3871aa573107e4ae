#include "kernels/prepare/staging.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/device/host_loops.hpp"

namespace workbench {
namespace {

/// Calls body(begin, end) in parallel for chunks that one thread copies at a time.
template <typename Body>
void for_each_piece(std::size_t count, std::size_t piece, const Body& body) {
    for_each_in_parallel(static_cast<std::int64_t>((count + piece - 1) / piece), 1, [&](std::int64_t i) {
        const std::size_t begin = static_cast<std::size_t>(i) * piece;
        body(begin, std::min(begin + piece, count));
    });
}

constexpr std::size_t piece_bytes = std::size_t{1} << 18;

}  // namespace

void copy_together(void* to, const void* from, std::size_t bytes) {
    for_each_piece(bytes, piece_bytes, [&](std::size_t begin, std::size_t end) {
        std::memcpy(static_cast<std::byte*>(to) + begin, static_cast<const std::byte*>(from) + begin, end - begin);
    });
}

void narrow_together(std::uint32_t* to, const Offset* from, std::size_t count) {
    for_each_piece(count, piece_bytes / sizeof(Offset), [&](std::size_t begin, std::size_t end) {
        std::transform(from + begin, from + end, to + begin, [](Offset offset) { return static_cast<std::uint32_t>(offset); });
    });
}

void widen_together(Offset* to, const std::uint32_t* from, std::size_t count) {
    for_each_piece(count, piece_bytes / sizeof(Offset),
                   [&](std::size_t begin, std::size_t end) { std::copy(from + begin, from + end, to + begin); });
}

}  // namespace workbench
