// The library's operators on the GPU, with arrays on the device and on the host.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "gpu/gpu_matrices.hpp"
#include "kernels/device/cuda_device.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/layouts/krylov_problems.hpp"
#include "support/message_of.hpp"
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
    options.triangle = spmv_workbench::Triangle::as_given;
    return Operator<Value>(recipe_of(recipe), Arrays<Value>(matrix).view(), options);
}

/// A matrix in GPU memory, with ascending columns.
template <typename Value>
struct MatrixThere {
    MatrixThere(Device& device, const CsrMatrix& matrix)
        : rows(matrix.rows),
          columns(matrix.columns),
          nonzeros(matrix.values.size()),
          offsets(to_device(device, std::span<const Offset>(matrix.row_offsets), "row offsets")),
          indices(to_device(device, std::span<const Index>(matrix.column_indices), "columns")) {
        const std::vector<Value> rounded(matrix.values.begin(), matrix.values.end());
        values = to_device(device, std::span(rounded), "values");
    }
    /// With offsets of 32 bits.
    [[nodiscard]] spmv_workbench::DeviceCsrView<Value> short_view(Device& device, const CsrMatrix& matrix) {
        const std::vector<std::int32_t> narrow(matrix.row_offsets.begin(), matrix.row_offsets.end());
        short_offsets = to_device(device, std::span(narrow), "row offsets");
        return {rows, columns, on_device(short_offsets.as<const std::int32_t>(), narrow.size()),
                on_device(indices.as<const std::int32_t>(), nonzeros), on_device(values.template as<const Value>(), nonzeros)};
    }
    [[nodiscard]] spmv_workbench::DeviceCsrView<Value> view() const {
        return {rows, columns, on_device(offsets.as<const std::int64_t>(), static_cast<std::size_t>(rows) + 1),
                on_device(indices.as<const std::int32_t>(), nonzeros), on_device(values.template as<const Value>(), nonzeros)};
    }

    Index rows;
    Index columns;
    std::size_t nonzeros;
    DeviceMemory offsets, short_offsets, indices, values;
};

/// |b - A x| / |b| in f64.
template <typename Value>
double residual_of(const CsrMatrix& matrix, const std::vector<Value>& x, const std::vector<Value>& b) {
    double residual = 0;
    double norm = 0;
    for (Index row = 0; row < matrix.rows; ++row) {
        double own = static_cast<double>(b[row]);
        norm += own * own;
        for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
            own -= static_cast<double>(static_cast<Value>(matrix.values[k])) * static_cast<double>(x[matrix.column_indices[k]]);
        }
        residual += own * own;
    }
    return std::sqrt(residual / norm);
}

/// The matrix with its columns from the last to the first in each row, as a caller may give it.
template <typename Value>
struct Backwards {
    explicit Backwards(const CsrMatrix& matrix)
        : rows(matrix.rows), offsets(matrix.row_offsets.begin(), matrix.row_offsets.end()) {
        for (Index row = 0; row < rows; ++row) {
            for (Offset k = matrix.row_offsets[row + 1]; k > matrix.row_offsets[row]; --k) {
                columns.push_back(matrix.column_indices[k - 1]);
                values.push_back(static_cast<Value>(matrix.values[k - 1]));
            }
        }
    }
    [[nodiscard]] spmv_workbench::CsrView<Value> view() const { return {rows, rows, offsets, columns, values}; }

    Index rows;
    std::vector<std::int64_t> offsets;
    std::vector<std::int32_t> columns;
    std::vector<Value> values;
};

spmv_workbench::Options on_stream_of(Device& device) {
    spmv_workbench::Options options;
    options.device = spmv_workbench::Device::gpu;
    options.stream = stream_of(device);
    return options;
}

const std::string prepared_there =
    "[[stage]]\nuse = \"cuthill_mckee\"\n[[stage]]\nuse = \"row_sort\"\nwithin = \"window\"\nwindow = 64\n"
    "[layout]\nuse = \"sell\"\nslice_height = \"auto\"\ncolumn_index = \"u16\"\n";

const std::string node_blocks_there =
    "[[stage]]\nuse = \"node_blocks\"\n[[stage]]\nuse = \"cuthill_mckee\"\n[layout]\nuse = \"block_sell\"\n";

