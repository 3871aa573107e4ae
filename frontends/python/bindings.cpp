// The library as the Python module spmv_workbench._core. It takes arrays as they are; operator.py converts and documents.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <spmv_workbench/spmv_workbench.hpp>

namespace py = pybind11;
using namespace py::literals;
namespace sw = spmv_workbench;

namespace {

template <typename Element>
using Array = py::array_t<Element, py::array::c_style>;  // arguments are declared noconvert, so that nothing is copied unasked

template <typename Element>
sw::ArrayView<const Element> view(const Array<Element>& array, const char* name) {
    if (array.ndim() != 1) throw std::invalid_argument(std::string(name) + ": expected one dimension");
    return {array.data(), static_cast<std::size_t>(array.size())};
}

using OnGpu = std::pair<std::uintptr_t, std::size_t>;  // address and number of elements

template <typename Value>
sw::DeviceArray<Value> on_gpu(OnGpu array) {
    return sw::on_device(reinterpret_cast<Value*>(array.first), array.second);
}

sw::Options options_of(const std::string& device, const std::string& kernel, bool verify, const std::string& triangle,
                       std::uintptr_t stream) {
    sw::Options options;
    options.kernel = kernel;
    options.verify = verify;
    options.triangle = triangle == "symmetric"  ? sw::Triangle::symmetric
                       : triangle == "as_given" ? sw::Triangle::as_given
                                                : sw::Triangle::refused;
    options.device = device == "host" ? sw::Device::host : device == "gpu" ? sw::Device::gpu : sw::Device::automatic;
    options.stream = reinterpret_cast<void*>(stream);
    options.stop = [] {
        const py::gil_scoped_acquire gil;
        return PyErr_CheckSignals() != 0;  // runs Python's handlers of signals
    };
    return options;
}

using Shape = std::pair<std::int32_t, std::int32_t>;

template <typename Value, typename Offset>
sw::CsrView<Value> csr_of(Shape shape, const Array<Offset>& offsets, const Array<std::int32_t>& columns,
                          const Array<Value>& values) {
    return {shape.first, shape.second, view(offsets, "indptr"), view(columns, "indices"), view(values, "data")};
}

/// A matrix on the GPU, whose arrays are given by their addresses and sizes.
template <typename Value>
sw::DeviceCsrView<Value> csr_on_gpu(Shape shape, OnGpu offsets, bool long_offsets, OnGpu columns, OnGpu values) {
    const auto indices = on_gpu<const std::int32_t>(columns);
    const auto data = on_gpu<const Value>(values);
    if (long_offsets) return {shape.first, shape.second, on_gpu<const std::int64_t>(offsets), indices, data};
    return {shape.first, shape.second, on_gpu<const std::int32_t>(offsets), indices, data};
}

/// Makes an object of the library without the GIL.
template <typename Made>
std::shared_ptr<Made> made(const sw::Recipe& recipe, const auto& matrix, const auto& options) {
    try {
        const py::gil_scoped_release without_gil;
        return std::make_shared<Made>(recipe, matrix, options);
    } catch (const sw::Stopped&) {
        throw py::error_already_set();  // KeyboardInterrupt
    }
}

template <typename Value>
class Core {
public:
    explicit Core(std::shared_ptr<sw::Operator<Value>> a) : a_(std::move(a)) {}

    void multiply(const Array<Value>& x, Array<Value>& y, bool recipe_order, bool accumulate) {
        run(view(x, "x"), sw::ArrayView<Value>(y.mutable_data(), view(y, "y").size()), recipe_order, accumulate);
    }

    /// Multiplies vectors on the GPU, which are given by their addresses and sizes.
    void multiply_on_gpu(OnGpu x, OnGpu y, bool recipe_order, bool accumulate) {
        run(on_gpu<const Value>(x), on_gpu<Value>(y), recipe_order, accumulate);
    }

