#include "kernels/formats/halo/parts.hpp"
#include "core/matrix/block_rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace workbench {
namespace {

/// Converts boundaries of rows to boundaries of nodes: a node belongs to the part of its first row.
HostArray<Index> nodes_of(const Cuts& cuts, Index block_size) {
    HostArray<Index> nodes(cuts.boundaries.begin(), cuts.boundaries.end());
    for (Index& boundary : nodes) boundary = block_count_of(boundary, block_size);
    return nodes;
}

HostArray<Index> equal_pieces(const CsrMatrix& matrix, Index block_size, Index parts) {
    const Index nodes = block_count_of(matrix.rows, block_size);
    HostArray<Index> boundaries{0};
    Index node = 0;
    for (Index part = 1; part < parts; ++part) {
        const Offset wanted = matrix.nonzeros() / parts * part;
        while (node < nodes && matrix.row_offsets[std::min(Offset{node} * block_size, Offset{matrix.rows})] < wanted) ++node;
        boundaries.push_back(node);
    }
    boundaries.push_back(nodes);
    return boundaries;
}

/// The blocks of a part by section: for each of its nodes, the nodes of their columns.
struct BlocksOfPart {
    std::vector<HostArray<Index>> pairs;
    std::vector<HostArray<Index>> rest;
};

BlocksOfPart find_blocks(const CsrMatrix& matrix, const HaloOptions& options, Index first, Index end) {
    const Index d = options.block_size;
    const CsrOnHost<double> view{matrix.rows, matrix.columns, matrix.row_offsets, matrix.column_indices, matrix.values};
    BlocksOfPart blocks{std::vector<HostArray<Index>>(end - first), std::vector<HostArray<Index>>(end - first)};
    // For each node, the earlier nodes whose blocks in its row are mirrors of blocks already seen, ascending.
    std::vector<HostArray<Index>> mirrored(options.pairs ? end - first : 0);
    for (Index node = first; node < end; ++node) {
        blocks.rest[node - first].reserve(matrix.row_length(node * d) / d + 1);
        std::size_t known = 0;  // of the mirrored nodes, the number that this row has passed
        const auto is_mirrored = [&](Index column) {
            if (column > node) return halo_is_mirrored(matrix, d, node, column);
            const HostArray<Index>& before = mirrored[node - first];
            const bool found = known < before.size() && before[known] == column;
            known += found ? 1 : 0;
            return found;
        };
        const auto place_block = [&](Index column) {
            const bool inside = column >= first && column < end;
            if (column == node && options.diagonal) return;
            if (!options.pairs || !inside || column == node || !is_mirrored(column)) {
                blocks.rest[node - first].push_back(column);
            } else if (column > node) {
                mirrored[column - first].push_back(node);
                // In the row with fewer blocks so far, so that rows have about equal lengths.
                auto& own = blocks.pairs[node - first];
                auto& others = blocks.pairs[column - first];
                own.size() <= others.size() ? own.push_back(column) : others.push_back(node);
            }
        };
        walk_block_row(view, {d, d}, node, place_block, [](Index, Offset) {});
    }
    return blocks;
}

/// For each node, minus the number of times it is listed, and the node; by node.
std::vector<std::pair<Offset, Index>> count_uses(HostArray<Index> nodes) {
    std::vector<std::pair<Offset, Index>> uses;
    if (nodes.empty()) return uses;
    const auto [least, most] = std::minmax_element(nodes.begin(), nodes.end());
    const std::size_t reach = std::size_t(*most) - *least + 1;
    if (reach <= 4 * nodes.size()) {  // a table of them is small
        HostArray<Index> counts(reach, 0);
        const Index first = *least;
        for (const Index node : nodes) ++counts[node - first];
        for (std::size_t i = 0; i < reach; ++i) {
            if (counts[i] > 0) uses.emplace_back(-counts[i], first + static_cast<Index>(i));
        }
        return uses;
    }
    std::sort(nodes.begin(), nodes.end());
    for (const Index node : nodes) {
        if (uses.empty() || uses.back().second != node) uses.emplace_back(0, node);
        --uses.back().first;
    }
    return uses;
}

/// The columns outside that fit into shared memory: those that the most blocks need.
HostArray<Index> choose_halo(const BlocksOfPart& blocks, const HaloOptions& options, Index first, Index end, Index cached) {
    HostArray<Index> touched;
    for (const auto& columns : blocks.rest) {
        for (const Index column : columns) {
            if (cached == 0 || column < first || column >= end) touched.push_back(column);
        }
    }
    std::vector<std::pair<Offset, Index>> uses = count_uses(std::move(touched));
    const HaloPart own{.first_node = first, .own = end - first, .cached = cached};
    const std::int64_t of_node = std::int64_t{options.block_size} * static_cast<std::int64_t>(options.value_bytes);
    const std::int64_t capacity =
        (options.shared_bytes - halo_vector_bytes(own, options.block_size, options.value_bytes)) / of_node;
    const auto most = std::clamp<std::int64_t>(capacity, 0, most_halo_places - cached);
    if (std::cmp_greater(uses.size(), most)) {
        std::sort(uses.begin(), uses.end());
        uses.resize(most);
    }
    HostArray<Index> halo;
    for (const auto& use : uses) halo.push_back(use.second);
    std::sort(halo.begin(), halo.end());
    return halo;
}

/// Some neighbouring blocks of a row.
struct Piece {
    Index row = 0;  // place
    Index begin = 0;
    Index count = 0;
};

/// Cuts each row into pieces of about equal length, longest first. 32 consecutive pieces share steps.
std::vector<Piece> sorted_pieces(const std::vector<HostArray<Index>>& rows, Index longest) {
    std::vector<Piece> pieces;
    for (Index row = 0; row < static_cast<Index>(rows.size()); ++row) {
        const auto count = static_cast<Offset>(rows[row].size());
        const Offset of_row = (count + longest - 1) / longest;
        for (Offset i = 0; i < of_row; ++i) {
            const auto begin = static_cast<Index>(count * i / of_row);
            pieces.push_back({row, begin, static_cast<Index>(count * (i + 1) / of_row) - begin});
        }
    }
    std::stable_sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.count > b.count; });
    return pieces;
}

