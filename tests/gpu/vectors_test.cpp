// Products with several vectors on a GPU. Suite `vectors` is small enough for compute-sanitizer but for its first tests.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

#include "gpu/gpu_matrices.hpp"
#include "kernels/formats/coo/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/csr/merge_path.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/gpu/gpu.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "support/given.hpp"
#include "support/layouts/reach_of_nan.hpp"
#include "support/layouts/vectors_checks.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// Rows and row ends that are steps of the merge path of kernel `merge`: rows that end with a share or one step before or
/// after, shares without nonzeros, and a row of more than `shares` shares. Values in full, equal in each row, or in codes.
template <typename Value>
void check_merge(Device& device, int vectors, Index shares) {
    const Index size = vectors == 1 ? Merge::size : merge_groups(vectors, sizeof(Value)).size();
    std::vector<Index> lengths(static_cast<std::size_t>(2 * size), 0);
    for (const Index length : {size - 1, size - 1, 2 * size - 1, size, size - 2, 1, 0, size / 2, shares * size + 3, 2}) {
        lengths.push_back(length);
    }
    lengths.resize(lengths.size() + static_cast<std::size_t>(size) + 5, 0);
    lengths.push_back(7);
    lengths.push_back(0);
    Index columns = shares * size + 4;
    if (columns % 7 == 0) ++columns;  // matrix_of_rows lists each 7th
    for (const std::string_view values : {"full", "by_row", "dictionary"}) {
        if (vectors == 1 && values != "full") continue;
        NamedMatrix named{std::string(values), matrix_of_rows(lengths, columns)};
        for (Index row = 0; row < named.matrix.rows; ++row) {
            const Offset begin = named.matrix.row_offsets[row];
            for (Offset i = begin; i < named.matrix.row_offsets[row + 1] && values != "full"; ++i) {
                named.matrix.values[i] = static_cast<double>(values == "by_row" ? 1 + row % 7 : 1 + i % 5);
            }
        }
        const std::string text = fmt::format("[layout]\nuse = \"csr\"\nvalues = \"{}\"\n", values);
        const LayoutRecipe one{"csr", parse_recipe(text, "csr.toml", catalogue())};
        const std::string wrong = wrong_with_vectors<Value>(one, named, device, vectors, 0, "merge");
        CHECK_MESSAGE(wrong.empty(), wrong);
    }
}

}  // namespace

TEST_SUITE("vectors") {
    TEST_CASE_TEMPLATE("every GPU kernel multiplies several vectors on the battery", Value, float, double) {
        const auto device = make_cuda_device();
        std::size_t recipe = 0;
        for (const LayoutRecipe& one : layout_recipes()) {
            ++recipe;
            std::size_t number = 0;  // two of them for a recipe, because NVRTC compiles a kernel for each
            for (const NamedMatrix& named : one.matrices()) {
                const int vectors = numbers_of_vectors[(recipe + number++ % 2 * 3) % numbers_of_vectors.size()];
                const std::string wrong = wrong_with_vectors<Value>(one, named, *device, vectors);
                CHECK_MESSAGE(wrong.empty(), wrong);
            }
        }
    }

    TEST_CASE("every number of vectors on a GPU") {
        const auto device = make_cuda_device();
        const NamedMatrix long_rows{"long rows", long_rows_matrix()};
        for (const LayoutRecipe& one : layout_recipes()) {
            if (one.name != "csr" && one.name != "sell" && one.name != "csr16" && one.name != "coo") continue;
            for (int vectors = 2; vectors <= most_vectors; vectors += one.name == "csr" || vectors < 9 ? 1 : 5) {
                const std::string wrong = wrong_with_vectors<double>(one, long_rows, *device, vectors);
                CHECK_MESSAGE(wrong.empty(), wrong);
            }
        }
    }

    TEST_CASE_TEMPLATE("merge divides rows of any length for several vectors", Value, float, double) {
        const auto device = make_cuda_device();
        for (const int vectors : {1, 2, 3, 5, 8, 16, 17, 64}) check_merge<Value>(*device, vectors, 34);
    }

    TEST_CASE("merge divides rows for several vectors, for compute-sanitizer") {
        const auto device = make_cuda_device();
        for (const int vectors : {3, 4, 16}) check_merge<double>(*device, vectors, 3);
    }

    TEST_CASE("every hybrid multiplies several vectors on a GPU") {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : hybrid_recipes()) {
            for (const NamedMatrix& named : one.matrices()) {
                for (const std::size_t turn : {0, 1, 2}) {
                    const std::string wrong = wrong_with_vectors<double>(one, named, *device, 3, turn);
                    CHECK_MESSAGE(wrong.empty(), wrong);
                }
            }
        }
    }

    TEST_CASE("a NaN or an infinity of one vector reaches the rows that have its column, in this vector alone, on a GPU") {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            for (const NamedMatrix& named : one.matrices()) {
                if (named.matrix.columns > 12 || !one.takes(named.matrix)) continue;
                const StagedMatrix staged = one.stage(named.matrix);
                try {
                    const auto layout = one.build<double>(staged);
                    if (!foreign_padding(*layout, staged.matrix).empty()) continue;
                    for (const KernelEntry& entry : one.layout().kernels) {
                        if (entry.backend != Backend::cuda || !entry.prepare_vectors.f64) continue;
                        OneOfVectors kernel(entry.prepare_vectors.f64(*layout, {}, 5, *device), layout->rows(),
                                            layout->columns(), 5, 2, *device);
                        const std::string found = wrong_reach_of_nan(kernel, staged.matrix, *device, layout->rows_of_padding());
                        CHECK_MESSAGE((found.empty() && kernel.others_are_finite()), one.name, " ", entry.name, " on ",
                                      named.name, ": ", found);
                    }
                } catch (const Unsuitable&) {  // as in the test of every layout
                }
            }
        }
    }

    TEST_CASE("a small matrix with several vectors, for compute-sanitizer") {
        const auto device = make_cuda_device();
        for (const LayoutRecipe& one : layout_recipes()) {
            for (const NamedMatrix& named : one.matrices()) {
                if (named.matrix.nonzeros() < 20 || named.matrix.nonzeros() > 200 || !one.takes(named.matrix)) continue;
                for (const int vectors : {3, 8}) {
                    const std::string wrong = wrong_with_vectors<double>(one, named, *device, vectors);
                    CHECK_MESSAGE(wrong.empty(), wrong);
                }
                break;
            }
        }
    }

    TEST_CASE("vectors that do not begin at a multiple of 16 bytes are refused") {
        const auto device = make_cuda_device();
        const auto layout = build<double>(sell_entry(), stage_input(long_rows_matrix()), {});
        const DeviceMemory x = device->allocate((layout->columns() * 4 + 1) * sizeof(double), "X");
        const DeviceMemory y = device->allocate(layout->rows() * 4 * sizeof(double), "Y");
        for (const KernelEntry& entry : sell_entry().kernels) {
            if (entry.backend != Backend::cuda) continue;
            const auto kernel = entry.prepare_vectors.f64(*layout, {}, 4, *device);
            CHECK(message_of<MachineError>([&] { kernel->run(x.as<const double>() + 1, y.as<double>(), false); }) ==
                  "several vectors on a GPU begin at a multiple of 16 bytes; these do not");
        }
    }
}

}  // namespace workbench