    /// x and y: [columns, vectors] and [rows, vectors].
    void multiply_several(const Array<Value>& x, Array<Value>& y, bool accumulate) {
        const auto vectors = static_cast<std::int32_t>(x.shape(1));
        const sw::ArrayView<const Value> all_x(x.data(), static_cast<std::size_t>(x.size()));
        const sw::ArrayView<Value> all_y(y.mutable_data(), static_cast<std::size_t>(y.size()));
        const py::gil_scoped_release without_gil;
        accumulate ? a_->multiply_add(all_x, all_y, vectors) : a_->multiply(all_x, all_y, vectors);
    }
    void multiply_several_on_gpu(OnGpu x, OnGpu y, std::int32_t vectors, bool accumulate) {
        const auto all_x = on_gpu<const Value>(x);
        const auto all_y = on_gpu<Value>(y);
        const py::gil_scoped_release without_gil;
        accumulate ? a_->multiply_add(all_x, all_y, vectors) : a_->multiply(all_x, all_y, vectors);
    }
    void multiply_scaled(Value alpha, const Array<Value>& x, Value beta, Array<Value>& y) {
        const auto all_x = view(x, "x");
        const sw::ArrayView<Value> all_y(y.mutable_data(), static_cast<std::size_t>(y.size()));
        const py::gil_scoped_release without_gil;
        a_->multiply(alpha, all_x, beta, all_y);
    }
    [[nodiscard]] Core transposed() const {
        const py::gil_scoped_release without_gil;
        return Core(std::make_shared<sw::Operator<Value>>(a_->transposed()));
    }

    void permute_on_gpu(OnGpu from, OnGpu to, bool to_recipe) const {
        to_recipe ? a_->to_recipe_order(on_gpu<const Value>(from), on_gpu<Value>(to))
                  : a_->from_recipe_order(on_gpu<const Value>(from), on_gpu<Value>(to));
    }

    void set_values(const Array<Value>& values) {
        const sw::ArrayView<const Value> all = view(values, "values");
        const py::gil_scoped_release without_gil;
        a_->set_values(all);
    }

    template <typename Offset>
    void set_values_of(std::pair<std::int32_t, std::int32_t> shape, const Array<Offset>& offsets,
                       const Array<std::int32_t>& columns, const Array<Value>& values) {
        const sw::CsrView<Value> matrix(shape.first, shape.second, view(offsets, "indptr"), view(columns, "indices"),
                                        view(values, "data"));
        const py::gil_scoped_release without_gil;
        a_->set_values(matrix);
    }

    void set_values_on_gpu(OnGpu values) {
        const py::gil_scoped_release without_gil;
        a_->set_values(on_gpu<const Value>(values));
    }

    /// The product with an array that can be read as it is; None for any other object.
    py::object product_if_plain(const py::handle& x, bool recipe_order) {
        const auto& numpy = py::detail::npy_api::get();
        if (Py_TYPE(x.ptr()) != numpy.PyArray_Type_ || !Array<Value>::check_(x)) return py::none();
        const auto array = py::reinterpret_borrow<Array<Value>>(x);
        const bool fits = array.ndim() == 1 && array.size() == a_->facts().columns;
        if (!fits || (array.flags() & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0) return py::none();
        return product(array, recipe_order);
    }

    Array<Value> product(const Array<Value>& x, bool recipe_order) {
        Array<Value> y(a_->facts().rows);
        multiply(x, y, recipe_order, false);
        return y;
    }

    Array<Value> permuted(const Array<Value>& from, bool to_recipe) const {
        Array<Value> to(a_->facts().columns);
        const sw::ArrayView<Value> target(to.mutable_data(), static_cast<std::size_t>(to.size()));
        to_recipe ? a_->to_recipe_order(view(from, "v"), target) : a_->from_recipe_order(view(from, "v"), target);
        return to;
    }

    /// A view of the operator's own array, which keeps the operator alive.
    static py::array order(const py::object& self, bool of_rows) {
        const sw::Operator<Value>& a = *self.cast<const Core&>().a_;
        const sw::ArrayView<const std::int32_t> order = of_rows ? a.row_order() : a.column_order();
        py::array array = Array<std::int32_t>(static_cast<py::ssize_t>(order.size()), order.data(), self);
        array.attr("flags").attr("writeable") = false;
        return array;
    }

    [[nodiscard]] Array<Value> diagonal() const {
        const std::vector<Value> diagonal = a_->diagonal();
        return Array<Value>(static_cast<py::ssize_t>(diagonal.size()), diagonal.data());
    }

    [[nodiscard]] py::dict facts() const {
        const sw::OperatorFacts& facts = a_->facts();
        return py::dict("verification_seconds"_a = facts.verification_seconds, "process_seconds"_a = facts.process_seconds,
                        "rows"_a = facts.rows, "columns"_a = facts.columns, "nonzeros"_a = facts.nonzeros,
                        "device"_a = facts.device == sw::Device::gpu ? "gpu" : "host", "device_name"_a = facts.device_name,
                        "layout"_a = facts.layout, "kernel"_a = facts.kernel, "backend"_a = facts.backend,
                        "bytes"_a = facts.bytes, "bytes_to_move"_a = facts.bytes_to_move, "seconds"_a = facts.seconds,
                        "verified"_a = facts.verified, "notes"_a = facts.notes);
    }

private:
    template <typename From, typename To>
    void run(From x, To y, bool recipe_order, bool accumulate) {
        const py::gil_scoped_release without_gil;
        if (recipe_order) {
            accumulate ? a_->multiply_add_in_recipe_order(x, y) : a_->multiply_in_recipe_order(x, y);
        } else {
            accumulate ? a_->multiply_add(x, y) : a_->multiply(x, y);
        }
    }

    std::shared_ptr<sw::Operator<Value>> a_;  // of its own, or a solver's
};

/// A function of Python that the library calls without the GIL. An exception of it stays Python's current exception until the
/// call of the library ends.
struct Raised : std::exception {};

template <typename... Arguments>
void call_python(const py::object& function, const Arguments&... arguments) {
    const py::gil_scoped_acquire gil;
    try {
        function(arguments...);
    } catch (py::error_already_set& error) {
        error.restore();
        throw Raised();
    }
}

template <typename Value>
class SolverCore {
public:
    explicit SolverCore(std::shared_ptr<sw::Solver<Value>> solver) : solver_(std::move(solver)) {}

