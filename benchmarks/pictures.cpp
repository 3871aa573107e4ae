// Times rasterise and build_pyramid, the best of N rounds, on generated matrices (default: about 50 million nonzeros) in their
// own order, split, and in random order:
//   OMP_NUM_THREADS=2 pictures_benchmark [--repeat N] [KIND:NAME=VALUE,...]...
#include <Kokkos_Core.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/host_threads.hpp"
#include "core/matrix/random.hpp"
#include "frontends/cli/matrix_source.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/matrix_choice.hpp"
#include "viz/pyramid.hpp"
#include "viz/raster.hpp"

namespace workbench {
namespace {

double best_seconds(int rounds, const std::function<void()>& work) {
    double best = 1e300;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    return best;
}

/// Splits the nonzeros near the diagonal from the others.
void split(StagedMatrix& staged) {
    const CsrMatrix& matrix = staged.matrix;
    std::vector<Share> shares(2);
    shares[0].id.kind = ShareKind::near;
    shares[1].id.kind = ShareKind::far;
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            shares[std::abs(matrix.column_indices[k] - row) < 1000 ? 0 : 1].entries.push_back(k);
        }
        for (Share& share : shares) {
            if (static_cast<Offset>(share.entries.size()) == share.row_offsets.back()) continue;
            share.rows.push_back(row);
            share.row_offsets.push_back(static_cast<Offset>(share.entries.size()));
        }
    }
    staged.shares = std::move(shares);
}

void measure(const std::string& name, const StagedMatrix& staged, int rounds) {
    const double raster = best_seconds(rounds, [&] { static_cast<void>(rasterise(staged)); });
    Pyramid pyramid;
    const double seconds = best_seconds(rounds, [&] { pyramid = build_pyramid(staged); });
    fmt::print("{:<44} {:>11} nonzeros  raster {:.3f} s  pyramid {:.3f} s, {} finest bins of {} x {}\n", name,
               staged.matrix.nonzeros(), raster, seconds, pyramid.finest.bins(), 1 << pyramid.finest.row_bits,
               1 << pyramid.finest.column_bits);
}

void run(const std::string& text, int rounds) {
    const std::size_t colon = text.find(':');
    std::vector<std::string> settings;
    if (colon != std::string::npos) settings.push_back(text.substr(colon + 1));
    StagedMatrix staged = stage_input(load_matrix(generated_matrix(text.substr(0, colon), settings, catalogue())).first);
    measure(text, staged, rounds);
    split(staged);
    measure(text + ", split", staged, rounds);
    staged.shares.clear();
    apply(staged, {OrderChange{Acts::symmetric, random_permutation(staged.matrix.rows, 1)}}, {});
    measure(text + ", random order", staged, rounds);
}

int main_of(std::vector<std::string> arguments) {
    int rounds = 5;
    if (arguments.size() > 1 && arguments[0] == "--repeat") {
        rounds = std::max(1, std::atoi(arguments[1].c_str()));
        arguments.erase(arguments.begin(), arguments.begin() + 2);
    }
    if (arguments.empty()) arguments = {"laplace3d:nx=193", "elasticity3d:nx=60"};
    fmt::print("{} threads, best of {}\n", host_threads(), rounds);
    for (const std::string& each : arguments) run(each, rounds);
    return 0;
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos;
    try {
        return workbench::main_of({argv + 1, argv + argc});
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
        return 1;
    }
}
