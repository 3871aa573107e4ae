// The stage cuthill_mckee: exact orders of small graphs, and the order of discovery on the battery.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/read_matrix.hpp"
#include "pipeline/matrix/metrics.hpp"
#include "pipeline/matrix/random.hpp"
#include "stages/boost_order.hpp"
#include "stages/cuthill_mckee_order.hpp"
#include "stages/graph.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/battery.hpp"
#include "support/data_folder.hpp"

using namespace workbench;

TEST_SUITE("cuthill_mckee") {
    TEST_CASE("a path in one direction, numbered badly") {
        // 2 - 0 - 3 - 1. From 0 the farthest is 1, from 1 it is 2, no farther: the search starts at 1.
        const StagedMatrix before = stage_input(matrix_of(4, {{2}, {3}, {}, {0}}));
        const Step plain = run(cuthill_mckee_stage(), {{"variant", "plain"}}, before);
        CHECK(plain.order() == Indices{1, 3, 0, 2});
        CHECK(plain.after.matrix == csr_from_entries(4, 4, std::vector<Entry>{{0, 1, 14}, {1, 2, 31}, {2, 3, 3}}));
        const Step reverse = run(cuthill_mckee_stage(), {}, before);
        CHECK(reverse.order() == Indices{2, 0, 3, 1});
        CHECK(reverse.after.matrix == csr_from_entries(4, 4, std::vector<Entry>{{3, 2, 14}, {2, 1, 31}, {1, 0, 3}}));
    }

    TEST_CASE("equal degrees keep their numbers, a lower degree goes first") {
        // 5 is joined to 0, 1, 2, 3; 1 also to 4. From 0 the farthest is 4, from 4 it is 0, no farther: the search starts at 0.
        const StagedMatrix before = stage_input(matrix_of(6, {{}, {5}, {}, {}, {1}, {0, 2, 3}}));
        CHECK(run(cuthill_mckee_stage(), {{"variant", "plain"}}, before).order() == Indices{0, 5, 2, 3, 1, 4});
    }

    TEST_CASE("components one after another, isolated vertices too") {
        // 0 - 3, 1 alone with its diagonal, 2 - 4, 5 without any entry.
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

    TEST_CASE("the bandwidth of a scrambled grid and a scrambled path is what it can be") {
        for (const std::int64_t seed : {1, 2, 3}) {
            const StagedMatrix grid = run(random_order_stage(), {{"seed", seed}}, stage_input(find_in_battery("grid"))).after;
            CHECK(measure(grid).bandwidth > 30);
            // 9 x 8 points: 8 is the least there is; level by level from a corner gives 8 or, by the luck of the ties, 9.
            CHECK(measure(run(cuthill_mckee_stage(), {}, grid).after).bandwidth <= 9);

            const StagedMatrix path =
                run(random_order_stage(), {{"seed", seed}}, stage_input(find_in_battery("tridiagonal"))).after;
            CHECK(measure(path).bandwidth > 30);
            CHECK(measure(run(cuthill_mckee_stage(), {}, path).after).bandwidth == 1);
        }
    }

    TEST_CASE("on the battery: the order of discovery, equals by degree and number") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square()) continue;
            CAPTURE(named.name);
            const Graph graph = adjacency_graph(matrix, 1);
            const Step plain = run(cuthill_mckee_stage(), {{"variant", "plain"}}, stage_input(matrix));
            const Permutation& order = plain.result.change.order->order;
            // Vertices come in the order of their first neighbours; where that is the same, by degree, then by number.
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

    TEST_CASE("the order of Boost.Graph, by one thread, by all where levels are wide, and by all at every level") {
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
        // A star, whose leaves are a level; a tree whose levels double; vertices joined at random, with several components.
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
                continue;  // complex values, say
            }
            if (!matrix.square()) continue;
            const Graph graph = adjacency_graph(matrix, 1);
            CHECK(cuthill_mckee_order(graph).old_of_new == boost_order(graph));
        }
    }

    TEST_CASE("many isolated vertices take no longer than their number") {
        const Step step = run(cuthill_mckee_stage(), {}, stage_input(diagonal(300'000)));
        CHECK(step.note("connected components") == "300000");
        CHECK(step.order().front() == 299'999);
    }
}
