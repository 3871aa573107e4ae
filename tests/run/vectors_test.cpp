// Products with several vectors, Y = A X.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/common/compilation/compile.hpp"
#include "kernels/common/compilation/kernel_instance.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "pipeline/run/runner.hpp"
#include "run/catalogue_runs.hpp"
#include "support/eigen.hpp"
#include "support/given.hpp"
#include "support/layouts/reach_of_nan.hpp"
#include "support/layouts/vectors_checks.hpp"
#include "support/layouts/wrong_vectors.hpp"
#include "support/message_of.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

Device& host() {
    static const auto device = make_host_device();
    return *device;
}

/// A matrix of these columns in each row; entry k has value k + 1.
CsrMatrix matrix_of(Index columns, const std::vector<std::vector<Index>>& rows) {
    CsrMatrix matrix;
    matrix.rows = static_cast<Index>(rows.size());
    matrix.columns = columns;
    matrix.row_offsets = {0};
    for (const auto& row : rows) {
        for (const Index column : row) {
            matrix.column_indices.push_back(column);
            matrix.values.push_back(static_cast<double>(matrix.values.size()) + 1);
        }
        matrix.row_offsets.push_back(static_cast<Offset>(matrix.values.size()));
    }
    return matrix;
}

const KernelEntry& kernel_of(const LayoutEntry& entry, const std::string& name) {
    for (const KernelEntry& kernel : entry.kernels) {
        if (kernel.name == name) return kernel;
    }
    throw std::logic_error("no kernel " + name);
}

}  // namespace

TEST_CASE("X and Y are stored row by row, as Eigen's matrices of rows") {
    using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    for (const NamedMatrix& named : battery()) {
        CsrMatrix matrix = named.matrix;
        for (std::size_t i = 0; i < matrix.values.size(); ++i) matrix.values[i] = static_cast<double>(i % 5) - 1;
        const StagedMatrix staged = stage_input(matrix);
        const auto layout = build<double>(csr_entry(), staged, {});
        for (const int vectors : numbers_of_vectors) {
            Rows x(matrix.columns, vectors);
            for (Index i = 0; i < matrix.columns; ++i) {
                for (int j = 0; j < vectors; ++j) x(i, j) = (i * 7 + j * 13) % 31 - 15;
            }
            for (const char* name : {"rows", "eigen"}) {
                Rows y = Rows::Constant(matrix.rows, vectors, 3);
                const auto kernel = prepare_rows_kernel<double>(kernel_of(csr_entry(), name), *layout, {}, host(), vectors);
                kernel->run(x.data(), y.data(), true);
                const Rows expected = (to_eigen(matrix) * x).array() + 3;
                CHECK_MESSAGE(y == expected, named.name, ", ", name, ", vectors: ", vectors);
            }
        }
    }
}

TEST_CASE_TEMPLATE("every host kernel multiplies several vectors on the battery" * doctest::test_suite(slow), Value, float,
                   double) {
    for (const LayoutRecipe& one : layout_recipes()) {
        std::size_t number = 0;
        for (const NamedMatrix& named : one.matrices()) {
            // Each number of vectors meets each recipe, and each matrix.
            const int vectors = numbers_of_vectors[number++ % numbers_of_vectors.size()];
            const std::string wrong = wrong_with_vectors<Value>(one, named, host(), vectors);
            CHECK_MESSAGE(wrong.empty(), wrong);
        }
    }
}

TEST_CASE("every hybrid multiplies several vectors on the host") {
    for (const LayoutRecipe& one : hybrid_recipes()) {
        for (const NamedMatrix& named : one.matrices()) {
            for (const std::size_t turn : {0, 1}) {
                const std::string wrong = wrong_with_vectors<double>(one, named, host(), 3, turn);
                CHECK_MESSAGE(wrong.empty(), wrong);
            }
        }
    }
}

