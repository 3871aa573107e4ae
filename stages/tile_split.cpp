#include "stages/tile_split.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <string>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/system/host_memory.hpp"

namespace workbench {
namespace {

/// The maximum number of nonzeros of a chunk with more than one row.
constexpr Offset chunk_nonzeros = 1 << 16;

/// The part of a tile in one chunk of rows, and its place in the share of the tile.
struct TileFragment {
    Index segment = 0;
    Index rows = 0;
    Offset entries = 0;
    std::size_t share = 0;
    Index first_row = 0;
    Offset first_entry = 0;
};

constexpr const char* advice = "wider segments or higher row blocks make fewer tiles";

/// The memory of a share, beside its rows and entries, with the overhead of three allocations.
constexpr std::size_t share_bytes = sizeof(Share) + sizeof(Offset) + 3 * std::size_t{32};

/// Consecutive rows of one row block, and their fragments in the order in which they are found.
struct Chunk {
    Index row_block = 0;
    Index begin = 0;
    Index end = 0;
    std::vector<TileFragment> fragments = {};
};

std::vector<Chunk> cut_into_chunks(const CsrMatrix& matrix, const std::vector<Index>& block_rows) {
    std::vector<Chunk> chunks;
    for (Index block = 0; block + 1 < static_cast<Index>(block_rows.size()); ++block) {
        for (Index begin = block_rows[block]; begin < block_rows[block + 1];) {
            Index end = begin + 1;
            while (end < block_rows[block + 1] && matrix.row_offsets[end + 1] - matrix.row_offsets[begin] <= chunk_nonzeros) {
                ++end;
            }
            chunks.push_back({.row_block = block, .begin = begin, .end = end});
            begin = end;
        }
    }
    return chunks;
}

/// Calls body(chunk, place) for every chunk. place: [segments] a table of the thread, which body must leave filled with -1.
template <typename Body>
void for_each_chunk(std::vector<Chunk>& chunks, Index segment_count, const Body& body) {
    std::atomic<std::size_t> next = 0;
    guarded_for("for_each_chunk", HostRange<>(0, host_threads()), [&](Index) {
        std::vector<Index> place(segment_count, -1);
        for (std::size_t chunk = next++; chunk < chunks.size(); chunk = next++) body(chunks[chunk], place);
    });
}

class Splitter {
public:
    Splitter(const CsrMatrix& matrix, const Cuts* row_blocks, const Cuts& segments)
        : matrix_(matrix),
          row_blocks_(row_blocks),
          segments_(segments),
          segment_of_(segments.pieces()),
          chunks_(
              cut_into_chunks(matrix, row_blocks == nullptr ? std::vector<Index>{0, matrix.rows} : row_blocks->boundaries)) {}

    std::vector<Share> split() {
        count();
        require_memory();
        place_fragments();
        allocate();
        for_each_chunk(chunks_, segments_.count(), [&](Chunk& chunk, std::vector<Index>& place) { fill(chunk, place); });
        return std::move(shares_);
    }

private:
    /// Calls visit(segment, first, end) for the entries of a row in each segment, which are consecutive.
    template <typename Visit>
    void for_each_segment(Index row, const Visit& visit) const {
        const Offset end_of_row = matrix_.row_offsets[row + 1];
        for (Offset first = matrix_.row_offsets[row]; first < end_of_row;) {
            const Index segment = segment_of_[matrix_.column_indices[first]];
            Offset end = first + 1;
            while (end < end_of_row && matrix_.column_indices[end] < segments_.end(segment)) ++end;
            visit(segment, first, end);
            first = end;
        }
    }

    /// Counts the fragments, and throws as soon as their shares cannot fit into memory.
    void count() {
        const std::size_t free = free_host_memory();
        const std::size_t most = free / share_bytes;
        for_each_chunk(chunks_, segments_.count(), [&](Chunk& chunk, std::vector<Index>& place) {
            if (fragments_ > most) return;
            count(chunk, place);
            fragments_ += chunk.fragments.size();
        });
        if (fragments_ <= most) return;
        throw Unsuitable("more than " + std::to_string(most) + " parts of tiles need more than the " + std::to_string(free) +
                         " bytes that are free; " + advice);
    }

    void count(Chunk& chunk, std::vector<Index>& place) const {
        for (Index row = chunk.begin; row < chunk.end; ++row) {
            for_each_segment(row, [&](Index segment, Offset first, Offset end) {
                if (place[segment] == -1) {
                    place[segment] = static_cast<Index>(chunk.fragments.size());
                    chunk.fragments.push_back({.segment = segment});
                }
                TileFragment& fragment = chunk.fragments[place[segment]];
                ++fragment.rows;
                fragment.entries += end - first;
            });
        }
        for (const TileFragment& fragment : chunk.fragments) place[fragment.segment] = -1;
    }

