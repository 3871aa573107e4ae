// The library's operators on the GPU, with arrays on the device and on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/library_matrices.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/message_of.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::Operator;

/// Runs a call with arrays of the device, between other work on its stream.
template <typename Value>
auto on(Device& device,
        const std::function<void(spmv_workbench::DeviceArray<const Value>, spmv_workbench::DeviceArray<Value>)>& call) {
    return [&device, call](const std::vector<Value>& x, std::vector<Value>& y) {
        const DeviceMemory x_there = to_device(device, std::span(x), "x");
        DeviceMemory y_there = to_device(device, std::span<const Value>(y), "y");
        call(on_device(x_there.as<const Value>(), x.size()), on_device(y_there.as<Value>(), y.size()));
        device.download(y_there, std::as_writable_bytes(std::span(y)));
    };
}

template <typename Value>
OperatorCalls<Value> device_calls(Operator<Value>& a, Device& device) {
    return {on<Value>(device, [&](auto x, auto y) { a.multiply(x, y); }),
            on<Value>(device, [&](auto x, auto y) { a.multiply_add(x, y); }),
            on<Value>(device, [&](auto x, auto y) { a.multiply_in_recipe_order(x, y); }),
            on<Value>(device, [&](auto x, auto y) { a.multiply_add_in_recipe_order(x, y); }),
            on<Value>(device, [&](auto from, auto to) { a.to_recipe_order(from, to); }),
            on<Value>(device, [&](auto from, auto to) { a.from_recipe_order(from, to); })};
}

/// The recipe applied to a matrix, on the stream of the device.
template <typename Value>
Operator<Value> operator_on(Device& device, const std::string& recipe, const CsrMatrix& matrix) {
    spmv_workbench::Options options;
    options.device = spmv_workbench::Device::gpu;
    options.stream = stream_of(device);
    options.triangle = spmv_workbench::Triangle::as_given;
    return Operator<Value>(recipe_of(recipe), Arrays<Value>(matrix).view(), options);
}

/// What the notes of an operator say of the place of its preparation.
std::string place_of(const spmv_workbench::OperatorFacts& facts) {
    for (const std::string& note : facts.notes) {
        if (note.rfind("prepared on the GPU: checks ", 0) == 0) return "gpu";
        if (note.rfind("prepared on the host: ", 0) == 0) return note;
    }
    return "";
}

}  // namespace

