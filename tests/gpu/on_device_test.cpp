// Matrices that the GPU orders and stores in slices where they lie, compared with the stages and the layout on the host.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu_matrices.hpp"
#include "kernels/device/cuda_device.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/contract/errors.hpp"
#include "pipeline/matrix/battery.hpp"
#include "pipeline/matrix/random.hpp"
#include "pipeline/recipe/sliced_request.hpp"
#include "pipeline/run/chain.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

Recipe parsed(const std::string& text) { return parse_recipe("[recipe]\nname = 'x'\n" + text, "x.toml", catalogue()); }

const std::string by_cuthill_mckee = "[[stage]]\nuse = 'cuthill_mckee'\n";
const std::string plain_cm = "[[stage]]\nuse = 'cuthill_mckee'\nvariant = 'plain'\n";
const std::string windows = "[[stage]]\nuse = 'row_sort'\nwithin = 'window'\nwindow = 64\n";
const std::string short_columns = "[layout]\nuse = 'sell'\nslice_height = 'auto'\ncolumn_index = 'u16'\n";

const std::vector<std::string> sliced_recipes{
    "[layout]\nuse = 'sell'\n",
    by_cuthill_mckee + "[layout]\nuse = 'sell'\nthreads_per_row = 1\n",
    plain_cm + windows + "[layout]\nuse = 'sell'\nslice_height = 16\n",
    by_cuthill_mckee + windows + short_columns,
    "[[stage]]\nuse = 'row_sort'\n" + short_columns,
    by_cuthill_mckee +
        "[[stage]]\nuse = 'row_sort'\norder = 'ascending'\n[layout]\nuse = 'sell'\nslice_height = 5\nthreads_per_row = 2\n",
};

/// A matrix on the device, with row offsets of 32 or 64 bits.
template <ValueType Value>
struct OnDevice {
    OnDevice(Device& device, const CsrMatrix& matrix, bool long_offsets) {
        const std::vector<std::int32_t> narrow(matrix.row_offsets.begin(), matrix.row_offsets.end());
        const std::vector<Value> rounded(matrix.values.begin(), matrix.values.end());
        offsets = long_offsets ? to_device(device, std::span<const Offset>(matrix.row_offsets), "row offsets")
                               : to_device(device, std::span<const std::int32_t>(narrow), "row offsets");
        columns = to_device(device, std::span<const Index>(matrix.column_indices), "columns");
        values = to_device(device, std::span<const Value>(rounded), "values");
        view = {.rows = matrix.rows,
                .columns = matrix.columns,
                .nonzeros = matrix.nonzeros(),
                .row_offsets = offsets.address(),
                .long_offsets = long_offsets,
                .column_indices = columns.as<const Index>(),
                .values = values.template as<const Value>()};
    }
    DeviceMemory offsets, columns, values;
    CsrOnDevice<Value> view;
};

/// The order, the arrays and the kernel of a recipe on the device equal those of the host.
template <ValueType Value>
void check_like_host(Device& device, const std::string& text, const CsrMatrix& matrix, const std::string& where) {
    CAPTURE(text);
    CAPTURE(where);
    const Recipe recipe = parsed(text);
    const std::optional<SlicedRequest> request = sliced_request(recipe);
    REQUIRE(request.has_value());
    const OnDevice<Value> there(device, matrix, matrix.rows % 2 == 0);
    const auto sliced = device.make_sliced(*request, there.view);
    CHECK(sliced->difference(there.view) == "");

    StagedMatrix staged = stage_input(matrix, 1);
    (void)apply_stages(recipe, staged, {});
    const std::span<const Index> order = staged.row_order.old_of_new();
    CHECK(std::ranges::equal(sliced->order(), order));
    const RecipeLayout& layout = recipe.layouts.front();
    const auto built = layout.entry->build_for<Value>(staged, layout.parameters);
    for (const LayoutField& field : built->fields()) {
        if (!field.is_array()) continue;
        const std::vector<std::byte> found = sliced->array(field.name);
        const auto* const expected = static_cast<const std::byte*>(field.data);
        CHECK_MESSAGE(std::ranges::equal(found, std::span(expected, field.bytes())), field.name);
    }
    CHECK(sliced->facts().bytes == built->array_bytes());

    std::vector<Value> diagonal(static_cast<std::size_t>(matrix.rows));
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            if (matrix.column_indices[k] == row) diagonal[row] = static_cast<Value>(matrix.values[k]);
        }
    }
    CHECK(sliced->diagonal(there.view) == diagonal);
}

/// Two-dimensional grid of five points, with isolated rows and several components.
CsrMatrix grid(Index width, Index height) {
    std::vector<Entry> entries;
    const auto is_isolated = [](Index vertex) { return vertex % 37 == 5; };
    const auto at = [&](Index x, Index y) { return y * width + x; };
    for (Index y = 0; y < height; ++y) {
        for (Index x = 0; x < width; ++x) {
            const Index own = at(x, y);
            entries.push_back({own, own, 4.0 + static_cast<double>(own % 7)});
            if (is_isolated(own)) continue;
            const bool cut = y + 1 < height && (y + 1) % 29 == 0;  // components of 29 lines
            if (x + 1 < width && !is_isolated(own + 1)) {
                entries.push_back({own, own + 1, -1.25});
                entries.push_back({own + 1, own, -1.25});
            }
            if (y + 1 < height && !cut && !is_isolated(at(x, y + 1))) {
                entries.push_back({own, at(x, y + 1), -0.75});
                entries.push_back({at(x, y + 1), own, -0.75});
            }
        }
    }
    return csr_from_entries(width * height, width * height, entries);
}

