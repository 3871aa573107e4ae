// Every CUDA kernel in both precisions on matrices of many thread blocks, no larger than kernels that cross blocks need.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "gpu/gpu_matrices.hpp"
#include "gpu/kernel_checks.hpp"
#include "kernels/formats/banded_block/layout.hpp"
#include "kernels/formats/bccoo/layout.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr5/layout.hpp"
#include "kernels/formats/dasp/layout.hpp"
#include "kernels/formats/dia/layout.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/formats/hola/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/partitioned.hpp"

namespace workbench {
namespace {

/// Up to `left` entries left of the diagonal and `right` to its right, some of them missing.
CsrMatrix band_matrix(Index rows, Index columns, Index left, Index right) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) {
        for (Index column = std::max(0, row - left); column < std::min(columns, row + right + 1); ++column) {
            if ((row * 3 + column * 5) % 7 != 0) entries.push_back({row, column, 1.0 + row % 17 + 0.25 * (column % 8)});
        }
    }
    return csr_from_entries(rows, columns, entries);
}

CsrMatrix one_row_matrix(Index columns) {
    std::vector<Entry> entries;
    for (Index column = 0; column < columns; ++column) entries.push_back({0, column, 1.0 + column % 29});
    return csr_from_entries(1, columns, entries);
}

}  // namespace