TEST_CASE("a NaN or an infinity of one vector reaches the rows that have its column, in this vector alone") {
    std::set<std::string> wrong;
    for (const LayoutRecipe& one : layout_recipes()) {
        for (const NamedMatrix& named : one.matrices()) {
            if (named.matrix.columns > 12 || !one.takes(named.matrix)) continue;
            const StagedMatrix staged = one.stage(named.matrix);
            try {
                const auto layout = one.build<double>(staged);
                for (const KernelEntry& entry : one.layout().kernels) {
                    if (device_of(entry.backend) != DeviceKind::host || !entry.prepare_vectors.f64) continue;
                    OneOfVectors kernel(entry.prepare_vectors.f64(*layout, {}, 5, host()), layout->rows(), layout->columns(), 5,
                                        2, host());
                    const std::string found = wrong_reach_of_nan(kernel, staged.matrix, host());
                    if (!found.empty() || !kernel.others_are_finite()) wrong.insert(one.layout().name + " " + entry.name);
                }
            } catch (const Unsuitable&) {  // as in the test of every layout
            }
        }
    }
    CHECK(wrong == std::set<std::string>());
}

TEST_CASE("a product with several vectors moves the matrix once, and each vector") {
    const CsrMatrix matrix = matrix_of(5, {{0, 4}, {}, {1, 2, 3}});
    const auto layout = build<double>(csr_entry(), stage_input(matrix), {});
    const std::int64_t arrays = layout->array_bytes();
    const auto bytes = [&](const char* name, int vectors) {
        return prepare_rows_kernel<double>(kernel_of(csr_entry(), name), *layout, {}, host(), vectors)->own_bytes_to_move();
    };
    CHECK(bytes("rows", 4) == arrays + 4 * 8 * (5 + 3));
    CHECK(bytes("eigen", 4) == arrays + 4 * 8 * (5 + 3));
    // Without a kernel for several vectors: the matrix for each of them, and X and Y once more through a buffer.
    KernelEntry plain = kernel_of(csr_entry(), "rows");
    plain.prepare_vectors = {};
    CHECK(prepare_rows_kernel<double>(plain, *layout, {}, host(), 4)->own_bytes_to_move() ==
          4 * (arrays + 8 * (5 + 3)) + 2 * 4 * 8 * (5 + 3));
}

TEST_CASE("a wrong vector is noticed, and named") {
    const CsrMatrix matrix = matrix_of(3, {{0, 1}, {1, 2}, {0, 2}});
    /// Exchanges two vectors.
    class Exchanges final : public Kernel<double> {
    public:
        Exchanges(std::unique_ptr<Kernel<double>> kernel, int first, int second)
            : kernel_(std::move(kernel)), first_(first), second_(second) {}
        void run(const double* x, double* y, bool accumulate) override {
            kernel_->run(x, y, accumulate);
            for (Index row = 0; row < 3; ++row) std::swap(y[row * 9 + first_], y[row * 9 + second_]);
        }

    private:
        std::unique_ptr<Kernel<double>> kernel_;
        int first_;
        int second_;
    };
    const LayoutEntry csr = csr_entry();
    const std::shared_ptr<const Layout<double>> layout = build<double>(csr, stage_input(matrix), {});
    for (int first = 0; first < 9; ++first) {
        for (int second = first + 1; second < 9; ++second) {
            KernelEntry kernel = kernel_of(csr, "rows");
            kernel.prepare_vectors.f64 = [=](const Layout<double>& of, std::span<const Index> rows, int vectors,
                                             Device& device) {
                return std::make_unique<Exchanges>(
                    kernel_of(csr_entry(), "rows").prepare_vectors.f64(of, rows, vectors, device), first, second);
            };
            const Oracle<double> oracle(matrix, std::nullopt);  // on real values alone
            const auto space = std::make_shared<const ProductSpace>(Permutation::identity(3), Permutation::identity(3), 9);
            const Candidate<double> candidate{.shares = {{&kernel, {.real = layout}}}, .space = space};
            const KernelOutcome outcome = Verifier<double>{host(), &oracle}.verify(candidate).outcome;
            CHECK(outcome.status == KernelOutcome::Status::wrong);
            CHECK(outcome.reason.starts_with("vector " + std::to_string(first + 1) + ": row "));
        }
    }
}