    [[nodiscard]] Core<Value> matrix() const {
        return Core<Value>(std::shared_ptr<sw::Operator<Value>>(solver_, &solver_->matrix()));
    }

    /// function(r, z) writes z.
    void precondition_by(const py::object& function) {
        function_ = function;  // which outlives the solver's reference
        solver_->precondition_by([this](sw::ArrayView<const Value> r, sw::ArrayView<Value> z) {
            const py::gil_scoped_acquire gil;
            const auto size = static_cast<py::ssize_t>(r.size());
            call_python(function_, Array<Value>(size, r.data()),
                        Array<Value>(size, z.data(), py::capsule(z.data(), [](void*) {})));
        });
    }

    /// x: begins with it if from_x, and gets the result. callback(x), or None.
    py::dict solve(const Array<Value>& b, Array<Value>& x, bool from_x, const py::object& callback) {
        return run(view(b, "b"), sw::ArrayView<Value>(x.mutable_data(), view(x, "x").size()), from_x, callback);
    }

    /// b, x: [rows, right sides] in C order.
    py::list solve_several(const Array<Value>& b, Array<Value>& x, std::int32_t right_sides, bool from_x) {
        return run_several(sw::ArrayView<const Value>(b.data(), static_cast<std::size_t>(b.size())),
                           sw::ArrayView<Value>(x.mutable_data(), static_cast<std::size_t>(x.size())), right_sides, from_x);
    }

    py::list solve_several_on_gpu(OnGpu b, OnGpu x, std::int32_t right_sides, bool from_x) {
        return run_several(on_gpu<const Value>(b), on_gpu<Value>(x), right_sides, from_x);
    }

    py::dict solve_on_gpu(OnGpu b, OnGpu x, bool from_x, const py::object& callback) {
        return run(on_gpu<const Value>(b), on_gpu<Value>(x), from_x, callback);
    }

private:
    template <typename From, typename To>
    py::dict run(From b, To x, bool from_x, const py::object& callback) {
        sw::SolveCourse<Value> course;
        course.from_x = from_x;
        if (!callback.is_none()) {
            course.each_iteration = [&](std::int64_t, double, sw::ArrayView<const Value> now) {
                const py::gil_scoped_acquire gil;
                call_python(callback, Array<Value>(static_cast<py::ssize_t>(now.size()), now.data()));
            };
        }
        return dict_of(without_gil([&] { return solver_->solve(b, x, course); }));
    }

    template <typename From, typename To>
    py::list run_several(From b, To x, std::int32_t right_sides, bool from_x) {
        sw::SolveCourse<Value> course;
        course.from_x = from_x;
        py::list all;
        for (const sw::SolveFacts& facts : without_gil([&] { return solver_->solve(b, x, right_sides, course); })) {
            all.append(dict_of(facts));
        }
        return all;
    }

