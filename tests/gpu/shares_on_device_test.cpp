// The shares of hybrids that the GPU divides, sorts and stores, compared with the stages and the layouts on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

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

/// Likewise, where the host also stores shares with one value for each row or column.
template <ValueType Value>
void check_coded_shares(Device& device, const std::string& text, const CsrMatrix& matrix, const std::string& where) {
    const std::string reason = left_to_host(device, text, matrix);
    if (reason == "values of the rows or columns of a share") return;
    check_shares<Value>(device, text, matrix, where);
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
        for (const NamedMatrix& each : matrices) {
            if (each.matrix.nonzeros() == 0) continue;
            for (const std::string& text : divided_share_recipes) {
                check_shares<double>(*device, text, each.matrix, each.name);
                check_shares<float>(*device, text, each.matrix, each.name);
            }
            for (const std::string& text : value_share_recipes) check_shares<double>(*device, text, each.matrix, each.name);
        }
        const OnDevice<float> in_f32(*device, matrices.back().matrix, true);
        CHECK(message_of<Unsuitable>([&] { (void)run_plan(*device, plan_of(parsed(value_share_recipes[1])), in_f32.view); }) ==
              "nonzeros are divided by their values of f64");
        for (const NamedMatrix& each : {NamedMatrix{"laplace3d", generated("laplace3d", {{"nx", 9_i}})},
                                        NamedMatrix{"elasticity3d", generated("elasticity3d", {{"nx", 5_i}})}}) {
            for (const std::string& text : share_recipes_of_graphs) {
                check_shares<double>(*device, text, each.matrix, each.name);
                check_shares<float>(*device, text, each.matrix, each.name);
            }
        }
    }

    TEST_CASE("values of shares are coded on the device as on the host, and again for other values") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        const CsrMatrix uneven = uneven_matrix(3000, 1700, 60);
        matrices.push_back({"all values differ", uneven});
        matrices.push_back({"few values", with_values(uneven, [](Offset i) { return static_cast<double>(i % 7) - 2; })});
        matrices.push_back({"values of f32", with_values(uneven, [](Offset i) { return static_cast<double>(i) / 1024; })});
        for (const NamedMatrix& each : matrices) {
            if (each.matrix.nonzeros() == 0) continue;
            for (const std::string& text : coded_share_recipes) {
                check_coded_shares<double>(*device, text, each.matrix, each.name);
                check_coded_shares<float>(*device, text, each.matrix, each.name);
            }
        }
        // Rows of up to 4 nonzeros have two values, the others any.
        CsrMatrix half = with_values(uneven, [](Offset i) { return 1 / (1.0 + static_cast<double>(i)); });
        for (Index row = 0; row < half.rows; ++row) {
            if (half.row_offsets[row + 1] - half.row_offsets[row] > 4) continue;
            for (Offset k = half.row_offsets[row]; k < half.row_offsets[row + 1]; ++k) half.values[k] = k % 2 == 0 ? 3 : -0.5;
        }
        check_coded_shares<double>(*device, coded_share_recipes[0], half, "values of one share");
        const Recipe recipe = parsed(split("row_length", "longer_than = 4\n") + stored("long", "csr") +
                                     stored("short", "csr16", "values = 'dictionary'\n"));
        const OnDevice<double> there(*device, half, true);
        const auto planned = run_plan(*device, plan_of(recipe), there.view);
        for (double& value : half.values) value = value == 3 ? 8 : value == -0.5 ? 0.25 : value * 3;
        const OnDevice<double> then(*device, half, true);
        planned->set_values(then.view.values);
        CHECK(planned->difference(then.view) == "");
        for (double& value : half.values) value += 1 / (1.0 + static_cast<double>(&value - half.values.data()));
        const OnDevice<double> last(*device, half, true);
        CHECK_THROWS_AS(planned->set_values(last.view.values), Unsuitable);
    }

    TEST_CASE("labels and segments from files are taken on the device as on the host") {
        const auto device = make_cuda_device();
        const TemporaryFolder folder;
        const CsrMatrix matrix = uneven_matrix(900, 700, 30);
        const std::string labels = (folder.path() / "labels.txt").string();
        std::ofstream text(labels);
        for (Offset i = 0; i < matrix.nonzeros(); ++i) text << 1 + i * 7 % 3 << '\n';
        text.close();
        const std::string imported = "[[stage]]\nuse = 'imported'\n";
        const std::string shares = imported + "shares = '" + labels + "'\nnames = 'label_0, label_1, label_2'\nbase = 1\n";
        check_like_host<double>(*device,
                                shares + stored("label_2", "sell") + stored("label_0", "csr") + stored("label_1", "csr16"),
                                matrix, "labels");
        check_like_host<float>(*device,
                               rows_by_length + shares + sorted_share("label_1") + stored("label_0", "sell") +
                                   stored("label_1", "sell") + stored("label_2", "csr"),
                               matrix, "labels of sorted rows");
        CHECK(left_to_host(*device, shares + stored("label_2", "sell") + stored("label_0", "csr") + stored("label_1", "csr"),
                           uneven_matrix(90, 70, 30))
                  .starts_with(labels + ": found"));
        const std::string cuts = (folder.path() / "cuts.txt").string();
        std::ofstream(cuts) << "0\n100\n700\n";
        check_like_host<double>(
            *device, rows_by_length + imported + "cuts = '" + cuts + "'\nkind = 'segment'\n" + "[layout]\nuse = 'csr'\n",
            matrix, "segments");
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix on the device is divided into shares there") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(120, 120, 20);
        for (const auto* const recipes : {&share_recipes, &divided_share_recipes, &value_share_recipes}) {
            for (const std::string& text : *recipes) check_shares<double>(*device, text, matrix, "small");
        }
        for (const std::string& text : coded_share_recipes) check_coded_shares<double>(*device, text, matrix, "small");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large matrices on the device are divided into shares there as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(150000, 60000, 24);  // columns of 16 bits reach all
        for (const auto* const recipes : {&share_recipes, &divided_share_recipes, &value_share_recipes}) {
            for (const std::string& text : *recipes) check_shares<double>(*device, text, matrix, "long rows");
        }
        const CsrMatrix grid = generated("laplace3d", {{"nx", 50_i}});
        for (const std::string& text : share_recipes_of_graphs) check_shares<double>(*device, text, grid, "laplace3d");
    }
}

}  // namespace workbench
