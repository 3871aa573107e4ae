#include "viz/packed_pattern.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>

#include "core/matrix/random.hpp"
#include "viz/placed_rows.hpp"

namespace workbench {

void add_number(std::string& bytes, std::uint64_t number) {
    for (; number >= 128; number >>= 7) bytes += static_cast<char>(number % 128 + 128);
    bytes += static_cast<char>(number);
}

void add_difference(std::string& bytes, std::int64_t difference) {
    const auto twice = static_cast<std::uint64_t>(difference) << 1;
    add_number(bytes, difference < 0 ? ~twice : twice);
}

PackedLevel packed(const PyramidLevel& level) {
    PackedLevel result;
    result.one_each = true;
    for (Offset i = 0; i < level.bins() && result.one_each; ++i) {
        const auto first = level.counts.begin() + i * level.planes;
        result.one_each = std::accumulate(first, first + level.planes, Offset{0}) == 1;
    }
    for (Index row = 0; row < level.row_bins(); ++row) {
        add_number(result.bytes, level.row_offsets[row + 1] - level.row_offsets[row]);
        Index next = 0;
        for (Offset i = level.row_offsets[row]; i < level.row_offsets[row + 1]; ++i) {
            add_number(result.bytes, level.bin_columns[i] - next);
            next = level.bin_columns[i] + 1;
            const auto first = level.counts.begin() + i * level.planes;
            if (!result.one_each) {
                for (int plane = 0; plane < level.planes; ++plane) add_number(result.bytes, first[plane]);
            } else if (level.planes > 1) {
                add_number(result.bytes, std::find(first, first + level.planes, 1) - first);
            }
        }
    }
    return result;
}

PatternSample sample_of(const StagedMatrix& staged, Index most) {
    const CsrMatrix& matrix = staged.matrix;
    PatternSample sample;
    std::map<Index, std::size_t> by_row;  // current rows; one nonzero each
    const Index tries = std::min(most, matrix.rows);
    std::vector<Index> originals;
    for (Index i = 0; i < tries; ++i) {
        // One random row from each of equal parts of the input, so that no regularity of the numbering shows.
        const std::int64_t begin = std::int64_t{i} * matrix.rows / tries;
        const std::int64_t end = (std::int64_t{i} + 1) * matrix.rows / tries;
        RandomStream random = random_stream(1, i);
        const auto original = static_cast<Index>(begin + static_cast<std::int64_t>(random.below(end - begin)));
        const Index row = staged.row_order.new_of_old(original);
        const auto columns = matrix.row_columns(row);
        if (columns.empty()) continue;
        originals.clear();
        for (const Index column : columns) originals.push_back(staged.column_order.old_of_new(column));
        const auto chosen = originals.begin() + static_cast<Offset>(random.below(originals.size()));
        std::nth_element(originals.begin(), chosen, originals.end());
        const Index column = staged.column_order.new_of_old(*chosen);
        const auto at = std::lower_bound(columns.begin(), columns.end(), column) - columns.begin();
        by_row.emplace(row, sample.values.size());
        sample.original_rows.push_back(original);
        sample.original_columns.push_back(*chosen);
        sample.values.push_back(matrix.values[matrix.row_offsets[row] + at]);
        sample.drawn_rows.push_back(row);
        sample.drawn_columns.push_back(column);
    }
    const Cuts* segments = staged.find_cuts(CutKind::segment);
    const Placement placement(staged, 1);
    for (const PlacedTile& tile : placement.tiles()) {
        const std::span<const Index> rows = tile.share->rows;
        for (std::size_t stored = 0; stored < rows.size(); ++stored) {
            const auto found = by_row.find(rows[stored]);
            if (found == by_row.end()) continue;
            const Index column = sample.drawn_columns[found->second];
            const bool is_here = segments->piece_at(column) == tile.share->id.segment;
            if (is_here) sample.drawn_rows[found->second] = tile.first_row + static_cast<Index>(stored);
        }
    }
    return sample;
}

std::string packed_tiles(const StagedMatrix& staged) {
    const Placement placement(staged, 1);
    const std::vector<PlacedTile>& tiles = placement.tiles();
    std::string bytes;
    if (tiles.empty()) return bytes;
    add_number(bytes, tiles.size());
    for (const PlacedTile& tile : tiles) {
        add_number(bytes, tile.share->id.row_block);
        add_number(bytes, tile.share->id.segment);
        add_number(bytes, tile.share->rows.size());
        Index before = tile.first_row - 1;
        for (const Index row : tile.share->rows) {
            add_difference(bytes, std::int64_t{row} - before - 1);
            before = row;
        }
    }
    return bytes;
}

}  // namespace workbench
