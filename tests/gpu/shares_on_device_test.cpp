// The shares of hybrids that the GPU divides, sorts and stores, compared with the stages and the layouts on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "kernels/gpu/gpu.hpp"

namespace workbench {
namespace {

/// A hybrid is prepared as on the host, or left to the host if a share is empty.
template <ValueType Value>
void check_shares(Device& device, const std::string& text, const CsrMatrix& matrix, const std::string& where) {
    const Recipe recipe = parsed(text);
    StagedMatrix staged = stage_input(matrix, recipe.node_size);
    (void)apply_stages(recipe, staged, stage_context(recipe, precision_of<Value>, &device.properties()));
    if (std::ranges::none_of(staged.shares, [](const Share& share) { return share.entries.empty(); })) {
        return check_like_host<Value>(device, text, matrix, where);
    }
    CHECK(left_to_host(device, text, matrix).ends_with("has no nonzeros"));
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("shares of the nonzeros are divided, sorted and stored on the device as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(3000, 1700, 60)});
        matrices.push_back({"long rows", matrix_of_rows(std::vector<Index>(400, 300), 400)});
        for (const std::string& text : share_recipes) {
            for (const NamedMatrix& each : matrices) {
                if (each.matrix.nonzeros() == 0) continue;
                check_shares<double>(*device, text, each.matrix, each.name);
                check_shares<float>(*device, text, each.matrix, each.name);
            }
        }
        for (const NamedMatrix& each : {NamedMatrix{"laplace3d", generated("laplace3d", {{"nx", 9_i}})},
                                        NamedMatrix{"elasticity3d", generated("elasticity3d", {{"nx", 5_i}})}}) {
            for (const std::string& text : share_recipes_of_graphs) {
                check_shares<double>(*device, text, each.matrix, each.name);
                check_shares<float>(*device, text, each.matrix, each.name);
            }
        }
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix on the device is divided into shares there") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(120, 120, 20);
        for (const std::string& text : share_recipes) check_shares<double>(*device, text, matrix, "small");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large matrices on the device are divided into shares there as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(150000, 150000, 24);
        for (const std::string& text : share_recipes) check_shares<double>(*device, text, matrix, "long rows");
        const CsrMatrix grid = generated("laplace3d", {{"nx", 50_i}});
        for (const std::string& text : share_recipes_of_graphs) check_shares<double>(*device, text, grid, "laplace3d");
    }
}

}  // namespace workbench
