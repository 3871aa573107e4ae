// The memory that reading a text takes, and the memory that is free.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "pipeline/matrix/types.hpp"

namespace workbench {

/// The sizes that a text claims.
struct ClaimedSize {
    std::int64_t rows = 0;
    Offset listed = 0;    // entries in the file
    Offset nonzeros = 0;  // in the matrix, mirror images among them; at most
};

/// Twice a count that may be anything below 2^63, or the largest count.
[[nodiscard]] constexpr Offset doubled(Offset count) {
    constexpr Offset most = std::numeric_limits<Offset>::max();
    return count > most / 2 ? most : 2 * count;
}

/// Counts the entries of a text as they come, from all threads. A claim alone takes no memory, and none is refused for it as
/// long as the text is too short for it: then reading finds the end of the file.
class ReadingMemory {
public:
    /// Throws MachineError, "NAME: reading N entries wants M bytes of memory; K are free", where the claim may be true and
    /// there is not so much memory. An entry takes `least_bytes` of text or more, of which there are `most_bytes` or fewer.
    ReadingMemory(std::string name, const ClaimedSize& claimed, std::uintmax_t least_bytes, std::uintmax_t most_bytes);

    /// Counts bytes that are about to be kept. Throws MachineError as soon as they are more than were free.
    void take(std::size_t bytes);

    /// What is still to come: the CSR matrix. Throws MachineError.
    void require_matrix(Offset nonzeros) const;

private:
    [[noreturn]] void fail() const;

    std::string name_;
    ClaimedSize claimed_;
    std::size_t wanted_;
    std::size_t free_;
    std::atomic<std::size_t> taken_ = 0;
};

}  // namespace workbench
