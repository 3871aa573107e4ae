// Stages that the host runs for a GPU that prepares the rest, compared with all of it on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/engine/ready.hpp"

namespace workbench {
namespace {

/// Symmetric patterns of which every part has rows.
std::vector<NamedMatrix> meshes() {
    return {{"laplace3d", generated("laplace3d", {{"nx", 9_i}})},
            {"elasticity3d", generated("elasticity3d", {{"nx", 5_i}, {"scramble", 1_i}})}};
}

/// A matrix whose pattern is not symmetric, with rows of many lengths.
CsrMatrix one_way(Index rows) { return uneven_matrix(rows, rows, 20); }

const std::string stored_by_host = "[layout]\nuse = 'dasp'\n";

/// Recipes of which the device finds the first orders and the host does the rest.
const std::vector<std::string> first_orders{
    by_cuthill_mckee + stored_by_host,
    windows + plain_cm + "[[stage]]\nid = 'last'\nuse = 'row_sort'\n" + stored_by_host,
    by_cuthill_mckee + "[[stage]]\nuse = 'random_order'\n[[stage]]\nid = 'again'\nuse = 'cuthill_mckee'\n" + stored_by_host,
    "[[stage]]\nuse = 'node_blocks'\n[[stage]]\nuse = 'rcm_blocks'\nparts = 3\n[[stage]]\nuse = 'row_sort'\n"
    "within = 'partition'\n" +
        stored_by_host,
    "[[stage]]\nuse = 'rcm_blocks'\nparts = 4\nkeep = 'order'\nweights = 'nonzeros'\n[[stage]]\nuse = 'row_sort'\napply = "
    "'rows'\n" +
        stored_by_host,
};

/// The matrix, orders and parts are those of the host whatever the device found, and the kernel is right.
template <ValueType Value>
void check_first_orders(Device& device, const std::string& text, const CsrMatrix& matrix, bool is_ordered_there) {
    CAPTURE(text);
    Recipe recipe = parsed(text);
    const StageContext context = stage_context(recipe, precision_of<Value>, &device.properties());
    StagedMatrix expected = stage_input(matrix, recipe.node_size);
    (void)apply_stages(recipe, expected, context);
    const OrdersOfDevice found = orders_of_device<Value>(recipe, matrix, device, {});
    CHECK(found.stages.empty() != is_ordered_there);
    CHECK(found.notes.at(0).starts_with(is_ordered_there ? "ordered on the GPU: " : "ordered on the host, because "));
    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    (void)apply_stages(recipe, staged, context, {}, {}, {}, found.stages);
    CHECK(staged.matrix == expected.matrix);
    CHECK(staged.row_order == expected.row_order);
    CHECK(staged.column_order == expected.column_order);
    CHECK(staged.cuts == expected.cuts);
    CHECK(staged.node_size == expected.node_size);
    recipe.prepare = "gpu";
    const Oracle<Value> oracle(matrix, exact_values_of(recipe));
    const Ready<Value> ready(recipe, matrix, {.device = device, .filter = {DeviceKind::gpu}, .oracle = &oracle});
    CHECK(ready.preparation().kernel.reason == "");
    CHECK(ready.kernel() != nullptr);
    CHECK(ready.space().row_order == expected.row_order);
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("orders and parts that the host finds are taken by the device, which prepares the rest") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& each : meshes()) {
            for (const std::string& text : host_stage_recipes) {
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(1500, 700, 40)});
        for (const NamedMatrix& each : matrices) {
            if (each.matrix.nonzeros() == 0) continue;
            for (std::size_t i = 0; i < 2; ++i) {
                check_like_host<double>(*device, host_row_recipes[i], each.matrix, each.name);
            }
        }
        check_like_host<float>(*device, host_row_recipes[2], matrices.back().matrix, "a hybrid");
    }

    TEST_CASE("the host orders patterns that are not symmetric, and the device prepares the rest") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = one_way(700);
        for (const std::string& text : one_way_recipes) {
            check_like_host<double>(*device, text, matrix, "not symmetric");
            check_like_host<float>(*device, text, matrix, "not symmetric");
        }
        // Nodes of two rows, of which each second one has a neighbour that does not have it.
        std::vector<Entry> entries;
        for (Index row = 0; row < 60; ++row) {
            entries.push_back({row, row / 2 * 2, 1.0 + row});
            entries.push_back({row, row / 2 * 2 + 1, 2.0 + row});
            if (row % 4 < 2 && row < 50) entries.push_back({row, row + 9 - row % 2, 0.5});
        }
        check_like_host<double>(*device, block_recipes[0], csr_from_entries(60, 60, entries), "nodes");
        const OnDevice<double> there(*device, matrix, false);
        const auto planned = run_plan(*device, plan_of(parsed(one_way_recipes[0])), there.view);
        const std::vector<std::string>& notes = planned->facts().notes;
        CHECK(notes.at(0) == "cuthill_mckee: the pattern suits no Cuthill-McKee on a GPU");
        CHECK(notes.at(1).starts_with("cuthill_mckee: on the host, to which the matrix was copied in "));
        for (const PlannedFacts::Step& step : planned->facts().steps) CHECK(step.seconds >= 0);
    }
}

TEST_SUITE("prepare") {
    TEST_CASE("the device finds the first orders of recipes that the host stores") {
        const auto device = make_cuda_device();
        for (const NamedMatrix& each : meshes()) {
            CAPTURE(each.name);
            for (const std::string& text : first_orders) {
                check_first_orders<double>(*device, text, each.matrix, true);
                check_first_orders<float>(*device, text, each.matrix, true);
            }
        }
        check_first_orders<double>(*device, first_orders[0], one_way(700), false);
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix is ordered by the host, and prepared on the device") {
        const auto device = make_cuda_device();
        const CsrMatrix mesh = generated("laplace3d", {{"nx", 4_i}});
        for (const std::string& text : {host_stage_recipes[2], host_stage_recipes[7]}) {
            check_like_host<double>(*device, text, mesh, "small");
        }
        check_like_host<double>(*device, one_way_recipes[0], one_way(90), "small");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large matrices are ordered by the host, and prepared on the device") {
        const auto device = make_cuda_device();
        const CsrMatrix grid = generated("laplace3d", {{"nx", 40_i}});
        for (const std::string& text : host_stage_recipes) check_like_host<double>(*device, text, grid, "laplace3d");
        for (const std::string& text : first_orders) check_first_orders<double>(*device, text, grid, true);
        const CsrMatrix matrix = uneven_matrix(120000, 120000, 24);
        check_like_host<double>(*device, one_way_recipes[0], matrix, "not symmetric");
        check_like_host<double>(*device, one_way_recipes[1], matrix, "not symmetric");
    }
}

}  // namespace workbench
