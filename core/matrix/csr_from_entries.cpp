#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/csr_matrix.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/matrix/row_range.hpp"
#include "core/matrix/sort_row.hpp"

namespace workbench {
namespace {

using Chunk = std::span<const Entry>;  // of the list; never empty

template <typename Work>
void in_parallel(std::size_t count, const Work& work) {
    guarded_for("csr_from_entries", HostRange<std::size_t>(0, count), work);
}

std::vector<Chunk> chunks_of(std::span<const std::span<const Entry>> pieces) {
    constexpr std::size_t longest = std::size_t{1} << 16;
    std::vector<Chunk> chunks;
    for (const std::span<const Entry> piece : pieces) {
        for (std::size_t i = 0; i < piece.size(); i += longest) {
            chunks.push_back(piece.subspan(i, std::min(longest, piece.size() - i)));
        }
    }
    return chunks;
}

// ---- checking the list ----

/// Returns true if the list is in the order of the matrix: row by row, with strictly ascending columns. Throws where an entry
/// lies outside of the matrix.
bool check_entries(Index rows, Index columns, const std::vector<Chunk>& chunks) {
    const auto is_outside = [](Index index, Index end) {
        return static_cast<std::uint32_t>(index) >= static_cast<std::uint32_t>(end);
    };
    const auto number = [](const Entry& entry) { return (std::int64_t{entry.row} << 32) + entry.column; };
    std::atomic<const Entry*> outside = nullptr;
    std::atomic<bool> in_order = true;
    in_parallel(chunks.size(), [&](std::size_t chunk) {
        std::int64_t last = chunk == 0 ? -1 : number(chunks[chunk - 1].back());
        bool ascends = true;
        for (const Entry& entry : chunks[chunk]) {
            if (is_outside(entry.row, rows) || is_outside(entry.column, columns)) outside = &entry;
            ascends &= last < number(entry);
            last = number(entry);
        }
        if (!ascends) in_order = false;
    });
    if (const Entry* entry = outside) {
        throw std::out_of_range("entry (" + std::to_string(entry->row) + ", " + std::to_string(entry->column) +
                                ") lies outside " + std::to_string(rows) + " x " + std::to_string(columns));
    }
    return in_order;
}

// ---- lists in the order of the matrix ----

void make_places(CsrMatrix& matrix, Offset nonzeros) {
    make_room(matrix.column_indices, nonzeros);
    make_room(matrix.values, nonzeros);
}

void copy_in_order(const std::vector<Chunk>& chunks, CsrMatrix& matrix) {
    std::vector<Offset> begins(chunks.size() + 1);
    for (std::size_t i = 0; i < chunks.size(); ++i) begins[i + 1] = begins[i] + static_cast<Offset>(chunks[i].size());
    make_places(matrix, begins.back());
    Offset* offsets = matrix.row_offsets.data();
    in_parallel(chunks.size(), [&](std::size_t chunk) {
        Index row = chunk == 0 ? -1 : chunks[chunk - 1].back().row;
        Offset place = begins[chunk];
        for (const Entry& entry : chunks[chunk]) {
            while (row < entry.row) offsets[++row] = place;
            matrix.column_indices[place] = entry.column;
            matrix.values[place] = entry.value;
            ++place;
        }
    });
    const Index last_row = chunks.empty() ? -1 : chunks.back().back().row;
    std::fill(offsets + last_row + 1, offsets + matrix.rows + 1, begins.back());
}

// ---- all other lists: a radix sort into blocks of rows, then a sort within each block ----

/// Blocks of 2^shift rows. Scattering entries directly to their rows would miss the cache for each entry, so the blocks are few
/// enough that the ends of all blocks fit into the cache, and small enough that one block does.
struct RowBlocks {
    int shift = 0;
    Index count = 0;