TEST_SUITE("device") {
    TEST_CASE_TEMPLATE("an operator for a matrix on the GPU", Value, float, double) {
        const auto device = make_cuda_device();
        for (const NamedMatrix& each : battery()) {
            const CsrMatrix matrix = each.matrix.square() ? sum_with_transpose(each.matrix) : each.matrix;
            const std::string on_host = "[layout]\nuse = \"coo\"\n";
            for (const std::string& text :
                 {prepared_there, node_blocks_there, rcm_blocks_there, recipes[0], recipes[2], on_host}) {
                CAPTURE(text);
                CAPTURE(each.name);
                const bool is_left = text == on_host;
                if (!is_left && text != recipes[0] && text != recipes[2] && !matrix.square()) continue;
                const MatrixThere<Value> there(*device, matrix);
                Operator<Value> a(recipe_of(text), there.view(), on_stream_of(*device));
                CHECK(a.facts().device == spmv_workbench::Device::gpu);
                CHECK(a.facts().verified);
                CHECK(a.facts().nonzeros == matrix.nonzeros());
                if (is_left) CHECK(place_of(a.facts()) == "prepared on the host: a GPU does not store layout coo");
                check_operator<Value>(a, matrix, device_calls(a, *device));
                CsrMatrix other = matrix;
                for (double& value : other.values) value = 3 - 2 * value;
                const MatrixThere<Value> changed(*device, other);
                a.set_values(on_device(changed.values.template as<const Value>(), changed.nonzeros));
                check_operator<Value>(a, other, device_calls(a, *device));
                const std::vector<Value> first(matrix.values.begin(), matrix.values.end());
                a.set_values(first);
                check_operator<Value>(a, matrix, device_calls(a, *device));
            }
        }
    }

    TEST_CASE_TEMPLATE("a matrix on the host that the recipe has the GPU prepare", Value, float, double) {
        const auto device = make_cuda_device();
        const std::string asks = "[recipe]\nprepare = \"gpu\"\n";
        for (const NamedMatrix& each : battery()) {
            const CsrMatrix matrix = each.matrix.square() ? sum_with_transpose(each.matrix) : each.matrix;
            for (const std::string& text : {prepared_there, node_blocks_there, rcm_blocks_there, recipes[0], recipes[2]}) {
                if (text != recipes[0] && text != recipes[2] && !matrix.square()) continue;
                CAPTURE(text);
                CAPTURE(each.name);
                const auto check_all = [&](Operator<Value>& a, const CsrMatrix& expected_matrix) {
                    check_operator<Value>(a, expected_matrix, device_calls(a, *device));
                    constexpr int count = 3;
                    const auto x = numbers<Value>(matrix.columns * count, 4);
                    std::vector<Value> y(static_cast<std::size_t>(matrix.rows) * count);
                    a.multiply(x, y, count);
                    const std::vector<Value> zeros(static_cast<std::size_t>(matrix.rows));
                    for (int j = 0; j < count; ++j) {
                        const auto right = expected(expected_matrix, column_of(x, j, count), zeros);
                        CHECK(close(column_of(y, j, count), right, expected_matrix));
                    }
                    const std::vector<Value> diagonal = a.diagonal();
                    for (std::size_t i = 0; i < diagonal.size(); ++i) {
                        const auto columns = expected_matrix.row_columns(static_cast<Index>(i));
                        const auto found = std::ranges::find(columns, static_cast<Index>(i));
                        const Offset place = expected_matrix.row_offsets[i] + (found - columns.begin());
                        CHECK(diagonal[i] ==
                              (found == columns.end() ? Value{0} : static_cast<Value>(expected_matrix.values[place])));
                    }
                };
                Operator<Value> a = operator_on<Value>(*device, asks + text, matrix);
                CHECK(a.facts().verified);
                const Operator<Value> of_host = operator_on<Value>(*device, text, matrix);
                CHECK(place_of(of_host.facts()).empty());
                CHECK(std::ranges::equal(a.row_order(), of_host.row_order()));
                CHECK(std::ranges::equal(a.column_order(), of_host.column_order()));
                check_all(a, matrix);
                CsrMatrix other = matrix;
                for (double& value : other.values) value = 3 - 2 * value;
                a.set_values(Arrays<Value>(other).values);
                check_all(a, other);
                a.set_values(Arrays<Value>(matrix, 8).view());
                check_all(a, matrix);
                if (matrix.square()) continue;
                const auto x = numbers<Value>(matrix.rows, 5);
                std::vector<Value> y(static_cast<std::size_t>(matrix.columns));
                Operator<Value> transposed = a.transposed();
                transposed.multiply(x, y);
                CHECK(close(y, expected(transpose(matrix), x, std::vector<Value>(y.size())), matrix));
            }
        }
        const CsrMatrix matrix = sum_with_transpose(block_diagonal_matrix({0, 900, 1000, 5000}));
        Operator<Value> a = operator_on<Value>(*device, asks + prepared_there, matrix);
        CHECK(place_of(a.facts()) == "gpu");
        CsrMatrix changed = matrix;
        changed.column_indices[0] += 1;
        CHECK_THROWS_AS(a.set_values(Arrays<Value>(changed).view()), spmv_workbench::MatrixError);
        CHECK(place_of(operator_on<Value>(*device, asks + "[layout]\nuse = \"coo\"\n", matrix).facts()) ==
              "prepared on the host: a GPU does not store layout coo");
    }

    TEST_CASE("where a matrix on the GPU is prepared, and what is wrong with it") {
        const auto device = make_cuda_device();
        CsrMatrix matrix = sum_with_transpose(block_diagonal_matrix({0, 900, 1000, 5000}));
        const auto notes = [&](const std::string& text = prepared_there) {
            const MatrixThere<double> there(*device, matrix);
            return place_of(Operator<double>(recipe_of(text), there.view(), on_stream_of(*device)).facts());
        };
        CHECK(notes() == "gpu");
        CHECK(notes(node_blocks_there) == "gpu");
        CHECK(notes(rcm_blocks_there) == "gpu");
        CHECK(notes(recipes[0]) == "gpu");
        std::swap(matrix.column_indices[0], matrix.column_indices[1]);
        CHECK(notes() == "prepared on the host: the columns of a row do not ascend");
        const auto notes_of_half = [&](spmv_workbench::Triangle triangle) {
            std::vector<Entry> lower;
            for (Index row = 0; row < 5000; ++row) lower.push_back({row, row - row % 7, 1.0});
            const MatrixThere<double> there(*device, csr_from_entries(5000, 5000, lower));
            spmv_workbench::Options options = on_stream_of(*device);
            options.triangle = triangle;
            const std::string in_order = "[layout]\nuse = \"sell\"\ncolumn_index = \"u16\"\n";
            return place_of(Operator<double>(recipe_of(in_order), there.view(), options).facts());
        };
        CHECK(notes_of_half(spmv_workbench::Triangle::as_given) == "gpu");
        CHECK(notes_of_half(spmv_workbench::Triangle::symmetric) == "prepared on the host: only half of the matrix is given");
        CHECK(message_of<spmv_workbench::MatrixError>([&] {
                  (void)notes_of_half(spmv_workbench::Triangle::refused);
              }).find("all entries are on the diagonal or below it") != std::string::npos);
        matrix.column_indices[0] = 5000;
        CHECK(message_of<spmv_workbench::MatrixError>([&] { (void)notes(); }) ==
              "the matrix: row 0 has an entry in column 5000; expected 0 to 4999");
        const MatrixThere<double> there(*device, sum_with_transpose(block_diagonal_matrix({0, 100})));
        spmv_workbench::DeviceCsrView<double> view = there.view();
        view.rows = 99;
        CHECK(message_of<spmv_workbench::MatrixError>([&] {
                  Operator<double>(recipe_of(prepared_there), view, on_stream_of(*device));
              }) == "the matrix: 101 row offsets for 99 rows and 100 columns; expected rows + 1");
    }

    TEST_CASE_TEMPLATE("an operator multiplies on the stream of its caller", Value, float, double) {
        const auto device = make_cuda_device();
        for (const std::string& text : recipes) {
            for (const NamedMatrix& each : battery()) {
                if (!each.matrix.square() && text.find("random_order") != std::string::npos) continue;
                CAPTURE(text);
                CAPTURE(each.name);
                Operator<Value> a = operator_on<Value>(*device, text, each.matrix);
                CHECK(a.facts().device == spmv_workbench::Device::gpu);
                check_operator<Value>(a, each.matrix, device_calls(a, *device));
            }
        }
    }

    TEST_CASE_TEMPLATE("an operator on the GPU takes new values, after products that may still run", Value, float, double) {
        const auto device = make_cuda_device();
        for (const std::string& text : recipes) {
            for (const NamedMatrix& each : battery()) {
                if (!each.matrix.square() && text.find("random_order") != std::string::npos) continue;
                CAPTURE(text);
                CAPTURE(each.name);
                Operator<Value> a = operator_on<Value>(*device, text, each.matrix);
                const auto x = numbers<Value>(each.matrix.columns, 1);
                std::vector<Value> y(static_cast<std::size_t>(each.matrix.rows));
                DeviceMemory x_there = to_device(*device, std::span(x), "x");
                DeviceMemory y_there = to_device(*device, std::span<const Value>(y), "y");
                a.multiply(on_device(x_there.as<const Value>(), x.size()), on_device(y_there.as<Value>(), y.size()));
                CsrMatrix other = each.matrix;
                for (double& value : other.values) value = 3 - 2 * value;
                a.set_values(Arrays<Value>(other).values);
                check_operator<Value>(a, other, device_calls(a, *device));
                device->download(y_there, std::as_writable_bytes(std::span(y)));
                CHECK(close(y, expected(each.matrix, x, std::vector<Value>(y.size(), 0)), each.matrix));
                CHECK_THROWS_AS(a.set_values(std::vector<Value>(other.values.size() + 1)), std::invalid_argument);
            }
        }
    }

    TEST_CASE("an operator is on the GPU by default, and accepts vectors in host memory") {
        const auto on_default_stream = make_cuda_device_on(nullptr);
        const CsrMatrix matrix = uneven_matrix(5000, 5000, 20);
        Operator<double> a(recipe_of(recipes[1]), Arrays<double>(matrix).view());
        CHECK(a.facts().device == spmv_workbench::Device::gpu);
        CHECK(a.facts().device_name == on_default_stream->properties().name);
        using Vector = std::vector<double>;
        check_operator<double>(
            a, matrix,
            {[&](const Vector& x, Vector& y) { a.multiply(x, y); }, [&](const Vector& x, Vector& y) { a.multiply_add(x, y); },
             [&](const Vector& x, Vector& y) { a.multiply_in_recipe_order(x, y); },
             [&](const Vector& x, Vector& y) { a.multiply_add_in_recipe_order(x, y); },
             [&](const Vector& from, Vector& to) { a.to_recipe_order(from, to); },
             [&](const Vector& from, Vector& to) { a.from_recipe_order(from, to); }});
        check_operator<double>(a, matrix, device_calls(a, *on_default_stream));
    }

    TEST_CASE("the cuSPARSE module is found beside the library") {
        spmv_workbench::Options options;
        options.kernel = "csr_alg1";
        const CsrMatrix matrix = uneven_matrix(3000, 2000, 9);
        try {
            Operator<double> a(recipe_of(recipes[0]), Arrays<double>(matrix).view(), options);
            CHECK(a.facts().backend == "cusparse");
        } catch (const spmv_workbench::MatrixError& error) {
            // The module may lack cuSPARSE, but must be found.
            CHECK_MESSAGE(std::string(error.what()).find("libcusparse.so") != std::string::npos, error.what());
        }
    }
}

}  // namespace workbench
