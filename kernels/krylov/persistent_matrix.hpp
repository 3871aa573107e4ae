// A matrix divided into parts of consecutive rows, one for each thread block of a persistent kernel (persistent_block.cuh). A
// block keeps its part's elements of the direction p in shared memory, together with its halo: the elements of other parts that
// its rows multiply. Columns are therefore places in shared memory, of 16 bits.
//
// The rows can be those of one rank. Then the first columns are the rows, and the following ones are remote: elements that
// other ranks own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/contract/device.hpp"
#include "core/contract/precision.hpp"
#include "core/contract/solvers.hpp"

namespace workbench::krylov {

inline constexpr Index rows_per_slice = 32;  // a row for each lane of a warp

/// A matrix with ascending columns, in the memory of a space and in the order of the solve.
struct OrderedRows {
    Index rows = 0;
    Index column_count = 0;
    const Offset* offsets = nullptr;         // [rows + 1]
    const Index* columns = nullptr;          // [nonzeros]
    const double* values = nullptr;          // [nonzeros]; null: those in f32
    const std::uint32_t* entries = nullptr;  // [nonzeros] the position of each value; null: that of its column
    const Index* old_of_new = nullptr;       // [rows] the row as it was given; null: the same
    const float* values_in_f32 = nullptr;    // [nonzeros]

    [[nodiscard]] constexpr Offset entry(Offset k) const { return entries == nullptr ? k : Offset{entries[k]}; }
    [[nodiscard]] constexpr double value(Offset k) const {
        return values == nullptr ? static_cast<double>(values_in_f32[entry(k)]) : values[entry(k)];
    }
};

/// The thread block of a part. Warp w computes slices w, w + warps, ...
struct BlockShape {
    int warps = 0;
    int rows_of_thread = 0;  // whose elements of r and q a thread of conjugate gradients keeps in registers

    [[nodiscard]] constexpr int threads() const { return 32 * warps; }
    [[nodiscard]] constexpr Index rows_in_registers() const { return threads() * rows_of_thread; }
};

/// More warps hide more of the time that reads take, and fewer warps wait less for each other.
inline constexpr BlockShape shape_of_small_parts{.warps = 16, .rows_of_thread = 4};
inline constexpr BlockShape shape_of_large_parts{.warps = 24, .rows_of_thread = 2};

/// The part of one thread block. All vectors are in the order of parts: the rows of part 0, those of part 1, ..., each part
/// padded to whole slices with empty rows. "Place" means a position in this order; remote element i is at places + i.
struct Part {
    Index first_row = 0;  // place
    Index rows = 0;       // with padding
    Index sent = 0;       // the number of its first rows that other ranks read
    Index first_sent = 0;
    Index exported = 0;  // the number of its first rows that are in the halo of other parts, or sent
    Index first_halo = 0;
    Index halo = 0;
    Index first_slice = 0;
    Index entries = 0;
    Index resident = 0;       // entries, the first ones of the part, that stay in shared memory
    Index vectors = 0;        // how many of r, q and the inverse diagonal, in this order, are in shared memory
    Index in_registers = 0;   // rows of r and q, the first ones, that need no place in shared memory
    bool halo_has_r = false;  // conjugate gradients: r and the inverse diagonal are also needed in the halo (persistent_cg.cuh)
    bool keeps_halo = false;  // the list of its halo is in shared memory
    Offset first_entry = 0;

