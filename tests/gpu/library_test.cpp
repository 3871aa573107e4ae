// The library's operators on the GPU, with arrays on the device and on the host.
#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "gpu/gpu_matrices.hpp"
#include "kernels/device/cuda_device.hpp"
#include "pipeline/matrix/battery.hpp"
#include "support/operator_checks.hpp"

namespace workbench {
namespace {

using spmv_workbench::on_device;
using spmv_workbench::Operator;

spmv_workbench::Recipe recipe_of(const std::string& text) { return spmv_workbench::Recipe::from_text(text); }

/// Recipes that keep the input's order, that permute rows and columns alike, that permute rows only, and with several layouts
/// and a branch of the device.
const std::vector<std::string> recipes{
    "[layout]\nuse = \"csr\"\n",
    "[[stage]]\nuse = \"random_order\"\n[layout]\nuse = \"sell\"\n",
    "[[stage]]\nuse = \"row_sort\"\napply = \"rows\"\n[layout]\nuse = \"ellr\"\nslots_per_nonzero = 1000\n",
    "[[stage]]\nuse = \"split\"\nby = \"row_length\"\nlonger_than = 3\n"
    "[[stage]]\nuse = \"row_sort\"\nshare = \"short\"\n[kernel]\nside_by_side = true\n"
    "[[layout]]\nshare = \"short\"\nuse = \"jds\"\n[[layout]]\nshare = \"long\"\nuse = \"csr\"\n",
};

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
    return Operator<Value>(recipe_of(recipe), Arrays<Value>(matrix).view(), options);
}

}  // namespace

TEST_SUITE("device") {
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
