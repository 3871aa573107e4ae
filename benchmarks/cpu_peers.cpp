// Times products of the workbench and of other libraries on the cores of this machine, in turns: PETSc and librsb, and Eigen
// among the kernels of csr. Prints a line of JSON for each product of a matrix; the time is the least of several rounds.
//
//     OMP_NUM_THREADS=2 cpu_peers_benchmark [--repeat 9] [--tune] MATRIX... > FILE
//     OMP_NUM_THREADS=1 mpirun -n 2 cpu_peers_benchmark MATRIX... > FILE
//
// MATRIX: a file, or KIND:NAME=VALUE,... of a generator. With several ranks only PETSc multiplies, which has no threads. One
// thread of one rank: processor time, which other programs disturb less. Otherwise wall time.
#include <petscsys.h>

#include <Kokkos_Core.hpp>

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "benchmarks/clock.hpp"
#include "benchmarks/cpu_peers.hpp"
#include "benchmarks/preparation.hpp"
#include "kernels/device/host_device.hpp"
#include "pipeline/contract/errors.hpp"

namespace workbench {
namespace {

/// Layouts of the workbench, as recipe_of reads them. None reorders the matrix.
constexpr std::array preparations = {
    "csr",
    "csr16",
    "sell",
    "sell, slice_height = 8",
    "sell, column_index = \"u16\"",
    "sell, values = \"auto\", column_index = \"u16\"",
    "ell",
    "ellr",
    "dia",
    "bsr",
};

struct Options {
    int repeat = 9;
    bool tune = false;
    Index node_size = 1;
    std::vector<std::string> matrices;
};

std::vector<PeerProduct> own_products(const PeerTask& task, Device& device) {
    std::vector<PeerProduct> products;
    const auto add = [&](const std::string& preparation) {
        const Recipe recipe = recipe_of(preparation);
        const StagedMatrix staged = stage_input(task.matrix, task.node_size);
        const RecipeLayout& chosen = recipe.layouts.front();
        const double begin = now_on(CLOCK_MONOTONIC);
        const std::shared_ptr<Layout<double>> layout = chosen.entry->build_for<double>(staged, chosen.parameters);
        const double seconds = now_on(CLOCK_MONOTONIC) - begin;
        for (const KernelEntry& entry : chosen.entry->kernels) {
            if (device_of(entry.backend) != DeviceKind::host) continue;
            const std::shared_ptr<Kernel<double>> kernel = entry.prepare.get<double>()(*layout, device);
            products.push_back({fmt::format("{} | {} {}", preparation, name_of(entry.backend), entry.name), seconds,
                                [layout, kernel, x = task.x, y = task.y] { kernel->run(x, y, false); }});
        }
    };
    std::vector<std::string> all(preparations.begin(), preparations.end());
    if (task.node_size > 1) {
        all.push_back(fmt::format("bsr, block_size = {}", task.node_size));
        all.push_back(fmt::format("block_sell, block_size = {}", task.node_size));
    }
    for (const std::string& preparation : all) {
        try {
            add(preparation);
        } catch (const Unsuitable& reason) {
            fmt::print(stderr, "{}: {}\n", preparation, reason.what());
        }
    }
    return products;
}

/// Throws std::runtime_error if y differs from that of plain CSR by more than rounding. Rows of other ranks are NaN.
void require_right(const PeerTask& task, const std::string& name) {
    const CsrMatrix& matrix = task.matrix;
    for (Index row = 0; row < matrix.rows; ++row) {
        double sum = 0;
        double size = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const double product = matrix.values[i] * task.x[matrix.column_indices[i]];
            sum += product;
            size += std::abs(product);
        }
        const bool elsewhere = std::isnan(task.y[row]);
        if (!elsewhere && std::abs(task.y[row] - sum) > 1e-12 * size) {
            throw std::runtime_error(fmt::format("{}: row {} is {}, expected {}", name, row, task.y[row], sum));
        }
    }
}

void measure(const std::string& text, const Options& options, Device& device) {
    const CsrMatrix matrix = matrix_of(text);
    int ranks = 1;
    int rank = 0;
    MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
    const auto bytes_of = [](Index count) { return static_cast<std::size_t>(count) * sizeof(double); };
    const DeviceMemory x_memory = device.allocate(bytes_of(matrix.columns), "x");
    const DeviceMemory y_memory = device.allocate(bytes_of(matrix.rows), "y");
    double* const x = x_memory.as<double>();
    for (Index column = 0; column < matrix.columns; ++column) x[column] = 1 + column % 7;
    const PeerTask task{matrix, x, y_memory.as<double>(), options.node_size, options.tune};

    std::vector<PeerProduct> products = petsc_products(task);
    if (ranks == 1) {
        for (PeerProduct& product : librsb_products(task)) products.push_back(std::move(product));
        for (PeerProduct& product : own_products(task, device)) products.push_back(std::move(product));
    }
    const clockid_t clock = ranks == 1 && host_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    std::vector<double> least(products.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < options.repeat; ++round) {
        for (std::size_t i = 0; i < products.size(); ++i) {
            if (round == 0) {
                std::fill_n(task.y, matrix.rows, std::numeric_limits<double>::quiet_NaN());
                products[i].multiply();
                require_right(task, products[i].name);
            }
            MPI_Barrier(PETSC_COMM_WORLD);
            double seconds = seconds_of(clock, products[i].multiply);
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
            least[i] = std::min(least[i], seconds);
        }
    }
    for (std::size_t i = 0; rank == 0 && i < products.size(); ++i) {
        std::replace(products[i].name.begin(), products[i].name.end(), '"', '\'');  // in JSON
        fmt::print(R"({{"matrix": "{}", "rows": {}, "nonzeros": {}, "threads": {}, "ranks": {}, "product": "{}", )", text,
                   matrix.rows, matrix.nonzeros(), host_threads(), ranks, products[i].name);
        fmt::print(R"("milliseconds": {:.3f}, "preparation_milliseconds": {:.1f}}})", least[i] * 1e3,
                   products[i].preparation_seconds * 1e3);
        fmt::print("\n");
    }
    std::fflush(stdout);
}

int main_of(int count, char** arguments) {
    Options options;
    CLI::App app("Times products of the workbench, Eigen, PETSc and librsb");
    app.add_option("--repeat", options.repeat, "rounds; the least time is reported")->check(CLI::Range(1, 999));
    app.add_flag("--tune", options.tune, "librsb may try structures for some seconds");
    app.add_option("--node-size", options.node_size, "unknowns of a mesh node, for formats of blocks")->check(CLI::Range(1, 6));
    app.add_option("matrices", options.matrices, "files, or KIND:NAME=VALUE,... of generators")->required();
    CLI11_PARSE(app, count, arguments);
    const std::unique_ptr<Device> device = make_host_device();
    for (const std::string& text : options.matrices) measure(text, options, *device);
    return 0;
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const Kokkos::ScopeGuard kokkos;
    int status = 1;
    if (PetscInitializeNoArguments() != 0) return status;
    try {
        status = workbench::main_of(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "error: {}\n", error.what());
    }
    (void)PetscFinalize();
    return status;
}
