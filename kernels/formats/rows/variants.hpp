// The layouts whose arrays are Rows: of one shape for each preset, in any coding of the values, and of all shapes for `rows`.
#pragma once

#include <optional>
#include <variant>

#include "kernels/formats/rows/layout.hpp"

namespace workbench {

/// The arrays of a shape in any coding.
template <RowShape shape>
struct RowsOf {
    template <typename Stored, template <typename> typename Array>
    using Arrays = RowsOfShape<shape, Stored, Array>;
    template <typename Value>
    using InCodings = InAnyCoding<Arrays, Value>;
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

/// Variant: of Rows on the host.
template <ValueType Value, typename Variant>
struct RowsLayout final : LayoutOfArrays<Value, Variant> {
    static constexpr const char* name = "rows";
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
    // build.hpp
    /// If rows or columns have values, the values of the slots are coded by the row offsets or by the columns.
    [[nodiscard]] std::vector<LayoutField> fields() const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

template <typename Value>
using Csr16Layout = RowsLayout<Value, typename RowsOf<csr16_shape>::InCodings<Value>>;
template <typename Value>
using EllLayout = RowsLayout<Value, typename RowsOf<ell_shape>::InCodings<Value>>;
template <typename Value>
using EllrLayout = RowsLayout<Value, typename RowsOf<ellr_shape>::InCodings<Value>>;
template <typename Value>
using JdsLayout = RowsLayout<Value, std::variant<RowsOfShape<jds_shape, Value, HostArray>>>;
template <typename Value, RowShape... shapes>
using RowsOfShapes = RowsLayout<Value, typename JoinedVariants<typename RowsOf<shapes>::template InCodings<Value>...>::Type>;
template <typename Value>
using AnyRowsLayout =
    RowsOfShapes<Value, RowShape{RowsTogether::one}, csr16_shape, ell_shape, ellr_shape, jds_shape,
                 RowShape{RowsTogether::all, ColumnsFrom::row}, RowShape{RowsTogether::all, ColumnsFrom::row, true},
                 RowShape{RowsTogether::jagged, ColumnsFrom::row}, RowShape{RowsTogether::slices},
                 RowShape{RowsTogether::slices, ColumnsFrom::row}, RowShape{RowsTogether::slices, ColumnsFrom::matrix, true},
                 RowShape{RowsTogether::slices, ColumnsFrom::row, true}>;

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
