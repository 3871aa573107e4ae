// The links of a host, and of a GPU.
#pragma once

#include <memory>

#include "pipeline/contract/links.hpp"

namespace workbench {

/// Over MPI. The ranks must outlive the links.
[[nodiscard]] std::unique_ptr<Links> make_host_links(Ranks& ranks, Device& host);

/// Over NCCL, between one GPU a rank (called by all). Throws MachineError where NCCL is not there, two ranks share a GPU, or
/// the program was built without it.
[[nodiscard]] std::unique_ptr<Links> make_cuda_links(Ranks& ranks, Device& gpu);

}  // namespace workbench
