// The stage cuthill_mckee: exact orders of small graphs, the order of discovery on the battery, and the orders of Boost.Graph.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "core/matrix/random.hpp"
#include "stages/boost_order.hpp"
#include "stages/cuthill_mckee_order.hpp"
#include "stages/graph.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/data_folder.hpp"

namespace workbench {

TEST_SUITE("cuthill_mckee") {
    TEST_CASE("a badly numbered path") {
        // 2 - 0 - 3 - 1. The farthest vertex from 0 is 1, and from 1 it is 2, at the same distance: the search starts at 1.
        const StagedMatrix before = stage_input(matrix_of(4, {{2}, {3}, {}, {0}}));
        const Step plain = run(cuthill_mckee_stage(), {{"variant", "plain"}}, before);
        CHECK(plain.order() == Indices{1, 3, 0, 2});
        CHECK(plain.after.matrix == csr_from_entries(4, 4, std::vector<Entry>{{0, 1, 14}, {1, 2, 31}, {2, 3, 3}}));
        const Step reverse = run(cuthill_mckee_stage(), {}, before);
        CHECK(reverse.order() == Indices{2, 0, 3, 1});
        CHECK(reverse.after.matrix == csr_from_entries(4, 4, std::vector<Entry>{{3, 2, 14}, {2, 1, 31}, {1, 0, 3}}));
    }

    TEST_CASE("neighbours are numbered by degree, then by number") {
        // 5 is adjacent to 0, 1, 2, 3; 1 also to 4. The farthest vertex from 0 is 4, and from 4 it is 0: the search starts at
        // 0.
        const StagedMatrix before = stage_input(matrix_of(6, {{}, {5}, {}, {}, {1}, {0, 2, 3}}));
        CHECK(run(cuthill_mckee_stage(), {{"variant", "plain"}}, before).order() == Indices{0, 5, 2, 3, 1, 4});
    }

    TEST_CASE("components are numbered one by one, including isolated vertices") {
        // 0 - 3, 1 with a diagonal entry only, 2 - 4, 5 without entries.
        const StagedMatrix before = stage_input(matrix_of(6, {{3}, {1}, {4}, {}, {}, {}}));
        const Step step = run(cuthill_mckee_stage(), {{"variant", "plain"}}, before);
        CHECK(step.order() == Indices{0, 3, 1, 2, 4, 5});
        CHECK(step.note("connected components") == "4");
    }

    TEST_CASE("nodes stay together") {
        // Nodes of two rows: 1 - 2 and 0 - 2.
        const StagedMatrix before = stage_input(matrix_of(6, {{4}, {}, {}, {5}, {}, {}}), 2);
        CHECK(run(cuthill_mckee_stage(), {{"variant", "plain"}}, before).order() == Indices{0, 1, 4, 5, 2, 3});
    }

    TEST_CASE("the bandwidth of a scrambled grid and a scrambled path is nearly optimal") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const StagedMatrix grid = run(random_order_stage(), {{"seed", seed}}, stage_input(find_in_battery("grid"))).after;
            CHECK(measure(grid).bandwidth > 30);
            // 9 x 8 points: 8 is optimal; levels from a corner give 8 or 9, depending on ties.
            CHECK(measure(run(cuthill_mckee_stage(), {}, grid).after).bandwidth <= 9);

            const StagedMatrix path =
                run(random_order_stage(), {{"seed", seed}}, stage_input(find_in_battery("tridiagonal"))).after;
            CHECK(measure(path).bandwidth > 30);
            CHECK(measure(run(cuthill_mckee_stage(), {}, path).after).bandwidth == 1);
        }
    }

    TEST_CASE("battery: vertices are in the order of discovery, then by degree and number") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square()) continue;
            CAPTURE(named.name);
            const Graph graph = adjacency_graph(matrix, 1);
            const Step plain = run(cuthill_mckee_stage(), {{"variant", "plain"}}, stage_input(matrix));
            const Permutation& order = plain.result.change.order->order;
            // Vertices are in the order of their first neighbours, then by degree, then by number.
            std::vector<Index> key_before{-1, 0, 0};
            for (Index position = 0; position < order.size(); ++position) {
                const Index vertex = order.old_of_new(position);
                Index parent = position;
                for (const Index neighbour : graph.neighbours_of(vertex)) {
                    parent = std::min(parent, order.new_of_old(neighbour));
                }
                const bool starts = parent == position;
                const std::vector<Index> key{parent, starts ? -1 : graph.degree(vertex), vertex};
                CHECK(key_before < key);
                key_before = key;
            }
            Indices reversed = run(cuthill_mckee_stage(), {}, stage_input(matrix)).order();
            std::reverse(reversed.begin(), reversed.end());
            CHECK(reversed == plain.order());
        }
    }

    TEST_CASE("the order of Boost.Graph: serial, with threads for wide levels, and with threads for every level") {
        const auto check = [](const CsrMatrix& matrix) {
            const Graph graph = adjacency_graph(matrix, 1);
            const std::vector<Index> expected = boost_order(graph);
            for (const Offset least : {Offset{0}, Offset{8192}, least_ends_for_threads}) {
                CHECK(cuthill_mckee_order(graph, SearchStart::pseudo_peripheral, least).old_of_new == expected);
            }
        };
        for (const NamedMatrix& named : battery()) {
            if (named.matrix.square()) check(named.matrix);
        }
        // A star, whose leaves are one level; a tree whose levels double; and random graphs with several components.
        std::vector<Indices> rows(20'000);
        for (Index leaf = 0; leaf < 20'000; ++leaf) rows[7].push_back(leaf);
        check(matrix_of(20'000, rows));
        for (Index i = 0; i < 20'000; ++i) rows[i] = {(i * 7919 + 1) / 2 % 20'000};
        check(matrix_of(20'000, rows));
        for (const std::uint64_t seed : {1, 2, 3}) {
            for (Index i = 0; i < 20'000; ++i) {
                RandomStream random = random_stream(seed, static_cast<std::uint64_t>(i));
                rows[i].clear();
                for (std::uint64_t edge = random.below(4); edge > 0; --edge) {
                    rows[i].push_back(static_cast<Index>(random.below(20'000)));
                }
                std::sort(rows[i].begin(), rows[i].end());
                rows[i].erase(std::unique(rows[i].begin(), rows[i].end()), rows[i].end());
            }
            check(matrix_of(20'000, rows));
        }
    }

    TEST_CASE("the order of Boost.Graph on real matrices") {
        const std::filesystem::path folder = data_folder("small");
        if (folder.empty()) return;
        for (const auto& file : std::filesystem::directory_iterator(folder)) {
            if (file.path().filename().string().starts_with("odd_") || file.path().extension() != ".gz") continue;
            CAPTURE(file.path().string());
            CsrMatrix matrix;
            try {
                matrix = read_matrix(file.path().string());
            } catch (const UserError&) {
                continue;  // for example, complex values
            }
            if (!matrix.square()) continue;
            const Graph graph = adjacency_graph(matrix, 1);
            CHECK(cuthill_mckee_order(graph).old_of_new == boost_order(graph));
        }
    }

    TEST_CASE("many isolated vertices take linear time") {
        const Step step = run(cuthill_mckee_stage(), {}, stage_input(diagonal(300'000)));
        CHECK(step.note("connected components") == "300000");
        CHECK(step.order().front() == 299'999);
    }
}

}  // namespace workbench
