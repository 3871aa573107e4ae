// HOLA: CSR in equal shares of the nonzeros, one per thread block, with the first row of every share. An adaptation of
// Steinberger, Zayer and Seidel, "Globally homogeneous, locally adaptive sparse matrix-vector multiplication on the GPU" (ICS
// 2017): the equal shares (global homogeneity), the first row of each, and blocks that choose by their rows how their threads
// work together (local adaptivity). Designs of this project: first_rows is stored, not computed in every product; a share ends
// rows, empty ones included, so that y need not be zeroed; a block's two methods, and the bound between them; and a second
// kernel, instead of atomics, completes rows that cross blocks. Unlike the authors' code, it lacks the loads of x in sorted
// order, 4 and 8 nonzeros per thread, and the path for uniform rows.
#pragma once

#include <algorithm>

#include "kernels/common/schedule/choice.hpp"
#include "kernels/common/schedule/side_by_side.hpp"
#include "kernels/common/storage/stored_layout.hpp"

namespace workbench {

/// Share b has the nonzeros from b * nonzeros_per_share() on; only the last may have fewer, or none if the matrix has none. The
/// rows first_rows[b] .. first_rows[b + 1] - 1 end in it, including empty ones at its end; the next row may also begin in it.
template <typename Value, template <typename> typename Array>
struct Hola : MatrixSize {
    Index threads = 256;              // of the thread block that multiplies a share
    Index nonzeros_per_thread = 7;    // of a share
    Index most_per_lane = 32;         // products that one lane may add up if rows have their own lanes
    Array<Offset> row_offsets;        // [rows + 1]
    Array<Index> first_rows;          // [shares + 1]
    Array<Index> column_indices;      // [nonzeros]
    ValueArray<Value, Array> values;  // [nonzeros]

    static constexpr auto fields() {
        return field_list(MatrixSize::fields(), number_field<&Hola::threads>(), number_field<&Hola::nonzeros_per_thread>(),
                          number_field<&Hola::most_per_lane>(), structure_array<&Hola::row_offsets>("rows + 1"),
                          structure_array<&Hola::first_rows>("shares + 1"), column_array<&Hola::column_indices>("nonzeros"),
                          coded_value_array<&Hola::values>("nonzeros"));
    }

    [[nodiscard]] constexpr Offset nonzeros_per_share() const { return Offset{threads} * nonzeros_per_thread; }
    [[nodiscard]] constexpr Offset shares() const { return static_cast<Offset>(first_rows.size()) - 1; }
};

struct HolaShare {
    Offset first = 0;     // nonzero
    int nonzeros = 0;     // at most nonzeros_per_share
    Index first_row = 0;  // the first row that ends here
    Index rows = 0;       // the number of rows that end here
    bool is_last = true;  // otherwise another row follows, which may have nonzeros here

    /// The parts of rows in the share: the ends of `rows`, and the begin of the row that follows.
    [[nodiscard]] constexpr Index pieces() const { return rows + (is_last ? 0 : 1); }
};

[[nodiscard]] constexpr HolaShare share_of(const auto& hola, Offset number, Offset nonzeros_per_share) {
    const Offset first = number * nonzeros_per_share;
    const Offset left = static_cast<Offset>(hola.values.size()) - first;
    const Index first_row = hola.first_rows[number];
    return {.first = first,
            .nonzeros = static_cast<int>(left < nonzeros_per_share ? left : nonzeros_per_share),
            .first_row = first_row,
            .rows = hola.first_rows[number + 1] - first_row,
            .is_last = number + 1 == hola.shares()};
}

/// The nonzeros of a part of a row, counted from the first of its share.
struct HolaPiece {
    int begin = 0;
    int end = 0;

    [[nodiscard]] constexpr int length() const { return end - begin; }
};

[[nodiscard]] constexpr HolaPiece piece_of(const auto& hola, const HolaShare& share, Offset number, const auto& load) {
    const Offset* const offsets = hola.row_offsets.data() + share.first_row + number;
    const Offset begin = load.kept(offsets) - share.first;
    const Offset end = load.kept(offsets + 1) - share.first;
    return {begin > 0 ? static_cast<int>(begin) : 0, end < share.nonzeros ? static_cast<int>(end) : share.nonzeros};
}

/// The lanes of each piece: the largest power of two, up to a warp, that gives all pieces their lanes.
[[nodiscard]] constexpr int lanes_of_pieces(Index pieces, int threads) {
    int lanes = 32;
    while (lanes > 1 && Offset{lanes} * pieces > threads) lanes /= 2;
    return lanes;
}

/// The array first_rows. row_offsets: [rows + 1].
[[nodiscard]] HostArray<Index> first_rows_of_shares(const HostArray<Offset>& row_offsets, Offset nonzeros_per_share);

/// The nonzeros of a share, and the threads of the block that loads them.
template <int threads, int nonzeros_of_thread>
using HolaShape = SideBySide<threads, nonzeros_of_thread>;

// The only shape of kernels for equal values.
inline constexpr int hola_threads = 256;
inline constexpr int hola_nonzeros_per_thread = 7;

/// Calls use(shape). Throws std::logic_error if no kernel has this shape.
void with_hola_shape(const auto& hola, const auto& use) {
    if constexpr (ConstantMember<std::remove_cvref_t<decltype(hola.values)>>) {
        use(HolaShape<hola_threads, hola_nonzeros_per_thread>{});
    } else {
        with_known<128, 256>(hola.threads, [&](auto of_block) {
            with_known<5, 7, 9, 11>(hola.nonzeros_per_thread, [&](auto of_thread) { use(HolaShape<of_block, of_thread>{}); });
        });
    }
}

/// With values in full, or all equal.
template <ValueType Value>
struct HolaLayout final : VariantLayout<Value, Hola<Value, HostArray>, Hola<Constant<Value>, HostArray>> {
    static constexpr const char* name = "hola";

    /// The bytes that a product moves at least: the layout, and the carried sum of every share but the last, written and read.
    [[nodiscard]] std::int64_t bytes_of_product() const {
        const Offset shares = with_stored(*this, [](const auto& hola) { return hola.shares(); });
        const Offset carried = std::max<Offset>(shares - 1, 0);
        return this->bytes_to_move() + 2 * carried * static_cast<std::int64_t>(sizeof(Index) + sizeof(Value));
    }
    void for_each_slot(const std::function<void(const Slot&)>& visit) const override;
};

namespace hola {

/// The CUDA kernel `shares`.
template <ValueType Value>
struct Shares;

}  // namespace hola

[[nodiscard]] LayoutEntry hola_entry();

}  // namespace workbench
