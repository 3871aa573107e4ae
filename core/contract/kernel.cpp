#include "core/contract/kernel.hpp"

#include <stdexcept>

namespace workbench {

std::string_view name_of(Backend backend) {
    switch (backend) {
        case Backend::kokkos: return "kokkos";
        case Backend::eigen: return "eigen";
        case Backend::cpu: return "cpu";
        case Backend::cuda: return "cuda";
        case Backend::cusparse: return "cusparse";
    }
    throw std::logic_error("a backend without a name");
}

}  // namespace workbench
