// Stands in for kernels/common/exchange/cuda_links.cu where CUDA is not built.
#include "kernels/common/exchange/exchange.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {

std::unique_ptr<Links> make_cuda_links(Ranks&, Device&) {
    throw MachineError("there are no GPUs to link: this program was built without CUDA");
}

}  // namespace workbench