TEST_CASE("a run refuses a kernel that is wrong for several vectors alone") {
    const auto device = make_host_device();
    for (const WrongVectors fault : all_wrong_vectors) {
        const Catalogue faulty = catalogue_with(fault);
        const Recipe recipe = parse_recipe("[layout]\nuse = \"sell\"\n", "sell.toml", faulty);
        for (const int vectors : {1, 2, 5, 16}) {
            RunOptions options;
            options.timing = quick;
            options.vectors = vectors;
            const CsrMatrix matrix = grid(9);
            Runner runner(matrix, faulty, {*device}, options);
            const RunReport report = runner.run(recipe, {});
            CHECK(report.all_verified() == (vectors == 1));
            for (const KernelOutcome& kernel : report.kernels) {
                CHECK(kernel.verified() == (vectors == 1 || kernel.layout != "sell"));
                if (kernel.verified()) continue;
                CHECK(kernel.status == KernelOutcome::Status::wrong);
                const int wrong = fault == WrongVectors::neighbour ? vectors - 1 : vectors;
                const std::string row = fault == WrongVectors::last_element ? ": row 80 " : ": row 0";
                CHECK_MESSAGE(kernel.reason.starts_with("vector " + std::to_string(wrong) + row), kernel.reason);
            }
        }
    }
}

TEST_CASE("products of matrices without rows, without columns and without both are timed, too") {
    const auto device = make_host_device();
    for (const auto& [rows, columns] : {std::pair{0, 3}, {3, 0}, {0, 0}}) {
        for (const int vectors : {1, 3}) {
            RunOptions options;
            options.timing = quick;
            options.vectors = vectors;
            const CsrMatrix matrix = csr_from_entries(rows, columns, {});
            Runner runner(matrix, catalogue(), {*device}, options);
            CHECK(runner.run(parse_recipe("[layout]\nuse = \"csr\"\n", "csr.toml", catalogue()), {}).all_verified());
        }
    }
}

TEST_CASE("a hybrid prefers kernels that read the matrix once for several vectors") {
    Catalogue all = catalogue();
    for (LayoutEntry& layout : all.layouts) {
        if (layout.name != "csr") continue;
        KernelEntry first = kernel_of(layout, "rows");
        first.name = "one by one";
        first.prepare_vectors = {};
        layout.kernels.insert(layout.kernels.begin(), first);
    }
    const auto device = make_host_device();
    const CsrMatrix matrix = matrix_of(4, {{0}, {0, 1, 2, 3}, {}, {1, 2}, {0, 1, 3}});
    const auto backend_of = [&](const std::string& chosen, int vectors, const std::string& kernel_of_first) {
        const Recipe recipe = parse_recipe(
            "[[stage]]\nuse = \"split\"\nby = \"row_length\"\nbounds = [2]\n[[layout]]\nshare = \"bin_0\"\nuse = \"csr\"\n" +
                kernel_of_first + "[[layout]]\nshare = \"bin_1\"\nuse = \"csr\"\n",
            "hybrid.toml", all);
        RunOptions options;
        options.timing = quick;
        options.vectors = vectors;
        Runner runner(matrix, all, {*device}, options);
        const RunReport report = runner.run(recipe, {});
        CHECK(report.all_verified());
        const auto whole = std::ranges::find(report.kernels, chosen, &KernelOutcome::kernel);
        REQUIRE(whole != report.kernels.end());
        return whole->backend;
    };
    CHECK(backend_of("one by one + one by one", 1, "") == Backend::kokkos);
    CHECK(backend_of("rows + rows", 3, "") == Backend::kokkos);
    CHECK(backend_of("eigen + one by one", 1, "kernel.eigen = \"eigen\"\n") == Backend::eigen);  // that of the first share

    const auto notes = [&](int vectors, const std::string& only) {
        RunOptions options;
        options.timing = quick;
        options.vectors = vectors;
        options.only = only;
        Runner runner(matrix, all, {*device}, options);
        return runner.run(parse_recipe("[layout]\nuse = \"csr\"\n", "csr.toml", all), {}).notes;
    };
    CHECK(notes(3, "one by one") == std::vector<std::string>{"multiplying the vectors one after another: one by one (kokkos)"});
    CHECK(notes(1, "one by one").empty());
    CHECK(notes(3, "rows").empty());
}

