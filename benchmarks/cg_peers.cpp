// Times conjugate gradients of Eigen from CSR in memory to x, beside `workbench solve` (docs/results/time-to-solution.md).
// Prints a line of JSON for each run.
//
//     OMP_NUM_THREADS=2 cg_peers_benchmark [--repeat 5] MATRIX...
#include <Eigen/IterativeLinearSolvers>
#include <Eigen/SparseCore>
#include <cstdlib>
#include <exception>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "benchmarks/clock.hpp"
#include "core/input/read_matrix.hpp"
#include "core/system/kokkos_runtime.hpp"

namespace workbench {
namespace {

using Sparse = Eigen::SparseMatrix<double, Eigen::RowMajor, Index>;

/// b = 1, no preconditioner, |b - A x| < 1e-8 |b|.
void solve(const std::string& name, const CsrMatrix& matrix) {
    const Eigen::VectorXd b = Eigen::VectorXd::Ones(matrix.rows);
    const double begin = now_on(CLOCK_MONOTONIC);
    // Eigen has one integer type for offsets and columns.
    const std::vector<Index> offsets(matrix.row_offsets.begin(), matrix.row_offsets.end());
    const Eigen::Map<const Sparse> mapped(matrix.rows, matrix.columns, static_cast<Index>(matrix.nonzeros()), offsets.data(),
                                          matrix.column_indices.data(), matrix.values.data());
    Eigen::ConjugateGradient<Sparse, Eigen::Lower | Eigen::Upper, Eigen::IdentityPreconditioner> cg;
    cg.setTolerance(1e-8);
    cg.compute(mapped);
    const double ready = now_on(CLOCK_MONOTONIC);
    const Eigen::VectorXd x = cg.solve(b);
    const double end = now_on(CLOCK_MONOTONIC);
    const double residual = (b - mapped * x).norm() / b.norm();
    fmt::print(R"({{"library":"Eigen {}.{}.{}","matrix":"{}","rows":{},"nonzeros":{},"threads":{},"setup_seconds":{:.6f},)"
               R"("solve_seconds":{:.6f},"iterations":{},"true_residual":{:.3e}}})"
               "\n",
               EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION, name, matrix.rows, matrix.nonzeros(),
               Eigen::nbThreads(), ready - begin, end - ready, cg.iterations(), residual);
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    try {
        const workbench::KokkosRuntime kokkos;
        int repeat = 5;
        for (int i = 1; i < argc; ++i) {
            const std::string argument = argv[i];
            if (argument == "--repeat" && i + 1 < argc) {
                repeat = std::atoi(argv[++i]);
                continue;
            }
            const workbench::CsrMatrix matrix = workbench::read_matrix(argument);
            for (int run = 0; run < repeat; ++run) workbench::solve(argument.substr(argument.rfind('/') + 1), matrix);
        }
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
