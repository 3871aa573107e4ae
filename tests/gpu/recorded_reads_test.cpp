// The reads of kernels with loops of their own, recorded on the device and compared with the walks of their layouts.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/recorded/recorded_reads.hpp"
#include "kernels/gpu/gpu.hpp"
#include "stages/stages.hpp"
#include "support/given.hpp"
#include "support/partitioned.hpp"
#include "support/rows_of_tiles.hpp"

namespace workbench {
namespace {

WalkReads<double> walk_of(const LayoutEntry& entry, std::string_view kernel) {
    for (const ScheduleEntry& schedule : entry.schedules) {
        if (schedule.kernel == kernel) return schedule.walk.f64;
    }
    throw std::logic_error("no such kernel");
}

/// Checks that each read of the walk was recorded once, by the same thread at the same step, and that there are no others.
void check_recorded(const RecordedArrays& recorded, const Layout<double>& layout, const WalkReads<double>& walk) {
    std::map<int, std::vector<Recorded>> expected;
    for (const RecordedArray& one : recorded) expected[one.array].resize(one.elements.size());
    std::map<std::tuple<int, std::int64_t, int>, int> turns;
    walk(layout, [&](const Read& read) {
        expected.at(read.array)[read.index] = {1, static_cast<int>(read.warp * 32 + read.lane),
                                               turns[{read.array, read.warp, read.lane}]++};
    });
    for (const RecordedArray& one : recorded) {
        for (std::size_t i = 0; i < one.elements.size(); ++i) {
            const Recorded& found = one.elements[i];
            const Recorded& wanted = expected[one.array][i];
            if (found == wanted) continue;  // a CHECK of each would take most of the time
            FAIL_CHECK(fmt::format("array {}, element {}: {} times, thread {}, turn {}; expected thread {}, turn {}", one.array,
                                   i, found.times, found.thread, found.turn, wanted.thread, wanted.turn));
        }
    }
}

/// Like check_recorded, for warps that claim their work: any warp reads a slice, with the lanes and steps of the walk.
void check_recorded_lanes(const RecordedArrays& recorded, const Layout<double>& layout, const WalkReads<double>& walk) {
    for (const RecordedArray& array : recorded) {
        std::vector<int> times(array.elements.size(), 0);
        std::map<std::pair<std::int64_t, int>, Recorded> before;  // by warp and lane of the walk
        walk(layout, [&](const Read& read) {
            if (read.array != array.array) return;
            const Recorded& one = array.elements[read.index];
            ++times[read.index];
            CHECK(one.thread % 32 == read.lane);
            if (read.step > 0) {
                const Recorded& last = before[{read.warp, read.lane}];
                CHECK(one.thread == last.thread);
                CHECK(one.turn == last.turn + 1);
            }
            before[{read.warp, read.lane}] = one;
        });
        for (std::size_t i = 0; i < times.size(); ++i) CHECK(array.elements[i].times == times[i]);
    }
}

}  // namespace

TEST_SUITE("recorded_reads") {
    TEST_CASE("csr5 reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const Index sigma : {2, 12, 32}) {
            CAPTURE(sigma);
            std::vector<NamedMatrix> matrices = battery();
            matrices.push_back({"rows around the size of a tile", rows_of_tiles(32 * sigma)});
            for (const NamedMatrix& named : matrices) {
                CAPTURE(named.name);
                const auto layout = build(csr5_entry(), stage_input(named.matrix), {{"sigma", std::int64_t{sigma}}});
                check_recorded(record_csr5(dynamic_cast<const Csr5Layout<double>&>(*layout), *device), *layout,
                               walk_of(csr5_entry(), "tiles"));
            }
        }
    }

