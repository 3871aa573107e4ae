// Finds the unknowns of a mesh node: consecutive rows whose nonzeros form dense blocks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/guarded_loop.hpp"
#include "stages/stages.hpp"

namespace workbench {
namespace {

/// How many unknowns a node may have, the fewest first. Of blocks that take the same bytes these win.
constexpr std::array<Index, 4> sizes{2, 3, 4, 6};

/// The blocks of size x size, on a grid from the first row and column on, that hold a nonzero.
Offset count_blocks(const CsrMatrix& matrix, Index size) {
    const Index nodes = matrix.rows / size;
    std::vector<Offset> blocks(nodes, 0);
    using Range =
        Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<Index>>;
    guarded_for("blocks_of_nodes", Range(0, nodes), [&](Index node) {
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
    Offset sum = 0;
    for (const Offset of_node : blocks) sum += of_node;
    return sum;
}

/// Has no order that led here torn such a node of the input apart?
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

struct Found {
    Index size = 1;
    Offset blocks = 0;
};

/// The size whose blocks, each with its values in f64 and one column of 16 bits, take the fewest bytes; 1 where the nonzeros
/// alone take fewer. So a few incomplete blocks, as fixed unknowns leave them, are no hindrance.
Found find_nodes(const StagedMatrix& staged) {
    constexpr Offset column_bytes = 2;
    const auto bytes = [](const Found& found) {
        return found.blocks * (Offset{found.size} * found.size * Offset{sizeof(double)} + column_bytes);
    };
    Found best{1, staged.matrix.nonzeros()};
    for (const Index size : sizes) {
        if (!may_be_node(staged, size)) continue;
        const Found found{size, count_blocks(staged.matrix, size)};
        if (bytes(found) < bytes(best)) best = found;
    }
    return best;
}

Found asked_for(const StagedMatrix& staged, Index size) {
    if (size > 1 && !may_be_node(staged, size)) {
        throw Unsuitable(fmt::format(
            "a matrix of {} x {}, as the stages before left it, does not consist of nodes of {} neighbouring rows (unknowns)",
            staged.matrix.rows, staged.matrix.columns, size));
    }
    return {size, size > 1 ? count_blocks(staged.matrix, size) : staged.matrix.nonzeros()};
}

StageResult run(const StagedMatrix& staged, const Parameters& parameters, const StageContext&) {
    StageResult result;
    const auto note = [&](std::string what, std::string text) { result.notes.emplace_back(std::move(what), std::move(text)); };
    if (staged.node_size > 1 && parameters.is_word("unknowns", "auto")) {
        note("unknowns a node", fmt::format("{}, as [matrix] says", staged.node_size));
        return result;
    }
    const Found found = parameters.is_word("unknowns", "auto")
                            ? find_nodes(staged)
                            : asked_for(staged, static_cast<Index>(parameters.integer("unknowns")));
    note("unknowns a node", std::to_string(found.size));
    if (found.size > 1) {
        const double places = static_cast<double>(found.blocks) * found.size * found.size;
        note("blocks", fmt::format("{}, {:.1f} % full", found.blocks,
                                   places > 0 ? 100 * static_cast<double>(staged.matrix.nonzeros()) / places : 100.0));
    }
    result.change.node_size = found.size;
    return result;
}

}  // namespace

StageEntry node_blocks_stage() {
    return {
        .name = "node_blocks",
        .summary =
            "Find the unknowns of a mesh node: rows side by side whose nonzeros form dense blocks; orders after it keep "
            "them together",
        .source =
            "made here; blocks as of Im and Yelick, 'Optimizing sparse matrix computations for register reuse in "
            "SPARSITY' (2001)",
        .parameters = {{.name = "unknowns",
                        .type = ParameterType::integer,
                        .default_value = std::string("auto"),
                        .minimum = 1,
                        .maximum = 6,
                        .words = {"auto"},
                        .unit = "rows",
                        .help = "rows of a node; auto: 2, 3, 4 or 6, whichever blocks take fewest bytes with one column each, "
                                "or 1 where single nonzeros take fewer. Incomplete blocks, as fixed unknowns leave them, "
                                "count as whole"}},
        .contract = [](const Parameters&) { return StageContract{}; },
        .run = run};
}

}  // namespace workbench
