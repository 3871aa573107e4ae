// The kernels of cuSPARSE, if the library is present.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/kernel_checks.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/gpu/gpu.hpp"

namespace workbench {
namespace {

/// cuSPARSE may refuse a matrix, but only for a known reason.
template <ValueType Value>
void check_cusparse_kernels(const std::string& name, const CsrMatrix& matrix, Device& device) {
    for (const KernelOutcome& outcome : try_kernels<Value>(csr_entry(), Backend::cusparse, stage_input(matrix), {}, device)) {
        const bool may_refuse =
            matrix.nonzeros() == 0 || outcome.kernel == "bsr" || outcome.kernel == "csr_op";  // of some versions alone
        const bool refused = outcome.status == KernelOutcome::Status::unsuitable && may_refuse &&
                             outcome.reason.find("not available") == std::string::npos;
        CHECK_MESSAGE((outcome.verified() || refused), fmt::format("{} on {}: {}", outcome.kernel, name, outcome.reason));
    }
}

}  // namespace

TEST_SUITE("cusparse") {
    TEST_CASE_TEMPLATE("cuSPARSE on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) check_cusparse_kernels<Value>(named.name, named.matrix, *device);
    }

    TEST_CASE_TEMPLATE("cuSPARSE on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        check_cusparse_kernels<Value>("uneven rows", uneven_matrix(20000, 20000, 40), *device);
        check_cusparse_kernels<Value>("tall", uneven_matrix(100000, 3000, 9), *device);
        check_cusparse_kernels<Value>("wide", uneven_matrix(3000, 100000, 60), *device);
    }

    TEST_CASE_TEMPLATE("cuSPARSE on the slices of sell and in the order of Staircase SELL", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(5003, 5003, 40);
        for (const Index height : {8, 32, 64, 512, 928, 1024}) {
            check_verified(
                try_kernels<Value>(sell_entry(), Backend::cusparse, stage_input(matrix), slice_height(height), *device), "sell",
                fmt::format("slice height {}", height));
            check_staircase<Value>(staircase_sell_entry(), Backend::cusparse, "uneven rows", matrix, height, 0.01, *device);
        }
    }

    TEST_CASE_TEMPLATE("cuSPARSE on blocks", Value, float, double) {
        const auto device = make_cuda_device();
        // Full blocks, which BSR must accept: of 2, 3 and 4 on 1188 rows, and on rows that only 3 divides.
        for (const auto& shape : {std::pair<Index, Index>{2, 1186}, {3, 1185}, {4, 1188}}) {
            const Index size = shape.first;
            const Index rows = shape.second;
            std::vector<Index> boundaries;
            for (Index row = 0; row <= rows; row += size) boundaries.push_back(row);
            std::vector<Entry> entries;
            for (Index row = 0; row < rows; ++row) {
                for (const Index block : {row / size, (row / size * 7) % (rows / size)}) {
                    for (Index k = 0; k < size; ++k) entries.push_back({row, block * size + k, 1.0 + row % 11 + 0.25 * k});
                }
            }
            const CsrMatrix matrix = csr_from_entries(rows, rows, entries);
            const std::string name = fmt::format("blocks of {}", size);
            const StagedMatrix staged = stage_input(matrix);
            check_cusparse_kernels<Value>(name, matrix, *device);
            check_verified(try_kernels<Value>(bsr_entry(), Backend::cusparse, staged, blocks_of(size), *device), "bsr", name);
        }
    }
}

}  // namespace workbench