    [[nodiscard]] Index of_row(Index row) const { return row >> shift; }
    [[nodiscard]] Index first_row(Index block, Index rows) const {
        return static_cast<Index>(std::min(std::int64_t{block} << shift, std::int64_t{rows}));
    }
};

RowBlocks row_blocks(Index rows, Offset nonzeros) {
    constexpr Offset entries_in_cache = Offset{1} << 14;
    constexpr Offset most_blocks = 2048;
    const Offset wanted = std::clamp<Offset>(nonzeros / entries_in_cache, 1, most_blocks);
    RowBlocks blocks;
    while (blocks.of_row(rows - 1) >= wanted) ++blocks.shift;
    blocks.count = blocks.of_row(rows - 1) + 1;
    return blocks;
}

/// Calls visit(row, column, value) for each entry, and then for its mirror image.
template <typename Visit>
void for_each_entry(std::span<const Chunk> chunks, Mirror mirror, const Visit& visit) {
    const double sign = mirror == Mirror::negated ? -1 : 1;
    for (const Chunk& chunk : chunks) {
        for (const Entry& entry : chunk) {
            visit(entry.row, entry.column, entry.value);
            if (mirror != Mirror::nothing && entry.row != entry.column) visit(entry.column, entry.row, sign * entry.value);
        }
    }
}

/// The list in one share per thread, and for each share and block the place of the next entry.
struct Shares {
    std::vector<std::span<const Chunk>> chunks;
    std::vector<std::vector<Offset>> next;
};

Shares shares_of(std::span<const Chunk> chunks, Mirror mirror, const RowBlocks& blocks) {
    Shares shares;
    const std::size_t count = host_threads();
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t begin = chunks.size() * i / count;
        shares.chunks.push_back(chunks.subspan(begin, chunks.size() * (i + 1) / count - begin));
    }
    shares.next.resize(count);
    in_parallel(count, [&](std::size_t share) {
        std::vector<Offset> counts(blocks.count);
        for_each_entry(shares.chunks[share], mirror, [&](Index row, Index, double) { ++counts[blocks.of_row(row)]; });
        shares.next[share] = std::move(counts);
    });
    return shares;
}

/// Turns counts into places, block by block and share by share within a block, so that entries keep the order of the list.
/// Returns the begin of each block and the end of the last one.
std::vector<Offset> count_to_places(Shares& shares, const RowBlocks& blocks) {
    std::vector<Offset> begins;
    Offset place = 0;
    for (Index block = 0; block < blocks.count; ++block) {
        begins.push_back(place);
        for (std::vector<Offset>& next : shares.next) place += std::exchange(next[block], place);
    }
    begins.push_back(place);
    return begins;
}

/// Sorts the entries within blocks of rows. One per thread, so that its buffers are reused for many blocks.
class BlockSorter {
public:
    BlockSorter(const HostArray<Index>& row_of, CsrMatrix& matrix) : row_of_(row_of), matrix_(matrix) {}

