// A square matrix divided into parts of consecutive rows, one for each thread block of a persistent kernel
// (persistent_cg.cuh). A block keeps its part's elements of the direction p in shared memory, together with its halo: the
// elements of other parts that its rows multiply. Columns are therefore places in shared memory, of 16 bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "pipeline/contract/precision.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench::krylov {

inline constexpr Index rows_per_slice = 32;  // a row for each lane of a warp
inline constexpr int warps_of_part = 32;     // warp w computes slices w, w + 32, ...

/// The part of one thread block. All vectors are in the order of parts: the rows of part 0, those of part 1, ..., each part
/// padded to whole slices with empty rows. "Place" means a position in this order.
struct Part {
    Index first_row = 0;  // place
    Index rows = 0;       // with padding
    Index exported = 0;   // the number of its first rows that are in the halo of other parts
    Index first_halo = 0;
    Index halo = 0;
    Index first_slice = 0;
    Index resident = 0;  // entries, the first ones of the part, that stay in shared memory
    Index vectors = 0;   // how many of r, q and the inverse diagonal, in this order, are in shared memory
    Offset first_entry = 0;

    [[nodiscard]] constexpr Index slices() const { return rows / rows_per_slice; }
};

/// 32 rows padded to one width. Entry j of row i is at first + 32 j + i.
struct Slice {
    Index first = 0;  // entry, counted from the first of the part
    Index width = 0;
};

/// The places of a part's arrays in the shared memory of its block, in bytes.
struct SharedPlaces {
    std::size_t r = 0, q = 0, inverse_diagonal = 0;
    std::size_t values = 0, columns = 0;  // resident
    std::size_t halo = 0;
    std::size_t slices = 0;
    std::size_t end = 0;
};

/// p, of rows + halo elements, is at 0. Stored: the type of the matrix's values.
template <typename Value, typename Stored = Value>
constexpr SharedPlaces shared_places(const Part& part) {
    const auto bytes = [](Index count, std::size_t each) {
        constexpr std::size_t alignment = 16;
        return (static_cast<std::size_t>(count) * each + alignment - 1) / alignment * alignment;
    };
    const std::size_t vector = bytes(part.rows, sizeof(Value));
    SharedPlaces places;
    places.r = bytes(part.rows + part.halo, sizeof(Value));
    places.q = places.r + (part.vectors > 0 ? vector : 0);
    places.inverse_diagonal = places.q + (part.vectors > 1 ? vector : 0);
    places.values = places.inverse_diagonal + (part.vectors > 2 ? vector : 0);
    places.columns = places.values + bytes(part.resident, sizeof(Stored));
    places.halo = places.columns + bytes(part.resident, sizeof(std::uint16_t));
    places.slices = places.halo + bytes(part.halo, sizeof(Index));
    places.end = places.slices + bytes(part.slices(), sizeof(Slice));
    return places;
}

/// Value: the type of vectors. Stored: that of the matrix's values, f32 if it represents all of them.
template <ValueType Value, ValueType Stored = Value>
struct PersistentMatrix {
    Index rows = 0;
    std::vector<Part> parts;
    std::vector<Slice> slices;
    std::vector<Index> halo;           // places, those of part 0 first; ascending within a part
    std::vector<Index> row_at;         // [places] the row of the matrix; -1: padding
    HostArray<Stored> values;          // the padding is 0
    HostArray<std::uint16_t> columns;  // below part.rows: a row of the part; otherwise part.rows + position in its halo
    std::size_t shared_bytes = 0;      // of the part that needs most

    [[nodiscard]] Index places() const { return static_cast<Index>(row_at.size()); }
    [[nodiscard]] Offset resident() const;  // entries of all parts together
};

/// The boundaries of `parts` parts with about equal work: a row counts as eight nonzeros. [parts + 1] Where one of the `cuts`
/// (ascending, from 0 to the number of rows, or empty) is near, a boundary is moved there; as many parts as cuts have are taken
/// as they are.
[[nodiscard]] std::vector<Index> divide_rows(std::span<const Offset> row_offsets, Index parts, std::span<const Index> cuts);

/// vectors: how many of r, q and the inverse diagonal the solve has. Throws Unsuitable with the reason if a part does not fit
/// into `shared_bytes`, or has more columns than 16 bits can number.
template <ValueType Value, ValueType Stored = Value>
[[nodiscard]] PersistentMatrix<Value, Stored> make_persistent_matrix(const CsrMatrix& matrix, std::span<const Index> boundaries,
                                                                     std::size_t shared_bytes, Index vectors);

}  // namespace workbench::krylov
