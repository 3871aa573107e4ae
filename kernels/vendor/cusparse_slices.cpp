#include "kernels/vendor/cusparse_slices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {

template <ValueType Value>
CusparseSlices<Value>::CusparseSlices(HostArray<Offset> lengths, Index slice_height)
    : lengths_(std::move(lengths)), height_(slice_height) {
    for (auto first = lengths_.begin(); first != lengths_.end();) {
        const auto end = first + std::min<std::ptrdiff_t>(height_, lengths_.end() - first);
        const Offset slots = offsets_.back() + *std::max_element(first, end) * height_;
        require_32_bits(slots, fmt::format("or more slots in slices of {}", height_));
        offsets_.push_back(static_cast<std::int32_t>(slots));
        first = end;
    }
    const auto slots = static_cast<std::size_t>(offsets_.back());
    const std::size_t wanted = slots * (sizeof(Value) + sizeof(Index));
    if (const std::size_t free = free_host_memory(); wanted > free) {
        throw Unsuitable(fmt::format("sliced ELL takes {} bytes of host memory, {} are free", wanted, free));
    }
    columns_.assign(slots, -1);
    values_.assign(slots, Value{0});
}

template <ValueType Value>
CusparseMatrix CusparseSlices<Value>::to(Device& device, Index columns, Offset nonzeros) const {
    return {CusparseFormat::sell,
            static_cast<Index>(lengths_.size()),
            columns,
            nonzeros,
            height_,
            to_device(device, std::span(offsets_), "slice offsets for cuSPARSE"),
            to_device(device, std::span(columns_), "column indices for cuSPARSE"),
            to_device(device, std::span(values_), "values for cuSPARSE")};
}

template class CusparseSlices<float>;
template class CusparseSlices<double>;

}  // namespace workbench
