// Times products of the workbench and of other libraries on the cores of this machine, in turns: PETSc and librsb, and Eigen
// among the kernels of csr. Prints a line of JSON for each product of a matrix; the time is the least of several rounds.
//
//     OMP_NUM_THREADS=2 cpu_peers_benchmark [--repeat 9] [--tuned] [--precision f32] MATRIX... > FILE
//     OMP_NUM_THREADS=1 mpirun -n 2 cpu_peers_benchmark MATRIX... > FILE
//
// MATRIX: a file, or KIND:NAME=VALUE,... of a generator; then, perhaps, "; STAGE, SETTING, ..." that all products follow, such
// as "; cuthill_mckee", or "; node_blocks" for the formats of blocks. With several ranks only PETSc multiplies, which has no
// threads, and whose values are f64. Every product is verified, and has a cold cache: a buffer of twice its size is read
// before. One thread of one rank: processor time, which other programs disturb less. Otherwise wall time.
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
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "benchmarks/clock.hpp"
#include "benchmarks/cpu_peers.hpp"
#include "benchmarks/preparation.hpp"
#include "core/contract/errors.hpp"
#include "kernels/host/host_device.hpp"

namespace workbench {
namespace {

/// Layouts of the workbench, as recipe_of reads them. None reorders the matrix.
constexpr std::array preparations = {
    "csr",
    "csr16",
    "sell",
    "sell, slice_height = 8",
    "sell, column_index = \"u16\"",
    "dia",
    "halo, parts = 16, shared_memory = 1048576",
};

/// The same for matrices whose nodes have several unknowns.
constexpr std::array preparations_of_blocks = {"bsr, block_size = {}", "block_sell, block_size = {}"};

struct Options {
    int repeat = 9;
    bool tune = false;
    std::string precision = "f64";
    std::vector<std::string> matrices;
};

struct PetscRanks {
    int count = 1;
    int own = 0;

