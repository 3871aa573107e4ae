// What a layout keeps in memory, array by array and element by element, and who reads it: plain data, for drawings and for
// JSON. It follows from the layout's list of arrays, the walk over its slots and the schedule of a CUDA kernel alone, so that
// no layout has code for it.
//
// As JSON (pipeline/report/storage_json.hpp), the same names and shapes; a list stands for a member of each element of a
// vector:
//
//   {"precision": "f64", "rows": 6, "columns": 6, "nonzeros": 13, "by_cell": true,
//    "parts": [                                  // one a layout: several of a hybrid
//      {"share": "", "layout": "ehyb", "kernel": "fused", "nonzeros": 13, "padding": 3, "bytes": 500,
//       "warps": 2, "reads": 16, "lane_steps": 128,
//       "arrays": [
//         {"name": "inside_values", "role": "value", "type": "f64", "length": 16, "bytes": 128, "words": "slots",
//          "nonzeros": 13, "padding": 3,          // places of nonzeros, and places without one; both 0 of a structure
//          "columns": 2,                          // only of values whose columns an array tells: its number
//          "like": 3,                             // only where it has no bins: those of this array are its own, too
//          "cells": {"text": ["1", ...],          // only where by_cell; [length] each, of a structure the text alone
//                    "padding": [0, ...], "row": [0, ...], "column": [0, ...], "nonzero": [0, ...],
//                    "warp": [0, ...], "lane": [0, ...], "step": [0, ...]},
//          "bins": {"width": 96,                  // only where not by_cell, and not of a structure; [bins] each
//                   "padding": [0, ...], "first_row": [...], "last_row": [...], "first_column": [...],
//                   "last_column": [...], "first_nonzero": [...], "last_nonzero": [...]}}],
//       "shown_warps": [                          // a stated few
//         {"warp": 0, "steps": 3,                 // that it makes; of those, at most most_shown_steps are listed
//          "array": [3, -1, ...],                 // [listed steps * 32], lane after lane; -1: the lane reads nothing
//          "index": [...], "row": [...], "column": [...], "padding": [...]}]}]}
//
// Rows, columns and nonzeros are those of the whole matrix in its order before the layout (a nonzero is a position in
// CsrMatrix::values). -1: none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pipeline/contract/layout.hpp"
#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// Up to so many elements in all arrays, each is a cell; beyond, the arrays are cut into bins.
inline constexpr Offset most_cells = 2048;
/// Into so many at most, each of one length, a multiple of 32 elements; the last of an array may be shorter.
inline constexpr Offset most_bins = 2048;
/// Of so many warps, evenly among those that read something, the first and the last with them, so many steps are told.
inline constexpr std::size_t most_shown_warps = 4;
inline constexpr std::int64_t most_shown_steps = 64;

/// One element of an array. Of a structure there is the text alone.
struct StorageCell {
    std::string text;      // the element as it is printed
    bool padding = false;  // a place that holds no nonzero; of a column: it serves such places alone
    Index row = -1;        // of padding: that it adds to or reads, where the layout says so
    Index column = -1;
    Offset nonzero = -1;
    Offset mirror = -1;        // of a value: the nonzero in (column, row), where it serves that one, too
    Offset column_place = -1;  // of a value: the element of its array of columns that tells its column; -1: none does
    std::int64_t warp = -1;  // who reads it, and in which of the warp's steps; -1: no lane does, or several (a block's column)
    int lane = -1;
    std::int64_t step = -1;
};

/// Some consecutive elements of an array. All its nonzeros lie in the rows and columns between the first and the last.
struct StorageBin {
    Offset padding = 0;
    Index first_row = -1;
    Index last_row = -1;
    Index first_column = -1;
    Index last_column = -1;
    Offset first_nonzero = -1;
    Offset last_nonzero = -1;
};

