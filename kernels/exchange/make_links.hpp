// Creates the links of a host or of a GPU.
#pragma once

#include <memory>

#include "core/contract/links.hpp"

namespace workbench {

/// Links over MPI. The ranks must outlive the links.
[[nodiscard]] std::unique_ptr<Links> make_host_links(Ranks& ranks, Device& host);

/// Links over NCCL with one GPU a rank; all ranks call it. Throws MachineError if NCCL is missing, two ranks share a GPU, or
/// the program was built without NCCL.
[[nodiscard]] std::unique_ptr<Links> make_cuda_links(Ranks& ranks, Device& gpu);

}  // namespace workbench
