// Time to solution for a matrix that is in the memory of a GPU already, with the library's solver:
//   solver_there_benchmark SIDE RECIPE...
// The matrix is the 7-point Laplacian of a cube, b = 1, tolerance 1e-8, f64. Each recipe is solved with each engine, three
// times from the beginning; the first time also loads kernels. Prints a line of JSON each: the seconds of the set-up without
// verification, of the first and second solve, of new values, and of the solve after them, b and x on the GPU.
#include <cuda_runtime.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <spmv_workbench/spmv_workbench.hpp>

namespace {

namespace sw = spmv_workbench;

void check(cudaError_t error) {
    if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

template <typename Element>
sw::DeviceArray<const Element> there(const std::vector<Element>& from) {
    void* memory = nullptr;  // freed when the program ends
    check(cudaMalloc(&memory, from.size() * sizeof(Element)));
    check(cudaMemcpy(memory, from.data(), from.size() * sizeof(Element), cudaMemcpyHostToDevice));
    return sw::on_device(static_cast<const Element*>(memory), from.size());
}

struct Cube {
    explicit Cube(std::int32_t side) : rows(side * side * side) {
        for (std::int32_t i = 0; i < rows; ++i) {
            const auto add = [&](bool inside, std::int32_t column) {
                if (!inside) return;
                columns.push_back(column);
                values.push_back(column == i ? 6 : -1);
            };
            add(i >= side * side, i - side * side);
            add(i / side % side > 0, i - side);
            add(i % side > 0, i - 1);
            add(true, i);
            add(i % side < side - 1, i + 1);
            add(i / side % side < side - 1, i + side);
            add(i < rows - side * side, i + side * side);
            offsets.push_back(static_cast<std::int64_t>(columns.size()));
        }
    }

    std::int32_t rows;
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};

template <typename Work>
double seconds_of(const Work& work) {
    check(cudaDeviceSynchronize());
    const auto start = std::chrono::steady_clock::now();
    work();
    check(cudaDeviceSynchronize());
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 3) {
        std::fprintf(stderr, "usage: solver_there_benchmark SIDE RECIPE...\n");
        return 2;
    }
    const Cube cube(std::atoi(argv[1]));
    const auto rows = static_cast<std::size_t>(cube.rows);
    const sw::DeviceCsrView<double> matrix(cube.rows, cube.rows, there(cube.offsets), there(cube.columns), there(cube.values));
    const auto b = there(std::vector<double>(rows, 1));
    const auto zeros = there(std::vector<double>(rows, 0));
    const auto x = sw::on_device(const_cast<double*>(zeros.address()), rows);
    for (int number = 2; number < argc; ++number) {
        const sw::Recipe recipe = sw::Recipe::from_file(argv[number]);
        for (const auto engine : {sw::Engine::graph, sw::Engine::persistent}) {
            for (int turn = 0; turn < 3; ++turn) {
                sw::SolverOptions options;
                options.engine = engine;
                options.recipe.device = sw::Device::gpu;
                options.recipe.verify = turn == 0;
                std::unique_ptr<sw::Solver<double>> solver;
                const double setup =
                    seconds_of([&] { solver = std::make_unique<sw::Solver<double>>(recipe, matrix, options); });
                sw::SolveFacts facts;
                const double first = seconds_of([&] { facts = solver->solve(b, x); });
                const double second = seconds_of([&] { (void)solver->solve(b, x); });
                const double values = seconds_of([&] { solver->matrix().set_values(matrix.values); });
                const double again = seconds_of([&] { (void)solver->solve(b, x); });
                std::printf(
                    "{\"recipe\": \"%s\", \"engine\": \"%s\", \"turn\": %d, \"rows\": %zu, \"iterations\": %lld, "
                    "\"residual\": %.3g, \"setup_seconds\": %.6f, \"first_solve_seconds\": %.6f, "
                    "\"second_solve_seconds\": %.6f, \"new_values_seconds\": %.6f, \"solve_after_seconds\": %.6f}\n",
                    argv[number], facts.engine == sw::Engine::persistent ? "persistent" : "graph", turn, rows,
                    static_cast<long long>(facts.iterations), facts.residual, setup, first, second, values, again);
            }
        }
    }
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
