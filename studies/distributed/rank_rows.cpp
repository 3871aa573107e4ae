#include "studies/distributed/rank_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <numeric>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/matrix/staged_matrix.hpp"
#include "core/text/words.hpp"
#include "pipeline/engine/chain.hpp"
#include "studies/distributed/collective.hpp"
#include "studies/distributed/messages.hpp"

namespace workbench {
namespace {

/// Serialises rows: lengths, columns, values.
Bytes packed(const CsrMatrix& matrix, RowRange rows) {
    std::vector<Offset> lengths;
    for (Index row = rows.first; row < rows.end; ++row) lengths.push_back(matrix.row_length(row));
    const Offset first = matrix.row_offsets[rows.first];
    const auto count = static_cast<std::size_t>(matrix.row_offsets[rows.end] - first);
    MessageWriter writer;
    writer.put_all(std::span<const Offset>(lengths));
    writer.put_all(std::span(matrix.column_indices).subspan(first, count));
    writer.put_all(std::span(matrix.values).subspan(first, count));
    return writer.take();
}

CsrMatrix unpacked(const Bytes& bytes, Index columns) {
    MessageReader reader(bytes);
    CsrMatrix matrix;
    const auto lengths = reader.get_all<Offset>();
    matrix.rows = static_cast<Index>(lengths.size());
    matrix.columns = columns;
    matrix.row_offsets.resize(lengths.size() + 1);
    std::partial_sum(lengths.begin(), lengths.end(), matrix.row_offsets.begin() + 1);
    matrix.column_indices = reader.get_all<Index, HostArray<Index>>();
    matrix.values = reader.get_all<double, HostArray<double>>();
    return matrix;
}

template <typename T>
std::vector<T> broadcast(Ranks& ranks, const std::vector<T>& of_first) {
    MessageWriter writer;
    writer.put_all(std::span<const T>(of_first));
    std::vector<Bytes> to(ranks.size());
    if (ranks.rank() == 0) std::fill(to.begin(), to.end(), writer.bytes());
    return MessageReader(ranks.exchange(to)[0]).get_all<T>();
}

/// The pattern of the whole matrix on rank 0; an empty matrix on the others.
CsrMatrix gather_pattern(Ranks& ranks, const RankRows& rows) {
    MessageWriter writer;
    writer.put_all(std::span<const Offset>(rows.matrix.row_offsets));
    writer.put_all(std::span<const Index>(rows.matrix.column_indices));
    std::vector<Bytes> to(ranks.size());
    to[0] = writer.take();
    std::vector<Bytes> from = ranks.exchange(to);
    CsrMatrix whole;
    if (ranks.rank() != 0) return whole;
    whole.rows = rows.rows();
    whole.columns = rows.columns();
    for (Bytes& bytes : from) {
        MessageReader reader(bytes);
        const auto offsets = reader.get_all<Offset>();
        const auto columns = reader.get_all<Index>();
        const Offset before = whole.row_offsets.back();
        for (std::size_t i = 1; i < offsets.size(); ++i) whole.row_offsets.push_back(before + offsets[i]);
        whole.column_indices.insert(whole.column_indices.end(), columns.begin(), columns.end());
        bytes = {};
    }
    whole.values.assign(whole.column_indices.size(), 1.0);
    return whole;
}

/// A new numbering and each rank's range in it.
struct Numbering {
    std::vector<Index> new_of_old;  // [rows]
    std::vector<Index> ends;        // [ranks + 1]
};

Numbering run_partition(CsrMatrix pattern, const StageEntry& nodes, const StageEntry& stage, int parts) {
    StagedMatrix staged = stage_input(std::move(pattern));
    Recipe recipe;
    const auto add = [&recipe](const StageEntry& entry, const std::map<std::string, ParameterValue>& given) {
        const Parameters parameters(entry.parameters, given);
        recipe.stages.push_back(
            {.id = entry.name, .entry = &entry, .parameters = parameters, .contract = entry.contract(parameters), .place = {}});
    };
    add(nodes, {});
    add(stage, {{"parts", std::int64_t{parts}}});
    (void)apply_stages(recipe, staged, {});
    const Cuts* const cuts = staged.find_cuts(CutKind::partition);
    if (cuts == nullptr) throw std::logic_error(fmt::format("stage {} does not partition", stage.name));
    const std::span<const Index> order = staged.row_order.new_of_old();
    return {{order.begin(), order.end()}, cuts->boundaries};
}

int owner_of(const std::vector<Index>& ends, Index number) {
    return static_cast<int>(std::upper_bound(ends.begin(), ends.end(), number) - ends.begin()) - 1;
}

struct RowHead {
    Index row;  // new number
    Index row_of_input;
    Offset length;
};

/// Renumbers this rank's rows and sends each one to its new owner. Returns the messages received.
std::vector<Bytes> exchange_rows(Ranks& ranks, RankRows rows, const Numbering& numbering) {
    const Index first = rows.row_ends[ranks.rank()];
    std::vector<std::vector<RowHead>> heads_to(ranks.size());
    std::vector<std::vector<Index>> columns_to(ranks.size());
    std::vector<std::vector<double>> values_to(ranks.size());
    for (Index i = 0; i < rows.matrix.rows; ++i) {
        const Index row = numbering.new_of_old[first + i];
        const int to = owner_of(numbering.ends, row);
        heads_to[to].push_back(
            {row, rows.rows_of_input.empty() ? first + i : rows.rows_of_input[i], rows.matrix.row_length(i)});
        for (Offset k = rows.matrix.row_offsets[i]; k < rows.matrix.row_offsets[i + 1]; ++k) {
            columns_to[to].push_back(numbering.new_of_old[rows.matrix.column_indices[k]]);
            values_to[to].push_back(rows.matrix.values[k]);
        }
    }
    rows = {};
    std::vector<Bytes> to(ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
        MessageWriter writer;
        writer.put_all(std::span<const RowHead>(heads_to[rank]));
        writer.put_all(std::span<const Index>(std::exchange(columns_to[rank], {})));
        writer.put_all(std::span<const double>(std::exchange(values_to[rank], {})));
        to[rank] = writer.take();
    }
    return ranks.exchange(to);
}

RankRows renumber(Ranks& ranks, RankRows rows, const Numbering& numbering) {
    const Index columns = rows.columns();
    const std::vector<Bytes> from = exchange_rows(ranks, std::move(rows), numbering);
    RankRows result;
    result.row_ends = result.column_ends = numbering.ends;
    const Index begin = numbering.ends[ranks.rank()];
    const Index count = numbering.ends[ranks.rank() + 1] - begin;
    CsrMatrix& matrix = result.matrix;
    matrix.rows = count;
    matrix.columns = columns;
    matrix.row_offsets.assign(static_cast<std::size_t>(count) + 1, 0);
    result.rows_of_input.resize(count);
    for (const Bytes& bytes : from) {
        for (const RowHead& head : MessageReader(bytes).get_all<RowHead>()) {
            matrix.row_offsets[head.row - begin + 1] = head.length;
            result.rows_of_input[head.row - begin] = head.row_of_input;
        }
    }
    std::partial_sum(matrix.row_offsets.begin(), matrix.row_offsets.end(), matrix.row_offsets.begin());
    matrix.column_indices.resize(matrix.nonzeros());
    matrix.values.resize(matrix.nonzeros());
    for (const Bytes& bytes : from) {
        MessageReader reader(bytes);
        const auto heads_from = reader.get_all<RowHead>();
        const auto columns_from = reader.get_all<Index>();
        const auto values_from = reader.get_all<double>();
        Offset next = 0;
        std::vector<std::pair<Index, double>> row;
        for (const RowHead& head : heads_from) {
            row.clear();
            for (Offset k = 0; k < head.length; ++k, ++next) row.emplace_back(columns_from[next], values_from[next]);
            std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
            Offset place = matrix.row_offsets[head.row - begin];
            for (const auto& [column, value] : row) {
                matrix.column_indices[place] = column;
                matrix.values[place++] = value;
            }
        }
    }
    return result;
}

/// A set of columns with the rank of each member: one bit per column and one count per 64 columns.
class ColumnSet {
public:
    explicit ColumnSet(Index columns) : words_(static_cast<std::size_t>(columns) / 64 + 1, 0) {}

