// Products of other libraries, for cpu_peers.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/contract/precision.hpp"
#include "core/matrix/csr_matrix.hpp"

namespace workbench {

/// y = A x by one library, for x and y that were given when it was made.
struct PeerProduct {
    std::string name;
    double preparation_seconds = 0;  // from CSR on
    std::function<void()> multiply;
    std::int64_t bytes = 0;  // that a product moves at least; 0: unknown
};

template <ValueType Value>
struct PeerTask {
    const CsrMatrix& matrix;
    const Value* x = nullptr;  // [columns]
    Value* y = nullptr;        // [rows]
    Index node_size = 1;       // of blocks; 1: none
    bool tune = false;         // librsb may try structures for some seconds
};

/// CSR (AIJ), sliced ELL (SELL), and blocks (BAIJ) if node_size divides the rows. Each rank of MPI multiplies an equal share of
/// the rows, and writes only those of y.
[[nodiscard]] std::vector<PeerProduct> petsc_products(const PeerTask<double>& task);

/// Recursive sparse blocks, and the same of one triangle if the matrix is symmetric.
template <ValueType Value>
[[nodiscard]] std::vector<PeerProduct> librsb_products(const PeerTask<Value>& task);

}  // namespace workbench
