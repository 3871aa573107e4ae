// The layouts whose arrays are Rows: of one shape for most presets, in any coding of the values, and of all shapes for `rows`.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "core/matrix/bf16.hpp"
#include "kernels/formats/rows/layout.hpp"

namespace workbench {

/// The arrays of a shape in any coding. The members of the shape are apart because nvcc 13.0 loses shapes in aliases.
template <RowsTogether together, ColumnsFrom columns = ColumnsFrom::matrix, bool lengths = false>
struct RowsOf {
    using Shape = std::integral_constant<RowShape, RowShape{together, columns, lengths}>;
    template <typename Stored, template <typename> typename Array>
    using Arrays = Rows<Stored, Shape, Array>;
    template <typename Value>
    using InCodings = InAnyCoding<Arrays, Value>;
};
/// Words hold the codes of values.
template <RowsTogether together, bool lengths>
struct RowsOf<together, ColumnsFrom::words, lengths> {
    using Shape = std::integral_constant<RowShape, RowShape{together, ColumnsFrom::words, lengths}>;
    template <typename Value>
    using InCodings = std::variant<Rows<Coded<Value, std::uint32_t>, Shape, HostArray>>;
};

/// Slices with columns of this type: Index, std::uint16_t, or InWords.
template <typename StoredValue, typename ColumnIndex, template <typename> typename Array, bool with_lengths = false>
using Sell = Rows<StoredValue,
                  typename RowsOf<RowsTogether::slices,
                                  std::is_same_v<ColumnIndex, Index>     ? ColumnsFrom::matrix
                                  : std::is_same_v<ColumnIndex, InWords> ? ColumnsFrom::words
                                                                         : ColumnsFrom::slice,
                                  with_lengths>::Shape,
                  Array>;

/// The arrays of sell: values in full or all equal with columns of 32 or 16 bits, and coded values with columns of 16 bits or
/// in one word with their columns. In f64 also values of f32 and of bf16.
template <typename Value, typename... More>
using SellVariants =
    std::variant<Sell<Value, Index, HostArray>, Sell<Value, std::uint16_t, HostArray>, Sell<Constant<Value>, Index, HostArray>,
                 Sell<Constant<Value>, std::uint16_t, HostArray>, Sell<Coded<Value, std::uint8_t>, std::uint16_t, HostArray>,
                 Sell<Coded<Value, std::uint32_t>, InWords, HostArray>, More...>;
template <typename Value>
struct SellArrays {
    SellVariants<Value> stored;
};
template <>
struct SellArrays<double> {
    SellVariants<double, Sell<float, std::uint16_t, HostArray>, Sell<Bf16, std::uint16_t, HostArray>> stored;
};
/// Those of layout `rows` beside them, with columns of 32 bits.
template <typename Value>
struct MoreSlices {
    using Type = std::variant<Sell<Coded<Value, std::uint8_t>, Index, HostArray>>;
};
template <>
struct MoreSlices<double> {
    using Type = std::variant<Sell<Coded<double, std::uint8_t>, Index, HostArray>, Sell<float, Index, HostArray>>;
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

/// The type of element of slots_of: of words, whose columns are decoded, and of slices whose padding is marked where its value
/// cannot be 0.
template <typename StoredValue, bool in_slices>
struct ValueOfSlots {
    using Type = AnyValue;
};
template <typename Value>
struct ValueOfSlots<Constant<Value>, true> {
    using Type = Constant<AnyValue>;
};
template <typename Value>
struct ValueOfSlots<Coded<Value, std::uint32_t>, true> {
    using Type = Coded<AnyValue, std::uint32_t>;
};

template <typename Arrays>
struct SlotsOf;
template <typename StoredValue, typename Shape, template <typename> typename Array>
struct SlotsOf<Rows<StoredValue, Shape, Array>> {
    using Type = Rows<typename ValueOfSlots<StoredValue, Shape::value.together == RowsTogether::slices>::Type, Shape, HostSpan>;
};

/// Views of rows, or of views of these, without the type of their values, and with the threads of a row of slices chosen: for
/// walks and names of kernels, so that these are compiled once for all codings.
template <typename StoredValue, typename Shape, template <typename> typename Array>
[[nodiscard]] auto slots_of(const Rows<StoredValue, Shape, Array>& rows) {
    using From = Rows<StoredValue, Shape, Array>;
    using To = typename SlotsOf<From>::Type;
    To slots;
    const auto span_of = [](const auto& array) { return std::span(array.data(), static_cast<std::size_t>(array.size())); };
    visit_fields(
        From::places(), To::places(),
        [&]<typename Member>(const FieldInfo&, const Member& from, auto& to) {
            if constexpr (NumberMember<Member>) {
                to = from;
            } else {
                to = span_of(from);
            }
        },
        rows, slots);
    if constexpr (HasColumns<decltype(slots.values)>) {
        slots.values.codes = span_of(rows.values.codes);
        slots.values.column_bits = rows.values.column_bits;
    } else if constexpr (ConstantMember<decltype(slots.values)>) {
        slots.values.count = rows.values.count;
    } else {
        slots.values = {static_cast<const AnyValue*>(nullptr), static_cast<std::size_t>(rows.values.size())};
    }
    if constexpr (Shape::value.together == RowsTogether::slices) slots.threads_per_row = sell_threads(rows);
    return slots;
}

/// A variant of types, each once.
template <typename Found, typename... More>
struct DistinctTypes {
    using Type = Found;
};
template <typename... Found, typename Next, typename... More>
struct DistinctTypes<std::variant<Found...>, Next, More...>
    : DistinctTypes<
          std::conditional_t<(std::is_same_v<Found, Next> || ...), std::variant<Found...>, std::variant<Found..., Next>>,
          More...> {};
template <typename... Arrays>
struct SlotsOf<std::variant<Arrays...>> : DistinctTypes<std::variant<>, typename SlotsOf<Arrays>::Type...> {};

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
    /// Padding of slices reads x in the last column of its row.
    [[nodiscard]] std::vector<Index> rows_of_padding() const override {
        const bool reads_x = with_stored(*this, []<typename Arrays>(const Arrays&) {
            return Arrays::shape.together == RowsTogether::slices && !Arrays::shape.lengths && !HasRowColumns<Arrays>;
        });
        return reads_x ? origin.rows_without_nonzeros() : std::vector<Index>();
    }
    /// A variant of views without values.
    [[nodiscard]] auto slots() const {
        return with_stored(*this, [](const auto& rows) -> typename SlotsOf<Variant>::Type { return slots_of(rows); });
    }
    // build.hpp
    [[nodiscard]] HostArray<Index> row_lengths() const;
    /// True if the CUDA kernel of slices reads the lengths of rows rather than padding (long_rows.hpp): unless the recipe sets
    /// threads_per_row, if a row is long, if most slots are padding, or if slices do not fill a warp. Otherwise reading the
    /// lengths takes longer than reading the padding.
    [[nodiscard]] bool by_lengths() const;
    /// If rows or columns have values, the values of the slots are coded by the row offsets or by the columns.
    [[nodiscard]] std::vector<LayoutField> fields() const override;
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> notes() const override;
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

template <typename Value>
using Csr16Layout = RowsLayout<Value, typename RowsOf<RowsTogether::one, ColumnsFrom::row>::InCodings<Value>>;
template <typename Value>
using EllLayout = RowsLayout<Value, typename RowsOf<RowsTogether::all>::InCodings<Value>>;
template <typename Value>
using EllrLayout = RowsLayout<Value, typename RowsOf<RowsTogether::all, ColumnsFrom::matrix, true>::InCodings<Value>>;
template <typename Value>
using JdsLayout = RowsLayout<Value, std::variant<RowsOfShape<jds_shape, Value, HostArray>>>;
template <typename Value, typename... Shapes>
using RowsOfShapes =
    RowsLayout<Value, typename JoinedVariants<decltype(SellArrays<Value>::stored), typename MoreSlices<Value>::Type,
                                              typename Shapes::template InCodings<Value>...>::Type>;
/// The arrays of the layouts `rows` and `sell`.
template <typename Value>
using AnyRowsLayout =
    RowsOfShapes<Value, RowsOf<RowsTogether::one>, RowsOf<RowsTogether::one, ColumnsFrom::row>, RowsOf<RowsTogether::all>,
                 RowsOf<RowsTogether::all, ColumnsFrom::matrix, true>, RowsOf<RowsTogether::all, ColumnsFrom::row>,
                 RowsOf<RowsTogether::all, ColumnsFrom::row, true>, RowsOf<RowsTogether::jagged>,
                 RowsOf<RowsTogether::jagged, ColumnsFrom::row>, RowsOf<RowsTogether::slices, ColumnsFrom::row>,
                 RowsOf<RowsTogether::slices, ColumnsFrom::row, true>, RowsOf<RowsTogether::slices, ColumnsFrom::matrix, true>,
                 RowsOf<RowsTogether::slices, ColumnsFrom::slice, true>,
                 RowsOf<RowsTogether::slices, ColumnsFrom::words, true>>;

/// The schedules of one thread per row on the host, or of several on a GPU; those of slices also for two heights that are known
/// at compile time: 32 rows, and 8, or as many as a warp has. A division for each short slice takes a CPU about as long as the
/// slice. With eight threads per row or more, which a recipe must request, the height is known at run time only.
template <bool on_gpu>
struct RowsOfKnownHeights {
    using Walk = RowsOfThreads;