const std::string rcm_blocks_there =
    "[[stage]]\nuse = \"rcm_blocks\"\nparts = 3\n"
    "[[stage]]\nuse = \"row_sort\"\nwithin = \"partition\"\nkey = \"nonzeros_inside_partition\"\n"
    "[[stage]]\nuse = \"split\"\nby = \"inside_partition\"\n"
    "[[stage]]\nid = \"sort_outside\"\nuse = \"row_sort\"\nshare = \"outside\"\n[layout]\nuse = \"ehyb\"\n";

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
            for (const std::string& text : {prepared_there, node_blocks_there, rcm_blocks_there, recipes[0], recipes[2]}) {
                CAPTURE(text);
                CAPTURE(each.name);
                const bool is_left = text == recipes[2];
                if (!is_left && text != recipes[0] && !matrix.square()) continue;
                const MatrixThere<Value> there(*device, matrix);
                Operator<Value> a(recipe_of(text), there.view(), on_stream_of(*device));
                CHECK(a.facts().device == spmv_workbench::Device::gpu);
                CHECK(a.facts().verified);
                CHECK(a.facts().nonzeros == matrix.nonzeros());
                if (is_left) {
                    CHECK(place_of(a.facts()).starts_with("prepared on the host: a GPU does not "));
                }
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

    /// A first x, a function for each iteration, and a preconditioner that is a function, whose vectors are on the host.
    template <typename Value>
    void check_course_of_solves(spmv_workbench::Solver<Value> & solver, const std::vector<Value>& b, std::vector<Value> x,
                                std::int64_t iterations) {
        spmv_workbench::SolveCourse<Value> course;
        course.from_x = true;
        CHECK(solver.solve(b, x, course).iterations <= iterations / 4);
        course.from_x = false;
        std::int64_t calls = 0;
        std::vector<Value> last;
        course.each_iteration = [&](std::int64_t number, double, spmv_workbench::ArrayView<const Value> now) {
            CHECK(number == ++calls);
            last.assign(now.begin(), now.end());
        };
        CHECK(solver.solve(b, x, course).iterations == calls);
        CHECK(last == x);
        solver.precondition_by([](spmv_workbench::ArrayView<const Value> r, spmv_workbench::ArrayView<Value> z) {
            for (std::size_t i = 0; i < r.size(); ++i) z[i] = r[i] / 2;
        });
        calls = 0;
        const auto by_function = solver.solve(b, x, course);
        CHECK(by_function.end == spmv_workbench::SolveEnd::converged);
        CHECK(by_function.iterations == calls);
        CHECK(last == x);
    }

    TEST_CASE_TEMPLATE("a solver on the GPU, with vectors there and on the host", Value, float, double) {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-10;
        const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
        for (const std::string& text : {prepared_there, recipes[0]}) {
            for (const auto method : {spmv_workbench::Method::conjugate_gradients, spmv_workbench::Method::bicgstab}) {
                for (const auto preconditioner :
                     {spmv_workbench::Preconditioner::none, spmv_workbench::Preconditioner::jacobi}) {
                    CAPTURE(text);
                    spmv_workbench::SolverOptions options;
                    options.method = method;
                    options.preconditioner = preconditioner;
                    options.tolerance = tolerance;
                    options.recipe = on_stream_of(*device);
                    const MatrixThere<Value> there(*device, matrix);
                    spmv_workbench::Solver<Value> solver(recipe_of(text), there.view(), options);
                    std::vector<Value> x(b.size());
                    for (int turn = 0; turn < 2; ++turn) {
                        std::fill(x.begin(), x.end(), Value{7});
                        const auto found = solver.solve(b, x);
                        CHECK(found.end == spmv_workbench::SolveEnd::converged);
                        CHECK(found.residual <= 1.1 * tolerance);
                        CHECK(found.iterations > 10);
                    }
                    const DeviceMemory b_there = to_device(*device, std::span(b), "b");
                    DeviceMemory x_there = device->allocate(b.size() * sizeof(Value), "x");
                    const auto found =
                        solver.solve(on_device(b_there.as<const Value>(), b.size()), on_device(x_there.as<Value>(), b.size()));
                    CHECK(found.end == spmv_workbench::SolveEnd::converged);
                    std::vector<Value> copy(b.size());
                    device->download(x_there, std::as_writable_bytes(std::span(copy)));
                    CHECK(copy == x);
                    std::vector<Value> product(b.size());
                    solver.matrix().multiply(x, product);
                    double residual = 0;
                    double norm = 0;
                    for (std::size_t i = 0; i < b.size(); ++i) {
                        residual += std::pow(static_cast<double>(b[i]) - static_cast<double>(product[i]), 2);
                        norm += std::pow(static_cast<double>(b[i]), 2);
                    }
                    CHECK(std::sqrt(residual / norm) <= 2 * tolerance);
                    check_course_of_solves(solver, b, x, found.iterations);
                }
            }
        }
    }

    TEST_CASE_TEMPLATE("a solver with a persistent kernel, for matrices on the GPU and on the host", Value, float, double) {
        const auto device = make_cuda_device();
        const double tolerance = sizeof(Value) == 4 ? 1e-4 : 1e-10;
        using Solver = spmv_workbench::Solver<Value>;
        using spmv_workbench::Engine;
        for (const auto method : {spmv_workbench::Method::conjugate_gradients, spmv_workbench::Method::bicgstab}) {
            const bool cg = method == spmv_workbench::Method::conjugate_gradients;
            const CsrMatrix matrix = scaled_laplacian(60, cg ? 0 : 0.3);
            CsrMatrix other = matrix;
            for (Index row = 0; row < matrix.rows; ++row) {
                for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                    other.values[k] *= matrix.column_indices[k] == row ? 3 : 2;  // exact in f32, as the matrix is
                }
            }
            const std::vector<Value> b = numbers<Value>(matrix.rows, 1);
            const MatrixThere<Value> changed(*device, other);
            for (const bool jacobi : {false, true}) {
                for (const std::string& text : {prepared_there, recipes[0], recipes[1]}) {
                    for (const std::string from : {"gpu", "gpu, short", "host", "host, backwards"}) {
                        CAPTURE(cg);
                        CAPTURE(jacobi);
                        CAPTURE(text);
                        CAPTURE(from);
                        spmv_workbench::SolverOptions options;
                        options.method = method;
                        options.preconditioner =
                            jacobi ? spmv_workbench::Preconditioner::jacobi : spmv_workbench::Preconditioner::none;
                        options.tolerance = tolerance;
                        options.recipe = on_stream_of(*device);
                        options.engine = Engine::persistent;
                        const Backwards<Value> backwards(matrix);
                        const std::unique_ptr<Solver> solver = [&] {
                            if (from == "host") {
                                return std::make_unique<Solver>(recipe_of(text), Arrays<Value>(matrix).view(), options);
                            }
                            if (from == "host, backwards") {
                                return std::make_unique<Solver>(recipe_of(text), backwards.view(), options);
                            }
                            MatrixThere<Value> there(*device, matrix);
                            return std::make_unique<Solver>(
                                recipe_of(text), from == "gpu" ? there.view() : there.short_view(*device, matrix), options);
                        }();
                        std::vector<Value> x(b.size(), Value{7});
                        const auto found = solver->solve(b, x);
                        CHECK(found.engine == Engine::persistent);
                        CHECK(found.end == spmv_workbench::SolveEnd::converged);
                        CHECK(residual_of(matrix, x, b) <= 2 * tolerance);
                        const DeviceMemory b_there = to_device(*device, std::span(b), "b");
                        DeviceMemory x_there = device->allocate(b.size() * sizeof(Value), "x");
                        CHECK(solver
                                  ->solve(on_device(b_there.as<const Value>(), b.size()),
                                          on_device(x_there.as<Value>(), b.size()))
                                  .iterations == found.iterations);
                        std::vector<Value> copy(b.size());
                        device->download(x_there, std::as_writable_bytes(std::span(copy)));
                        CHECK(copy == x);
                        // New values: from the host in the caller's order, and on the GPU.
                        if (from == "host, backwards") {
                            solver->matrix().set_values(Backwards<Value>(other).values);
                        } else if (from == "host") {
                            solver->matrix().set_values(Arrays<Value>(other).values);
                        } else {
                            solver->matrix().set_values(on_device(changed.values.template as<const Value>(), changed.nonzeros));
                        }
                        const auto again = solver->solve(b, x);
                        CHECK(again.engine == Engine::persistent);
                        CHECK(again.end == spmv_workbench::SolveEnd::converged);
                        CHECK(residual_of(other, x, b) <= 2 * tolerance);
                        check_course_of_solves(*solver, b, x, again.iterations);
                        CHECK(solver->solve(b, x).engine == Engine::graph);  // with a function as preconditioner
                        solver->precondition_by(nullptr);
                        CHECK(solver->solve(b, x).engine == Engine::persistent);
                        CHECK(residual_of(other, x, b) <= 2 * tolerance);
                    }
                }
            }
        }
    }

    TEST_CASE("a solver on the default stream, in order with operators there") {
        const auto device = make_cuda_device_on(nullptr);
        const CsrMatrix matrix = scaled_laplacian(60, 0);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        const DeviceMemory start = to_device(*device, std::span(b), "a vector");
        for (const auto engine : {spmv_workbench::Engine::graph, spmv_workbench::Engine::persistent}) {
            spmv_workbench::SolverOptions options;
            options.tolerance = 1e-10;
            options.engine = engine;
            spmv_workbench::Solver<double> solver(recipe_of(prepared_there), Arrays<double>(matrix).view(), options);
            Operator<double> a(recipe_of(recipes[0]), Arrays<double>(matrix).view());
            DeviceMemory product = device->allocate(b.size() * sizeof(double), "b");
            DeviceMemory x = device->allocate(b.size() * sizeof(double), "x");
            // b = A start is still in the queue when the solve begins, whose x is the start again.
            a.multiply(on_device(start.as<const double>(), b.size()), on_device(product.as<double>(), b.size()));
            const auto found =
                solver.solve(on_device(product.as<const double>(), b.size()), on_device(x.as<double>(), b.size()));
            CHECK(found.engine == engine);
            CHECK(found.end == spmv_workbench::SolveEnd::converged);
            std::vector<double> copy(b.size());
            device->download(x, std::as_writable_bytes(std::span(copy)));
            for (std::size_t i = 0; i < b.size(); ++i) CHECK(copy[i] == doctest::Approx(b[i]).epsilon(1e-6));
        }
    }

    TEST_CASE("a persistent kernel with values of f32 gives way where they do not represent the new ones") {
        const auto device = make_cuda_device();
        CsrMatrix matrix = scaled_laplacian(30, 0);
        for (double& value : matrix.values) value = static_cast<double>(static_cast<float>(value));
        spmv_workbench::SolverOptions options;
        options.recipe = on_stream_of(*device);
        options.engine = spmv_workbench::Engine::persistent;
        const MatrixThere<double> there(*device, matrix);
        spmv_workbench::Solver<double> solver(recipe_of(prepared_there), there.view(), options);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        std::vector<double> x(b.size());
        CHECK(solver.solve(b, x).engine == spmv_workbench::Engine::persistent);
        CHECK(residual_of(matrix, x, b) <= 2e-8);
        CsrMatrix other = matrix;
        for (double& value : other.values) value *= 1.1;
        solver.matrix().set_values(other.values);
        const auto found = solver.solve(b, x);
        CHECK(found.engine == spmv_workbench::Engine::graph);
        CHECK(found.end == spmv_workbench::SolveEnd::converged);
        CHECK(residual_of(other, x, b) <= 2e-8);
    }

    TEST_CASE("the engine of a solver is chosen by a model, which says why") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = scaled_laplacian(150, 0);
        const std::vector<double> b = numbers<double>(matrix.rows, 1);
        std::vector<double> x(b.size());
        const MatrixThere<double> there(*device, matrix);
        for (const std::int64_t iterations : {1, 1000000}) {
            spmv_workbench::SolverOptions options;
            options.recipe = on_stream_of(*device);
            options.expected_iterations = iterations;
            spmv_workbench::Solver<double> solver(recipe_of(prepared_there), there.view(), options);
            CHECK(solver.solve(b, x).engine ==
                  (iterations == 1 ? spmv_workbench::Engine::graph : spmv_workbench::Engine::persistent));
            const std::vector<std::string>& notes = solver.matrix().facts().notes;
            CHECK(std::any_of(notes.begin(), notes.end(),
                              [](const std::string& note) { return note.starts_with("persistent kernel: by the model, "); }));
        }
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
