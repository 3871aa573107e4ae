#include "pipeline/engine/outcomes.hpp"

#include <fmt/format.h>

namespace workbench {

std::size_t LayoutOutcome::bytes() const {
    std::size_t sum = 0;
    for (const Array& array : footprint) sum += array.bytes;
    return sum;
}

std::size_t LayoutOutcome::slots() const {
    std::size_t sum = 0;
    for (const Array& array : footprint) sum += array.slots;
    return sum;
}

std::string StageOutcome::label() const { return precision ? fmt::format("{} {}", id, workbench::name_of(*precision)) : id; }

}  // namespace workbench