/// Each row has its diagonal, some neighbours, and some entries far from it, with their mirror images.
CsrMatrix scattered(Index rows, int per_row, std::uint64_t seed) {
    std::vector<Entry> entries;
    for (Index row = 0; row < rows; ++row) entries.push_back({row, row, 9});
    for (Index row = 0; row < rows; ++row) {
        for (int k = 0; k < per_row; ++k) {
            const std::uint64_t number = mixed(seed + static_cast<std::uint64_t>(row) * 64 + static_cast<std::uint64_t>(k));
            const auto column = static_cast<Index>(number % static_cast<std::uint64_t>(rows));
            if (column == row) continue;
            entries.push_back({row, column, 0.5});
            entries.push_back({column, row, 0.5});
        }
    }
    return csr_from_entries(rows, rows, entries);
}

std::string left_to_host(Device& device, const std::string& text, const CsrMatrix& matrix) {
    const OnDevice<double> there(device, matrix, true);
    try {
        (void)device.make_sliced(*sliced_request(parsed(text)), there.view);
    } catch (const LeftToHost& reason) {
        return reason.what();
    }
    return "";
}

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("a matrix on the device is ordered and sliced there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(23, 61)},
                                                {"long grid", grid(3, 700)},
                                                {"scattered", scattered(700, 3, 1)},
                                                {"long rows", scattered(400, 30, 2)},
                                                {"few components", grid(80, 28)}};
        for (const std::string& text : sliced_recipes) {
            for (const NamedMatrix& each : matrices) {
                check_like_host<double>(*device, text, each.matrix, each.name);
                check_like_host<float>(*device, text, each.matrix, each.name);
            }
        }
        check_like_host<double>(*device, sliced_recipes[1], grid(1, 1), "one row");
        check_like_host<double>(*device, sliced_recipes[1], grid(3, 2), "six rows");
    }

    TEST_CASE("a matrix that a GPU does not prepare is left to the host, with the reason") {
        const auto device = make_cuda_device();
        CsrMatrix unsorted = grid(5, 5);
        std::swap(unsorted.column_indices[0], unsorted.column_indices[1]);
        CHECK(left_to_host(*device, sliced_recipes[0], unsorted) == "the columns of a row do not ascend");
        CsrMatrix wrong = grid(5, 5);
        wrong.column_indices.back() = 25;
        CHECK(left_to_host(*device, sliced_recipes[0], wrong) == "the arrays are no matrix");
        wrong = grid(5, 5);
        wrong.row_offsets[3] = 1000000;
        CHECK(left_to_host(*device, sliced_recipes[0], wrong) == "the arrays are no matrix");
        const std::vector<Entry> one_way_entries{{0, 0, 1}, {0, 2, 1}, {1, 1, 1}, {2, 2, 1}};
        const CsrMatrix one_way = csr_from_entries(3, 3, one_way_entries);
        CHECK(left_to_host(*device, by_cuthill_mckee + short_columns, one_way) ==
              "the pattern suits no Cuthill-McKee on a GPU");
        CHECK(left_to_host(*device, "[layout]\nuse = 'sell'\nthreads_per_row = 1\n", one_way) == "");
        CHECK(left_to_host(*device, sliced_recipes[0], one_way) == "most slots would be padding");
        CHECK(left_to_host(*device, sliced_recipes[0], csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}})) ==
              "the matrix is not square");
        CHECK(left_to_host(*device, "[layout]\nuse = 'sell'\nslice_height = 12\n", grid(9, 9)) ==
              "slices of 12 rows do not fill a warp");
        CHECK(left_to_host(*device, "[layout]\nuse = 'sell'\nsplit_length = 3\n", grid(9, 9)) ==
              "a row has 5 nonzeros, more than split_length");
    }

    TEST_CASE("a difference between the slices and the matrix is found") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = grid(40, 40);
        const OnDevice<double> there(*device, matrix, true);
        const auto sliced = device->make_sliced(*sliced_request(parsed(sliced_recipes[3])), there.view);
        CHECK(sliced->difference(there.view) == "");
        CsrMatrix other = matrix;
        const Offset last = other.row_offsets[801] - 1;  // of row 800
        other.column_indices[last] = 1598;
        const OnDevice<double> changed(*device, other, true);
        CHECK(sliced->difference(changed.view) == "y = A x with integers: row 800 is wrong");
    }
}

// One matrix, because racecheck takes long for kernels whose thread blocks wait for each other.
TEST_SUITE("shared_memory") {
    TEST_CASE("a small matrix on the device is ordered and sliced there") {
        const auto device = make_cuda_device();
        check_like_host<double>(*device, sliced_recipes[3], grid(9, 31), "grid");
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("large matrices on the device are ordered and sliced there as on the host") {
        const auto device = make_cuda_device();
        const std::vector<NamedMatrix> matrices{{"grid", grid(1000, 28)},
                                                {"scattered, wide slices", scattered(150000, 4, 3)},
                                                {"long rows", scattered(30000, 40, 4)}};
        for (const std::string& text : sliced_recipes) {
            for (const NamedMatrix& each : matrices) check_like_host<double>(*device, text, each.matrix, each.name);
        }
        check_like_host<float>(*device, sliced_recipes[3], matrices[1].matrix, matrices[1].name);
    }
}

}  // namespace workbench
