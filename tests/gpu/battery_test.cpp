// Every CUDA kernel in both precisions on matrices that are small enough for compute-sanitizer. Suite `shared_memory` is for
// its racecheck, which checks shared memory only and takes a hundred times as long.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/kernel_checks.hpp"
#include "kernels/formats/banded_block/layout.hpp"
#include "kernels/formats/bccoo/layout.hpp"
#include "kernels/formats/blocks/layout.hpp"
#include "kernels/formats/coo/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr5/layout.hpp"
#include "kernels/formats/ehyb/layout.hpp"
#include "kernels/formats/halo/layout.hpp"
#include "kernels/formats/hbp/layout.hpp"
#include "kernels/formats/hola/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/formats/staircase_sell/layout.hpp"
#include "kernels/gpu/gpu.hpp"
#include "stages/stages.hpp"
#include "support/given.hpp"
#include "support/layouts/reach_of_nan.hpp"
#include "support/partitioned.hpp"
#include "support/rows_of_tiles.hpp"

namespace workbench {

TEST_SUITE("battery") {
    TEST_CASE_TEMPLATE("every layout on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            for (const NamedMatrix& named : one.matrices()) check_recipe<Value>(one, named.name, named.matrix, *device);
        }
    }

    TEST_CASE("a NaN or an infinity in x reaches the rows that have its column, and no others with nonzeros, on a GPU") {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            for (const NamedMatrix& named : one.matrices()) {
                if (named.matrix.columns > 100 || !one.takes(named.matrix)) continue;
                const StagedMatrix staged = one.stage(named.matrix);
                try {
                    const auto layout = one.build<double>(staged);
                    if (!foreign_padding(*layout, staged.matrix).empty()) continue;
                    for (const KernelEntry& entry : one.layout().kernels) {
                        if (entry.backend != Backend::cuda) continue;
                        const auto kernel = entry.prepare.f64(*layout, *device);
                        const std::string found =
                            wrong_reach_of_nan(*kernel, staged.matrix, *device, layout->rows_of_padding());
                        CHECK_MESSAGE(found.empty(), fmt::format("{} {} on {}: {}", one.name, entry.name, named.name, found));
                    }
                } catch (const Unsuitable&) {  // as in the test of every layout
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("every hybrid on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : hybrid_recipes()) {
            for (const NamedMatrix& named : one.matrices()) {
                for (int turn = 0; turn < 3; ++turn) check_hybrid<Value>(one, turn, named.name, named.matrix, *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("csr on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            check_cuda_kernels<Value>(csr_entry(), named.name, stage_input(named.matrix), {}, *device);
        }
    }

    /// Values that fit a coding: equal in all or in each row or column, one of 200, or any that f32 represents.
    void set_values_for(CsrMatrix & matrix, const std::string& coding) {
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                const Index line = coding == "by_row" ? row : matrix.column_indices[k];
                matrix.values[k] = coding == "one"          ? 0.75
                                   : coding == "dictionary" ? 1.0 / static_cast<double>(3 + k % 200)
                                   : coding == "f32"        ? 0.25 * static_cast<double>(k + 1)
                                                            : 1.0 / (3 + line % 5);
            }
        }
    }

    TEST_CASE_TEMPLATE("coded values on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"long rows", long_rows_matrix()});
        const auto check = [&](LayoutEntry format, const std::string& coding, Given given) {
            std::erase_if(format.kernels,
                          [](const KernelEntry& kernel) { return kernel.name == "merge"; });  // for values in full
            given["values"] = coding;
            for (NamedMatrix& named : matrices) {
                set_values_for(named.matrix, coding);
                const StagedMatrix staged = stage_input(named.matrix);
                const auto builder = [&](const StagedMatrix& each) { return build<Value>(format, each, given); };
                try {
                    check_verified(try_kernels<Value>(format, Backend::cuda, named.matrix, staged, builder, *device,
                                                      ExactValues::by_value),
                                   format.name, named.name + ", " + coding);
                } catch (const Unsuitable& reason) {
                    MESSAGE(fmt::format("{} is unsuitable: {}", named.name, reason.what()));
                }
            }
        };
        for (const char* coding : {"one", "by_row", "by_column", "dictionary", "f32"}) check(csr_entry(), coding, {});
        for (const char* coding : {"one", "dictionary", "f32"}) {
            check(csr16_entry(), coding, {});
            check(coo_entry(), coding, {});
            for (const char* together : {"one", "all", "slices"}) {
                for (const bool with_lengths : {false, true}) {
                    if (with_lengths && together == std::string("one")) continue;
                    check(rows_entry(), coding,
                          {{"slots_per_nonzero", 1e6}, {"rows", std::string(together)}, {"row_lengths", with_lengths}});
                }
            }
            check(ellr_entry(), coding, {{"slots_per_nonzero", 1e6}});
            check(ell_entry(), coding, {{"slots_per_nonzero", 1e6}});
            check(ell_entry(), coding, {{"slots_per_nonzero", 1e6}, {"order", std::string("row_major")}});
            for (const std::int64_t threads : {2, 4, 16}) {
                check(sell_entry(), coding,
                      {{"threads_per_row", threads}, {"slice_height", 12_i}, {"column_index", std::string("u16")}});
            }
        }
    }

    TEST_CASE_TEMPLATE("csr5 on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index sigma : {2, 12, 32}) {
            for (const NamedMatrix& named : battery()) {
                const std::string name = fmt::format("{}, sigma {}", named.name, sigma);
                check_cuda_kernels<Value>(csr5_entry(), name, stage_input(named.matrix), sigma_of(sigma), *device);
            }
            const std::string name = fmt::format("rows around the size of a tile, sigma {}", sigma);
            check_cuda_kernels<Value>(csr5_entry(), name, stage_input(rows_of_tiles(32 * sigma)), sigma_of(sigma), *device);
        }
    }

    TEST_CASE_TEMPLATE("bccoo on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        const auto check = [&](const NamedMatrix& named, Index height, Index width, std::int64_t blocks_per_lane) {
            Given given = blocks_of(height, width);
            given["blocks_per_lane"] = blocks_per_lane;
            const std::string name = fmt::format("{}, blocks of {} x {}", named.name, height, width);
            check_cuda_kernels<Value>(bccoo_entry(), name, stage_input(named.matrix), given, *device);
        };
        for (const NamedMatrix& named : battery()) {
            check(named, 1, 1, 16);
            check(named, 3, 2, 8);
            check(named, 2, 4, 4);
        }
        const NamedMatrix& last = battery().back();
        for (Index height = 1; height <= 4; ++height) {
            for (Index width = 1; width <= 4; ++width) check(last, height, width, 4);
        }
    }

    TEST_CASE_TEMPLATE("bsr on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index size : {2, 3, 4, 5, 6, 7, 8, 17}) {
                const std::string name = fmt::format("{}, blocks of {}", named.name, size);
                check_cuda_kernels<Value>(bsr_entry(), name, stage_input(named.matrix), blocks_of(size), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("banded_block on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const auto& [height, width] : block_shapes()) {
                const std::string name = fmt::format("{}, blocks of {} x {}", named.name, height, width);
                check_cuda_kernels<Value>(banded_block_entry(), name, stage_input(named.matrix), blocks_of(height, width),
                                          *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("sell on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index height : slice_heights()) {
                const std::string name = fmt::format("{}, slice height {}", named.name, height);
                check_cuda_kernels<Value>(sell_entry(), name, stage_input(named.matrix), slice_height(height), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("sell with several threads per row on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index threads : {2, 4, 8, 16, 32}) {
                for (const Index height : {32 / threads, 7}) {
                    const std::string name =
                        fmt::format("{}, {} threads per row, slice height {}", named.name, threads, height);
                    check_cuda_kernels<Value>(sell_entry(), name, stage_input(named.matrix), threads_per_row(threads, height),
                                              *device);
                }
            }
        }
    }

    TEST_CASE("sell with rounded values on the battery") {
        const auto device = make_cuda_device();
        for (const Rounding rounding : {Rounding::f32, Rounding::bf16}) {
            for (const std::int64_t threads : {0, 1, 2, 4}) {  // 0: by the lengths of the rows if one is long
                Given given{{"values", "rounded_" + std::string(name_of(rounding))}, {"column_index", std::string("u16")}};
                given["slice_height"] = threads == 0 ? 32_i : 32 / threads;
                if (threads > 0) given["threads_per_row"] = threads;
                for (const NamedMatrix& named : battery()) {
                    CsrMatrix matrix = named.matrix;
                    for (double& value : matrix.values) value = rounded(value, rounding);
                    const StagedMatrix staged = stage_input(matrix);
                    const auto builder = [&](const StagedMatrix& each) { return build<double>(sell_entry(), each, given); };
                    try {
                        check_verified(try_kernels<double>(sell_entry(), Backend::cuda, matrix, staged, builder, *device,
                                                           ExactValues::by_value),
                                       "sell " + std::string(name_of(rounding)), named.name);
                    } catch (const Unsuitable& reason) {
                        MESSAGE(fmt::format("{} is unsuitable: {}", named.name, reason.what()));
                    }
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("staircase_sell on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index height : {1, 3, 32, 64}) {
                check_staircase<Value>(staircase_sell_entry(), Backend::cuda, named.name, named.matrix, height, 0.1, *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("halo on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const std::int64_t size : {1, 2, 3, 4, 5, 6}) {
                for (const bool symmetric : {false, true}) {
                    if (symmetric && !named.matrix.square()) continue;
                    const CsrMatrix matrix = symmetric ? sum_with_transpose(named.matrix) : named.matrix;
                    const std::string name =
                        fmt::format("{}, {}blocks of {}", named.name, symmetric ? "with its transpose, " : "", size);
                    const Given given{{"block_size", size}, {"parts", 3_i}, {"slots_per_nonzero", 1e6}};
                    check_cuda_kernels<Value>(halo_entry(), name, stage_input(matrix), given, *device);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("ehyb on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            if (!named.matrix.square()) continue;
            for (const Index pieces : {1, 2, 5}) {
                const StagedMatrix staged = partitioned(named.matrix, uneven_boundaries(named.matrix.rows, pieces));
                for (const char* width : {"u16", "u32"}) {
                    const std::string name = fmt::format("{} in {} pieces, columns {}", named.name, pieces, width);
                    check_cuda_kernels<Value>(ehyb_entry(), name, staged, column_index(width), *device);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("ehyb without a partition or a share", Value, float, double) {
        const auto device = make_cuda_device();
        check_cuda_kernels<Value>(ehyb_entry(), "no partition", partitioned(csr_from_entries(0, 0, {}), {0}), {}, *device);
        const std::vector<Index> boundaries{0, 40, 40, 73, 100};
        check_cuda_kernels<Value>(ehyb_entry(), "nothing outside", partitioned(block_diagonal_matrix(boundaries), boundaries),
                                  {}, *device);
        std::vector<Entry> entries;
        for (Index i = 0; i < 100; ++i) entries.push_back({i, (i + 50) % 100, 1.0 + i});
        check_cuda_kernels<Value>(ehyb_entry(), "nothing inside",
                                  partitioned(csr_from_entries(100, 100, entries), {0, 50, 100}), {}, *device);
    }
}

TEST_SUITE("shared_memory") {
    /// Blocks of several warps, rows of no, few and many nonzeros, and a last block that is not full.
    CsrMatrix shared_memory_matrix() {
        std::vector<Entry> entries;
        for (Index row = 0; row < 150; ++row) {
            const Index count = row % 31 == 30 ? 0 : row % 13 + 1;
            for (Index k = 0; k < count; ++k) {
                entries.push_back({row, (row + k * k + (k % 3) * 47) % 150, 1.0 + row % 7 + 0.25 * k});
            }
        }
        return csr_from_entries(150, 150, entries);
    }

    /// Rows of several small thread blocks between short rows.
    CsrMatrix shared_memory_rows() { return matrix_of_rows({40, 40, 0, 1100, 3, 700, 300, 33, 1}, 1103); }

    TEST_CASE_TEMPLATE("ell with partial sums in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        for (const char* order : {"row_major", "column_major"}) {
            check_cuda_kernels<Value>(ell_entry(), order, stage_input(shared_memory_matrix()),
                                      {{"order", std::string(order)}, {"slots_per_nonzero", 100.0}}, *device);
        }
    }

    TEST_CASE_TEMPLATE("sell with a dictionary in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            if (!codes_values(one.recipe.layouts.front().parameters)) continue;
            check_recipe<Value>(one, "shared_memory_matrix", shared_memory_matrix(), *device);
            check_recipe<Value>(one, "shared_memory_rows", shared_memory_rows(), *device);
        }
    }

    TEST_CASE_TEMPLATE("csr with products in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        LayoutEntry csr = csr_entry();
        std::erase_if(csr.kernels,
                      [](const KernelEntry& kernel) { return kernel.name == "vector" || kernel.name == "scalar"; });
        // The mean lengths select the smallest and the largest tiles. Rows share a tile, or have a warp, a block or several
        // blocks; some shares of the merge path have no nonzeros.
        std::vector<Index> short_rows(300, 3);
        short_rows.resize(3000, 0);
        for (const Index length : {200, 700, 1100, 2}) short_rows.push_back(length);
        check_cuda_kernels<Value>(csr, "short rows", stage_input(matrix_of_rows(short_rows, 1103)), {}, *device);
        check_cuda_kernels<Value>(csr, "long rows", stage_input(matrix_of_rows({40, 40, 0, 8200, 40, 700, 1100, 33, 1}, 8209)),
                                  {}, *device);
    }

    TEST_CASE_TEMPLATE("sell with long rows that threads share", Value, float, double) {
        const auto device = make_cuda_device();
        check_cuda_kernels<Value>(sell_entry(), "long rows", stage_input(shared_memory_matrix()),
                                  {{"split_length", std::int64_t{8}}, {"slice_height", std::int64_t{64}}}, *device);
        std::vector<Entry> entries;
        for (Index column = 0; column < 8200; ++column) entries.push_back({3, column, 1.0 + column % 5});
        check_cuda_kernels<Value>(sell_entry(), "a row of several blocks", stage_input(csr_from_entries(40, 8200, entries)), {},
                                  *device);
    }

    TEST_CASE_TEMPLATE("csr5 with partial sums in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        check_cuda_kernels<Value>(csr5_entry(), "short rows", stage_input(shared_memory_matrix()), sigma_of(6), *device);
        check_cuda_kernels<Value>(csr5_entry(), "long rows", stage_input(shared_memory_rows()), sigma_of(2), *device);
    }

    TEST_CASE_TEMPLATE("hola with products in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        // Rows with separate lanes, and sums of all threads together.
        const auto check = [&](const std::string& name, const CsrMatrix& matrix, std::int64_t most_per_lane) {
            const Given given{{"threads", 128_i}, {"nonzeros_per_thread", 5_i}, {"most_per_lane", most_per_lane}};
            check_cuda_kernels<Value>(hola_entry(), name, stage_input(matrix), given, *device);
        };
        check("short rows", shared_memory_matrix(), 32);
        check("long rows", shared_memory_rows(), 0);
    }

    TEST_CASE_TEMPLATE("bccoo with sums in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        const auto check = [&](const std::string& name, const CsrMatrix& matrix, Index size) {
            Given given = blocks_of(size, size);
            given["blocks_per_lane"] = 4_i;
            check_cuda_kernels<Value>(bccoo_entry(), name, stage_input(matrix), given, *device);
        };
        check("short rows", shared_memory_matrix(), 3);
        check("long rows", shared_memory_rows(), 1);
    }

    TEST_CASE_TEMPLATE("ehyb with x in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        const StagedMatrix staged = partitioned(shared_memory_matrix(), {0, 3, 100, 150});
        for (const char* width : {"u16", "u32"}) {
            check_cuda_kernels<Value>(ehyb_entry(), width, staged, column_index(width), *device);
        }
    }

    TEST_CASE_TEMPLATE("halo with x and sums in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix symmetric = sum_with_transpose(shared_memory_matrix());
        const StagedMatrix staged = partitioned(symmetric, {0, 3, 100, 150});
        for (const std::int64_t size : {1, 3}) {
            // Shared memory for all columns, and for few of them.
            for (const std::int64_t shared_memory : {100000, 1700}) {
                const std::string name = fmt::format("blocks of {}, {} bytes", size, shared_memory);
                const Given given{{"block_size", size},
                                  {"shared_memory", shared_memory},
                                  {"warps", 5_i},
                                  {"piece", 3_i},
                                  {"slots_per_nonzero", 1e6}};
                StagedMatrix unsplit = staged;
                unsplit.shares.clear();
                check_cuda_kernels<Value>(halo_entry(), name, unsplit, given, *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("hbp with products in shared memory", Value, float, double) {
        const auto device = make_cuda_device();
        for (const auto& [height, row_limit] : std::vector<std::pair<std::int64_t, std::int64_t>>{{20, 128}, {150, 3}}) {
            StagedMatrix staged = stage_input(shared_memory_matrix());
            pass(staged, row_blocks_stage(), {{"height", height}});
            pass(staged, column_segmentation_stage(), {{"width", 80_i}});
            check_cuda_kernels<Value>(hbp_entry(), fmt::format("{} rows, split beyond {}", height, row_limit), staged,
                                      {{"row_limit", row_limit}, {"chunk_limit", 100_i}}, *device);
        }
    }
}

}  // namespace workbench