/// Steps of 32 pieces side by side, which are dealt to the warps.
class PieceSlices {
public:
    PieceSlices(const std::vector<HostArray<Index>>& rows, Index longest) : rows_(rows), pieces_(sorted_pieces(rows, longest)) {
        for (std::size_t i = 0; i < pieces_.size(); i += halo_lanes) steps_ += pieces_[i].count;
    }

    [[nodiscard]] Offset steps() const { return steps_; }

    /// Appends the next steps to the part. place(column): its place.
    void take(Offset steps, PlannedPart& part, const auto& place) {
        while (steps > 0) {
            const auto now = static_cast<Index>(std::min<Offset>(steps, pieces_[first_].count - done_));
            for (std::size_t lane = 0; lane < halo_lanes; ++lane) {
                const bool has_block = has_piece(lane) && pieces_[first_ + lane].count > done_;
                part.rows.push_back(has_block ? static_cast<std::uint16_t>(pieces_[first_ + lane].row) : no_place);
            }
            for (Index step = done_; step < done_ + now; ++step) {
                for (std::size_t lane = 0; lane < halo_lanes; ++lane) {
                    const bool has_block = has_piece(lane) && pieces_[first_ + lane].count > step;
                    part.columns.push_back(has_block ? place(column(pieces_[first_ + lane], step)) : no_place);
                }
            }
            part.steps_of_segment.push_back(now);
            steps -= now;
            done_ += now;
            if (done_ < pieces_[first_].count) continue;
            first_ += halo_lanes;
            done_ = 0;
        }
    }

private:
    [[nodiscard]] bool has_piece(std::size_t lane) const { return first_ + lane < pieces_.size(); }
    [[nodiscard]] Index column(const Piece& piece, Index step) const { return rows_[piece.row][piece.begin + step]; }

    const std::vector<HostArray<Index>>& rows_;
    std::vector<Piece> pieces_;
    Offset steps_ = 0;
    std::size_t first_ = 0;  // first piece of the next slice
    Index done_ = 0;         // steps of that slice already taken
};

/// Replaces the columns in `rest` by their places, and moves those without a place to the far blocks. place_of(column): -1:
/// none.
void set_far_apart(std::vector<HostArray<Index>>& rest, const auto& place_of, PlannedPart& part) {
    for (std::size_t row = 0; row < rest.size(); ++row) {
        auto placed = rest[row].begin();
        for (const Index column : rest[row]) {
            if (const Index place = place_of(column); place >= 0) {
                *placed++ = place;
                continue;
            }
            part.far_rows.push_back(static_cast<std::uint16_t>(row));
            part.far_columns.push_back(column);
        }
        rest[row].erase(placed, rest[row].end());
    }
    part.far_blocks = static_cast<Offset>(part.far_rows.size());
    while (part.far_rows.size() % halo_lanes != 0) {
        part.far_rows.push_back(no_place);
        part.far_columns.push_back(0);
    }
}

}  // namespace

