// Kernels with a loop of their own, which record who reads which value, against the schedules that they state.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/common/device/cuda_device.hpp"
#include "kernels/hbp/layout.hpp"
#include "stages/stages.hpp"
#include "support/battery.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

/// Demands that each read of the walk has happened once, by this very thread and as the so manieth that it made, and no other.
void check_recorded(const std::vector<Recorded>& recorded, const Layout<double>& layout, WalkReads<double> walk) {
    std::map<std::pair<std::int64_t, int>, int> turns;
    std::vector<Recorded> expected(recorded.size());
    walk(layout, [&](const Read& read) {
        expected[read.index] = {1, static_cast<int>(read.warp * 32 + read.lane), turns[{read.warp, read.lane}]++};
    });
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        CHECK_MESSAGE(recorded[i] == expected[i],
                      fmt::format("element {}: {} times, thread {}, turn {}; expected thread {}, turn {}", i, recorded[i].times,
                                  recorded[i].thread, recorded[i].turn, expected[i].thread, expected[i].turn));
    }
}

}  // namespace

TEST_SUITE("recorded_reads") {
    TEST_CASE("hbp reads as its schedule says") {
        if constexpr (WORKBENCH_HAS_CUDA) {
            const auto device = make_cuda_device();
            for (const NamedMatrix& named : battery()) {
                for (const std::int64_t height : {5, 300}) {
                    for (const char* column_index : {"u16", "u32"}) {
                        CAPTURE(named.name);
                        StagedMatrix staged = stage_input(named.matrix);
                        pass(staged, row_blocks_stage(), {{"height", height}});
                        pass(staged, column_segmentation_stage(), {{"width", 20_i}});
                        pass(staged, nonlinear_hash_stage(), {{"within", std::string("tile")}});
                        const auto layout = build(hbp_entry(), staged, {{"column_index", std::string(column_index)}});
                        check_recorded(record_hbp_reads(dynamic_cast<const HbpLayout<double>&>(*layout), *device), *layout,
                                       hbp_entry().schedules.front().walk.f64);
                    }
                }
            }
        }
    }
}

}  // namespace workbench