    void add(Index column) { words_[column / 64] |= std::uint64_t{1} << (column % 64); }

    /// All members, ascending; call it after the last add.
    [[nodiscard]] std::vector<Index> columns() {
        std::vector<Index> found;
        before_.reserve(words_.size());
        for (std::size_t word = 0; word < words_.size(); ++word) {
            before_.push_back(static_cast<Index>(found.size()));
            for (std::uint64_t bits = words_[word]; bits != 0; bits &= bits - 1) {
                found.push_back(static_cast<Index>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
            }
        }
        return found;
    }

    /// The number of smaller members.
    [[nodiscard]] Index place(Index column) const {
        const std::uint64_t lower = words_[column / 64] & ((std::uint64_t{1} << (column % 64)) - 1);
        return before_[column / 64] + std::popcount(lower);
    }

private:
    std::vector<std::uint64_t> words_;
    std::vector<Index> before_;
};

}  // namespace

RowRange equal_piece(Index count, int pieces, int piece) {
    const auto end = [&](int i) { return static_cast<Index>(std::int64_t{count} * i / pieces); };
    return {end(piece), end(piece + 1)};
}

std::vector<Index> equal_pieces(Index count, int pieces) {
    std::vector<Index> ends{0};
    for (int piece = 0; piece < pieces; ++piece) ends.push_back(equal_piece(count, pieces, piece).end);
    return ends;
}

RankRows in_equal_pieces(const Ranks& ranks, Index rows, CsrMatrix piece) {
    RankRows result;
    result.row_ends = equal_pieces(rows, ranks.size());
    result.column_ends = equal_pieces(piece.columns, ranks.size());
    result.matrix = std::move(piece);
    return result;
}

RankRows scatter(Ranks& ranks, CsrMatrix whole) {
    const std::vector<Index> size = broadcast(ranks, std::vector<Index>{whole.rows, whole.columns});
    std::vector<Bytes> to(ranks.size());
    if (ranks.rank() == 0) {
        for (int rank = 0; rank < ranks.size(); ++rank) to[rank] = packed(whole, equal_piece(whole.rows, ranks.size(), rank));
        whole = {};
    }
    return in_equal_pieces(ranks, size[0], unpacked(ranks.exchange(to)[0], size[1]));
}

RankRows partition(Ranks& ranks, RankRows rows, const StageEntry& nodes, const StageEntry& stage) {
    if (ranks.size() == 1) return rows;
    if (rows.rows() != rows.columns()) {
        throw RanksFailed(ExitCode::bad_input,
                          fmt::format("stage {} needs a square matrix; this one has {} and {}: use --rows-to-ranks equal",
                                      stage.name, counted(rows.rows(), "row"), counted(rows.columns(), "column")));
    }
    if (rows.rows() < ranks.size()) {
        throw RanksFailed(ExitCode::bad_input, fmt::format("{} cannot be partitioned among {}: use --rows-to-ranks equal",
                                                           counted(rows.rows(), "row"), counted(ranks.size(), "rank")));
    }
    CsrMatrix pattern = gather_pattern(ranks, rows);
    Numbering numbering = in_agreement(
        ranks, [&] { return ranks.rank() == 0 ? run_partition(std::move(pattern), nodes, stage, ranks.size()) : Numbering(); });
    numbering.new_of_old = broadcast(ranks, numbering.new_of_old);
    numbering.ends = broadcast(ranks, numbering.ends);
    return renumber(ranks, std::move(rows), numbering);
}

HaloPlan RankShares::plan(std::span<const Index> place) const {
    HaloPlan plan{{}, send, receive, static_cast<Index>(halo_columns.size())};
    plan.places.reserve(places.size());
    for (const Index element : places) plan.places.push_back(place[element]);
    return plan;
}

RankShares split_by_rank(Ranks& ranks, RankRows rows) {
    RankShares shares;
    const Index first = rows.column_ends[ranks.rank()];
    const Index end = rows.column_ends[ranks.rank() + 1];
    const CsrMatrix& matrix = rows.matrix;
    shares.first_column = first;
    ColumnSet needed(matrix.columns);
    for (const Index column : matrix.column_indices) {
        if (column < first || column >= end) needed.add(column);
    }
    shares.halo_columns = needed.columns();
    const std::vector<Index>& halo = shares.halo_columns;

    // Each rank owns a range of columns, so its elements are contiguous in the halo.
    std::vector<Bytes> wanted(ranks.size());
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const auto begin = std::lower_bound(halo.begin(), halo.end(), rows.column_ends[rank]);
        const auto stop = std::lower_bound(begin, halo.end(), rows.column_ends[rank + 1]);
        const auto count = static_cast<Index>(stop - begin);
        if (count > 0) shares.receive.push_back({rank, static_cast<Index>(begin - halo.begin()), count});
        MessageWriter writer;
        writer.put_all(std::span<const Index>(begin, stop));
        wanted[rank] = writer.take();
    }
    const std::vector<Bytes> asked = ranks.exchange(wanted);
    for (int rank = 0; rank < ranks.size(); ++rank) {
        const std::vector<Index> columns = MessageReader(asked[rank]).get_all<Index>();
        if (columns.empty()) continue;
        shares.send.push_back({rank, static_cast<Index>(shares.places.size()), static_cast<Index>(columns.size())});
        for (const Index column : columns) shares.places.push_back(column - first);
    }

    CsrMatrix& inside = shares.inside;
    CsrMatrix& outside = shares.outside;
    inside.rows = matrix.rows;
    inside.columns = end - first;
    outside.columns = static_cast<Index>(halo.size());
    inside.row_offsets.reserve(static_cast<std::size_t>(matrix.rows) + 1);
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const Index column = matrix.column_indices[i];
            const bool is_inside = column >= first && column < end;
            CsrMatrix& share = is_inside ? inside : outside;
            share.column_indices.push_back(is_inside ? column - first : needed.place(column));
            share.values.push_back(matrix.values[i]);
        }
        inside.row_offsets.push_back(static_cast<Offset>(inside.values.size()));
        if (static_cast<Offset>(outside.values.size()) == outside.row_offsets.back()) continue;
        outside.row_offsets.push_back(static_cast<Offset>(outside.values.size()));
        shares.outside_rows.push_back(row);
    }
    outside.rows = static_cast<Index>(shares.outside_rows.size());
    return shares;
}

}  // namespace workbench