HostArray<Index> halo_part_nodes(const StagedMatrix& staged, const HaloOptions& options, Index parts, Index& parts_cut) {
    const CsrMatrix& matrix = staged.matrix;
    const Cuts* const partition = staged.find_cuts(CutKind::partition);
    const HostArray<Index> wanted =
        partition != nullptr ? nodes_of(*partition, options.block_size) : equal_pieces(matrix, options.block_size, parts);
    // x and y of the own nodes may take three quarters of the memory, which leaves the rest to the halo.
    const std::int64_t of_node =
        std::int64_t{options.block_size} * static_cast<std::int64_t>(options.value_bytes) * (matrix.square() ? 2 : 1);
    const std::int64_t most_own = std::min<std::int64_t>(options.shared_bytes / of_node, most_halo_places);
    const std::int64_t own_of_pieces = std::max<std::int64_t>(most_own * 3 / 4, 1);
    HostArray<Index> nodes{0};
    parts_cut = 0;
    for (std::size_t part = 0; part + 1 < wanted.size(); ++part) {
        const Offset own = Offset{wanted[part + 1]} - wanted[part];
        const Offset pieces = own <= most_own ? 1 : (own + own_of_pieces - 1) / own_of_pieces;
        if (pieces > 1) ++parts_cut;
        for (Offset piece = 1; piece <= pieces; ++piece) {
            nodes.push_back(static_cast<Index>(wanted[part] + own * piece / pieces));
        }
    }
    return nodes;
}

HaloBlock halo_block(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node) {
    HaloBlock block;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    std::fill_n(block.begin(), block_size * block_size, Offset{-1});
    for_each_in_halo_block(matrix, block_size, row_node, column_node,
                           [&](Index r, Index c, Offset nonzero) { block[r * block_size + c] = nonzero; });
    return block;
}

bool halo_is_mirrored(const CsrMatrix& matrix, Index block_size, Index row_node, Index column_node) {
    const HaloBlock block = halo_block(matrix, block_size, row_node, column_node);
    const HaloBlock mirror = row_node == column_node ? block : halo_block(matrix, block_size, column_node, row_node);
    for (Index r = 0; r < block_size; ++r) {
        for (Index c = 0; c < block_size; ++c) {
            const Offset one = block[r * block_size + c];
            const Offset other = mirror[c * block_size + r];
            if ((one < 0) != (other < 0)) return false;
            // Compared as bits, so that a NaN mirrors itself and -0 does not mirror 0.
            if (one >= 0 &&
                std::bit_cast<std::uint64_t>(matrix.values[one]) != std::bit_cast<std::uint64_t>(matrix.values[other])) {
                return false;
            }
        }
    }
    return true;
}

PlannedPart plan_halo_part(const CsrMatrix& matrix, const HaloOptions& options, Index first_node, Index end_node) {
    PlannedPart part;
    const Index cached = matrix.square() ? end_node - first_node : 0;
    BlocksOfPart blocks = find_blocks(matrix, options, first_node, end_node);
    part.halo = choose_halo(blocks, options, first_node, end_node, cached);
    const auto place_of = [&](Index column) {
        if (cached > 0 && column >= first_node && column < end_node) return column - first_node;
        const Offset found = columns_before(part.halo, column);
        const bool is_there = found < std::ssize(part.halo) && part.halo[found] == column;
        return is_there ? cached + static_cast<Index>(found) : -1;
    };
    set_far_apart(blocks.rest, place_of, part);
    const auto place_of_pair = [&](Index column) { return static_cast<std::uint16_t>(column - first_node); };
    const auto as_placed = [](Index place) { return static_cast<std::uint16_t>(place); };

    PieceSlices pairs(blocks.pairs, options.piece);
    PieceSlices rest(blocks.rest, options.piece);
    const Offset steps = pairs.steps() + rest.steps();
    Offset steps_taken = 0;
    Offset pairs_taken = 0;
    for (Index warp = 0; warp < options.warps; ++warp) {
        const std::size_t segments_before = part.steps_of_segment.size();
        const Offset steps_until = halo_steps_until(steps, warp, options.warps);
        const Offset pairs_until = halo_pairs_until(pairs.steps(), steps, warp, options.warps);
        pairs.take(pairs_until - pairs_taken, part, place_of_pair);
        part.pair_segments_of_warp.push_back(static_cast<Index>(part.steps_of_segment.size() - segments_before));
        rest.take(steps_until - steps_taken - (pairs_until - pairs_taken), part, as_placed);
        part.segments_of_warp.push_back(static_cast<Index>(part.steps_of_segment.size() - segments_before));
        steps_taken = steps_until;
        pairs_taken = pairs_until;
    }
    const auto count = [](const std::vector<HostArray<Index>>& rows) {
        return std::accumulate(rows.begin(), rows.end(), Offset{0},
                               [](Offset sum, const auto& row) { return sum + std::ssize(row); });
    };
    part.pairs = count(blocks.pairs);
    part.blocks = part.pairs + count(blocks.rest) + part.far_blocks;
    return part;
}

}  // namespace workbench