    /// Brings the entries begin .. end - 1 of the rows of a block into the order of the matrix, and writes the row offsets.
    /// Returns true if there are duplicates.
    bool sort(RowRange rows, Offset begin, Offset end) {
        if (columns_.size() < static_cast<std::size_t>(end - begin)) {
            make_room(columns_, end - begin);
            make_room(values_, end - begin);
        }
        Offset* row_ends = matrix_.row_offsets.data() + 1;
        for (Offset i = begin; i < end; ++i) ++row_ends[row_of_[i]];
        Offset row_end = 0;
        for (Index row = rows.first; row < rows.end; ++row) row_end = row_ends[row] += row_end;
        for (Offset i = end; i-- > begin;) {
            const Offset place = --row_ends[row_of_[i]];
            columns_[place] = matrix_.column_indices[i];
            values_[place] = matrix_.values[i];
        }
        bool duplicates = false;
        for (Index row = rows.first; row < rows.end; ++row) {
            const Offset row_begin = row_ends[row];  // relative to the block
            const Offset length = (row + 1 < rows.end ? row_ends[row + 1] : end - begin) - row_begin;
            Index* columns = columns_.data() + row_begin;
            sort_row(columns, values_.data() + row_begin, length);
            duplicates |= std::adjacent_find(columns, columns + length) != columns + length;
            row_ends[row] = begin + row_begin + length;
        }
        std::copy_n(columns_.data(), end - begin, matrix_.column_indices.data() + begin);
        std::copy_n(values_.data(), end - begin, matrix_.values.data() + begin);
        return duplicates;
    }

private:
    const HostArray<Index>& row_of_;  // [nonzeros]
    CsrMatrix& matrix_;
    HostArray<Index> columns_;
    HostArray<double> values_;
};

/// Sums duplicates in sorted rows, and closes the gaps.
void sum_duplicates(CsrMatrix& matrix) {
    Offset kept = 0;
    Offset begin = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        const Offset end = matrix.row_offsets[row + 1];
        const Offset row_start = kept;
        for (Offset i = begin; i < end; ++i) {
            if (kept > row_start && matrix.column_indices[kept - 1] == matrix.column_indices[i]) {
                matrix.values[kept - 1] += matrix.values[i];
            } else {
                matrix.column_indices[kept] = matrix.column_indices[i];
                matrix.values[kept] = matrix.values[i];
                ++kept;
            }
        }
        begin = end;
        matrix.row_offsets[row + 1] = kept;
    }
    matrix.column_indices.resize(kept);
    matrix.values.resize(kept);
}

void sort_entries(const std::vector<Chunk>& chunks, Mirror mirror, CsrMatrix& matrix) {
    Offset entries = 0;
    for (const Chunk& chunk : chunks) entries += static_cast<Offset>(chunk.size());
    const RowBlocks blocks = row_blocks(matrix.rows, entries);
    Shares shares = shares_of(chunks, mirror, blocks);
    const std::vector<Offset> begins = count_to_places(shares, blocks);
    make_places(matrix, begins.back());
    HostArray<Index> row_of = unwritten_array<Index>(begins.back());
    in_parallel(shares.chunks.size(), [&](std::size_t share) {
        std::vector<Offset>& next = shares.next[share];
        for_each_entry(shares.chunks[share], mirror, [&](Index row, Index column, double value) {
            const Offset place = next[blocks.of_row(row)]++;
            row_of[place] = row;
            matrix.column_indices[place] = column;
            matrix.values[place] = value;
        });
    });
    std::atomic<Index> next_block = 0;
    std::atomic<bool> duplicates = false;
    in_parallel(host_threads(), [&](std::size_t) {
        BlockSorter sorter(row_of, matrix);
        for (Index block = next_block++; block < blocks.count; block = next_block++) {
            const RowRange rows{blocks.first_row(block, matrix.rows), blocks.first_row(block + 1, matrix.rows)};
            if (sorter.sort(rows, begins[block], begins[block + 1])) duplicates = true;
        }
    });
    if (duplicates) sum_duplicates(matrix);
}

}  // namespace

CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const std::span<const Entry>> pieces, Mirror mirror) {
    if (mirror != Mirror::nothing && rows != columns) {
        throw std::invalid_argument("mirror images need a square matrix");
    }
    const std::vector<Chunk> chunks = chunks_of(pieces);
    const bool in_order = check_entries(rows, columns, chunks);
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = columns;
    matrix.row_offsets.clear();
    make_zeros(matrix.row_offsets, static_cast<std::size_t>(rows) + 1);
    if (in_order && mirror == Mirror::nothing) {
        copy_in_order(chunks, matrix);
    } else {
        sort_entries(chunks, mirror, matrix);
    }
    return matrix;
}

CsrMatrix csr_from_entries(Index rows, Index columns, std::span<const Entry> entries) {
    return csr_from_entries(rows, columns, {&entries, 1}, Mirror::nothing);
}

}  // namespace workbench
