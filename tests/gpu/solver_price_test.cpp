// What the library's operators and solvers on the GPU say of their costs.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "gpu/library_matrices.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/operator_checks.hpp"

namespace workbench {

using spmv_workbench::Operator;

TEST_SUITE("device") {
    TEST_CASE("facts separate the costs of a process, which are paid once, from those of a matrix") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const Arrays<float> arrays(matrix);
        const std::string recipe = "[[stage]]\nuse = 'cuthill_mckee'\n[layout]\nuse = 'sell'\nslice_height = 16\n";
        const auto of_operator = [&] {
            return Operator<float>(recipe_of(recipe), arrays.view(), on_stream_of(*device)).facts();
        };
        const spmv_workbench::OperatorFacts first = of_operator();
        CHECK_GT(first.process_seconds, 0);
        CHECK_LT(first.process_seconds, first.seconds);
        const spmv_workbench::OperatorFacts second = of_operator();
        CHECK_EQ(second.process_seconds, 0);
        CHECK_GT(second.seconds, 0);
        const MatrixThere<float> there(*device, matrix);
        spmv_workbench::SolverOptions options;
        options.recipe = on_stream_of(*device);
        options.tolerance = 1e-4;
        std::vector<double> of_solvers;
        for (int i = 0; i < 2; ++i) {
            spmv_workbench::Solver<float> solver(recipe_of(recipe), there.view(), options);
            of_solvers.push_back(solver.matrix().facts().process_seconds);
            CHECK_LE(of_solvers.back(), solver.matrix().facts().seconds);
        }
        CHECK_GT(of_solvers[0], 0);
        CHECK_EQ(of_solvers[1], 0);
    }
}

}  // namespace workbench