TEST_SUITE("large") {
    TEST_CASE_TEMPLATE("every layout on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix uneven = uneven_matrix(6000, 6000, 40);
        const CsrMatrix tall = uneven_matrix(20000, 3000, 9);
        const CsrMatrix wide = uneven_matrix(1500, 100000, 60);
        for (const LayoutRecipe& one : layout_recipes()) {
            check_recipe<Value>(one, "uneven rows", uneven, *device);
            check_recipe<Value>(one, "tall", tall, *device);
            check_recipe<Value>(one, "wide", wide, *device);
        }
    }

    TEST_CASE_TEMPLATE("csr on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index most_per_row : {2, 6, 12, 25, 50, 100}) {  // every number of lanes per row
            const CsrMatrix matrix = uneven_matrix(6000, 6000, most_per_row);
            const std::string name = fmt::format("uneven rows, up to {}", most_per_row);
            check_cuda_kernels<Value>(csr_entry(), name, stage_input(matrix), {}, *device);
        }
        check_cuda_kernels<Value>(csr_entry(), "long rows", stage_input(long_rows_matrix()), {}, *device);
        check_cuda_kernels<Value>(csr_entry(), "one row", stage_input(one_row_matrix(300007)), {}, *device);
        check_cuda_kernels<Value>(csr_entry(), "no nonzeros", stage_input(csr_from_entries(100000, 5, {})), {}, *device);
    }

    TEST_CASE_TEMPLATE("csr5 on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const auto check = [&](const std::string& matrix, const CsrMatrix& of, Index sigma) {
            const std::string name = fmt::format("{}, sigma {}", matrix, sigma);
            check_cuda_kernels<Value>(csr5_entry(), name, stage_input(of), sigma_of(sigma), *device);
        };
        const CsrMatrix long_rows = long_rows_matrix();
        for (const Index sigma : csr5_sigmas) check("long rows", long_rows, sigma);
        check("tall", uneven_matrix(20000, 3000, 9), 4);
        check("wide", uneven_matrix(1500, 100000, 60), 12);
        const CsrMatrix row = one_row_matrix(300007);  // several blocks of the kernel that adds partial sums
        for (const Index sigma : {2, 32}) check("one row", row, sigma);
        check_cuda_kernels<Value>(csr5_entry(), "no nonzeros", stage_input(csr_from_entries(100000, 5, {})), {}, *device);
    }

    TEST_CASE_TEMPLATE("dasp with many row blocks", Value, float, double) {
        const auto device = make_cuda_device();
        std::vector<Index> lengths(dasp_rows * tuned::dasp_many_row_blocks(tuned_device_model()) + 5);
        for (const Index shortest : {5, 9, 15}) {  // one shape each
            for (std::size_t row = 0; row < lengths.size(); ++row) lengths[row] = shortest + static_cast<Index>(row % 5);
            check_cuda_kernels<Value>(dasp_entry(), "many row blocks", stage_input(matrix_of_rows(lengths, 50)), {}, *device);
        }
    }

    TEST_CASE_TEMPLATE("hola on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const auto check = [&](const std::string& name, const CsrMatrix& matrix, const Given& given) {
            check_cuda_kernels<Value>(hola_entry(), name, stage_input(matrix), given, *device);
        };
        const CsrMatrix long_rows = long_rows_matrix();
        for (const std::int64_t threads : {128, 256}) {
            for (const std::int64_t nonzeros : {5, 7, 9, 11}) {
                const Given shape{{"threads", threads}, {"nonzeros_per_thread", nonzeros}};
                check(fmt::format("long rows, {} x {}", threads, nonzeros), long_rows, shape);
            }
        }
        check("uneven rows", uneven_matrix(6000, 6000, 40), {});
        check("one row", one_row_matrix(100003), {});
        check("no nonzeros", csr_from_entries(100000, 5, {}), {});
        for (const std::int64_t most_per_lane : {0, 100000}) {
            check(fmt::format("tall, at most {} a lane", most_per_lane), uneven_matrix(20000, 3000, 9),
                  {{"most_per_lane", most_per_lane}});
            check(fmt::format("long rows, at most {} a lane", most_per_lane), long_rows, {{"most_per_lane", most_per_lane}});
        }
    }

    TEST_CASE_TEMPLATE("bccoo on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const auto check = [&](const std::string& name, const CsrMatrix& matrix, Given given, std::int64_t blocks_per_lane) {
            given["blocks_per_lane"] = blocks_per_lane;
            check_cuda_kernels<Value>(bccoo_entry(), name, stage_input(matrix), given, *device);
        };
        const CsrMatrix long_rows = long_rows_matrix();
        const CsrMatrix band = band_matrix(6000, 6000, 20, 20);
        for (const std::int64_t blocks_per_lane : {4, 8, 16}) {
            check(fmt::format("long rows, {} blocks per lane", blocks_per_lane), long_rows, {}, blocks_per_lane);
            check(fmt::format("a band, {} blocks of 3 x 3 a lane", blocks_per_lane), band, blocks_of(3, 3), blocks_per_lane);
        }
        check("columns far apart, blocks of 2 x 4", uneven_matrix(1501, 100003, 60), blocks_of(2, 4), 8);
        check("one row", one_row_matrix(100003), {}, 8);
        check("no nonzeros", csr_from_entries(100000, 5, {}), blocks_of(3, 1), 8);
    }

    TEST_CASE_TEMPLATE("bsr on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index most_per_row : {2, 12, 100}) {  // block rows of few blocks and of many
            const StagedMatrix staged = stage_input(uneven_matrix(6011, 6011, most_per_row));
            for (const Index size : {2, 3, 4, 8}) {
                const std::string name = fmt::format("uneven rows, up to {}, blocks of {}", most_per_row, size);
                check_cuda_kernels<Value>(bsr_entry(), name, staged, blocks_of(size), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("dia and banded_block on large matrices with a band", Value, float, double) {
        const auto device = make_cuda_device();
        const std::vector<std::pair<Index, Index>> sides{{6011, 6011}, {9000, 6000}, {6000, 9000}};
        for (const auto& [rows, columns] : sides) {
            for (const auto& [left, right] : {std::pair<Index, Index>{1, 1}, {40, 3}, {0, 90}}) {
                const std::string name = fmt::format("{} x {} with {} and {} beside the diagonal", rows, columns, left, right);
                const StagedMatrix staged = stage_input(band_matrix(rows, columns, left, right));
                check_cuda_kernels<Value>(dia_entry(), name, staged, {}, *device);
                for (const auto& [height, width] : block_shapes()) {
                    check_cuda_kernels<Value>(banded_block_entry(), name, staged, blocks_of(height, width), *device);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("sell on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const StagedMatrix staged = stage_input(uneven_matrix(6011, 6011, 40));
        for (const Index height : slice_heights()) {
            check_cuda_kernels<Value>(sell_entry(), fmt::format("slice height {}", height), staged, slice_height(height),
                                      *device);
        }
        check_cuda_kernels<Value>(sell_entry(), "tall", stage_input(uneven_matrix(20000, 3000, 9)), {}, *device);
        // Columns of 16 bits, in slices that are narrow enough for them and in others.
        const StagedMatrix wide = stage_input(uneven_matrix(6011, 300000, 9));
        for (const auto& [height, threads] :
             std::vector<std::pair<std::int64_t, std::int64_t>>{{32, 1}, {32, 2}, {16, 2}, {5, 4}}) {
            check_cuda_kernels<Value>(
                sell_entry(), fmt::format("short columns, {} rows, {} threads", height, threads), wide,
                {{"slice_height", height}, {"threads_per_row", threads}, {"column_index", std::string("u16")}}, *device);
        }
        for (const StagedMatrix& one : {staged, wide}) {
            check_cuda_kernels<Value>(sell_entry(), "short columns", one, {{"column_index", std::string("u16")}}, *device);
        }
    }
    TEST_CASE_TEMPLATE("block_sell on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index columns : {6011, 300000}) {
            const StagedMatrix staged = stage_input(uneven_matrix(6011, columns, 40));
            for (const std::int64_t size : {1, 2, 3, 4, 6}) {
                for (const std::int64_t threads : {1, 2, 4}) {
                    check_cuda_kernels<Value>(
                        block_sell_entry(), fmt::format("blocks of {}, {} threads", size, threads), staged,
                        {{"block_size", size}, {"threads_per_row", threads}, {"slots_per_nonzero", 1e6}}, *device);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("sell with several threads per row on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const StagedMatrix staged = stage_input(uneven_matrix(5003, 5003, 40));
        for (const Index threads : {2, 4, 8, 16, 32}) {
            for (const Index height : {32 / threads, 100, 1024}) {
                check_cuda_kernels<Value>(sell_entry(), fmt::format("{} threads per row, slice height {}", threads, height),
                                          staged, threads_per_row(threads, height), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("staircase_sell on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(5003, 5003, 40);
        for (const Index height : {1, 32, 512, 672, 1000, 1024, 4096}) {  // a slice is a thread block, or not
            for (const double alpha : {0.0, 0.05, 1.0}) {
                if (alpha == 1.0 && height > 512) continue;  // 3,000 slots for every row: one such matrix is enough
                check_staircase<Value>(staircase_sell_entry(), Backend::cuda, "uneven rows", matrix, height, alpha, *device);
            }
        }
        // More groups than streams.
        std::vector<Entry> entries;
        for (Index row = 0; row < 1200; ++row) {
            for (Index k = 0; k < row / 3; ++k) entries.push_back({row, (row + 7 * k) % 1201, 1.0 + (row + k) % 13});
        }
        check_staircase<Value>(staircase_sell_entry(), Backend::cuda, "400 lengths", csr_from_entries(1200, 1201, entries), 1,
                               0, *device);
    }

    TEST_CASE("staircase_sell with x and y at changing addresses") {
        const auto device = make_cuda_device();
        const StagedMatrix staged = staircase_of(uneven_matrix(5000, 5000, 20), 64, 0.01);
        const auto layout = build<double>(staircase_sell_entry(), staged, slice_height(64));
        for (const KernelEntry& entry : staircase_sell_entry().kernels) {
            if (entry.backend != Backend::cuda) continue;
            CAPTURE(entry.name);
            const auto kernel = entry.prepare.get<double>()(*layout, *device);
            std::vector<DeviceMemory> memory;  // all of it is kept, so that no address occurs twice
            for (const int seed : {1, 2, 3}) {
                const std::vector<double> x = real_vector(5000, static_cast<std::uint32_t>(seed));
                const BoundedReference reference = bounded_reference<double>(staged.matrix, x);
                memory.push_back(to_device(*device, std::span(x), "x"));
                const auto* device_x = memory.back().as<double>();
                std::vector<double> y(5000, unwritten<double>());
                memory.push_back(to_device(*device, std::span<const double>(y), "y"));
                auto* device_y = memory.back().as<double>();
                (void)device->time([&] { kernel->run(device_x, device_y, false); });
                device->download(memory.back(), std::as_writable_bytes(std::span(y)));
                CHECK_EQ(compare_within(y, reference).first_wrong, "");
            }
        }
    }

    TEST_CASE_TEMPLATE("ehyb on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(20000, 20000, 10);
        // Shares of x from a few bytes to more than the 48 KB that a block has by default, and two at a time.
        for (const Index pieces : {1, 2, 7, 132, 700, 5000}) {
            const StagedMatrix staged = partitioned(matrix, uneven_boundaries(matrix.rows, pieces));
            for (const char* width : {"u16", "u32"}) {
                const std::string name = fmt::format("{} pieces, columns {}", pieces, width);
                check_cuda_kernels<Value>(ehyb_entry(), name, staged, column_index(width), *device);
            }
        }
        std::vector<Index> boundaries = uneven_boundaries(50000, 132);
        check_cuda_kernels<Value>(ehyb_entry(), "nothing outside", partitioned(block_diagonal_matrix(boundaries), boundaries),
                                  {}, *device);
    }

    TEST_CASE("two ehyb kernels with different shares of x exist at the same time") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(20000, 20000, 10);
        const LayoutEntry entry = ehyb_entry();
        const auto large = build<double>(entry, partitioned(matrix, {0, 20000}), {});
        const auto small = build<double>(entry, partitioned(matrix, uneven_boundaries(20000, 1000)), {});
        const std::vector<double> x = real_vector(matrix.columns, 5);
        const BoundedReference reference = bounded_reference<double>(matrix, x);
        const DeviceMemory device_x = to_device(*device, std::span(x), "x");
        for (const KernelEntry& kernel : entry.kernels) {
            if (kernel.backend != Backend::cuda) continue;
            const auto first = kernel.prepare.get<double>()(*large, *device);
            const auto second = kernel.prepare.get<double>()(*small, *device);
            for (Kernel<double>* each : {first.get(), second.get(), first.get()}) {
                std::vector<double> y(matrix.rows, unwritten<double>());
                const DeviceMemory device_y = to_device(*device, std::span<const double>(y), "y");
                (void)device->time([&] { each->run(device_x.as<double>(), device_y.as<double>(), false); });
                device->download(device_y, std::as_writable_bytes(std::span(y)));
                CHECK_EQ(compare_within(y, reference).first_wrong, "");
            }
        }
    }

    TEST_CASE("a share of x that exceeds the shared memory is refused with its size and a remedy") {
        const auto device = make_cuda_device();
        const auto columns = static_cast<Index>(device->properties().shared_memory_per_block / sizeof(double));
        const std::vector<Index> boundaries{0, 5, 5 + columns};
        const StagedMatrix staged = partitioned(block_diagonal_matrix(boundaries), boundaries);
        for (const KernelOutcome& outcome : try_kernels<double>(ehyb_entry(), Backend::cuda, staged, {}, *device)) {
            CHECK(outcome.status == KernelOutcome::Status::unsuitable);
            for (const std::string& figure : {std::string("partition 1 has ") + std::to_string(columns) + " columns",
                                              std::to_string(columns * sizeof(double) + sizeof(int)) + " bytes",
                                              std::to_string(device->properties().shared_memory_per_block),
                                              std::string("`parts` of the stage that makes the partitions")}) {
                CHECK_MESSAGE(outcome.reason.find(figure) != std::string::npos,
                              fmt::format("\"{}\" lacks \"{}\"", outcome.reason, figure));
            }
        }
        // One column fewer fits, and the counter fits beside it.
        const std::vector<Index> just_fitting{0, 5, 4 + columns};
        check_cuda_kernels<double>(ehyb_entry(), "all of the shared memory",
                                   partitioned(block_diagonal_matrix(just_fitting), just_fitting), {}, *device);
    }
}

}  // namespace workbench
