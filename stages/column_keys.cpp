#include "stages/column_keys.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "core/matrix/host_threads.hpp"
#include "core/matrix/random.hpp"
#include "stages/order.hpp"

namespace workbench {
namespace {

using Signature = std::array<std::uint64_t, 4>;

/// The rows of a view as nodes of consecutive stored rows.
class NodesOfView {
public:
    NodesOfView(const CsrMatrix& matrix, const ShareView& view, Index node_size)
        : matrix_(matrix), view_(view), node_size_(node_size) {}

    [[nodiscard]] Index count() const { return view_.row_count() / node_size_; }

    template <typename Visit>
    void for_each_column(Index node, const Visit& visit) const {
        for (Index row = node * node_size_; row < (node + 1) * node_size_; ++row) {
            for (Offset k = 0; k < view_.length(row); ++k) visit(matrix_.column_indices[view_.entry(row, k)]);
        }
    }

    /// [nodes] The results of a function of a node.
    template <typename Result, typename Function>
    [[nodiscard]] std::vector<Result> map(bool in_parallel, const Function& function) const {
        std::vector<Result> results(count());
        const auto body = [&](Index node) { results[node] = function(node); };
        if (in_parallel) {
            Kokkos::parallel_for("column_keys", UnevenHostRange<>(0, count()), body);
        } else {
            for (Index node = 0; node < count(); ++node) body(node);
        }
        return results;
    }

private:
    const CsrMatrix& matrix_;
    const ShareView& view_;
    Index node_size_;
};

Signature signature_of(const NodesOfView& nodes, Index node) {
    Signature signature;
    signature.fill(std::numeric_limits<std::uint64_t>::max());
    nodes.for_each_column(node, [&](Index column) {
        RandomStream hashes = random_stream(1, static_cast<std::uint64_t>(column));
        for (std::uint64_t& smallest : signature) smallest = std::min(smallest, hashes.next());
    });
    return signature;
}

/// [items] The number of distinct signatures below that of each item.
std::vector<Index> ranks_of(const std::vector<Signature>& signatures) {
    std::vector<Index> order = all_of(static_cast<Index>(signatures.size()));
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return signatures[a] < signatures[b]; });
    std::vector<Index> ranks(signatures.size());
    for (std::size_t i = 1; i < order.size(); ++i) {
        const bool next = signatures[order[i]] != signatures[order[i - 1]];
        ranks[order[i]] = ranks[order[i - 1]] + (next ? 1 : 0);
    }
    return ranks;
}

}  // namespace

std::optional<ColumnKey> column_key(std::string_view name) {
    if (name == "first_column") return ColumnKey::first_column;
    if (name == "span") return ColumnKey::span;
    if (name == "similarity") return ColumnKey::similarity;
    return std::nullopt;
}

std::vector<Index> column_keys(ColumnKey key, const CsrMatrix& matrix, const ShareView& view, Index node_size,
                               bool in_parallel) {
    const NodesOfView nodes(matrix, view, node_size);
    if (key == ColumnKey::similarity) {
        return ranks_of(nodes.map<Signature>(in_parallel, [&](Index node) { return signature_of(nodes, node); }));
    }
    return nodes.map<Index>(in_parallel, [&](Index node) {
        Index first = matrix.columns;
        Index last = -1;
        nodes.for_each_column(node, [&](Index column) {
            first = std::min(first, column);
            last = std::max(last, column);
        });
        if (key == ColumnKey::first_column) return first;
        return last < 0 ? Index{0} : last - first + 1;
    });
}

}  // namespace workbench