TEST_CASE("vectors of 2^31 elements or more in all are refused") {
    const Permutation large = Permutation::identity(100'000);
    CHECK(message_of<InputError>([&] { (void)ProductSpace(large, large, 21475); }) ==
          "21475 vectors of 100000 elements: several vectors may have fewer than 2^31 elements");
    CHECK(ProductSpace(large, large, 21474).vectors == 21474);
}

TEST_CASE("NVRTC compiles kernels with loops of their own for values in codes, equal or rounded") {
    if (const std::string why = nvrtc_absence_reason(); !why.empty()) {
        MESSAGE("left out: ", why);
        return;
    }
    const std::string codes = "<Coded<double, std::uint8_t>, ArrayView>";
    const KernelInstance adaptive{"csr/adaptive.cuh", "csr_adaptive::multiply_tiles<TileShape<4, 5, TileLimits{256, 4}>, Csr" +
                                                          codes + ", StreamingPackets, double>"};
    const KernelInstance csr5{"csr5/kernel.cuh", "csr5::multiply_tiles<4, StreamingLoad, Csr5" + codes + ", double>"};
    const KernelInstance bccoo{
        "bccoo/kernel.cuh",
        "bccoo::multiply_tiles<bccoo::BlockOfSize<2, 3, 4>, StreamingLoad, Bccoo<float, ArrayView>, double>"};
    const std::string coded_blocks = "<CodedBlock<double>, ArrayView>, double";
    const KernelInstance block_sell{
        "blocks/kernel.cuh",
        "block_sell::multiply_slices<BlockSellThreads<3, 1, SliceKind{static_cast<ColumnKind>(1), false}>, BlockSell" +
            coded_blocks + ", StreamingLoad>"};
    const KernelInstance bsr{"blocks", "multiply_rows<RowsInBlocks<3>, Bsr" + coded_blocks + ">"};
    const KernelInstance hola{
        "hola/kernel.cuh",
        "hola::multiply_shares<HolaShape<256, 7>, 3, StreamingLoad, Hola<Constant<float>, ArrayView>, float>"};
    const KernelInstance by_lengths{
        "rows/by_lengths.cuh",
        "sell_by_lengths::multiply_by_lengths<SellWholeRows<0, SliceKind{static_cast<ColumnKind>(4), true, false}>, "
        "SellWithLengths<RowsOfShape<RowShape{RowsTogether::slices, ColumnsFrom::row}, double, ArrayView>>, double>"};
    // Headers of the current folder are not taken for those of the program.
    const TemporaryFolder current;
    std::filesystem::create_directories(current.path() / "kernels/common/schedule");
    std::ofstream(current.path() / "kernels/common/schedule/vectors_kernel.cuh") << "wrong";
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(current.path());
    for (const KernelInstance& one : {adaptive, csr5, bccoo, block_sell, bsr, hola, by_lengths})
        CHECK_NOTHROW(compile_instance(one, "sm_90"));
    std::filesystem::current_path(before);
}

TEST_CASE("NVRTC compiles the kernels of every format for one vector and for several") {
    if (const std::string why = nvrtc_absence_reason(); !why.empty()) {
        MESSAGE("left out: ", why);
        return;
    }
    std::set<std::string> compiled;
    for (const LayoutRecipe& one : layout_recipes()) {
        const CsrMatrix* smallest = nullptr;
        for (const NamedMatrix& named : one.matrices()) {
            if (!one.takes(named.matrix) || named.matrix.nonzeros() < 10) continue;
            if (smallest == nullptr || named.matrix.nonzeros() < smallest->nonzeros()) smallest = &named.matrix;
        }
        if (smallest == nullptr) continue;
        try {
            const auto layout = one.build<double>(one.stage(*smallest));
            for (const ScheduleEntry& schedule : one.layout().schedules) {
                if (schedule.compile_vectors.f64 == nullptr) continue;
                CHECK_NOTHROW(schedule.compile_vectors.f64(*layout, 5, "sm_90"));
                compiled.insert(one.layout().name);
                CHECK_NOTHROW(schedule.compile_vectors.f64(*layout, 1, "sm_90"));
            }
        } catch (const Unsuitable&) {  // as in the test of every layout
        }
    }
    for (const char* name :
         {"csr", "csr16", "sell", "ehyb", "ell", "ellr", "hyb", "jds", "rows", "coo", "dia", "banded_block"}) {
        CHECK_MESSAGE(compiled.contains(name), name);
    }
}

}  // namespace workbench