    template <typename Solve>
    static auto without_gil(const Solve& solve) {
        try {
            const py::gil_scoped_release released;
            return solve();
        } catch (const Raised&) {
            throw py::error_already_set();
        } catch (const sw::Stopped&) {
            throw py::error_already_set();  // KeyboardInterrupt
        }
    }

    static py::dict dict_of(const sw::SolveFacts& facts) {
        constexpr const char* ends[] = {"converged", "iteration_limit", "stagnated", "indefinite", "breakdown"};
        return py::dict("end"_a = ends[static_cast<int>(facts.end)], "iterations"_a = facts.iterations,
                        "residual"_a = facts.residual, "seconds"_a = facts.seconds,
                        "engine"_a = facts.engine == sw::Engine::persistent ? "persistent" : "graph",
                        "together"_a = facts.together);
    }

    py::object function_;
    std::shared_ptr<sw::Solver<Value>> solver_;
};

/// Defines how an operator or a solver is made: as the class's constructor, and `on_gpu`. `options`: of the remaining
/// arguments.
template <typename Value, typename Holder, typename Made, typename... More>
void add_makers(py::class_<Holder>& holder, const auto& options, const auto&... names) {
    const auto add_for_offsets = [&](auto offset) {
        using Offset = decltype(offset);
        holder.def(py::init([options](const sw::Recipe& recipe, Shape shape, const Array<Offset>& offsets,
                                      const Array<std::int32_t>& columns, const Array<Value>& values, More... more) {
                       return Holder(made<Made>(recipe, csr_of(shape, offsets, columns, values), options(more...)));
                   }),
                   "recipe"_a, "shape"_a, "indptr"_a.noconvert(), "indices"_a.noconvert(), "data"_a.noconvert(), names...);
    };
    add_for_offsets(std::int32_t{});
    add_for_offsets(std::int64_t{});
    holder.def_static(
        "on_gpu",
        [options](const sw::Recipe& recipe, Shape shape, OnGpu offsets, bool long_offsets, OnGpu columns, OnGpu values,
                  More... more) {
            return Holder(
                made<Made>(recipe, csr_on_gpu<Value>(shape, offsets, long_offsets, columns, values), options(more...)));
        },
        "recipe"_a, "shape"_a, "indptr"_a, "long_offsets"_a, "indices"_a, "data"_a, names...);
}

template <typename Value>
void add_core(py::module_& module, const char* name) {
    using This = Core<Value>;
    py::class_<This> core(module, name);
    add_makers<Value, This, sw::Operator<Value>, std::string, std::string, bool, std::string, std::uintptr_t>(
        core, options_of, "device"_a, "kernel"_a, "verify"_a, "triangle"_a, "stream"_a);
    const auto add_for_offsets = [&core](auto offset) {
        core.def("set_values_of", &This::template set_values_of<decltype(offset)>, "shape"_a, "indptr"_a.noconvert(),
                 "indices"_a.noconvert(), "data"_a.noconvert());
    };
    add_for_offsets(std::int32_t{});
    add_for_offsets(std::int64_t{});
    core.def("multiply", &This::multiply, "x"_a.noconvert(), "y"_a.noconvert(), "recipe_order"_a, "accumulate"_a)
        .def("multiply_on_gpu", &This::multiply_on_gpu, "x"_a, "y"_a, "recipe_order"_a, "accumulate"_a)
        .def("multiply_several", &This::multiply_several, "x"_a.noconvert(), "y"_a.noconvert(), "accumulate"_a)
        .def("multiply_several_on_gpu", &This::multiply_several_on_gpu, "x"_a, "y"_a, "vectors"_a, "accumulate"_a)
        .def("multiply_scaled", &This::multiply_scaled, "alpha"_a, "x"_a.noconvert(), "beta"_a, "y"_a.noconvert())
        .def("transposed", &This::transposed)
        .def("permute_on_gpu", &This::permute_on_gpu, "v"_a, "to"_a, "to_recipe"_a)
        .def("set_values", &This::set_values, "values"_a.noconvert())
        .def("set_values_on_gpu", &This::set_values_on_gpu, "values"_a)
        .def("product_if_plain", &This::product_if_plain, "x"_a, "recipe_order"_a)
        .def("product", &This::product, "x"_a.noconvert(), "recipe_order"_a)
        .def("permuted", &This::permuted, "v"_a.noconvert(), "to_recipe"_a)
        .def("facts", &This::facts)
        .def("diagonal", &This::diagonal)
        .def("row_order", [](const py::object& self) { return This::order(self, true); })
        .def("column_order", [](const py::object& self) { return This::order(self, false); });
}

template <typename Value>
void add_solver(py::module_& module, const char* name) {
    using This = SolverCore<Value>;
    py::class_<This> solver(module, name);
    const auto options = [](const std::string& device, const std::string& kernel, bool verify, const std::string& triangle,
                            std::uintptr_t stream, const std::string& method, bool jacobi, double tolerance,
                            std::int64_t most_iterations, std::int64_t patience, const std::string& engine,
                            std::int64_t expected_iterations) {
        sw::SolverOptions chosen;
        chosen.method = method == "cg" ? sw::Method::conjugate_gradients : sw::Method::bicgstab;
        chosen.preconditioner = jacobi ? sw::Preconditioner::jacobi : sw::Preconditioner::none;
        chosen.tolerance = tolerance;
        chosen.most_iterations = most_iterations;
        chosen.patience = patience;
        chosen.engine = engine == "graph"        ? sw::Engine::graph
                        : engine == "persistent" ? sw::Engine::persistent
                                                 : sw::Engine::automatic;
        chosen.expected_iterations = expected_iterations;
        chosen.recipe = options_of(device, kernel, verify, triangle, stream);
        return chosen;
    };
    add_makers<Value, This, sw::Solver<Value>, std::string, std::string, bool, std::string, std::uintptr_t, std::string, bool,
               double, std::int64_t, std::int64_t, std::string, std::int64_t>(
        solver, options, "device"_a, "kernel"_a, "verify"_a, "triangle"_a, "stream"_a, "method"_a, "jacobi"_a, "tolerance"_a,
        "most_iterations"_a, "patience"_a, "engine"_a, "expected_iterations"_a);
    solver.def("matrix", &This::matrix)
        .def("precondition_by", &This::precondition_by, "function"_a)
        .def("solve", &This::solve, "b"_a.noconvert(), "x"_a.noconvert(), "from_x"_a, "callback"_a)
        .def("solve_several", &This::solve_several, "b"_a.noconvert(), "x"_a.noconvert(), "right_sides"_a, "from_x"_a)
        .def("solve_several_on_gpu", &This::solve_several_on_gpu, "b"_a, "x"_a, "right_sides"_a, "from_x"_a)
        .def("solve_on_gpu", &This::solve_on_gpu, "b"_a, "x"_a, "from_x"_a, "callback"_a);
}

}  // namespace

PYBIND11_MODULE(_core, module) {
    const auto error = py::register_exception<sw::Error>(module, "Error", PyExc_RuntimeError);
    py::register_exception<sw::RecipeError>(module, "RecipeError", error);
    py::register_exception<sw::MatrixError>(module, "MatrixError", error);
    py::register_exception<sw::MachineError>(module, "MachineError", error);
    py::register_exception<sw::WrongResult>(module, "WrongResult", error);

    py::class_<sw::Recipe>(module, "Recipe")
        .def_static("from_file", &sw::Recipe::from_file, "file"_a, "changes"_a)
        .def_static(
            "from_text",
            [](const std::string& text, const std::vector<std::string>& changes, const std::string& file) {
                return sw::Recipe::from_text(text, changes, file);
            },
            "text"_a, "changes"_a, "file"_a)
        .def("resolved", &sw::Recipe::resolved);
    module.def(
        "checksum", [](const py::array& a) { return XXH3_64bits(a.data(), static_cast<std::size_t>(a.nbytes())); }, "array"_a);
    module.attr("__version__") = std::to_string(SPMV_WORKBENCH_VERSION_MAJOR) + "." +
                                 std::to_string(SPMV_WORKBENCH_VERSION_MINOR) + "." +
                                 std::to_string(SPMV_WORKBENCH_VERSION_PATCH);
    add_core<float>(module, "OperatorF32");
    add_core<double>(module, "OperatorF64");
    add_solver<float>(module, "SolverF32");
    add_solver<double>(module, "SolverF64");
}