    static auto choose(const auto& rows, const auto& use) {
        return std::conditional_t<on_gpu, RowsOfThreads, RowsOfOneLane>::choose(rows, [&]<typename S>(S any_height) {
            if constexpr (shape_of_rows<decltype(rows)>.together == RowsTogether::slices) {
                return with_known_height(rows, any_height, use);
            } else {
                return use(any_height);
            }
        });
    }

private:
    template <int threads, SliceKind kind>
    static auto with_known_height(const auto& slices, SellRows<threads, 0, kind> any_height, const auto& use) {
        constexpr bool in_full = requires {
            requires std::floating_point<std::remove_cvref_t<decltype(*slices.values.data())>>;
        };
        if constexpr (compiles_every_shape && is_compiled_for_slices(kind, threads) && (on_gpu || in_full)) {
            constexpr int height = on_gpu ? 32 / threads : 8;
            if (slices.slice_height == height) return use(SellRows<threads, height, kind>{});
            if (slices.slice_height == 32) return use(SellRows<threads, 32, kind>{});
        }
        return use(any_height);
    }
};
using RowsOnHost = RowsOfKnownHeights<false>;
using RowsOnGpu = RowsOfKnownHeights<true>;

/// Calls use(slices) if the rows of a layout are in slices; otherwise returns Result().
template <typename Result>
[[nodiscard]] Result with_slices(const auto& layout, const auto& use) {
    return with_stored(layout, [&]<typename Arrays>(const Arrays& rows) -> Result {
        if constexpr (Arrays::shape.together == RowsTogether::slices) return use(rows);
        return Result();
    });
}

template <ValueType Value>
struct RowArraysOnGpu {
    using Arrays = StoredOnDevice<decltype(AnyRowsLayout<Value>::stored)>;
    std::shared_ptr<Arrays> arrays;  // by address, because many alternatives are slow to compile when they move
};

/// The CUDA kernel of arrays that were made on the GPU: of slices by the lengths of their rows if `row_lengths` has any.
/// nonzeros: slots without padding. bytes: Layout::bytes_to_move. rows_of_y: as in PrepareRows.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> rows_kernel_on_gpu(RowArraysOnGpu<Value>&& rows, DeviceArray<Index>&& row_lengths,
                                                                Offset nonzeros, std::int64_t bytes,
                                                                std::span<const Index> rows_of_y, Device& device);

/// The arrays for which the program has CUDA kernels of RowsOnGpu.
template <typename Value>
using CompiledRows = std::variant<Sell<Value, Index, HostArray>, Sell<Value, std::uint16_t, HostArray>,
                                  Rows<Value, typename RowsOf<RowsTogether::one, ColumnsFrom::row>::Shape, HostArray>,
                                  Rows<Value, typename RowsOf<RowsTogether::all>::Shape, HostArray>,
                                  Rows<Value, typename RowsOf<RowsTogether::all, ColumnsFrom::matrix, true>::Shape, HostArray>>;
template <typename Stored, typename Value>
inline constexpr bool is_compiled_rows = []<typename... Compiled>(const std::variant<Compiled...>*) {
    return (std::is_same_v<Stored, Compiled> || ...);
}(static_cast<const CompiledRows<Value>*>(nullptr));
/// The kernel of one of these. own_bytes: Kernel::own_bytes_to_move.
template <ValueType Value>
[[nodiscard]] std::unique_ptr<Kernel<Value>> compiled_rows_kernel(StoredOnDevice<CompiledRows<Value>>&& rows,
                                                                  std::span<const Index> rows_of_y, Device& device,
                                                                  std::optional<std::int64_t> own_bytes);

/// The kernel of the host by RowsOnHost.
template <template <typename> typename LayoutOf>
[[nodiscard]] KernelEntry host_kernel_of_rows(std::string name, std::string summary);
[[nodiscard]] std::vector<KernelEntry> sell_cusparse_kernels();

// The CUDA kernels with loops of their own. That of any rows takes those of slices by their lengths (RowsLayout::by_lengths),
// and others by RowsOnGpu.
template <ValueType Value>
struct AnyRowsKernel {
    static std::unique_ptr<Kernel<Value>> prepare(const AnyRowsLayout<Value>& layout, std::span<const Index> rows,
                                                  Device& device);
};
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
