// The stage multilevel_partition and its steps: merging, coarsening, refining.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "core/contract/errors.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "core/matrix/random.hpp"
#include "stages/coarsen_graph.hpp"
#include "stages/fit_partition.hpp"
#include "stages/multilevel.hpp"
#include "stages/refine_partition.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/data_folder.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Edges = std::map<std::pair<Index, Index>, Offset>;

/// The edge ends with their weights. Checks that there are no duplicates and no self-loops, and that weights are symmetric.
template <typename AnyGraph>
Edges edges_of(const AnyGraph& graph) {
    Edges edges;
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        for (const WeightedEdge edge : graph.edges_of(vertex)) {
            CHECK(edge.to != vertex);
            CHECK(edges.try_emplace({vertex, edge.to}, edge.weight).second);
        }
    }
    for (const auto& [ends, weight] : edges) CHECK(edges.at({ends.second, ends.first}) == weight);
    return edges;
}

UnitGraph unit(const Graph& graph) { return {graph, Offsets(graph.vertex_count(), 1)}; }

/// A square grid with the five-point stencil.
CsrMatrix grid(Index side) {
    std::vector<Indices> rows(side * side);
    for (Index i = 0; i < side * side; ++i) {
        if (i % side + 1 < side) rows[i].push_back(i + 1);
        if (i + side < side * side) rows[i].push_back(i + side);
    }
    return matrix_of(side * side, rows);
}

CsrMatrix star(Index leaves) {
    std::vector<Indices> rows(leaves + 1);
    for (Index leaf = 1; leaf <= leaves; ++leaf) rows[0].push_back(leaf);
    return matrix_of(leaves + 1, rows);
}

CsrMatrix clique(Index vertices) {
    return matrix_of(vertices, std::vector<Indices>(vertices, [&] {
                         Indices all(vertices);
                         std::iota(all.begin(), all.end(), 0);
                         return all;
                     }()));
}

/// Disjoint triangles.
CsrMatrix triangles(Index count) {
    std::vector<Indices> rows;
    for (Index i = 0; i < count; ++i) rows.insert(rows.end(), {{3 * i + 1, 3 * i + 2}, {3 * i + 2}, {}});
    return matrix_of(3 * count, rows);
}

/// Parameters with which a small matrix passes through all levels.
Given in_levels(std::int64_t parts) {
    return {{"parts", parts}, {"vertices_a_part", std::int64_t{8}}, {"least_vertices", std::int64_t{1}}};
}

Index largest_part(const Step& step) {
    const Cuts& cuts = *step.after.find_cuts(CutKind::partition);
    Index largest = 0;
    for (Index part = 0; part < cuts.count(); ++part) largest = std::max(largest, cuts.size(part));
    return largest;
}

template <typename AnyGraph>
void check_clusters(const AnyGraph& graph, const Clusters& clusters, Offset heaviest) {
    Offsets weight(clusters.count, 0);
    Indices members(clusters.count, 0);
    for (Index vertex = 0; vertex < graph.vertex_count(); ++vertex) {
        const Index cluster = clusters.of[vertex];
        CHECK((cluster == -1) == graph.edges_of(vertex).empty());
        if (cluster < 0) continue;
        REQUIRE(cluster < clusters.count);
        weight[cluster] += graph.vertex_weights[vertex];
        ++members[cluster];
    }
    for (const Index count : members) CHECK(count > 0);
    // Random acceptance may exceed the maximum weight by a little.
    for (Index i = 0; i < clusters.count; ++i) CHECK((members[i] == 1 || weight[i] <= 2 * heaviest));
    const WeightedGraph coarse = contract(graph, clusters);
    CHECK(coarse.vertex_weights == weight);
    Edges expected;
    for (const auto& [ends, edge_weight] : edges_of(graph)) {
        const std::pair between{clusters.of[ends.first], clusters.of[ends.second]};
        if (between.first != between.second) expected[between] += edge_weight;
    }
    CHECK(edges_of(coarse) == expected);
}

}  // namespace

