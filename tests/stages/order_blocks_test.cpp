// The stages rcm_blocks and bfs_blocks: orders cut into equal pieces.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "stages/partition_stage.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// 3 - 1 - 5 - 0 - 4 - 2
StagedMatrix path() { return stage_input(matrix_of(6, {{4}, {3, 5}, {4}, {}, {}, {0}})); }

Indices boundaries(const Step& step) { return step.after.find_cuts(CutKind::partition)->boundaries; }

}  // namespace

TEST_SUITE("order_blocks") {
    TEST_CASE("a path: reversed from its end, or from its first row") {
        const Step rcm = run(rcm_blocks_stage(), {{"parts", 2_i}}, path());
        // The farthest vertex from 0 is 3, from 3 it is 2, and from 2 it is 3, at the same distance: the search starts at 3.
        CHECK(rcm.order() == Indices{2, 4, 0, 5, 1, 3});
        CHECK(boundaries(rcm) == Indices{0, 3, 6});
        CHECK(rcm.note("edge cut") == "1");
        CHECK(rcm.note("capacity") == "3 rows");

        const Step bfs = run(bfs_blocks_stage(), {{"parts", 3_i}}, path());
        CHECK(bfs.order() == Indices{0, 4, 5, 2, 1, 3});
        CHECK(boundaries(bfs) == Indices{0, 2, 4, 6});
        CHECK(bfs.note("edge cut") == "3");  // 0 - 5, 4 - 2, 5 - 1
    }

    TEST_CASE("pieces of about equal weight that fit") {
        const auto pieces = [](const Offsets& weights, Index parts, Index capacity) {
            Indices order(weights.size());
            for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<Index>(i);
            return equal_pieces(order, weights, {parts, capacity, {}});
        };
        CHECK(pieces({1, 1, 1, 1, 1, 1}, 3, 2) == Indices{0, 2, 4, 6});
        CHECK(pieces({1, 1, 1, 1, 1, 5}, 2, 6) == Indices{0, 5, 6});
        CHECK(pieces({1, 1, 1, 1, 1, 5}, 2, 4) == Indices{0, 4, 6});  // 5 nodes do not fit
        CHECK(pieces({5, 1, 1, 1, 1, 1}, 2, 4) == Indices{0, 2, 6});  // 5 nodes do not fit into the second piece
        CHECK(pieces({4, 4, 1}, 2, 3) == Indices{0, 1, 3});           // 4 is closer to the half than 8
        CHECK(pieces({3, 4, 1}, 2, 3) == Indices{0, 1, 3});
        CHECK(pieces({1, 4, 3}, 2, 3) == Indices{0, 2, 3});
        CHECK(pieces({9, 1, 1}, 3, 3) == Indices{0, 0, 1, 3});  // 0 is closer to a third than the first weight
        CHECK(pieces({}, 3, 0) == Indices{0, 0, 0, 0});
        CHECK(pieces({1}, 3, 1) == Indices{0, 0, 1, 1});
        for (const Index nodes : {0, 1, 6, 100}) {
            for (const Index parts : {1, 3, 7, 120}) {
                const Index capacity = (nodes + parts - 1) / parts;
                CHECK(pieces_of_nodes(nodes, {parts, capacity, {}}) == pieces(Offsets(nodes, 1), parts, capacity));
            }
        }
        // Weights in the given order.
        CHECK(equal_pieces({2, 0, 1}, {1, 1, 6}, {2, 2, {}}) == Indices{0, 1, 3});
        // Nodes of 1 + 2, 4 + 0 and 3 + 3 nonzeros: an empty row weighs as much as one nonzero.
        const std::vector<std::uint32_t> offsets{0, 1, 3, 7, 7, 10, 13};
        const RowWeight by_nonzeros{.of_row = 0, .of_nonzero = 1};
        CHECK(pieces_of_rows(offsets, Indices{0, 1, 2}, 2, by_nonzeros, {2, 2, {}}) == Indices{0, 2, 3});
        CHECK(pieces_of_rows(offsets, Indices{2, 0, 1}, 2, by_nonzeros, {2, 2, {}}) == Indices{0, 1, 3});
    }

    TEST_CASE("battery: every piece fits, and the order is that of cuthill_mckee") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square()) continue;
            CAPTURE(named.name);
            const Indices rcm = run(cuthill_mckee_stage(), {}, stage_input(matrix)).order();
            for (const std::int64_t parts :
                 {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{matrix.rows} + 5}) {
                for (const std::string weights : {"rows", "nonzeros", "bytes"}) {
                    const Given given{{"parts", parts}, {"weights", weights}};
                    for (const StageEntry& stage : {rcm_blocks_stage(), bfs_blocks_stage()}) {
                        const Step step = run(stage, given, stage_input(matrix));
                        check_invariants(step.after, matrix);
                        const Cuts& cuts = *step.after.find_cuts(CutKind::partition);
                        CHECK(cuts.count() == parts);
                        for (Index part = 0; part < parts; ++part) CHECK(cuts.size(part) <= (matrix.rows + parts - 1) / parts);
                        CHECK(std::to_string(measure(step.after).partition->edge_cut) == step.note("edge cut"));
                    }
                    CHECK(run(rcm_blocks_stage(), given, stage_input(matrix)).order() == rcm);
                }
            }
        }
    }

    TEST_CASE("nodes stay together, and keep = order gives the order only") {
        const CsrMatrix matrix = find_in_battery("node_blocks");
        for (const StageEntry& stage : {rcm_blocks_stage(), bfs_blocks_stage()}) {
            const Step step = run(stage, {{"parts", 7_i}}, stage_input(matrix, 3));
            check_invariants(step.after, matrix);
            for (const Index boundary : boundaries(step)) CHECK(boundary % 3 == 0);
            const Step order = run(stage, {{"parts", 7_i}, {"keep", "order"}}, stage_input(matrix, 3));
            CHECK(order.order() == step.order());
            CHECK(order.after.cuts.empty());
            CHECK(contract_of(stage, {{"parts", 7_i}}).needs.square);
        }
    }

    TEST_CASE("weights balance their quantity if the capacity allows it") {
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 4, 1600, 0, 0};  // 199 values of 8 bytes
        const StagedMatrix before = stage_input(find_in_battery("random_300"));
        for (const StageEntry& stage : {rcm_blocks_stage(), bfs_blocks_stage()}) {
            const auto imbalance = [&](const char* weights) {
                const Step step =
                    run(stage, {{"parts", 4_i}, {"capacity", "shared_memory"}, {"weights", weights}}, before, {.device = &gpu});
                return measure(step.after).partition->nonzero_imbalance;
            };
            CHECK(imbalance("nonzeros") < 1.1);
            CHECK(imbalance("nonzeros") < imbalance("rows"));
            const std::string message = message_of<InputError>([&] {
                (void)run(stage, {{"parts", 1_i}, {"capacity", "shared_memory"}}, before, {.device = &gpu});
            });
            CHECK(message.starts_with(stage.name + ": parts = 1 of at most 199 rows"));
        }
    }
}

}  // namespace workbench
