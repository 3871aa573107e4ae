// Products of other libraries, for cpu_peers.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/matrix/csr_matrix.hpp"

namespace workbench {

/// y = A x by one library, for x and y that were given when it was made.
struct PeerProduct {
    std::string name;
    double preparation_seconds = 0;  // from CSR on
    std::function<void()> multiply;
};

struct PeerTask {
    const CsrMatrix& matrix;
    const double* x = nullptr;  // [columns]
    double* y = nullptr;        // [rows]
    Index node_size = 1;        // of blocks; 1: none
    bool tune = false;          // librsb may try structures for some seconds
};

/// CSR (AIJ), sliced ELL (SELL), and blocks (BAIJ) if node_size divides the rows. Each rank of MPI multiplies an equal share of
/// the rows, and writes only those of y.
[[nodiscard]] std::vector<PeerProduct> petsc_products(const PeerTask& task);

/// Recursive sparse blocks, and the same of one triangle if the matrix is symmetric.
[[nodiscard]] std::vector<PeerProduct> librsb_products(const PeerTask& task);

}  // namespace workbench
