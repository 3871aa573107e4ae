// Conjugate gradients for the Poisson equation on a square grid, in the storage format of a recipe: cg [RECIPE] [GRID]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <spmv_workbench/spmv_workbench.hpp>
#include <vector>

using Vector = std::vector<double>;

double dot(const Vector& a, const Vector& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

int main(int argc, char** argv) try {
    const int grid = argc > 2 ? std::atoi(argv[2]) : 60;  // points per side
    std::vector<std::int32_t> offsets{0}, columns;
    Vector values;
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
                                       "[layout]\nuse = \"sell\"\n");
    spmv_workbench::Operator<double> a(recipe, {grid * grid, grid * grid, offsets, columns, values});
    std::printf("%s, %s on %s\n", a.facts().layout.c_str(), a.facts().kernel.c_str(), a.facts().device_name.c_str());

    const Vector right(grid * grid, 1);  // the right-hand side
    Vector b(right.size()), x(right.size(), 0), product(right.size());
    a.to_recipe_order(right, b);  // all vectors below are in the recipe's order
    Vector r = b, direction = b;
    double r_r = dot(r, r);
    int iteration = 0;
    for (; iteration < 10 * grid && std::sqrt(r_r) > 1e-10 * std::sqrt(dot(b, b)); ++iteration) {
        a.multiply_in_recipe_order(direction, product);
        const double step = r_r / dot(direction, product);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] += step * direction[i], r[i] -= step * product[i];
        const double before = std::exchange(r_r, dot(r, r));
        for (std::size_t i = 0; i < x.size(); ++i) direction[i] = r[i] + r_r / before * direction[i];
    }

    Vector solution(x.size());
    a.from_recipe_order(x, solution);
    a.multiply(solution, product);  // in the order of the grid
    for (std::size_t i = 0; i < product.size(); ++i) r[i] = right[i] - product[i];
    const double residual = std::sqrt(dot(r, r) / dot(right, right));
    std::printf("%d iterations, true residual %.1e\n", iteration, residual);
    return residual < 1e-9 ? 0 : 1;
} catch (const spmv_workbench::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 2;
}
