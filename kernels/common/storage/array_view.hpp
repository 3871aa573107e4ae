// The views of a layout's arrays that kernels get.
#pragma once

#include "core/matrix/types.hpp"

namespace workbench {

/// A view of an array on the host or on a device.
template <typename Element>
class ArrayView {
public:
    ArrayView() = default;
    constexpr ArrayView(const Element* data, Offset size) : data_(data), size_(size) {}

    [[nodiscard]] constexpr const Element& operator[](Offset i) const { return data_[i]; }
    [[nodiscard]] constexpr const Element* data() const { return data_; }
    [[nodiscard]] constexpr Offset size() const { return size_; }

private:
    const Element* data_ = nullptr;
    Offset size_ = 0;
};

/// The fields that a format begins with.
struct MatrixSize {
    Index row_count = 0;
    Index column_count = 0;

    static constexpr auto fields();  // fields.hpp
};

}  // namespace workbench