TEST_SUITE("multilevel_partition") {
    TEST_CASE("vertices with the same neighbours are merged, and their weights add up") {
        // 0 and 1 are adjacent to each other and to 2 and 3, which are not adjacent; 4 is a leaf of 3; 5 is isolated.
        const Graph graph = adjacency_graph(matrix_of(6, {{1, 2, 3}, {2, 3}, {}, {4}, {}, {5}}), 1);
        const MergedGraph merged = merge_supervariables(graph, {1, 10, 100, 1000, 10000, 100000});
        CHECK(merged.vertex_of == Indices{0, 0, 1, 2, 3, -1});
        CHECK(merged.graph.vertex_weights == Offsets{11, 100, 1000, 10000});
        const Edges expected{{{0, 1}, 2}, {{1, 0}, 2}, {{0, 2}, 2}, {{2, 0}, 2}, {{2, 3}, 1}, {{3, 2}, 1}};
        CHECK(edges_of(merged.graph) == expected);
        CHECK(share_to_merge(graph) == doctest::Approx(1.0 / 6));
        CHECK(share_to_merge(adjacency_graph(CsrMatrix{}, 1)) == 0);
    }

    TEST_CASE("the unknowns of nodes are merged, and the cut keeps its weight") {
        const Graph graph = adjacency_graph(find_in_battery("node_blocks"), 1);
        const MergedGraph merged = merge_supervariables(graph, Offsets(graph.vertex_count(), 1));
        const Graph nodes = adjacency_graph(find_in_battery("node_blocks"), 3);
        REQUIRE(merged.graph.vertex_count() == nodes.vertex_count());
        for (Index row = 0; row < graph.vertex_count(); ++row) CHECK(merged.vertex_of[row] == row / 3);
        Partition partition{Indices(nodes.vertex_count()), 4, 0, {}};
        for (Index node = 0; node < nodes.vertex_count(); ++node) partition.part_of[node] = node % 4;
        measure_border(merged.graph, partition);
        Indices of_rows(graph.vertex_count());
        for (Index row = 0; row < graph.vertex_count(); ++row) of_rows[row] = partition.part_of[row / 3];
        CHECK(partition.cut == edge_cut(graph, of_rows));
    }

    TEST_CASE("clusters contain every vertex with edges, limit their weight, and contract correctly") {
        std::vector<CsrMatrix> matrices{grid(40), star(500), clique(30), triangles(100)};
        for (const NamedMatrix& named : battery()) {
            if (named.matrix.square()) matrices.push_back(named.matrix);
        }
        for (const CsrMatrix& matrix : matrices) {
            const Graph graph = adjacency_graph(matrix, 1);
            for (const Offset heaviest : {1, 4, 20}) {
                for (const std::uint64_t seed : {1, 2}) {
                    const Clusters around = gather_around_leaders(unit(graph), heaviest, seed);
                    check_clusters(unit(graph), around, heaviest);
                    check_clusters(unit(graph), gather_along_heavy_edges(unit(graph), heaviest, seed), heaviest);
                    const WeightedGraph coarse = contract(unit(graph), around);
                    check_clusters(coarse, gather_along_heavy_edges(coarse, 2 * heaviest, seed), 2 * heaviest);
                }
            }
        }
    }

    TEST_CASE("graphs become much smaller, including stars") {
        const Graph square = adjacency_graph(grid(40), 1);
        CHECK(gather_around_leaders(unit(square), 20, 1).count < 600);
        CHECK(gather_along_heavy_edges(unit(square), 5, 1).count < 800);
        const Graph leaves = adjacency_graph(star(1000), 1);
        CHECK(gather_along_heavy_edges(unit(leaves), 5, 1).count < 300);
    }

    TEST_CASE("runs of vertices have about equal numbers of edge ends, and contain each vertex once") {
        std::vector<Entry> broom;  // the last vertex is adjacent to all others
        for (Index i = 0; i < 5000; ++i) broom.push_back({4999, i, 1});
        for (const CsrMatrix& matrix : {grid(64), star(5000), csr_from_entries(5000, 5000, broom), grid(3), CsrMatrix{}}) {
            const Graph graph = adjacency_graph(matrix, 1);
            for (const Index most : {1, 2, 7, 16}) {
                CAPTURE(matrix.rows);
                CAPTURE(most);
                const VertexRuns runs(unit(graph), most);
                std::vector<std::atomic<int>> visits(matrix.rows);
                runs.for_each_vertex("visit", [&](Index vertex) { ++visits[vertex]; });
                CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& count) { return count == 1; }));
                const auto boundaries = runs.boundaries();
                CHECK(std::ssize(boundaries) - 1 == std::clamp(matrix.rows / 256, 1, most));
                CHECK(std::is_sorted(boundaries.begin(), boundaries.end()));
                if (matrix.rows != 64 * 64) continue;
                for (std::size_t run = 0; run + 1 < boundaries.size(); ++run) {
                    const Offset ends = graph.offsets[boundaries[run + 1]] - graph.offsets[boundaries[run]];
                    CHECK(static_cast<double>(ends) == doctest::Approx(16128.0 / (std::ssize(boundaries) - 1)).epsilon(0.05));
                }
            }
        }
    }

    TEST_CASE("heavy edges are inside clusters") {
        // A ring of 64 pairs, where the edge within a pair has weight 100.
        WeightedGraph ring;
        ring.vertex_weights.assign(128, 1);
        make_room(ring.edges, 256);
        for (Index vertex = 0; vertex < 128; ++vertex) {
            ring.offsets.push_back(2 * (vertex + 1));
            ring.edges[2 * vertex] = {vertex ^ 1, 100};
            ring.edges[2 * vertex + 1] = {vertex % 2 == 1 ? (vertex + 1) % 128 : (vertex + 127) % 128, 1};
        }
        const Clusters clusters = gather_along_heavy_edges(ring, 2, 1);
        CHECK(clusters.count == 64);
        for (Index pair = 0; pair < 64; ++pair) CHECK(clusters.of[2 * pair] == clusters.of[2 * pair + 1]);
    }

    TEST_CASE("refinement improves a bad partition, and keeps the balance") {
        const Graph graph = adjacency_graph(grid(40), 1);
        for (const std::uint64_t seed : {1, 2, 3}) {
            Partition partition{Indices(1600), 4, 0, {}};
            for (Index i = 0; i < 1600; ++i) {
                // Quarters, with every fifth vertex in a random part.
                const bool strayed = mixed(seed + static_cast<std::uint64_t>(i)) % 5 == 0;
                partition.part_of[i] = strayed ? static_cast<Index>(mixed(static_cast<std::uint64_t>(i)) % 4)
                                               : (i % 40 < 20 ? 0 : 1) + (i < 800 ? 0 : 2);
            }
            measure_border(unit(graph), partition);
            CHECK(partition.cut > 700);
            refine_partition(unit(graph), partition, 412, {}, seed);
            CHECK(partition.cut < 110);  // 80 is optimal
            CHECK(partition.cut == edge_cut(graph, partition.part_of));
            Indices sizes(4, 0);
            for (const Index part : partition.part_of) ++sizes[part];
            CHECK(*std::max_element(sizes.begin(), sizes.end()) <= 412);
        }
    }

    TEST_CASE("overweight parts evict vertices, including parts without a border") {
        for (const CsrMatrix& matrix : {grid(20), triangles(100), clique(40), star(99)}) {
            const Graph graph = adjacency_graph(matrix, 1);
            const Index vertices = graph.vertex_count();
            Partition partition{Indices(vertices, 2), 5, 0, {}};
            measure_border(unit(graph), partition);
            CHECK(partition.cut == 0);
            const Index heaviest = vertices / 5 + 2;
            refine_partition(unit(graph), partition, heaviest, {}, 1);
            CHECK(partition.cut == edge_cut(graph, partition.part_of));
            Indices sizes(5, 0);
            for (const Index part : partition.part_of) ++sizes[part];
            CHECK(*std::max_element(sizes.begin(), sizes.end()) <= heaviest);
        }
    }

    TEST_CASE("every part fits after all levels, on the battery and on unusual graphs") {
        std::vector<CsrMatrix> matrices{grid(40), star(500), clique(60), triangles(200), diagonal(50)};
        for (const NamedMatrix& named : battery()) {
            if (named.matrix.square()) matrices.push_back(named.matrix);
        }
        for (const CsrMatrix& matrix : matrices) {
            for (const std::int64_t parts :
                 {std::int64_t{1}, std::int64_t{2}, std::int64_t{7}, std::int64_t{matrix.rows} + 5}) {
                for (const std::string weights : {"rows", "nonzeros", "bytes"}) {
                    Given given = in_levels(parts);
                    given["weights"] = weights;
                    const Step step = run(multilevel_partition_stage(), given, stage_input(matrix));
                    check_invariants(step.after, matrix);
                    CHECK(step.after.find_cuts(CutKind::partition)->count() == parts);
                    CHECK(largest_part(step) <= (matrix.rows + parts - 1) / parts);
                    CHECK(run(multilevel_partition_stage(), given, stage_input(matrix)).order() == step.order());
                }
            }
        }
    }

    TEST_CASE("the levels are noted, and small graphs are left to METIS") {
        const StagedMatrix before = stage_input(grid(60));
        const Step step = run(multilevel_partition_stage(), in_levels(4), before);
        const std::string levels = step.note("vertices by level");
        CHECK(levels.starts_with("3600, "));
        CHECK(std::count(levels.begin(), levels.end(), ',') >= 3);
        CHECK(measure(step.after).partition->edge_cut <= 180);  // 120 is optimal
        CHECK(std::to_string(measure(step.after).partition->edge_cut) == step.note("edge cut"));

        const Step small = run(multilevel_partition_stage(), {{"parts", std::int64_t{4}}}, before);
        CHECK(small.note("vertices by level") == "3600");
        CHECK(small.order() == run(metis_partition_stage(), {{"parts", std::int64_t{4}}}, before).order());
    }

    TEST_CASE("nodes stay together, and unknowns without node_size are merged") {
        CsrMatrix matrix = find_in_battery("node_blocks");
        const Step whole = run(multilevel_partition_stage(), in_levels(3), stage_input(matrix, 3));
        check_invariants(whole.after, matrix);
        CHECK(whole.note("capacity") == "33 rows");
        const Step merged = run(multilevel_partition_stage(),
                                {{"parts", 2_i}, {"vertices_a_part", 2_i}, {"least_vertices", 1_i}}, stage_input(matrix));
        CHECK(merged.note("vertices by level").starts_with("96, 32"));
    }

    TEST_CASE("seed, imbalance and the size of the coarsest graph affect the result") {
        const StagedMatrix before = stage_input(find_in_battery("random_300"));
        const Indices usual = run(multilevel_partition_stage(), in_levels(8), before).order();
        const auto with = [&](const std::string& name, const ParameterValue& value) {
            Given given = in_levels(8);
            given[name] = value;
            return run(multilevel_partition_stage(), given, before).order();
        };
        CHECK(with("seed", std::int64_t{5}) != usual);
        CHECK(with("imbalance", 1.5) != usual);
        CHECK(with("vertices_a_part", std::int64_t{12}) != usual);
        CHECK(with("least_vertices", std::int64_t{100}) != usual);
        CHECK(with("weights", "nonzeros") != usual);
    }

    TEST_CASE("the order does not depend on the machine or the number of threads") {
        // A stored checksum; the command-line tests compare numbers of threads.
        const Step step = run(multilevel_partition_stage(), in_levels(5), stage_input(grid(50)));
        std::uint64_t sum = 0;
        for (const Index row : step.order()) sum = mixed(sum ^ static_cast<std::uint64_t>(row));
        CHECK(sum == 4148915689829472358U);
    }

    TEST_CASE("cuts of real matrices are close to those of METIS") {
        const std::filesystem::path folder = data_folder("small");
        if (folder.empty()) return;
        for (const std::string name : {"3elt", "bcsstk16", "bcsstk33", "crack", "dwt_2680", "gen_elas3d", "gen_cavity2d"}) {
            CAPTURE(name);
            const StagedMatrix before = stage_input(read_matrix((folder / (name + ".mtx.gz")).string()));
            const auto cut = [&](const StageEntry& stage, const Given& given) {
                return std::stod(run(stage, given, before).note("edge cut"));
            };
            Given given{{"parts", std::int64_t{8}}, {"vertices_a_part", std::int64_t{20}}, {"least_vertices", std::int64_t{1}}};
            CHECK(cut(multilevel_partition_stage(), given) < 1.2 * cut(metis_partition_stage(), {{"parts", std::int64_t{8}}}));
        }
    }

    TEST_CASE("errors name the stage") {
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 4, 320, 0, 0};  // 39 values of 8 bytes
        const Given given{{"parts", std::int64_t{7}}, {"capacity", "shared_memory"}};
        const std::string message = message_of<InputError>([&] {
            (void)run(multilevel_partition_stage(), given, stage_input(find_in_battery("random_300")), {.device = &gpu});
        });
        CHECK(message.starts_with("multilevel_partition: parts = 7 of at most 39 rows"));
        CHECK_THROWS_AS((void)run(multilevel_partition_stage(), {{"parts", "auto"}}, stage_input(grid(4))), MachineError);
        CHECK(contract_of(multilevel_partition_stage(), {{"parts", std::int64_t{2}}}).needs.square);
    }
}

}  // namespace workbench
