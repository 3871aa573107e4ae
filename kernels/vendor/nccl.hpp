// The seam between the program and libworkbench_nccl.so. NCCL is large and often absent, so that only the module is linked with
// it, and the module is opened when GPUs of several ranks are to work together.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace workbench {

/// What brings ranks together; one of them makes it for all.
using NcclId = std::array<std::byte, 128>;

/// Bytes on the GPU that go to, or come from, another rank.
struct NcclMessage {
    int rank = 0;
    std::byte* memory = nullptr;
    std::size_t bytes = 0;
};

/// A rank among all ranks. All make the same calls in the same order. stream: a cudaStream_t; work on one stream must not be
/// able to run while other work of the communicator is under way on another. Throws MachineError.
class NcclCommunicator {
public:
    NcclCommunicator() = default;
    NcclCommunicator(const NcclCommunicator&) = delete;
    NcclCommunicator& operator=(const NcclCommunicator&) = delete;
    virtual ~NcclCommunicator() = default;

    /// All messages at once, none of no bytes; nothing where there are none.
    virtual void send_and_receive(std::span<const NcclMessage> outgoing, std::span<const NcclMessage> incoming,
                                  void* stream) = 0;
    /// mine: [count], all: [ranks * count].
    virtual void gather(const double* mine, double* all, int count, void* stream) = 0;
};

/// All that the module offers, behind one function without arguments named by nccl_module_function.
struct NcclModule {
    std::string (*version)();  // "2.28.9"
    NcclId (*make_id)();
    /// Called by all ranks, each with a GPU of its own, whose number CUDA has given as the calling thread's. most_blocks: that
    /// NCCL may have on the GPU at a time; 0: as many as it likes.
    std::unique_ptr<NcclCommunicator> (*join)(const NcclId& id, int rank, int ranks, int gpu, int most_blocks);
};

using GetNcclModule = const NcclModule* (*)();
inline constexpr const char* nccl_module_function = "workbench_nccl_module";
inline constexpr const char* nccl_module_file = "libworkbench_nccl.so";

}  // namespace workbench
