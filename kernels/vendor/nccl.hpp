// The interface between the program and libworkbench_nccl.so. NCCL is large and often absent, so only this module is linked
// with it, and the module is opened when the GPUs of several ranks work together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "core/matrix/interface.hpp"

namespace workbench {

/// Identifies a communicator; one rank creates it for all.
using NcclId = std::array<std::byte, 128>;

/// A message: bytes on the GPU that are sent to or received from another rank.
struct NcclMessage {
    int rank = 0;
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
};

/// One rank of a communicator. All ranks make the same calls in the same order. stream: a cudaStream_t; the caller must keep
/// operations of one communicator from overlapping on two streams. Throws MachineError.
class NcclCommunicator : public Interface {
public:
    /// Sends and receives all messages at once; none may be empty. Does nothing without messages.
    virtual void send_and_receive(std::span<const NcclMessage> outgoing, std::span<const NcclMessage> incoming,
                                  void* stream) = 0;
    /// Gathers `mine`, [count], of every rank into `all`, [ranks * count].
    virtual void gather(const double* mine, double* all, int count, void* stream) = 0;
};

/// The module's functions; the exported function nccl_module_function, without arguments, returns them.
struct NcclModule {
    std::string (*version)();  // "2.28.9"
    NcclId (*make_id)();
    /// All ranks call it, each with its own GPU as the calling thread's current CUDA device. most_blocks: the limit of NCCL's
    /// concurrent blocks on the GPU; 0: no limit.
    std::unique_ptr<NcclCommunicator> (*join)(const NcclId& id, int rank, int ranks, int gpu, int most_blocks);
};

using GetNcclModule = const NcclModule* (*)();
inline constexpr const char* nccl_module_function = "workbench_nccl_module";
inline constexpr const char* nccl_module_file = "libworkbench_nccl.so";

}  // namespace workbench
