// Communication between ranks: the processes that work on one matrix, as MPI numbers them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/interface.hpp"

namespace workbench {

using Bytes = std::vector<std::byte>;

/// A message to, or from, another rank. Its memory must stay valid until it has arrived.
struct Outgoing {
    int to = 0;
    std::span<const std::byte> bytes;
};
struct Incoming {
    int from = 0;
    std::span<std::byte> bytes;
};

/// All ranks must call collective functions in the same order. Messages may exceed 2^31 bytes. A failure in one of these
/// functions ends the program on all ranks.
class Ranks : public Interface {
public:
    [[nodiscard]] virtual int rank() const = 0;
    [[nodiscard]] virtual int size() const = 0;
    [[nodiscard]] virtual int rank_on_machine() const = 0;  // among the ranks on the same machine
    [[nodiscard]] virtual int ranks_on_machine() const { return 1; }
    [[nodiscard]] virtual std::string engine() const = 0;  // "Open MPI 4.1.4"; empty without MPI

    /// Collective. Returns the bytes of each rank, in the order of the ranks.
    [[nodiscard]] virtual std::vector<Bytes> gather(std::span<const std::byte> mine) = 0;

    /// Collective. Gathers a few numbers of each rank, without allocation. all: [size * mine.size()].
    virtual void gather(std::span<const double> mine, std::span<double> all) = 0;

    /// Collective. Sends to[r] to rank r, and returns the bytes from each rank.
    [[nodiscard]] virtual std::vector<Bytes> exchange(const std::vector<Bytes>& to) = 0;

    /// Starts asynchronous messages, at most one from each rank to each other rank; the previous ones must be finished. Each
    /// incoming message must match the size of the outgoing one.
    virtual void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) = 0;
    /// Waits for the messages.
    virtual void finish() = 0;

    /// Collective. Returns when all ranks have called it.
    virtual void barrier() = 0;

    /// Ends the program on all ranks, for a rank that cannot continue while others may wait for it.
    [[noreturn]] virtual void end_all(ExitCode exit_code) = 0;
};

}  // namespace workbench