struct StorageArray {
    std::string name;
    ArrayRole role = ArrayRole::structure;
    ElementType type = ElementType::i32;
    Offset length = 0;       // elements
    std::string words = {};  // the length in words: "rows + 1"; empty: nobody said
    Offset nonzeros = 0;     // elements that hold one or the column of one
    Offset padding = 0;      // elements that stand for no nonzero. Both are 0 of a structure.
    int columns = -1;        // of values: the number of the array that tells their columns; -1: none does
    int like = -1;           // of columns that stand beside values, element by element: the number of that array

    std::vector<StorageCell> cells = {};  // [length], where the map is by cell
    Offset width = 0;                     // of a bin
    std::vector<StorageBin> bins = {};    // otherwise; none of a structure, and none where `like` says whose they are

    [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(length) * bytes_of(type); }
};

/// What a lane reads in a step.
struct LaneRead {
    int array = -1;  // by its number in the part; -1: nothing
    Offset index = 0;
    Index row = -1;
    Index column = -1;  // whose x it reads; -1: none
    bool padding = false;
};

struct WarpReads {
    std::int64_t warp = 0;
    std::int64_t steps = 0;       // that it makes
    std::vector<LaneRead> reads;  // [listed steps * 32]

    [[nodiscard]] std::int64_t listed_steps() const { return static_cast<std::int64_t>(reads.size()) / 32; }
    [[nodiscard]] const LaneRead& at(std::int64_t step, int lane) const { return reads[step * 32 + lane]; }
};

/// What memory hands out at a time.
inline constexpr std::int64_t sector_bytes = 32;

/// How many sectors a step of a warp reads of the arrays of values and of x, where each begins with a sector.
struct ReadSectors {
    std::size_t values = 0;
    std::size_t x = 0;
};
[[nodiscard]] ReadSectors sectors_of(const WarpReads& warp, std::int64_t step, int value_bytes);

/// One layout.
struct StoragePart {
    std::string share;  // that it holds, of a hybrid; empty: all nonzeros
    std::string layout;
    std::string kernel;  // whose reads these are; empty: none is known
    std::vector<StorageArray> arrays;
    Offset mirrors = 0;           // nonzeros that are not stored, because the value of their mirror serves them
    std::int64_t warps = 0;       // that read something
    std::int64_t reads = 0;       // of slots, padding that is read included
    std::int64_t lane_steps = 0;  // 32 for each step of each warp: what is not a read is a lane that waits
    std::vector<WarpReads> shown_warps;

    /// Of all value arrays.
    [[nodiscard]] Offset nonzeros() const;
    [[nodiscard]] Offset padding() const;
    [[nodiscard]] std::size_t bytes() const;
};

struct StorageMap {
    Precision precision = Precision::f64;
    Index rows = 0;
    Index columns = 0;
    Offset nonzeros = 0;
    bool by_cell = false;
    std::vector<StoragePart> parts;

    [[nodiscard]] Offset padding() const;
    [[nodiscard]] Offset places() const;
    /// Places without a nonzero, of all places. 0 where there are no places.
    [[nodiscard]] double padding_share() const;
    /// Is there a warp that is shown?
    [[nodiscard]] bool has_reads() const;
};

/// A layout to be mapped.
template <ValueType Value>
struct MappedLayout {
    const Layout<Value>* layout = nullptr;
    std::string name;
    const ScheduleEntry* schedule = nullptr;  // whose reads; null: none
    std::string share = {};                   // of a hybrid
    std::span<const Index> rows = {};         // [layout's rows] which row of the matrix each is; empty: row i is row i
};

/// `matrix` in the order that the layouts were built from; by cell up to so many `cells`. Slots are walked once, reads twice;
/// beyond what the walk over the slots takes, there is memory for a number a warp and a bit a column. Throws std::logic_error
/// where a walk names what is not there, MachineError where memory lacks.
template <ValueType Value>
[[nodiscard]] StorageMap map_storage(const CsrMatrix& matrix, std::span<const MappedLayout<Value>> layouts,
                                     Offset cells = most_cells);

}  // namespace workbench
