#include <petscmat.h>

#include <memory>
#include <span>
#include <stdexcept>

#include "benchmarks/clock.hpp"
#include "benchmarks/cpu_peers.hpp"
#include "kernels/common/schemes/blocks.hpp"

namespace workbench {
namespace {

void check(PetscErrorCode error) {
    if (error != 0) throw std::runtime_error("PETSc: error " + std::to_string(error));
}

/// The rows [first, end) of this rank.
struct OwnRows {
    int rank = 0;
    int ranks = 1;

    OwnRows() {
        MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
        MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
    }
    /// The end of a rank's share; a multiple of the node size.
    [[nodiscard]] Index end(Index count, Index node_size, int of_rank) const {
        const Offset nodes = count / node_size;
        return of_rank + 1 == ranks ? count : static_cast<Index>(nodes * (of_rank + 1) / ranks * node_size);
    }
    [[nodiscard]] Index begin(Index count, Index node_size) const { return rank == 0 ? 0 : end(count, node_size, rank - 1); }
};

struct Vectors {
    Mat matrix = nullptr;
    Vec x = nullptr;
    Vec y = nullptr;

    Vectors() = default;
    Vectors(const Vectors&) = delete;
    Vectors& operator=(const Vectors&) = delete;
    ~Vectors() {
        (void)MatDestroy(&matrix);
        (void)VecDestroy(&x);
        (void)VecDestroy(&y);
    }
};

}  // namespace

std::vector<PeerProduct> petsc_products(const PeerTask<double>& task) {
    const CsrMatrix& matrix = task.matrix;
    const Index node = task.node_size > 1 && matrix.rows % task.node_size == 0 ? task.node_size : 1;
    const OwnRows own;
    const Index row = own.begin(matrix.rows, node);
    const Index rows = own.end(matrix.rows, node, own.rank) - row;
    const Index column = own.begin(matrix.columns, node);
    const Index columns = own.end(matrix.columns, node, own.rank) - column;

    Mat aij = nullptr;
    const double begin = now_on(CLOCK_MONOTONIC);
    const Offset first = matrix.row_offsets[row];
    std::vector<PetscInt> offsets(rows + 1);
    for (Index i = 0; i <= rows; ++i) offsets[i] = static_cast<PetscInt>(matrix.row_offsets[row + i] - first);
    check(MatCreate(PETSC_COMM_WORLD, &aij));
    check(MatSetSizes(aij, rows, columns, matrix.rows, matrix.columns));
    check(MatSetType(aij, MATAIJ));
    check(MatSetBlockSize(aij, node));
    check(
        MatSeqAIJSetPreallocationCSR(aij, offsets.data(), matrix.column_indices.data() + first, matrix.values.data() + first));
    check(
        MatMPIAIJSetPreallocationCSR(aij, offsets.data(), matrix.column_indices.data() + first, matrix.values.data() + first));
    const double seconds = now_on(CLOCK_MONOTONIC) - begin;

    std::vector<PeerProduct> products;
    const auto add = [&](const std::string& name, Mat own_matrix, double preparation) {
        const auto held = std::make_shared<Vectors>();
        held->matrix = own_matrix;
        check(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, columns, matrix.columns, task.x + column, &held->x));
        check(VecCreateMPIWithArray(PETSC_COMM_WORLD, 1, rows, matrix.rows, task.y + row, &held->y));
        products.push_back({name, preparation, [held] { check(MatMult(held->matrix, held->x, held->y)); }});
    };
    const auto convert = [&](const std::string& name, MatType type) {
        Mat converted = nullptr;
        const double before = now_on(CLOCK_MONOTONIC);
        check(MatConvert(aij, type, MAT_INITIAL_MATRIX, &converted));
        add(name, converted, seconds + now_on(CLOCK_MONOTONIC) - before);
    };
    convert("PETSc SELL", MATSELL);
    if (node > 1) {  // from blocks, because MatConvert does not reserve memory for them and takes 20 s
        const double before = now_on(CLOCK_MONOTONIC);
        const CsrView<double> own_rows{rows, matrix.columns, std::span(matrix.row_offsets).subspan(row, rows + 1),
                                       matrix.column_indices, matrix.values};
        const Blocks<double, HostArray> blocks = build_blocks<double>(own_rows, node, {});
        Mat baij = nullptr;
        check(MatCreate(PETSC_COMM_WORLD, &baij));
        check(MatSetSizes(baij, rows, columns, matrix.rows, matrix.columns));
        check(MatSetType(baij, MATBAIJ));
        check(MatSetBlockSize(baij, node));
        const auto fill = [&](auto* set) {
            check(set(baij, node, blocks.block_offsets.data(), blocks.block_columns.data(), blocks.values.data()));
        };
        fill(MatSeqBAIJSetPreallocationCSR);
        fill(MatMPIBAIJSetPreallocationCSR);
        add("PETSc BAIJ", baij, now_on(CLOCK_MONOTONIC) - before);
    }
    add("PETSc AIJ", aij, seconds);
    return products;
}

}  // namespace workbench
