// The Poisson equation on a square grid, solved for several right-hand sides in the format of a recipe: solver [RECIPE] [GRID]
#include <cstdio>
#include <cstdlib>
#include <spmv_workbench/spmv_workbench.hpp>
#include <vector>

int main(int argc, char** argv) try {
    const int grid = argc > 2 ? std::atoi(argv[2]) : 60;  // points per side
    std::vector<std::int32_t> offsets{0}, columns;
    std::vector<double> values;
    for (int point = 0; point < grid * grid; ++point) {
        const auto add = [&](bool there, int column, double value) {
            if (there) columns.push_back(column), values.push_back(value);
        };
        add(point >= grid, point - grid, -1);
        add(point % grid > 0, point - 1, -1);
        add(true, point, 4);
        add(point % grid < grid - 1, point + 1, -1);
        add(point + grid < grid * grid, point + grid, -1);
        offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }

    const auto recipe = argc > 1 ? spmv_workbench::Recipe::from_file(argv[1])
                                 : spmv_workbench::Recipe::from_text(
                                       "[[stage]]\nuse = \"cuthill_mckee\"\n"
                                       "[[stage]]\nuse = \"row_sort\"\nwithin = \"window\"\nwindow = 512\n"
                                       "[layout]\nuse = \"sell\"\ncolumn_index = \"u16\"\n");
    spmv_workbench::SolverOptions options;
    options.tolerance = 1e-10;
    options.preconditioner = spmv_workbench::Preconditioner::jacobi;
    spmv_workbench::Solver<double> solver(recipe, {grid * grid, grid * grid, offsets, columns, values}, options);
    const spmv_workbench::OperatorFacts& facts = solver.matrix().facts();
    std::printf("%s, %s on %s\n", facts.layout.c_str(), facts.kernel.c_str(), facts.device_name.c_str());

    bool solved = true;
    std::vector<double> b(values.empty() ? 0 : offsets.size() - 1), x(b.size());
    for (int source = 0; source < 3; ++source) {  // a point of heat, in three places
        b.assign(b.size(), 0);
        b[b.size() * (2 * static_cast<std::size_t>(source) + 1) / 6] = 1;
        const spmv_workbench::SolveFacts found = solver.solve(b, x);
        std::printf("%d iterations, true residual %.1e\n", static_cast<int>(found.iterations), found.residual);
        solved = solved && found.end == spmv_workbench::SolveEnd::converged;
    }
    return solved ? 0 : 1;
} catch (const spmv_workbench::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