    PetscRanks() {
        MPI_Comm_size(PETSC_COMM_WORLD, &count);
        MPI_Comm_rank(PETSC_COMM_WORLD, &own);
    }
};

StagedMatrix staged_matrix(const std::string& text) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const Recipe recipe = recipe_of(end == text.size() ? "csr" : text.substr(end + 1) + "; csr");
    StagedMatrix staged = stage_input(matrix_of(text.substr(0, end)), recipe.node_size);
    for (const RecipeStage& stage : recipe.stages) {
        apply(staged, stage.entry->run(staged, stage.parameters, {}).change, stage.contract.keeps);
    }
    return staged;
}

template <ValueType Value>
std::vector<PeerProduct> own_products(const StagedMatrix& staged, const PeerTask<Value>& task, Device& device) {
    std::vector<PeerProduct> products;
    const auto add = [&](const std::string& preparation) {
        const Recipe recipe = recipe_of(preparation);
        const RecipeLayout& chosen = recipe.layouts.front();
        const double begin = now_on(CLOCK_MONOTONIC);
        const std::shared_ptr<Layout<Value>> layout = chosen.entry->build_for<Value>(staged, chosen.parameters);
        const double seconds = now_on(CLOCK_MONOTONIC) - begin;
        for (const KernelEntry& entry : chosen.entry->kernels) {
            if (device_of(entry.backend) != DeviceKind::host) continue;
            const std::shared_ptr<Kernel<Value>> kernel = entry.prepare.get<Value>()(*layout, device);
            products.push_back({fmt::format("{} | {} {}", preparation, name_of(entry.backend), entry.name), seconds,
                                [layout, kernel, x = task.x, y = task.y] { kernel->run(x, y, false); },
                                kernel->own_bytes_to_move().value_or(layout->bytes_to_move())});
        }
    };
    std::vector<std::string> all(preparations.begin(), preparations.end());
    if (task.node_size > 1) {
        for (const char* preparation : preparations_of_blocks) {
            all.push_back(fmt::format(fmt::runtime(preparation), task.node_size));
        }
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
template <ValueType Value>
void require_right(const PeerTask<Value>& task, const std::string& name) {
    const CsrMatrix& matrix = task.matrix;
    constexpr double allowed = std::is_same_v<Value, double> ? 1e-12 : 1e-4;
    const bool has_all_rows = PetscRanks().count == 1;
    for (Index row = 0; row < matrix.rows; ++row) {
        double sum = 0;
        double size = 0;
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            const double product = static_cast<double>(static_cast<Value>(matrix.values[i])) *
                                   static_cast<double>(task.x[matrix.column_indices[i]]);
            sum += product;
            size += std::abs(product);
        }
        const auto found = static_cast<double>(task.y[row]);
        const bool elsewhere = std::isnan(found) && !has_all_rows;
        if (!elsewhere && !(std::abs(found - sum) <= allowed * size)) {
            throw std::runtime_error(fmt::format("{}: row {} is {}, expected {}", name, row, found, sum));
        }
    }
}

/// The least seconds of several rounds, in which all products take turns.
template <ValueType Value>
std::vector<double> least_seconds(const std::vector<PeerProduct>& products, const PeerTask<Value>& task, int repeat,
                                  Device& device) {
    const clockid_t clock = PetscRanks().count == 1 && host_threads() == 1 ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC;
    std::vector<double> least(products.size(), std::numeric_limits<double>::infinity());
    for (int round = 0; round < repeat; ++round) {
        for (std::size_t i = 0; i < products.size(); ++i) {
            if (round == 0) {
                std::fill_n(task.y, task.matrix.rows, std::numeric_limits<Value>::quiet_NaN());
                products[i].multiply();
                require_right(task, products[i].name);
            }
            device.flush_cache();
            MPI_Barrier(PETSC_COMM_WORLD);
            double seconds = seconds_of(clock, products[i].multiply);
            MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD);
            least[i] = std::min(least[i], seconds);
        }
    }
    return least;
}

template <ValueType Value>
void measure(const std::string& text, const Options& options, Device& device) {
    const StagedMatrix staged = staged_matrix(text);
    const CsrMatrix& matrix = staged.matrix;
    std::vector<Value> x(matrix.columns);
    for (Index column = 0; column < matrix.columns; ++column) x[column] = static_cast<Value>(1 + column % 7);
    DeviceMemory x_memory = device.allocate(x.size() * sizeof(Value), "x");
    const DeviceMemory y_memory = device.allocate(static_cast<std::size_t>(matrix.rows) * sizeof(Value), "y");
    device.upload(std::as_bytes(std::span(x)), x_memory);  // by all threads, near which the pages then are
    device.zero(y_memory.address(), y_memory.bytes());
    const PeerTask<Value> task{matrix, x_memory.as<Value>(), y_memory.as<Value>(), staged.node_size, options.tune};

    std::vector<PeerProduct> products;
    if constexpr (std::is_same_v<Value, double>) products = petsc_products(task);
    const PetscRanks ranks;
    if (ranks.count == 1) {
        for (PeerProduct& product : librsb_products(task)) products.push_back(std::move(product));
        for (PeerProduct& product : own_products(staged, task, device)) products.push_back(std::move(product));
    }
    const std::vector<double> least = least_seconds(products, task, options.repeat, device);
    for (std::size_t i = 0; ranks.own == 0 && i < products.size(); ++i) {
        std::replace(products[i].name.begin(), products[i].name.end(), '"', '\'');  // in JSON
        fmt::print(R"({{"matrix": "{}", "rows": {}, "nonzeros": {}, "precision": "{}", "threads": {}, "ranks": {}, )", text,
                   matrix.rows, matrix.nonzeros(), options.precision, host_threads(), ranks.count);
        fmt::print(R"("product": "{}", "milliseconds": {:.3f}, "preparation_milliseconds": {:.1f}, "bytes": {}}})",
                   products[i].name, least[i] * 1e3, products[i].preparation_seconds * 1e3, products[i].bytes);
        fmt::print("\n");
    }
    std::fflush(stdout);
}

int main_of(int count, char** arguments) {
    Options options;
    CLI::App app("Times products of the workbench, Eigen, PETSc and librsb");
    app.add_option("--repeat", options.repeat, "rounds; the least time is reported")->check(CLI::Range(1, 999));
    app.add_flag("--tuned", options.tune, "librsb may try structures for some seconds");
    app.add_option("--precision", options.precision, "f64 or f32, which PETSc lacks")->check(CLI::IsMember({"f64", "f32"}));
    app.add_option("matrices", options.matrices, "files, or KIND:NAME=VALUE,... of generators, and stages")->required();
    CLI11_PARSE(app, count, arguments);
    const std::unique_ptr<Device> device = make_host_device();
    if (const PetscRanks ranks; ranks.count == 1) {
        const Bandwidth bandwidth = device->bandwidth();
        fmt::print(R"({{"machine": "{}", "threads": {}, "cache_bytes": {}, "copy_bytes_per_second": {:.4g}, )",
                   device->properties().name, host_threads(), device->properties().last_level_cache, bandwidth.copy);
        fmt::print(R"("read_bytes_per_second": {:.4g}}})", bandwidth.read);
        fmt::print("\n");
    }
    for (const std::string& text : options.matrices) {
        options.precision == "f64" ? measure<double>(text, options, *device) : measure<float>(text, options, *device);
    }
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
