#include "kernels/common/storage/round_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/contract/rounding.hpp"

namespace workbench {
namespace {

void require_range(const HostArray<double>& values, Rounding rounding) {
    const auto leaves = [&](double value) { return std::isfinite(value) && !std::isfinite(rounded(value, rounding)); };
    const auto beyond = std::find_if(values.begin(), values.end(), leaves);
    if (beyond == values.end()) return;
    throw Unsuitable(fmt::format("values = \"rounded_{}\" requires values in the range of {}, but {} would become infinite",
                                 name_of(rounding), name_of(rounding), *beyond));
}

}  // namespace

HostArray<float> round_to_f32(const HostArray<double>& values) {
    require_range(values, Rounding::f32);
    HostArray<float> narrow;
    make_copy(narrow, values);
    return narrow;
}

HostArray<Bf16> round_to_bf16(const HostArray<double>& values) {
    require_range(values, Rounding::bf16);
    HostArray<Bf16> narrow;
    make_room(narrow, values.size());
    for_pieces(values.size(), [&](std::size_t begin, std::size_t end) {
        std::transform(values.data() + begin, values.data() + end, narrow.data() + begin, bf16_of);
    });
    return narrow;
}

const float* numbers_of_bf16() {
    static const auto numbers = [] {
        std::vector<float> all(65536);  // an array would be computed by the compiler, and be a part of the program
        for (std::size_t bits = 0; bits < all.size(); ++bits) all[bits] = Bf16{static_cast<std::uint16_t>(bits)};
        return all;
    }();
    return numbers.data();
}

}  // namespace workbench
