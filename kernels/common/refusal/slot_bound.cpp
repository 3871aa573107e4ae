#include "kernels/common/refusal/slot_bound.hpp"

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {

ParameterDeclaration slots_per_nonzero_parameter(double default_value) {
    return {.name = "slots_per_nonzero",
            .type = ParameterType::real,
            .default_value = default_value,
            .minimum = 1,
            .unit = "slots",
            .help = "the most slots, padding included, for each nonzero: a matrix that needs more is unsuitable"};
}

void require_bounded_slots(const std::string& storage, double slots, Offset nonzeros, std::size_t bytes_per_slot,
                           const SlotBound& bound) {
    const auto refuse = [&](const std::string& why) {
        throw Unsuitable(fmt::format("{} would have {:.0f} slots for {}: {}; {}", storage, slots, counted(nonzeros, "nonzero"),
                                     why, bound.advice));
    };
    const auto count = static_cast<double>(nonzeros);
    if (slots > bound.slots_per_nonzero * count) {
        refuse(fmt::format("{:.4g} a nonzero, but at most {:.4g} are allowed", slots / count, bound.slots_per_nonzero));
    }
    const double wanted = slots * static_cast<double>(bytes_per_slot);
    const std::size_t free = free_host_memory();
    if (wanted > static_cast<double>(free)) refuse(fmt::format("{:.0f} bytes, but {} are free", wanted, free));
}

}  // namespace workbench
