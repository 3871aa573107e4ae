// The layouts whose arrays are Rows, in any coding of the values: of one shape for each preset, and of all shapes for `rows`.
#pragma once

#include <array>
#include <optional>
#include <variant>

#include "kernels/formats/rows/layout.hpp"

namespace workbench {

/// The arrays of a shape: in any coding, or with values in full.
template <ValueType Value, bool is_coded, RowShape shape>
struct RowsInCodings {
    template <typename Stored, template <typename> typename Array>
    using Arrays = RowsOfShape<shape, Stored, Array>;
    using Type = std::conditional_t<is_coded, InAnyCoding<Arrays, Value>, std::variant<Arrays<Value, HostArray>>>;
};

/// A variant with the alternatives of several, in their order.
template <typename... Variants>
struct JoinedVariants;
template <typename... Only>
struct JoinedVariants<std::variant<Only...>> {
    using Type = std::variant<Only...>;
};
template <typename... First, typename... Second, typename... More>
struct JoinedVariants<std::variant<First...>, std::variant<Second...>, More...>
    : JoinedVariants<std::variant<First..., Second...>, More...> {};

template <ValueType Value, bool is_coded, RowShape... shapes>
struct RowsLayout final
    : LayoutOfArrays<Value, typename JoinedVariants<typename RowsInCodings<Value, is_coded, shapes>::Type...>::Type> {
    static constexpr const char* name = "rows";
    static constexpr std::array shapes_of_arrays{shapes...};
    Origin origin;  // not of rows one by one

    /// bytes_to_move without the padding, if no kernel reads it.
    [[nodiscard]] std::optional<std::int64_t> bytes_of_product() const {
        return with_stored(*this, [this]<typename Arrays>(const Arrays& rows) -> std::optional<std::int64_t> {
            if constexpr (!Arrays::shape.lengths) return {};
            return this->bytes_to_move() -
                   (static_cast<Offset>(rows.values.size()) - this->nonzero_count) * bytes_of_slot(rows);
        });
    }
    void transfer(Transfer& all) override { this->transfer_with(all, origin); }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;  // build.cpp
};

template <typename Value>
using Csr16Layout = RowsLayout<Value, true, csr16_shape>;
template <typename Value>
using EllLayout = RowsLayout<Value, true, ell_shape>;
template <typename Value>
using EllrLayout = RowsLayout<Value, true, ellr_shape>;
template <typename Value>
using JdsLayout = RowsLayout<Value, false, jds_shape>;
template <typename Value>
using AnyRowsLayout =
    RowsLayout<Value, true, csr_shape, csr16_shape, ell_shape, ellr_shape, jds_shape, RowShape{RowsTogether::all, true},
               RowShape{RowsTogether::all, true, true}, RowShape{RowsTogether::jagged, true}, RowShape{RowsTogether::slices},
               RowShape{RowsTogether::slices, true}, RowShape{RowsTogether::slices, false, true},
               RowShape{RowsTogether::slices, true, true}>;

// The CUDA kernels with loops of their own.
template <ValueType Value>
struct EllReduction;
template <ValueType Value, bool is_volatile, bool is_constant>
class JdsKernel;
template <typename Value>
using JdsStreaming = JdsKernel<Value, false, false>;
template <typename Value>
using JdsConstant = JdsKernel<Value, false, true>;
template <typename Value>
using JdsUncached = JdsKernel<Value, true, true>;

}  // namespace workbench
