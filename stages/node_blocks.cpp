// Detects mesh nodes: consecutive rows (unknowns) whose nonzeros form dense blocks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/forecast/forecast.hpp"
#include "core/matrix/guarded_loop.hpp"
#include "core/matrix/node_size.hpp"
#include "core/text/text_table.hpp"
#include "core/text/words.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// The number of blocks of size x size, aligned to the first row and column, that have nonzeros.
Offset count_blocks(const CsrMatrix& matrix, Index size) {
    const Index nodes = matrix.rows / size;
    std::vector<Offset> blocks(nodes, 0);
    guarded_for("blocks_of_nodes", UnevenHostRange<>(0, nodes), [&](Index node) {
        std::vector<Index> columns;
        columns.reserve(matrix.row_offsets[(node + 1) * size] - matrix.row_offsets[node * size]);
        for (Index row = node * size; row < (node + 1) * size; ++row) {
            for (const Index column : matrix.row_columns(row)) {
                if (columns.empty() || columns.back() != column / size) columns.push_back(column / size);
            }
        }
        std::sort(columns.begin(), columns.end());
        blocks[node] = std::unique(columns.begin(), columns.end()) - columns.begin();
    });
    return std::accumulate(blocks.begin(), blocks.end(), Offset{0});
}

/// Returns true if an order does not split nodes of this size of the input.
bool keeps_nodes(const Permutation& order, Index size) {
    for (Index i = 0; i < order.size(); ++i) {
        const Index first = order.old_of_new(i - i % size);
        if (first % size != 0 || order.old_of_new(i) != first + i % size) return false;
    }
    return true;
}

bool may_be_node(const StagedMatrix& staged, Index size) {
    const CsrMatrix& matrix = staged.matrix;
    return matrix.square() && matrix.rows > 0 && matrix.rows % size == 0 && keeps_nodes(staged.row_order, size) &&
           keeps_nodes(staged.column_order, size);
}

NodeBlocks find_nodes(const StagedMatrix& staged) {
    return nodes_of_fewest_bytes(staged.matrix.nonzeros(), [&](Index size) {
        return may_be_node(staged, size) ? std::optional(count_blocks(staged.matrix, size)) : std::nullopt;
    });
}

NodeBlocks asked_for(const StagedMatrix& staged, Index size) {
    if (size > 1 && !may_be_node(staged, size)) {
        throw Unsuitable(fmt::format("a matrix of {} x {}, in its current order, cannot be divided into nodes of {} (unknowns)",
                                     staged.matrix.rows, staged.matrix.columns, counted(size, "consecutive row")));
    }
    return {size, size > 1 ? count_blocks(staged.matrix, size) : staged.matrix.nonzeros()};
}

void foresee_nodes(PatternForecast& pattern, const Parameters& parameters, const StageContext&) {
    if (!pattern.square()) return;  // as for other sizes that do not divide the matrix, the stage itself will report an error
    if (!parameters.is_word("unknowns", "auto")) {
        const auto size = static_cast<Index>(parameters.integer("unknowns"));
        if (pattern.rows() % size == 0) pattern.set_node_size(size);
        return;
    }
    if (pattern.node_size() > 1) return;
    const NodeBlocks found = nodes_of_fewest_bytes(pattern.nonzeros(), [&](Index size) {
        return pattern.rows() % size == 0 ? std::optional(pattern.blocks(size, size)) : std::nullopt;
    });
    pattern.set_node_size(found.size);
}

StageResult run_node_blocks(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    StageResult result;
    const auto note = [&](std::string what, std::string text) { result.notes.emplace_back(std::move(what), std::move(text)); };
    if (staged.node_size > 1 && parameters.is_word("unknowns", "auto")) {
        note("unknowns a node", fmt::format("{}, from [matrix]", staged.node_size));
        return result;
    }
    const NodeBlocks found = parameters.is_word("unknowns", "auto")
                                 ? find_nodes(staged)
                                 : asked_for(staged, static_cast<Index>(parameters.integer("unknowns")));
    note("unknowns a node", std::to_string(found.size));
    if (found.size > 1) {
        const double places = static_cast<double>(found.blocks) * found.size * found.size;
        note("blocks", fmt::format("{}, {:.1f} % full", with_commas(found.blocks),
                                   places > 0 ? 100 * static_cast<double>(staged.matrix.nonzeros()) / places : 100.0));
    }
    result.change.node_size = found.size;
    return result;
}

}  // namespace

StageEntry node_blocks_stage() {
    return {
        .name = "node_blocks",
        .summary = "Detect mesh nodes: consecutive rows whose nonzeros form dense blocks, which later orders keep together",
        .source =
            "a design of this project; dense blocks: Im, Yelick, 'Optimizing sparse matrix computations for register reuse in "
            "SPARSITY', ICCS 2001",
        .parameters = {integer_parameter(
            "unknowns", by_default("auto"), between(1, 6, "rows", {"auto"}),
            "rows of a node; auto: 2, 3, 4 or 6, for the fewest bytes of blocks with one column each, or 1 "
            "if single nonzeros take fewer bytes; incomplete blocks count as full")},
        .contract = [](const Parameters&) { return StageContract{}; },
        .run = run_node_blocks,
        .on_device = [](const Parameters& parameters) -> std::optional<DeviceStep> {
            return KeepNodes{parameters.number_unless_auto("unknowns")};
        },
        .foresee = foresee_nodes,
        .nanoseconds_per_nonzero = 2};
}

}  // namespace workbench
