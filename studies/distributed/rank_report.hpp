// The results of a distributed run, as data, text and JSON.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/report/report.hpp"
#include "studies/solve/solve.hpp"

namespace workbench {

/// One rank's figures; ranks send this struct byte by byte.
struct RankFacts {
    std::int64_t rows = 0;
    std::int64_t nonzeros_inside = 0;
    std::int64_t nonzeros_outside = 0;
    std::int64_t rows_outside = 0;  // rows with nonzeros outside
    std::int64_t halo = 0;          // elements of x received per product
    std::int64_t sent = 0;          // elements of x sent per product
    std::int64_t neighbours = 0;    // ranks it receives from

    double read_seconds = 0;        // reading or generating rows, including those read for other ranks
    double distribute_seconds = 0;  // sending rows to their ranks and splitting them
    double stage_seconds = 0;       // of the recipe, on the inside share
    double build_seconds = 0;
    double copy_seconds = 0;
    double outside_seconds = 0;  // building and copying the outside share's layout

    // Medians over samples of many repetitions back to back.
    double product_seconds = 0;
    double inside_seconds = 0;
    double exchange_seconds = 0;
    double outside_product_seconds = 0;
    double sum_seconds = 0;         // one reduction over all ranks; 0 without a solve, or within a persistent kernel
    std::int64_t vector_bytes = 0;  // minimum traffic of an iteration's vector operations; 0 without a solve

    /// All before the first iteration but reading and the solver's vectors.
    [[nodiscard]] double setup_seconds() const {
        return distribute_seconds + stage_seconds + build_seconds + copy_seconds + outside_seconds;
    }
    [[nodiscard]] std::int64_t nonzeros() const { return nonzeros_inside + nonzeros_outside; }
    /// The fraction of the exchange that overlaps with the inside product: 1 if a product takes no longer than its two kernels.
    [[nodiscard]] double hidden() const;
};

struct RankName {
    std::string machine;
    std::string device;
};

/// A solve by conjugate gradients across ranks.
struct RanksSolve {
    SolveEnd end = SolveEnd::breakdown;
    std::string reason;
    std::int64_t iterations = 0;
    int restarts = 0;
    double residual = 0;          // |r| / |b| of the recurrence
    double true_residual = 0;     // |b - A x| / |b| in f64
    std::vector<double> history;  // |r| / |b|
    double seconds = 0;           // of the iterations, maximum over all ranks
    double solver_seconds = 0;    // of the vectors and a persistent kernel, likewise
    std::vector<double> x;        // this rank's part, in the order of its rows
    std::string right_hand_side;
    double tolerance = 0;
    bool jacobi = false;
    SolveEngine engine = SolveEngine::graph;  // graph: kernels one after another
    std::vector<std::string> notes = {};

    [[nodiscard]] double iteration_seconds() const { return iterations > 0 ? seconds / static_cast<double>(iterations) : 0; }
};

struct RanksReport {
    MatrixReport matrix;
    std::string recipe;
    std::string layout;
    std::string outside_layout;  // of the columns that other ranks own
    std::string kernel;
    Precision precision = Precision::f64;
    std::string partitioning;     // of the rows: "equal pieces", "parts of metis_partition"
    std::string engine;           // between ranks: "Open MPI v4.1.4"
    std::string exchange_engine;  // between devices: "MPI", "NCCL 2.28.3"
    int exact_vectors = 0;
    double error_over_bound = 0;
    int samples = 0;
    int products_a_sample = 0;
    std::vector<RankName> names;
    std::vector<RankFacts> ranks;
    std::vector<std::string> notes;  // of the recipe on rank 0
    std::optional<RanksSolve> solve;
    std::map<std::string, std::string> versions;

    /// The time of the slowest rank.
    [[nodiscard]] double product_seconds() const;
    /// Likewise, of all that a solve takes before its iterations, reading left out. There must be a solve.
    [[nodiscard]] double setup_seconds() const;
};

[[nodiscard]] std::string ranks_text(const RanksReport& report);
[[nodiscard]] std::string ranks_json(const RanksReport& report);

}  // namespace workbench
