// The stage metis_partition: every part fits, nodes stay together, and the number of parts follows the equations of EHYB.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/metrics.hpp"
#include "stages/graph.hpp"
#include "stages/stages.hpp"
#include "stages/steps.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

std::vector<Index> sizes(const Cuts& cuts) {
    std::vector<Index> result;
    for (Index piece = 0; piece < cuts.count(); ++piece) result.push_back(cuts.size(piece));
    return result;
}

}  // namespace

TEST_SUITE("metis_partition") {
    TEST_CASE("battery: every part fits, with every method and weight") {
        for (const NamedMatrix& named : battery()) {
            const CsrMatrix& matrix = named.matrix;
            if (!matrix.square()) continue;
            CAPTURE(named.name);
            for (const Index parts : {1, 2, 7, std::max(matrix.rows, 1), matrix.rows + 5}) {
                CAPTURE(parts);
                for (const std::string method : {"kway", "recursive"}) {
                    for (const std::string weights : {"rows", "nonzeros", "bytes"}) {
                        const Given given{{"parts", std::int64_t{parts}},
                                          {"method", method},
                                          {"weights", weights},
                                          {"seed", std::int64_t{3}}};
                        const Step step = run(metis_partition_stage(), given, stage_input(matrix));
                        check_invariants(step.after, matrix);
                        const Cuts* cuts = step.after.find_cuts(CutKind::partition);
                        REQUIRE(cuts != nullptr);
                        CHECK(cuts->count() == parts);
                        const Index capacity = (matrix.rows + parts - 1) / parts;
                        for (const Index size : sizes(*cuts)) CHECK(size <= capacity);
                        const std::vector<Index> piece_of = cuts->pieces();
                        for (Index row = 1; row < matrix.rows; ++row) {
                            if (piece_of[row - 1] == piece_of[row]) {
                                CHECK(step.after.row_order.old_of_new(row - 1) < step.after.row_order.old_of_new(row));
                            }
                        }
                        CHECK(run(metis_partition_stage(), given, stage_input(matrix)).order() == step.order());
                    }
                }
            }
        }
    }

    TEST_CASE("the cut is small if the graph has a small one") {
        for (const std::string method : {"kway", "recursive"}) {
            const StagedMatrix grid = run(random_order_stage(), {}, stage_input(find_in_battery("grid"))).after;
            const Step step = run(metis_partition_stage(), {{"parts", std::int64_t{2}}, {"method", method}}, grid);
            CHECK(measure(step.after).partition->edge_cut <= 10);  // 8 is optimal
            CHECK(std::to_string(measure(step.after).partition->edge_cut) == step.note("edge cut"));

            const StagedMatrix two = stage_input(find_in_battery("two_components"));
            CHECK(run(metis_partition_stage(), {{"parts", std::int64_t{2}}, {"method", method}}, two).note("edge cut") == "0");
        }
    }

    TEST_CASE("nodes stay together") {
        const CsrMatrix matrix = find_in_battery("node_blocks");
        const Step step = run(metis_partition_stage(), {{"parts", std::int64_t{7}}}, stage_input(matrix, 3));
        check_invariants(step.after, matrix);
        for (const Index size : sizes(*step.after.find_cuts(CutKind::partition))) {
            CHECK(size % 3 == 0);
            CHECK(size <= 15);  // 32 nodes in 7 parts: at most 5
        }
        CHECK(step.note("capacity") == "15 rows");
    }

    TEST_CASE("method, seed and imbalance are passed to METIS") {
        const StagedMatrix before = stage_input(find_in_battery("random_300"));
        const auto order = [&](Given given) {
            given["parts"] = std::int64_t{8};
            given["weights"] = "nonzeros";
            return run(metis_partition_stage(), given, before).order();
        };
        const Indices usual = order({});
        CHECK(order({{"method", "recursive"}}) != usual);
        CHECK(order({{"seed", std::int64_t{5}}}) != usual);
        CHECK(order({{"imbalance", 1.5}}) != usual);
    }

    TEST_CASE("weights are rows, nonzeros, or bytes") {
        const StagedMatrix before = stage_input(find_in_battery("random_300"));
        std::set<Indices> orders;
        const auto add = [&](Given given) {
            given["parts"] = std::int64_t{8};
            orders.insert(run(metis_partition_stage(), given, before).order());
        };
        add({{"weights", "rows"}});
        add({{"weights", "nonzeros"}});
        add({{"weights", "bytes"}});
        add({{"weights", "bytes"}, {"value_bytes", 4_i}});
        CHECK(orders.size() == 4);
    }

    TEST_CASE("bytes include x and y of each row") {
        // Six rows of 6 nonzeros, the last of 7, and a tail of twelve of 3, the last of 2: 37 and 35 nonzeros. In bytes, with
        // 10 a nonzero and 16 a row: 466 and 542, or 512 and 496 with the first row of the tail.
        std::vector<Indices> rows;
        for (Index row = 0; row < 6; ++row) rows.push_back({0, 1, 2, 3, 4, 5});
        rows[5].push_back(6);
        for (Index row = 6; row < 18; ++row) {
            rows.push_back({row - 1, row});
            if (row < 17) rows.back().push_back(row + 1);
        }
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 2, 10'000, 0, 0};
        const auto sizes_by = [&](const char* weights) {
            const Step step =
                run(metis_partition_stage(),
                    {{"parts", 2_i}, {"capacity", "shared_memory"}, {"weights", weights}, {"method", "recursive"}},
                    stage_input(matrix_of(18, rows)), {.device = &gpu});
            Indices found = sizes(step.after.cuts.front());
            std::sort(found.begin(), found.end());
            return found;
        };
        CHECK(sizes_by("nonzeros") == Indices{6, 12});
        CHECK(sizes_by("bytes") == Indices{7, 11});
    }

    TEST_CASE("moved nodes are counted as rows") {
        const CsrMatrix matrix = find_in_battery("node_blocks");
        std::int64_t moved = 0;
        for (std::int64_t parts = 2; parts <= 12; ++parts) {
            const Given given{{"parts", parts}, {"weights", "nonzeros"}, {"imbalance", 2.0}};
            const std::int64_t here =
                std::stoll(run(metis_partition_stage(), given, stage_input(matrix, 3)).note("rows moved to fit"));
            CHECK(here % 3 == 0);
            moved += here;
        }
        CHECK(moved > 0);
    }

    TEST_CASE("EHYB eq. 1 and 2 for a V100: 80 processors, 98304 bytes") {
        const auto plan = [](Index rows, std::int64_t value_bytes) {
            const Step step =
                run(metis_partition_stage(), {{"parts", "auto"}, {"device", "v100"}, {"value_bytes", value_bytes}},
                    stage_input(diagonal(rows)));
            CHECK(step.after.cuts.front().count() == std::stoi(step.note("partitions")));
            return "K " + step.note("K") + ", " + step.note("partitions") + " x " + step.note("capacity");
        };
        CHECK(plan(1'000'000, 8) == "K 2, 160 x 6250 rows");  // 100,000 bytes per processor
        CHECK(plan(1'000'000, 4) == "K 1, 80 x 12500 rows");  // 50,000
        CHECK(plan(2'000'000, 8) == "K 3, 240 x 8334 rows");  // 200,000: 66,667 in each of three rounds
        CHECK(plan(983'040, 8) == "K 2, 160 x 6144 rows");    // 98,304 is not less than 98,304
        CHECK(plan(982'960, 8) == "K 1, 80 x 12287 rows");    // 98,296
        CHECK(plan(50, 8) == "K 1, 80 x 1 row");
    }

    TEST_CASE("the size of values is that of the run, unless the recipe gives it") {
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 4, 100, 0, 0};  // 12 values of 8 bytes, 24 of 4
        const auto plan = [&gpu](Precision precision, Given given) {
            given.emplace("parts", "auto");
            const Step step = run(metis_partition_stage(), given, stage_input(diagonal(96)), {&gpu, precision});
            return step.note("partitions") + " x " + step.note("capacity");
        };
        CHECK(plan(Precision::f64, {}) == "8 x 12 rows");
        CHECK(plan(Precision::f32, {}) == "4 x 24 rows");
        CHECK(plan(Precision::f32, {{"value_bytes", std::int64_t{8}}}) == "8 x 12 rows");
        CHECK(plan(Precision::f64, {{"value_bytes", std::int64_t{4}}}) == "4 x 24 rows");

        const auto depends = [](Given given) {
            given.emplace("parts", std::int64_t{2});
            return contract_of(metis_partition_stage(), given).depends_on_precision;
        };
        CHECK_FALSE(depends({}));
        CHECK(depends({{"parts", "auto"}}));
        CHECK(depends({{"capacity", "shared_memory"}}));
        CHECK(depends({{"weights", "bytes"}}));
        CHECK_FALSE(depends({{"weights", "nonzeros"}}));
        CHECK_FALSE(depends({{"parts", "auto"}, {"value_bytes", std::int64_t{8}}}));
    }

    TEST_CASE("weights in bytes use the values of the run") {
        const StagedMatrix before = stage_input(find_in_battery("random_300"));
        const auto order = [&before](Precision precision, Given given) {
            given.emplace("parts", std::int64_t{5});
            given.emplace("weights", "bytes");
            return run(metis_partition_stage(), given, before, {nullptr, precision}).order();
        };
        CHECK(order(Precision::f32, {}) == order(Precision::f64, {{"value_bytes", std::int64_t{4}}}));
        CHECK(order(Precision::f64, {}) == order(Precision::f32, {{"value_bytes", std::int64_t{8}}}));
        CHECK(order(Precision::f64, {}) != order(Precision::f32, {}));
    }

    TEST_CASE("keep = order gives the same order without cuts") {
        const StagedMatrix before = stage_input(find_in_battery("grid"));
        const Step whole = run(metis_partition_stage(), {{"parts", std::int64_t{4}}}, before);
        const Step order = run(metis_partition_stage(), {{"parts", std::int64_t{4}}, {"keep", "order"}}, before);
        CHECK(order.order() == whole.order());
        CHECK(whole.after.find_cuts(CutKind::partition) != nullptr);
        CHECK(order.after.cuts.empty());
        CHECK(order.contract.gives_cuts.empty());
        CHECK(order.note("edge cut") == whole.note("edge cut"));
    }

    TEST_CASE("the plan depends on the present GPU, 16-bit columns, and whole nodes") {
        const auto plan = [](const DeviceProperties& gpu, const StagedMatrix& staged) {
            const Step step = run(metis_partition_stage(), {{"parts", "auto"}}, staged, {.device = &gpu});
            return step.note("partitions") + " x " + step.note("capacity");
        };
        const DeviceProperties small{DeviceKind::gpu, "small", 4, 100, 0, 0};  // 12 values of 8 bytes
        CHECK(plan(small, stage_input(diagonal(48))) == "4 x 12 rows");
        CHECK(plan(small, stage_input(diagonal(49))) == "8 x 7 rows");
        CHECK(plan(small, stage_input(diagonal(50), 5)) == "8 x 10 rows");  // 2 nodes of 5 rows fit; 10 nodes in 8 parts
        const DeviceProperties large{DeviceKind::gpu, "large", 1, 10'000'000, 0, 0};
        CHECK(plan(large, stage_input(diagonal(65'536))) == "1 x 65536 rows");
        CHECK(plan(large, stage_input(diagonal(65'537))) == "2 x 32769 rows");
        const DeviceProperties tiny{DeviceKind::gpu, "tiny", 4, 32, 0, 0};
        CHECK_THROWS_WITH_AS(plan(tiny, stage_input(diagonal(50), 5)),
                             "metis_partition: 32 bytes of shared memory (tiny) cannot hold one node of 5 rows", InputError);
    }

    TEST_CASE("without a GPU, the error names the device models; a number of parts needs no GPU") {
        const StagedMatrix before = stage_input(find_in_battery("grid"));
        const std::string message = message_of<MachineError>([&] {
            (void)run(metis_partition_stage(), {{"parts", "auto"}}, before);
        });
        for (const std::string& model : device_model_names()) CHECK(message.find(model) != std::string::npos);
        CHECK_THROWS_AS((void)run(metis_partition_stage(), {{"parts", std::int64_t{4}}, {"capacity", "shared_memory"}}, before),
                        MachineError);
        // The same partition on every machine.
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 4, 100, 0, 0};
        CHECK(run(metis_partition_stage(), {{"parts", std::int64_t{4}}}, before, {.device = &gpu}).order() ==
              run(metis_partition_stage(), {{"parts", std::int64_t{4}}}, before).order());
    }

    TEST_CASE("capacity by shared memory") {
        const DeviceProperties gpu{DeviceKind::gpu, "a GPU", 4, 320, 0, 0};  // 39 values of 8 bytes
        const CsrMatrix matrix = find_in_battery("random_300");
        for (const std::string weights : {"rows", "nonzeros"}) {
            const Given given{{"parts", std::int64_t{8}}, {"capacity", "shared_memory"}, {"weights", weights}};
            const Step step = run(metis_partition_stage(), given, stage_input(matrix), {.device = &gpu});
            check_invariants(step.after, matrix);
            CHECK(step.note("capacity") == "39 rows");
            for (const Index size : sizes(step.after.cuts.front())) CHECK(size <= 39);
        }
        CHECK_THROWS_WITH_AS((void)run(metis_partition_stage(), {{"parts", std::int64_t{7}}, {"capacity", "shared_memory"}},
                                       stage_input(matrix), {.device = &gpu}),
                             "metis_partition: parts = 7 of at most 39 rows (capacity = \"shared_memory\") cannot hold 300 "
                             "rows; give at least 8 parts",
                             InputError);
    }

    TEST_CASE("parts weighted by nonzeros fit even for a finite-element matrix with constrained rows") {
        const CsrMatrix matrix = read_matrix(WORKBENCH_SOURCE_DIR "/recipes/matrices/elasticity3d.mtx.gz");
        const Graph graph = adjacency_graph(matrix, 1);
        Index isolated = 0;
        for (Index v = 0; v < graph.vertex_count(); ++v) isolated += graph.degree(v) == 0 ? 1 : 0;
        REQUIRE(isolated > 500);
        for (const std::string weights : {"rows", "nonzeros", "bytes"}) {
            for (const Index parts : {16, 264}) {
                const Step step =
                    run(metis_partition_stage(), {{"parts", std::int64_t{parts}}, {"weights", weights}}, stage_input(matrix));
                check_invariants(step.after, matrix);
                const Index capacity = (matrix.rows + parts - 1) / parts;
                for (const Index size : sizes(step.after.cuts.front())) CHECK(size <= capacity);
                // Parts of 20 rows: METIS would find only 0.3 inside if it could not exceed the mean by one row.
                const PartitionMetrics partition = *measure(step.after).partition;
                CHECK(static_cast<double>(partition.nonzeros_inside) > (parts == 16 ? 0.8 : 0.37) * double(matrix.nonzeros()));
                if (weights != "rows") CHECK(partition.nonzero_imbalance < 1.1);
            }
        }
    }

    TEST_CASE("METIS does not write to standard output") {
        // Some of these parts get no vertex, which METIS reports.
        const StagedMatrix before = stage_input(find_in_battery("arrow"));
        std::FILE* const caught = std::tmpfile();
        REQUIRE(caught != nullptr);
        std::fflush(stdout);
        const int terminal = dup(STDOUT_FILENO);
        dup2(fileno(caught), STDOUT_FILENO);
        (void)run(metis_partition_stage(), {{"parts", std::int64_t{60}}, {"method", "recursive"}, {"weights", "nonzeros"}},
                  before);
        std::puts("after METIS");
        std::fflush(stdout);
        dup2(terminal, STDOUT_FILENO);
        close(terminal);
        std::rewind(caught);
        std::string text(100, ' ');
        text.resize(std::fread(text.data(), 1, text.size(), caught));
        std::fclose(caught);
        CHECK(text == "after METIS\n");
    }

    TEST_CASE("values of 5 bytes are refused") {
        const StageEntry stage = metis_partition_stage();
        const Parameters parameters(stage.parameters, {{"parts", std::int64_t{2}}, {"value_bytes", std::int64_t{5}}});
        CHECK_THROWS_AS(stage.contract(parameters), ParameterError);
    }
}

}  // namespace workbench
