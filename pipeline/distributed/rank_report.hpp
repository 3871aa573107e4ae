// What a run over ranks gave, as data, and its views.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/report/report.hpp"
#include "pipeline/solve/solve.hpp"

namespace workbench {

/// One rank's part, in figures that ranks send each other as they are.
struct RankFacts {
    std::int64_t rows = 0;
    std::int64_t nonzeros_inside = 0;
    std::int64_t nonzeros_outside = 0;
    std::int64_t rows_outside = 0;  // rows with entries outside
    std::int64_t halo = 0;          // elements of x that come in for a product
    std::int64_t sent = 0;          // that go out
    std::int64_t neighbours = 0;    // ranks that it gets elements from

    double read_seconds = 0;        // reading or making its rows, and those that it reads for others
    double distribute_seconds = 0;  // bringing rows to their ranks, and splitting them
    double stage_seconds = 0;       // of the recipe, on the inside share
    double build_seconds = 0;
    double copy_seconds = 0;
    double outside_seconds = 0;  // building the outside share's layout, and copying it

    // One of many, back to back; medians.
    double product_seconds = 0;
    double inside_seconds = 0;
    double exchange_seconds = 0;
    double outside_product_seconds = 0;
    double sum_seconds = 0;         // one sum over all ranks; 0 where nothing was solved
    std::int64_t vector_bytes = 0;  // that the vectors' part of an iteration moves at least; likewise

    [[nodiscard]] std::int64_t nonzeros() const { return nonzeros_inside + nonzeros_outside; }
    /// How much of the exchange the inside product hides: 1 where a product takes no longer than its other two parts.
    [[nodiscard]] double hidden() const;
};

struct RankName {
    std::string machine;
    std::string device;
};

/// Conjugate gradients across ranks.
struct RanksSolve {
    SolveEnd end = SolveEnd::breakdown;
    std::string reason;
    std::int64_t iterations = 0;
    int restarts = 0;
    double residual = 0;          // |r| / |b|, as the recurrence has it
    double true_residual = 0;     // |b - A x| / |b| in f64
    std::vector<double> history;  // |r| / |b|
    double seconds = 0;           // of the iterations, from all ranks' start to their end
    std::vector<double> x;        // this rank's rows of it, in their order
    std::string right_hand_side;
    double tolerance = 0;
    bool jacobi = false;

    [[nodiscard]] double iteration_seconds() const { return iterations > 0 ? seconds / static_cast<double>(iterations) : 0; }
};

struct RanksReport {
    MatrixReport matrix;
    std::string recipe;
    std::string layout;
    std::string kernel;
    Precision precision = Precision::f64;
    std::string ranks_by;         // "equal pieces", "metis_partition"
    std::string engine;           // of the ranks: "Open MPI v4.1.4"
    std::string exchange_engine;  // of their devices: "MPI", "NCCL 2.28.3"
    int exact_vectors = 0;
    double error_over_bound = 0;
    int samples = 0;
    int products_a_sample = 0;
    std::vector<RankName> names;
    std::vector<RankFacts> ranks;
    std::vector<std::string> notes;  // of rank 0's recipe
    std::optional<RanksSolve> solve;
    std::map<std::string, std::string> versions;

    /// The slowest rank's: the product is over when all have theirs.
    [[nodiscard]] double product_seconds() const;
};

[[nodiscard]] std::string ranks_text(const RanksReport& report);
[[nodiscard]] std::string ranks_json(const RanksReport& report);

}  // namespace workbench
