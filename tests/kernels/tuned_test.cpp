#include "kernels/device/tuned.hpp"

#include <doctest/doctest.h>

#include "kernels/formats/dasp/layout.hpp"
#include "kernels/formats/halo/layout.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

CsrMatrix identity_matrix(Index rows) {
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = rows;
    for (Index row = 0; row < rows; ++row) {
        matrix.column_indices.push_back(row);
        matrix.values.push_back(1);
        matrix.row_offsets.push_back(row + 1);
    }
    return matrix;
}

}  // namespace

TEST_CASE("tuned values depend on the device; the defaults are those of an H200") {
    struct Expected {
        const char* device;
        std::int64_t halo_parts;
        std::int64_t halo_shared_memory;
        std::int64_t dasp_many_row_blocks;
    };
    for (const Expected& expected : {Expected{"a100", 216, 82944, 58909}, Expected{"h100", 264, 115712, 72000},
                                     Expected{"h200", 264, 115712, 72000}, Expected{"gb200", 304, 115712, 82909}}) {
        CAPTURE(expected.device);
        const DeviceProperties& device = *find_device_model(expected.device);
        CHECK(tuned::halo_parts(device) == expected.halo_parts);
        CHECK(tuned::halo_shared_memory(device) == expected.halo_shared_memory);
        CHECK(2 * (expected.halo_shared_memory + 1024) == static_cast<std::int64_t>(device.shared_memory_per_processor));
        CHECK(tuned::dasp_many_row_blocks(device) == expected.dasp_many_row_blocks);

        const LayoutEntry halo = halo_entry();
        const auto layout = halo.build_for<double>(stage_input(identity_matrix(2000)), Parameters(halo.parameters, {}), device);
        CHECK(dynamic_cast<const HaloLayout<double>&>(*layout).parts() == expected.halo_parts);
        const LayoutEntry dasp = dasp_entry();
        const auto rows = dasp.build_for<double>(stage_input(identity_matrix(5)), Parameters(dasp.parameters, {}), device);
        CHECK(dynamic_cast<const DaspLayout<double>&>(*rows).many_row_blocks == expected.dasp_many_row_blocks);
    }
    const auto layout = build(halo_entry(), stage_input(identity_matrix(2000)));
    CHECK(dynamic_cast<const HaloLayout<double>&>(*layout).parts() == 264);
}

}  // namespace workbench
