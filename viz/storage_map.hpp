// The arrays of a layout in memory, element by element, and the lanes that read them, as data for pictures and JSON. It is
// derived from the layout's list of arrays, the walk over its slots and the schedule of a CUDA kernel, so that no layout needs
// code for it.
//
// The JSON (pipeline/report/report.hpp) has the same names; a vector of structures becomes a list for each member:
//
//   {"precision": "f64", "rows": 6, "columns": 6, "nonzeros": 13, "by_cell": true,
//    "parts": [                                  // one for each layout of a hybrid
//      {"share": "", "layout": "ehyb", "kernel": "fused", "nonzeros": 13, "padding": 3, "bytes": 500,
//       "warps": 2, "reads": 16, "lane_steps": 128,
//       "arrays": [
//         {"name": "inside_values", "role": "value", "type": "f64", "length": 16, "bytes": 128, "words": "slots",
//          "nonzeros": 13, "padding": 3,          // elements with and without a nonzero; both 0 in a structure
//          "columns": 2,                          // only of values: the number of the array of their columns
//          "like": 3,                             // only if it shares the bins of this array
//          "cells": {"text": ["1", ...],          // only if by_cell; [length] each; a structure has only texts
//                    "padding": [0, ...], "row": [0, ...], "column": [0, ...], "nonzero": [0, ...],
//                    "warp": [0, ...], "lane": [0, ...], "step": [0, ...]},
//          "bins": {"width": 96,                  // only if not by_cell, and not of a structure; [bins] each
//                   "padding": [0, ...], "first_row": [...], "last_row": [...], "first_column": [...],
//                   "last_column": [...], "first_nonzero": [...], "last_nonzero": [...]}}],
//       "shown_warps": [                          // at most most_shown_warps
//         {"warp": 0, "steps": 3,                 // all steps, of which at most most_shown_steps are listed
//          "array": [3, -1, ...],                 // [listed steps * 32], by step and lane; -1: the lane is idle
//          "index": [...], "row": [...], "column": [...], "padding": [...],
//          "sectors": {"values": [8, ...], "x": [5, ...]}}]}]}   // of each listed step: ReadSectors
//
// Rows, columns and nonzeros are those of the whole matrix after the last stage (a nonzero is a position in CsrMatrix::values).
// -1: none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/contract/layout.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// If all arrays together have more elements, the map has bins instead of cells.
inline constexpr Offset most_cells = 2048;
/// The most bins of an array. They have equal lengths, a multiple of 32 elements; only the last may be shorter.
inline constexpr Offset most_bins = 2048;
/// The reads are listed for at most this many warps, spread evenly from the first to the last that reads, and this many steps.
inline constexpr std::size_t most_shown_warps = 4;
inline constexpr std::int64_t most_shown_steps = 64;

/// One element of an array. Elements of a structure have only a text.
struct StorageCell {
    std::string text;      // the element as it is printed
    bool padding = false;  // a value without a nonzero, or a column of such values only
    Index row = -1;        // of padding: the row that it adds to, if the layout defines one
    Index column = -1;
    Offset nonzero = -1;
    Offset mirror = -1;        // of a value: the nonzero (column, row), if the value also represents it
    Offset column_place = -1;  // of a value: the element of its array of columns with its column; -1: none
    std::int64_t warp = -1;    // the warp, lane and step that read it; -1: none, or several (a block's column)
    int lane = -1;
    std::int64_t step = -1;
};

/// Consecutive elements of an array, with the ranges of their rows, columns and nonzeros.
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
    Offset length = 0;  // elements; for codes of blocks, the values that they represent
    Offset values_of_code = 1;
    std::string words = {};  // the length as a formula: "rows + 1"; empty: unknown
    bool constant = false;   // all elements are equal and take no memory
    Offset nonzeros = 0;     // elements with a nonzero or its column
    Offset padding = 0;      // elements without. Both are 0 in a structure.
    int columns = -1;        // of values: the number of the array of their columns; -1: none
    int like = -1;           // of columns that are parallel to values: the number of that array; -1: none

    std::vector<StorageCell> cells = {};  // [length]; only if the map is by cell
    Offset width = 0;                     // elements of a bin
    std::vector<StorageBin> bins = {};    // otherwise; empty for a structure, and if `like` has them

    [[nodiscard]] std::size_t bytes() const {
        return constant ? 0 : static_cast<std::size_t>(length / values_of_code) * bytes_of(type);
    }
};

/// The read of a lane in a step.
struct LaneRead {
    int array = -1;  // its number in the part; -1: the lane is idle
    Offset index = 0;
    Index row = -1;
    Index column = -1;  // of x; -1: none
    bool padding = false;
};

struct WarpReads {
    std::int64_t warp = 0;
    std::int64_t steps = 0;
    std::vector<LaneRead> reads;  // [listed steps * 32]

    [[nodiscard]] std::int64_t listed_steps() const { return static_cast<std::int64_t>(reads.size()) / 32; }
    [[nodiscard]] const LaneRead& at(std::int64_t step, int lane) const { return reads[step * 32 + lane]; }
};

/// The size of a memory transaction.
inline constexpr std::int64_t sector_bytes = 32;

/// The sectors of the value arrays and of x that a warp reads in a step, if each array begins at a sector boundary.
struct ReadSectors {
    std::size_t values = 0;
    std::size_t x = 0;
};
[[nodiscard]] ReadSectors sectors_of(const WarpReads& warp, std::int64_t step, int value_bytes);

/// One layout.
struct StoragePart {
    std::string share;  // of a hybrid; empty: all nonzeros
    std::string layout;
    std::string kernel;  // of the reads; empty: unknown
    std::vector<StorageArray> arrays;
    Offset mirrors = 0;           // nonzeros that are not stored, because their mirror represents them
    std::int64_t warps = 0;       // that read at least one slot
    std::int64_t reads = 0;       // of slots, including padding
    std::int64_t lane_steps = 0;  // 32 for each step of each warp; lane_steps - reads are idle
    std::vector<WarpReads> shown_warps;

    /// Totals of the value arrays.
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

    [[nodiscard]] std::size_t bytes() const;
    [[nodiscard]] Offset padding() const;
    [[nodiscard]] Offset places() const;
    /// padding() / places(); 0 without places.
    [[nodiscard]] double padding_share() const;
    /// True if the reads of any warp are listed.
    [[nodiscard]] bool has_reads() const;
};

/// A layout to be mapped.
template <ValueType Value>
struct MappedLayout {
    const Layout<Value>* layout = nullptr;
    std::string name;
    const ScheduleEntry* schedule = nullptr;  // of the reads; null: none
    std::string share = {};                   // of a hybrid
    std::span<const Index> rows = {};         // [layout's rows] row numbers in the matrix; empty: the same
};

/// `matrix` has the order that the layouts were built from. The map is by cell for up to `cells` elements. Slots are walked
/// once, reads twice; in addition to the memory of the walk over slots, this takes a number per warp and a bit per column.
/// Throws std::logic_error if a walk visits an element that does not exist, MachineError if memory runs out.
template <ValueType Value>
[[nodiscard]] StorageMap map_storage(const CsrMatrix& matrix, std::span<const MappedLayout<Value>> layouts,
                                     Offset cells = most_cells);

}  // namespace workbench