    TEST_CASE("ehyb reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            const Index rows = named.matrix.rows;
            if (!named.matrix.square() || rows == 0) continue;
            CAPTURE(named.name);
            const StagedMatrix staged = partitioned(named.matrix, {0, rows / 3, rows / 3, rows});
            for (const char* column_index : {"u16", "u32"}) {
                const auto layout = build(ehyb_entry(), staged, {{"column_index", std::string(column_index)}});
                const auto& ehyb = dynamic_cast<const EhybLayout<double>&>(*layout);
                for (const bool fused : {true, false}) {
                    check_recorded_lanes(record_ehyb(ehyb, fused, *device), *layout,
                                         walk_of(ehyb_entry(), fused ? "fused" : "two_launch"));
                }
            }
        }
    }

    TEST_CASE("hbp reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const std::int64_t height : {5, 700}) {
                for (const char* column_index : {"u16", "u32"}) {
                    CAPTURE(named.name);
                    StagedMatrix staged = stage_input(named.matrix);
                    pass(staged, row_blocks_stage(), {{"height", height}});
                    pass(staged, column_segmentation_stage(), {{"width", 20_i}});
                    pass(staged, nonlinear_hash_stage(), {{"within", std::string("tile")}});
                    const auto layout =
                        build(hbp_entry(), staged,
                              {{"column_index", std::string(column_index)}, {"row_limit", 6_i}, {"chunk_limit", 90_i}});
                    check_recorded(record_hbp(dynamic_cast<const HbpLayout<double>&>(*layout), *device), *layout,
                                   walk_of(hbp_entry(), "fixed"));
                }
            }
        }
    }

    TEST_CASE("hola reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const auto& [threads, nonzeros] : std::vector<std::pair<std::int64_t, std::int64_t>>{{256, 7}, {128, 5}}) {
                CAPTURE(named.name);
                const Given given{{"threads", threads}, {"nonzeros_per_thread", nonzeros}};
                const auto layout = build(hola_entry(), stage_input(named.matrix), given);
                const auto& hola = dynamic_cast<const HolaLayout<double>&>(*layout);
                check_recorded(record_hola(hola, *device), *layout, walk_of(hola_entry(), "shares"));
            }
        }
    }

    TEST_CASE("bccoo reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const auto& [size, column_index] :
                 std::vector<std::pair<std::int64_t, std::string>>{{1, "u16"}, {1, "u32"}, {3, "u16"}}) {
                CAPTURE(named.name);
                const Given given{
                    {"block_height", size}, {"block_width", size}, {"column_index", column_index}, {"slots_per_nonzero", 1e6}};
                const auto layout = build(bccoo_entry(), stage_input(named.matrix), given);
                const auto& bccoo = dynamic_cast<const BccooLayout<double>&>(*layout);
                check_recorded(record_bccoo(bccoo, *device), *layout, walk_of(bccoo_entry(), "lanes"));
            }
        }
    }

    TEST_CASE("block_sell reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const auto& [size, threads] :
                 std::vector<std::pair<std::int64_t, std::int64_t>>{{1, 1}, {2, 4}, {3, 2}, {6, 1}}) {
                CAPTURE(named.name);
                const Given given{{"block_size", size}, {"threads_per_row", threads}, {"slots_per_nonzero", 1e6}};
                const auto layout = build(block_sell_entry(), stage_input(named.matrix), given);
                const auto& sell = dynamic_cast<const BlockSellLayout<double>&>(*layout);
                check_recorded(record_block_sell(sell, *device), *layout, walk_of(block_sell_entry(), "warps"));
            }
        }
    }

    TEST_CASE("csr reads as in the schedules of adaptive and merge") {
        const auto device = make_cuda_device();
        const auto check = [&](const CsrMatrix& matrix) {
            const auto layout = build(csr_entry(), stage_input(matrix));
            const auto& csr = dynamic_cast<const CsrLayout<double>&>(*layout);
            check_recorded(record_csr_adaptive(csr, *device), *layout, walk_of(csr_entry(), "adaptive"));
            check_recorded(record_csr_merge(csr, *device), *layout, walk_of(csr_entry(), "merge"));
        };
        for (const NamedMatrix& named : battery()) {
            CAPTURE(named.name);
            check(named.matrix);
        }
        check(long_rows_matrix());
        check(matrix_of_rows({40, 40, 0, 8200, 40, 700, 1100, 33, 1}, 8209));
    }

    TEST_CASE("halo reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const std::int64_t size : {1, 3}) {
                CAPTURE(named.name);
                const Given given{
                    {"block_size", size}, {"parts", 2_i}, {"warps", 3_i}, {"piece", 2_i}, {"slots_per_nonzero", 1e6}};
                const CsrMatrix matrix = named.matrix.square() ? sum_with_transpose(named.matrix) : named.matrix;
                const auto layout = build(halo_entry(), stage_input(matrix), given);
                const auto& halo = dynamic_cast<const HaloLayout<double>&>(*layout);
                check_recorded(record_halo(halo, *device), *layout, walk_of(halo_entry(), "parts"));
            }
        }
    }

    TEST_CASE("dasp reads as in its schedule") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Given& given : std::vector<Given>{{}, {{"short_row", 0_i}, {"long_row", 5_i}, {"piece_steps", 1_i}}}) {
                CAPTURE(named.name);
                const auto layout = build(dasp_entry(), stage_input(named.matrix), given);
                const auto& dasp = dynamic_cast<const DaspLayout<double>&>(*layout);
                const auto check_shape = [&]<typename Shape>(Shape) {
                    check_recorded(record_dasp<Shape>(dasp, *device), *layout, [](const auto& all, const auto& visit) {
                        walk_dasp(dynamic_cast<const DaspLayout<double>&>(all), Shape::row_blocks, visit);
                    });
                };
                check_shape(DaspFlat{});
                check_shape(DaspSmall{});
                check_shape(DaspLong{});
                check_shape(DaspWide{});
                check_shape(DaspDeep{});
            }
        }
    }
}

}  // namespace workbench