    [[nodiscard]] constexpr Index slices() const { return rows / rows_per_slice; }
    [[nodiscard]] constexpr Index halo_of_r() const { return halo_has_r ? halo : 0; }
};

/// Entries are stored in runs: 1, 2 or 3 entries of a row with consecutive columns. Only the first column of a run is stored.
inline constexpr Index longest_run = 3;

/// 32 rows padded to one number of runs. Entry j of row i is at first + 32 j + i; the column of run j is at first / run + 32 j
/// + i.
struct Slice {
    Index first = 0;  // entry, counted from the first of the part
    Index runs = 0;   // of a row
};

/// Rank `rank` has this element at `place`, as a remote one.
struct Target {
    Index rank = 0;
    Index place = 0;
};

/// The places of a part's arrays in the shared memory of its block, in bytes.
struct SharedPlaces {
    std::size_t r = 0, q = 0, inverse_diagonal = 0;
    std::size_t values = 0, columns = 0;  // resident
    std::size_t halo = 0;
    std::size_t slices = 0;
    std::size_t end = 0;
};

constexpr SharedPlaces shared_places(const Part& part, std::size_t value, std::size_t stored, Index run) {
    const auto bytes = [](Index count, std::size_t each) {
        constexpr std::size_t alignment = 16;
        return (static_cast<std::size_t>(count) * each + alignment - 1) / alignment * alignment;
    };
    const Index in_memory = part.rows - part.in_registers;
    SharedPlaces places;
    places.r = bytes(part.rows + part.halo, value);
    places.q = places.r + (part.vectors > 0 ? bytes(in_memory + part.halo_of_r(), value) : 0);
    places.inverse_diagonal = places.q + (part.vectors > 1 ? bytes(in_memory, value) : 0);
    places.values = places.inverse_diagonal + (part.vectors > 2 ? bytes(part.rows + part.halo_of_r(), value) : 0);
    places.columns = places.values + bytes(part.resident, stored);
    places.halo = places.columns + bytes(part.resident / run, sizeof(std::uint16_t));
    places.slices = places.halo + (part.keeps_halo ? bytes(part.halo, sizeof(Index)) : 0);
    places.end = places.slices + bytes(part.slices(), sizeof(Slice));
    return places;
}

/// p, of rows + halo elements, is at 0. Stored: the type of the matrix's values. run: entries of a run.
template <typename Value, typename Stored = Value, Index run = 1>
constexpr SharedPlaces shared_places(const Part& part) {
    return shared_places(part, sizeof(Value), sizeof(Stored), run);
}

inline constexpr std::uint32_t padding_entry = 0xFFFFFFFF;

/// Stored: the type of the matrix's values, f32 if it represents all of them. Array: of the memory of the solve.
template <ValueType Stored, template <typename> typename Array>
struct PersistentMatrix {
    Index rows = 0;
    Index remote = 0;  // columns
    Index run = 1;
    Index places = 0;
    std::vector<Part> parts;
    std::vector<Slice> slices;
    Array<Index> halo;                 // places, those of part 0 first; ascending within a part
    std::vector<Index> first_targets;  // [rows sent, + 1 for each part] part.first_sent + i: of row i of a part, then the end
    std::vector<Target> targets;
    Array<Index> row_at;           // [places] the row of the matrix as it was given; -1: padding
    Array<Stored> values;          // the padding is 0
    Array<std::uint16_t> columns;  // below part.rows: a row of the part; otherwise part.rows + position in its halo
    Array<std::uint32_t> entries;  // the position of each value in the matrix as it was given; empty unless the plan keeps them
    std::size_t shared_bytes = 0;  // of the part that needs most
};

struct PersistentPlan {
    std::span<const Index> boundaries = {};  // of parts, [parts + 1]
    std::size_t shared_bytes = 0;            // of a part
    BlockShape shape = shape_of_large_parts;
    KrylovMethod method = KrylovMethod::cg;
    bool preconditioned = false;
    Index run = 1;
    std::span<const SentElement> sent = {};  // to other ranks
    bool keeps_entries = false;
    HaloOfParts halo = HaloOfParts::by_room;
};

/// One part for each pair of boundaries [parts + 1], with its rows, which are padded to whole slices; all else is zero.
[[nodiscard]] std::vector<Part> empty_parts(std::span<const Index> boundaries);

/// Decides what stays in shared memory: vectors, then as many slices as fit, spread evenly over the slices of each warp, so
/// that warps read from both memories at a time. Also decides if halos have r. parts: with rows and halos; slices: with runs.
/// Returns the number of entries. Throws Unsuitable with the reason if a part does not fit into the shared memory, or has more
/// columns than 16 bits can number.
[[nodiscard]] Offset place_entries(const PersistentPlan& plan, std::size_t bytes_of_value, std::size_t bytes_of_stored,
                                   std::span<Part> parts, std::span<Slice> slices);

}  // namespace workbench::krylov
