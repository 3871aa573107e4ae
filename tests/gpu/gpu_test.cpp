// Every CUDA and cuSPARSE kernel in both precisions, and the device. Suites: `battery` and `device` are small enough for
// compute-sanitizer, `large` fills the GPU, `cusparse` needs the library.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "gpu/gpu_matrices.hpp"
#include "kernels/banded_block/layout.hpp"
#include "kernels/bsr/layout.hpp"
#include "kernels/common/cuda_device.hpp"
#include "kernels/csr/layout.hpp"
#include "kernels/dia/layout.hpp"
#include "kernels/ehyb/layout.hpp"
#include "kernels/sell/layout.hpp"
#include "kernels/staircase_sell/layout.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/run/measure.hpp"
#include "stages/stages.hpp"
#include "support/battery.hpp"
#include "support/layouts/layout_recipes.hpp"
#include "support/partitioned.hpp"

namespace workbench {
namespace {

using Given = std::map<std::string, ParameterValue>;

template <ValueType Value>
std::unique_ptr<Layout<Value>> build(const LayoutEntry& entry, const StagedMatrix& staged, const Given& given) {
    return entry.build.template get<Value>()(staged, Parameters(entry.parameters, given));
}

/// One product of each kernel of the backend: exact and bounded, different x one after the other, fresh y and a y added to.
/// `build` makes the layout from a staged matrix. Throws Unsuitable where it does.
template <ValueType Value, typename Build>
std::vector<KernelOutcome> try_kernels(const LayoutEntry& entry, Backend backend, const CsrMatrix& input,
                                       const StagedMatrix& staged, const Build& build, Device& device) {
    constexpr TimingOptions one_sample{CacheState::warm, 1, 0, 0};
    const Oracle<Value> oracle(input);
    const ProductSpace space(staged.row_order, staged.column_order);
    StagedMatrix integers = staged;
    integers.matrix.values = oracle.exact.values_of(staged.matrix, staged.row_order, staged.column_order);
    const auto exact = build(integers);
    const auto real = build(staged);
    std::vector<KernelOutcome> outcomes;
    for (const KernelEntry& kernel : entry.kernels) {
        if (kernel.backend != backend) continue;
        outcomes.push_back(measure_kernel<Value>(kernel, *exact, *real, space, oracle, device, one_sample));
    }
    return outcomes;
}

/// The same for a matrix that stands in the input's order.
template <ValueType Value>
std::vector<KernelOutcome> try_kernels(const LayoutEntry& entry, Backend backend, const StagedMatrix& staged,
                                       const Given& given, Device& device) {
    const auto builder = [&](const StagedMatrix& matrix) { return build<Value>(entry, matrix, given); };
    return try_kernels<Value>(entry, backend, staged.matrix, staged, builder, device);
}

void check_verified(const std::vector<KernelOutcome>& outcomes, const std::string& layout, const std::string& matrix) {
    CHECK_MESSAGE(!outcomes.empty(), layout);
    for (const KernelOutcome& outcome : outcomes) {
        CHECK_MESSAGE(outcome.verified(), fmt::format("{} {} on {}: {}", layout, outcome.kernel, matrix, outcome.reason));
    }
}

/// Demands that all kernels of the layout suit the matrix and are right.
template <ValueType Value>
void check_cuda_kernels(const LayoutEntry& entry, const std::string& name, const StagedMatrix& staged, const Given& given,
                        Device& device) {
    check_verified(try_kernels<Value>(entry, Backend::cuda, staged, given, device), entry.name, name);
}

/// Demands that all CUDA kernels of the recipe's layout are right, where the recipe takes such a matrix.
template <ValueType Value>
void check_recipe(const LayoutRecipe& one, const std::string& name, const CsrMatrix& matrix, Device& device) {
    if (!one.takes(matrix)) return;
    const StagedMatrix staged = one.stage(matrix);
    const auto builder = [&](const StagedMatrix& each) { return one.build<Value>(each); };
    try {
        check_verified(try_kernels<Value>(one.layout(), Backend::cuda, matrix, staged, builder, device), one.name, name);
    } catch (const Unsuitable& reason) {
        MESSAGE(fmt::format("{} on {} is unsuitable: {}", one.name, name, reason.what()));
    }
}

/// Rows sorted by ascending length, and the groups of Staircase SELL.
StagedMatrix staircase_of(const CsrMatrix& matrix, Index height, double alpha) {
    StagedMatrix staged = stage_input(matrix);
    const auto pass = [&staged](const StageEntry& stage, const Given& given) {
        apply(staged, stage.run(staged, Parameters(stage.parameters, given), {}).change, {});
    };
    pass(row_sort_stage(), {{"order", "ascending"}, {"apply", "rows"}});
    pass(length_groups_stage(), {{"slice_height", std::int64_t{height}}, {"alpha", alpha}});
    return staged;
}

/// Demands that the layout's kernels of this backend are right with rows in the order of Staircase SELL.
template <ValueType Value>
void check_staircase(const LayoutEntry& entry, Backend backend, const std::string& name, const CsrMatrix& matrix, Index height,
                     double alpha, Device& device) {
    const StagedMatrix staged = staircase_of(matrix, height, alpha);
    const auto builder = [&](const StagedMatrix& each) {
        return build<Value>(entry, each, {{"slice_height", std::int64_t{height}}});
    };
    const std::string all = fmt::format("{}, slice height {}, alpha {}", name, height, alpha);
    check_verified(try_kernels<Value>(entry, backend, matrix, staged, builder, device), entry.name, all);
}

/// cuSPARSE may find a matrix unsuitable, where there is a reason for it to.
template <ValueType Value>
void check_cusparse_kernels(const std::string& name, const CsrMatrix& matrix, Device& device) {
    for (const KernelOutcome& outcome : try_kernels<Value>(csr_entry(), Backend::cusparse, stage_input(matrix), {}, device)) {
        const bool may_refuse = matrix.nonzeros() == 0 || outcome.kernel == "bsr";
        const bool refused = outcome.status == KernelOutcome::Status::unsuitable && may_refuse &&
                             outcome.reason.find("not available") == std::string::npos;
        CHECK_MESSAGE((outcome.verified() || refused), fmt::format("{} on {}: {}", outcome.kernel, name, outcome.reason));
    }
}

const std::vector<Index>& slice_heights() {
    static const std::vector<Index> heights{32, 1, 2, 7, 64, 100};
    return heights;
}

const std::vector<std::pair<Index, Index>>& block_shapes() {
    static const std::vector<std::pair<Index, Index>> shapes{{8, 8}, {32, 4}, {1, 1}, {5, 3}, {100, 7}};
    return shapes;
}

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

Given slice_height(Index height) { return {{"slice_height", std::int64_t{height}}}; }
Given threads_per_row(Index threads, Index height) {
    return {{"threads_per_row", std::int64_t{threads}}, {"slice_height", std::int64_t{height}}};
}
Given blocks_of(Index size) { return {{"block_size", std::int64_t{size}}, {"slots_per_nonzero", 1e6}}; }
Given blocks_of(Index height, Index width) {
    return {{"block_height", std::int64_t{height}}, {"block_width", std::int64_t{width}}, {"slots_per_nonzero", 1e6}};
}
Given column_index(const char* word) { return {{"column_index", std::string(word)}}; }

}  // namespace

TEST_SUITE("battery") {
    TEST_CASE_TEMPLATE("every layout on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            for (const NamedMatrix& named : battery()) check_recipe<Value>(one, named.name, named.matrix, *device);
        }
    }

