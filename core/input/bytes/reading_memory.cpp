#include "core/input/bytes/reading_memory.hpp"

#include <fmt/core.h>

#include <limits>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/input/bytes/byte_source.hpp"
#include "core/matrix/csr_matrix.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

// In f64, because a file may claim up to 2^63 entries. Sorting needs an additional index per nonzero.
double bytes_of(const ClaimedSize& size) {
    return static_cast<double>(size.rows) * sizeof(Offset) + static_cast<double>(size.listed) * sizeof(Entry) +
           static_cast<double>(size.nonzeros) * (2 * sizeof(Index) + sizeof(double));
}

std::size_t saturated(double bytes) { return bytes < 9e18 ? static_cast<std::size_t>(bytes) : std::size_t{1} << 63; }

}  // namespace

void check_size(std::int64_t rows, std::int64_t columns) {
    constexpr std::int64_t most = std::numeric_limits<Index>::max();
    if (rows >= 0 && columns >= 0 && rows <= most && columns <= most) return;
    throw LineError{fmt::format("found a matrix of {} x {}; expected at most {} rows and columns", rows, columns, most)};
}

void check_size(std::int64_t rows, std::int64_t columns, Offset entries) {
    constexpr std::int64_t always_accepted = std::int64_t{1} << 24;
    constexpr std::int64_t lines_per_entry = 64;
    check_size(rows, columns);
    if (entries > 0 && (rows == 0 || columns == 0)) {
        throw LineError{
            fmt::format("found a matrix of {} x {} with {}; expected none", rows, columns, counted(entries, "entry"))};
    }
    if (rows + columns > always_accepted && (rows + columns) / lines_per_entry > entries) {
        throw LineError{
            fmt::format("found {} and {} with {}: too empty to read; expected at least one entry "
                        "per {} rows and columns above 2^24 of them",
                        counted(rows, "row"), counted(columns, "column"), counted(entries, "entry"), lines_per_entry)};
    }
}

ReadingMemory::ReadingMemory(std::string name, const ClaimedSize& claimed, std::uintmax_t least_bytes,
                             std::uintmax_t most_bytes)
    : name_(std::move(name)), claimed_(claimed), wanted_(saturated(bytes_of(claimed))), free_(free_host_memory()) {
    const bool may_be_true =
        most_bytes != ByteSource::unknown_size && static_cast<std::uintmax_t>(claimed.listed) <= most_bytes / least_bytes;
    if (may_be_true && wanted_ > free_) fail();
}

void ReadingMemory::take(std::size_t bytes) {
    if (taken_ += bytes; taken_ > free_) fail();
}

void ReadingMemory::require_matrix(Offset nonzeros) const {
    require_host_memory(
        saturated(bytes_of({claimed_.rows, 0, nonzeros})),
        fmt::format("{}: a matrix of {} and {}", name_, counted(claimed_.rows, "row"), counted(nonzeros, "nonzero")));
}

void ReadingMemory::fail() const {
    throw MachineError(fmt::format("{}: reading a matrix of {} and {} needs {} bytes of memory; {} are free", name_,
                                   counted(claimed_.rows, "row"), counted(claimed_.listed, "entry"), wanted_, free_));
}

}  // namespace workbench
