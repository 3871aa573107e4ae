// Checks of the sizes that a file claims, and of the memory that reading it takes.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "core/matrix/types.hpp"

namespace workbench {

/// Throws LineError unless a matrix may have this size. Rows and columns must be fewer than 2^31. If there are more than 2^24
/// of them, the file must have an entry for every 64, so that arrays over rows and columns stay proportional to the file.
void check_size(std::int64_t rows, std::int64_t columns, Offset entries);

/// Like check_size, before the number of entries is known: checks only that rows and columns are fewer than 2^31.
void check_size(std::int64_t rows, std::int64_t columns);

/// The sizes that the header of a text claims.
struct ClaimedSize {
    std::int64_t rows = 0;
    Offset listed = 0;    // entries in the file
    Offset nonzeros = 0;  // upper bound for the matrix, including mirror images
};

/// Twice a count, or the largest count if that overflows.
[[nodiscard]] constexpr Offset doubled(Offset count) {
    constexpr Offset most = std::numeric_limits<Offset>::max();
    return count > most / 2 ? most : 2 * count;
}

/// Counts the memory of entries while threads read them. A claimed size that the text is too short to contain is not refused
/// here: reading then finds the end of the file.
class ReadingMemory {
public:
    /// An entry takes at least `least_bytes` of text, and the text has at most `most_bytes`. Throws MachineError "NAME: reading
    /// N entries needs M bytes of memory; K are free" if the claim fits the text but not the memory.
    ReadingMemory(std::string name, const ClaimedSize& claimed, std::uintmax_t least_bytes, std::uintmax_t most_bytes);

    /// Adds bytes that are about to be kept. Throws MachineError once their sum exceeds the free memory.
    void take(std::size_t bytes);

    /// Throws MachineError if the CSR matrix does not fit.
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