    TEST_CASE_TEMPLATE("csr on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            check_cuda_kernels<Value>(csr_entry(), named.name, stage_input(named.matrix), {}, *device);
        }
    }

    TEST_CASE_TEMPLATE("bsr on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index size : {2, 3, 4, 5, 6, 7, 8, 16, 17, 32}) {
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

    TEST_CASE_TEMPLATE("sell with several threads a row on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& named : battery()) {
            for (const Index threads : {2, 4, 8, 16, 32}) {
                for (const Index height : {32 / threads, 7, 32, 64}) {
                    const std::string name = fmt::format("{}, {} threads a row, slice height {}", named.name, threads, height);
                    check_cuda_kernels<Value>(sell_entry(), name, stage_input(named.matrix), threads_per_row(threads, height),
                                              *device);
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

    TEST_CASE_TEMPLATE("ehyb without a partition or a part", Value, float, double) {
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

TEST_SUITE("large") {
    TEST_CASE_TEMPLATE("every layout on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            check_recipe<Value>(one, "uneven rows", uneven_matrix(20000, 20000, 40), *device);
            check_recipe<Value>(one, "tall", uneven_matrix(100000, 3000, 9), *device);
            check_recipe<Value>(one, "wide", uneven_matrix(3000, 100000, 60), *device);
        }
    }

    TEST_CASE_TEMPLATE("csr on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index most_per_row : {2, 6, 12, 25, 50, 100}) {  // every width of a sub-warp
            const CsrMatrix matrix = uneven_matrix(20000, 20000, most_per_row);
            const std::string name = fmt::format("uneven rows, up to {}", most_per_row);
            check_cuda_kernels<Value>(csr_entry(), name, stage_input(matrix), {}, *device);
        }
        check_cuda_kernels<Value>(csr_entry(), "tall", stage_input(uneven_matrix(100000, 3000, 9)), {}, *device);
        check_cuda_kernels<Value>(csr_entry(), "wide", stage_input(uneven_matrix(3000, 100000, 60)), {}, *device);
    }

    TEST_CASE_TEMPLATE("bsr on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        for (const Index most_per_row : {2, 12, 100}) {  // block rows of a few blocks and of many
            const StagedMatrix staged = stage_input(uneven_matrix(20011, 20011, most_per_row));
            for (const Index size : {2, 3, 4, 8}) {
                const std::string name = fmt::format("uneven rows, up to {}, blocks of {}", most_per_row, size);
                check_cuda_kernels<Value>(bsr_entry(), name, staged, blocks_of(size), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("dia and banded_block on large matrices with a band", Value, float, double) {
        const auto device = make_cuda_device();
        const std::pair<Index, Index> sides[] = {{20011, 20011}, {30000, 20000}, {20000, 30000}};
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
        const StagedMatrix staged = stage_input(uneven_matrix(20011, 20011, 40));
        for (const Index height : slice_heights()) {
            check_cuda_kernels<Value>(sell_entry(), fmt::format("slice height {}", height), staged, slice_height(height),
                                      *device);
        }
        check_cuda_kernels<Value>(sell_entry(), "tall", stage_input(uneven_matrix(100000, 3000, 9)), {}, *device);
    }

    TEST_CASE_TEMPLATE("sell with several threads a row on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const StagedMatrix staged = stage_input(uneven_matrix(5003, 5003, 40));
        for (const Index threads : {2, 4, 8, 16, 32}) {
            for (const Index height : {32 / threads, 100, 1024}) {
                check_cuda_kernels<Value>(sell_entry(), fmt::format("{} threads a row, slice height {}", threads, height),
                                          staged, threads_per_row(threads, height), *device);
            }
        }
    }

    TEST_CASE_TEMPLATE("staircase_sell on large matrices", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = uneven_matrix(5003, 5003, 40);
        for (const Index height : {1, 32, 512, 672, 1000, 1024, 4096}) {  // a slice is a block, or not
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

    TEST_CASE("staircase_sell follows x and y when they move") {
        const auto device = make_cuda_device();
        const StagedMatrix staged = staircase_of(uneven_matrix(5000, 5000, 20), 64, 0.01);
        const auto layout = build<double>(staircase_sell_entry(), staged, slice_height(64));
        for (const KernelEntry& entry : staircase_sell_entry().kernels) {
            if (entry.backend != Backend::cuda) continue;
            CAPTURE(entry.name);
            const auto kernel = entry.prepare.get<double>()(*layout, *device);
            std::vector<DeviceMemory> memory;  // all of it lives on, so that no address comes twice
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
        const CsrMatrix matrix = uneven_matrix(20000, 20000, 40);
        // Shares of x from a few bytes to more than the 48 KB that a block has without asking, and two at a time.
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

    TEST_CASE("two ehyb kernels with different shares of x live at the same time") {
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

    TEST_CASE("a share of x that exceeds the shared memory is refused with the figures and the way out") {
        const auto device = make_cuda_device();
        const auto columns = static_cast<Index>(device->properties().shared_memory_per_block / sizeof(double));
        const std::vector<Index> boundaries{0, 5, 5 + columns};
        const StagedMatrix staged = partitioned(block_diagonal_matrix(boundaries), boundaries);
        for (const KernelOutcome& outcome : try_kernels<double>(ehyb_entry(), Backend::cuda, staged, {}, *device)) {
            CHECK(outcome.status == KernelOutcome::Status::unsuitable);
            for (const std::string& figure : {std::string("partition 1 has ") + std::to_string(columns) + " columns",
                                              std::to_string(columns * sizeof(double) + sizeof(int)) + " bytes",
                                              std::to_string(device->properties().shared_memory_per_block),
                                              std::string("`parts` of stage metis_partition")}) {
                CHECK_MESSAGE(outcome.reason.find(figure) != std::string::npos,
                              fmt::format("\"{}\" lacks \"{}\"", outcome.reason, figure));
            }
        }
        // One column less fits, and the counter beside it too.
        const std::vector<Index> just_fitting{0, 5, 4 + columns};
        check_cuda_kernels<double>(ehyb_entry(), "all of the shared memory",
                                   partitioned(block_diagonal_matrix(just_fitting), just_fitting), {}, *device);
    }
}

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
        // Full blocks, so that BSR must take them: of 2, 3 and 4, on 1188 rows, and on rows that only 3 divides.
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
            check_verified(try_kernels<Value>(csr_entry(), Backend::cusparse, staged, {}, *device), "csr", name);
            check_verified(try_kernels<Value>(bsr_entry(), Backend::cusparse, staged, blocks_of(size), *device), "bsr", name);
        }
    }
}

TEST_SUITE("device") {
    TEST_CASE("the device tells what it is") {
        const auto device = make_cuda_device();
        REQUIRE(device != nullptr);
        CHECK_EQ(cuda_absence_reason(), "");
        const DeviceProperties& properties = device->properties();
        CHECK(properties.kind == DeviceKind::gpu);
        CHECK_FALSE(properties.name.empty());
        CHECK_GT(properties.processors, 0);
        CHECK_GE(properties.shared_memory_per_block, std::size_t{48} * 1024);
        CHECK_GT(properties.last_level_cache, std::size_t{256} * 1024);
        CHECK_GT(properties.memory, std::size_t{1} << 30);
        MESSAGE(fmt::format("{}: {} multiprocessors, {} bytes of shared memory a block, {} bytes of L2, {} bytes of memory",
                            properties.name, properties.processors, properties.shared_memory_per_block,
                            properties.last_level_cache, properties.memory));
    }

    TEST_CASE("memory that is not there is refused with its purpose and the bytes wanted and had") {
        const auto device = make_cuda_device();
        std::string text;
        try {
            (void)device->allocate(std::size_t{1} << 50, "a petabyte for the test");
        } catch (const MachineError& error) {
            text = error.what();
        }
        CHECK_NE(text.find("a petabyte for the test needs 1125899906842624 bytes"), std::string::npos);
        CHECK_NE(text.find("free are "), std::string::npos);
        CHECK_EQ(device->allocate(1024, "a little").bytes(), 1024);  // and the device is none the worse for it
    }

    TEST_CASE("copies come back as they went") {
        const auto device = make_cuda_device();
        const std::vector<double> there = real_vector(100001, 3);
        const DeviceMemory memory = to_device(*device, std::span(there), "a vector");
        std::vector<double> back(there.size());
        device->download(memory, std::as_writable_bytes(std::span(back)));
        CHECK(there == back);
        CHECK_EQ(to_device(*device, std::span<const double>(), "nothing").bytes(), 0);
    }

    TEST_CASE_TEMPLATE("scatter brings each value to its target", Value, float, double) {
        const auto device = make_cuda_device();
        constexpr Index count = 5003;
        std::vector<Value> values(count);
        std::vector<Index> target(count);
        for (Index i = 0; i < count; ++i) {
            values[i] = static_cast<Value>(i + 1);
            target[i] = static_cast<Index>((std::int64_t{i} * 1234 + 17) % count);  // 5003 is prime
        }
        const DeviceMemory device_values = to_device(*device, std::span<const Value>(values), "values");
        const DeviceMemory device_target = to_device(*device, std::span<const Index>(target), "target");
        const DeviceMemory y = device->allocate(count * sizeof(Value), "y");
        device->scatter(device_values.as<Value>(), device_target.as<Index>(), count, y.as<Value>());
        device->scatter(device_values.as<Value>(), device_target.as<Index>(), 0, y.as<Value>());
        std::vector<Value> found(count);
        device->download(y, std::as_writable_bytes(std::span(found)));
        std::vector<Value> expected(count);
        for (Index i = 0; i < count; ++i) expected[target[i]] = values[i];
        CHECK(found == expected);
    }
}

TEST_SUITE("timing") {
    TEST_CASE("time and bandwidth are of the order of the device's") {
        const auto device = make_cuda_device();
        CHECK_LT(device->time([] {}), 1e-3);
        const Bandwidth bandwidth = device->bandwidth();
        MESSAGE(fmt::format("copy {:.0f} GB/s, read {:.0f} GB/s", 1e-9 * bandwidth.copy, 1e-9 * bandwidth.read));
        for (const double each : {bandwidth.copy, bandwidth.read}) {
            CHECK_GT(each, 1e10);
            CHECK_LT(each, 2e13);
        }
        CHECK_EQ(device->bandwidth().copy, bandwidth.copy);  // measured once
    }

    TEST_CASE("a flush makes the next run find the cache cold") {
        const auto device = make_cuda_device();
        // A quarter of the cache, so that all of it stays there from one run to the next.
        const auto count = static_cast<Index>(device->properties().last_level_cache / 4 / (2 * sizeof(double) + sizeof(Index)));
        std::vector<Index> target(count);
        for (Index i = 0; i < count; ++i) target[i] = i;
        const DeviceMemory device_target = to_device(*device, std::span<const Index>(target), "target");
        const DeviceMemory values = to_device(*device, std::span<const double>(real_vector(count, 7)), "values");
        const DeviceMemory y = device->allocate(count * sizeof(double), "y");
        const auto work = [&] { device->scatter(values.as<double>(), device_target.as<Index>(), count, y.as<double>()); };
        const auto median = [&](CacheState cache) { return time_repeatedly(*device, work, {cache, 21, 0, 10}).median; };
        const double warm = median(CacheState::warm);
        const double cold = median(CacheState::cold);
        MESSAGE(fmt::format("{} values scattered: warm {:.2f} us, cold {:.2f} us", count, 1e6 * warm, 1e6 * cold));
        CHECK_GT(cold, warm);
    }
}

}  // namespace workbench