    /// Checks an upper bound of the memory: there are at most as many shares as fragments.
    void require_memory() const {
        std::size_t rows = 0;
        for (const Chunk& chunk : chunks_) {
            for (const TileFragment& fragment : chunk.fragments) rows += fragment.rows;
        }
        const std::size_t wanted =
            fragments_ * share_bytes + rows * (sizeof(Index) + sizeof(Offset)) + matrix_.values.size() * sizeof(Offset);
        if (const std::size_t free = free_host_memory(); wanted > free) {
            throw Unsuitable("up to " + std::to_string(fragments_) + " tiles with " + std::to_string(rows) +
                             " rows present in them need " + std::to_string(wanted) + " bytes, but " + std::to_string(free) +
                             " are free; " + advice);
        }
    }

    /// Makes the shares, and places each fragment in its share.
    void place_fragments() {
        constexpr auto none = static_cast<std::size_t>(-1);
        std::vector<std::size_t> share_of_segment(segments_.count(), none);
        for (std::size_t begin = 0; begin < chunks_.size();) {
            std::size_t end = begin;
            std::vector<Index> present;
            for (; end < chunks_.size() && chunks_[end].row_block == chunks_[begin].row_block; ++end) {
                for (const TileFragment& fragment : chunks_[end].fragments) {
                    if (std::exchange(share_of_segment[fragment.segment], 0) == none) present.push_back(fragment.segment);
                }
            }
            std::sort(present.begin(), present.end());
            for (const Index segment : present) {
                share_of_segment[segment] = shares_.size();
                shares_.push_back({.id = id_of(chunks_[begin].row_block, segment)});
                share_rows_.push_back(0);
                share_entries_.push_back(0);
            }
            for (; begin < end; ++begin) {
                for (TileFragment& fragment : chunks_[begin].fragments) {
                    fragment.share = share_of_segment[fragment.segment];
                    fragment.first_row =
                        std::exchange(share_rows_[fragment.share], share_rows_[fragment.share] + fragment.rows);
                    fragment.first_entry =
                        std::exchange(share_entries_[fragment.share], share_entries_[fragment.share] + fragment.entries);
                }
            }
            for (const Index segment : present) share_of_segment[segment] = none;
        }
    }

    [[nodiscard]] ShareId id_of(Index row_block, Index segment) const {
        if (row_blocks_ == nullptr) return {.kind = ShareKind::segment, .segment = segment};
        return {.kind = ShareKind::tile, .row_block = row_block, .segment = segment};
    }

    void allocate() {
        guarded_for("allocate_shares", UnevenHostRange<std::size_t>(0, shares_.size()), [&](std::size_t share) {
            shares_[share].rows.resize(share_rows_[share]);
            shares_[share].row_offsets.resize(static_cast<std::size_t>(share_rows_[share]) + 1);
            shares_[share].entries.resize(share_entries_[share]);
        });
    }

    void fill(Chunk& chunk, std::vector<Index>& place) {
        for (std::size_t i = 0; i < chunk.fragments.size(); ++i) place[chunk.fragments[i].segment] = static_cast<Index>(i);
        for (Index row = chunk.begin; row < chunk.end; ++row) {
            for_each_segment(row, [&](Index segment, Offset first, Offset end) {
                TileFragment& fragment = chunk.fragments[place[segment]];
                Share& share = shares_[fragment.share];
                std::iota(share.entries.begin() + fragment.first_entry,
                          share.entries.begin() + fragment.first_entry + end - first, first);
                fragment.first_entry += end - first;
                share.rows[fragment.first_row] = row;
                share.row_offsets[++fragment.first_row] = fragment.first_entry;
            });
        }
        for (const TileFragment& fragment : chunk.fragments) place[fragment.segment] = -1;
    }

    const CsrMatrix& matrix_;
    const Cuts* row_blocks_;
    const Cuts& segments_;
    std::vector<Index> segment_of_;  // [columns]
    std::vector<Chunk> chunks_;
    std::atomic<std::size_t> fragments_ = 0;  // in all chunks
    std::vector<Share> shares_;
    std::vector<Index> share_rows_;      // [shares]
    std::vector<Offset> share_entries_;  // [shares]
};

}  // namespace

std::vector<Share> split_into_tiles(const CsrMatrix& matrix, const Cuts* row_blocks, const Cuts& segments) {
    return Splitter(matrix, row_blocks, segments).split();
}

}  // namespace workbench
