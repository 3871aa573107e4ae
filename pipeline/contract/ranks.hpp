// Processes that work on one matrix together, as MPI numbers them: ranks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/errors.hpp"

namespace workbench {

using Bytes = std::vector<std::byte>;

/// Bytes on their way to, or from, another rank. They must stay where they are until it is there.
struct Outgoing {
    int to = 0;
    std::span<const std::byte> bytes;
};
struct Incoming {
    int from = 0;
    std::span<std::byte> bytes;
};

/// All ranks call what is said to be called by all, in the same order. Lengths beyond 2^31 bytes are right. A rank that fails
/// in one of these calls ends the program on all ranks.
class Ranks {
public:
    Ranks() = default;
    Ranks(const Ranks&) = delete;
    Ranks& operator=(const Ranks&) = delete;
    virtual ~Ranks() = default;

    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    [[nodiscard]] virtual int rank_on_machine() const = 0;  // among those on the same machine
    [[nodiscard]] virtual std::string engine() const = 0;   // "Open MPI 4.1.4"; "" of one rank without MPI

    /// Called by all. What each rank gave, in the order of the ranks.
    [[nodiscard]] virtual std::vector<Bytes> gather(std::span<const std::byte> mine) = 0;

    /// Called by all. The same for a few numbers of each rank, without taking memory. all: [size * mine.size()].
    virtual void gather(std::span<const double> mine, std::span<double> all) = 0;

    /// Called by all. to[r] goes to rank r; what rank r gave this one stands at place r of the result.
    [[nodiscard]] virtual std::vector<Bytes> exchange(const std::vector<Bytes>& to) = 0;

    /// Messages on their way, while this rank does something else. At most one from each rank to each; none is under way
    /// already. Each that comes in has been sent by that rank, with as many bytes.
    virtual void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
    /// Waits for them.
    virtual void finish() = 0;

    /// Called by all. None goes on before all have come here.
    virtual void barrier() = 0;

    /// Ends the program on all ranks. To be called where a rank cannot go on and others may be waiting for it.
    [[noreturn]] virtual void end_all(ExitCode exit_code) = 0;
};

}  // namespace workbench
