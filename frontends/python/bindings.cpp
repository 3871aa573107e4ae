// The library as the Python module spmv_workbench._core. It takes arrays as they are; operator.py converts and documents.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
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

template <typename Value>
class Core {
public:
    template <typename Offset>
    static Core make(const sw::Recipe& recipe, std::pair<std::int32_t, std::int32_t> shape, const Array<Offset>& offsets,
                     const Array<std::int32_t>& columns, const Array<Value>& values, const std::string& device,
                     const std::string& kernel, bool verify, const std::string& triangle, std::uintptr_t stream) {
        const sw::CsrView<Value> matrix(shape.first, shape.second, view(offsets, "indptr"), view(columns, "indices"),
                                        view(values, "data"));
        return make_from(recipe, matrix, options_of(device, kernel, verify, triangle, stream));
    }

    /// For a matrix on the GPU, whose arrays are given by their addresses and sizes.
    static Core make_on_gpu(const sw::Recipe& recipe, std::pair<std::int32_t, std::int32_t> shape, OnGpu offsets,
                            bool long_offsets, OnGpu columns, OnGpu values, const std::string& device,
                            const std::string& kernel, bool verify, const std::string& triangle, std::uintptr_t stream) {
        const sw::Options options = options_of(device, kernel, verify, triangle, stream);
        const auto indices = on_gpu<const std::int32_t>(columns);
        const auto data = on_gpu<const Value>(values);
        using View = sw::DeviceCsrView<Value>;
        return make_from(recipe,
                         long_offsets ? View(shape.first, shape.second, on_gpu<const std::int64_t>(offsets), indices, data)
                                      : View(shape.first, shape.second, on_gpu<const std::int32_t>(offsets), indices, data),
                         options);
    }

    void multiply(const Array<Value>& x, Array<Value>& y, bool recipe_order, bool accumulate) {
        run(view(x, "x"), sw::ArrayView<Value>(y.mutable_data(), view(y, "y").size()), recipe_order, accumulate);
    }

    /// Multiplies vectors on the GPU, which are given by their addresses and sizes.
    void multiply_on_gpu(OnGpu x, OnGpu y, bool recipe_order, bool accumulate) {
        run(on_gpu<const Value>(x), on_gpu<Value>(y), recipe_order, accumulate);
    }

    void permute_on_gpu(OnGpu from, OnGpu to, bool to_recipe) const {
        to_recipe ? a_.to_recipe_order(on_gpu<const Value>(from), on_gpu<Value>(to))
                  : a_.from_recipe_order(on_gpu<const Value>(from), on_gpu<Value>(to));
    }

    void set_values(const Array<Value>& values) {
        const sw::ArrayView<const Value> all = view(values, "values");
        const py::gil_scoped_release without_gil;
        a_.set_values(all);
    }

    template <typename Offset>
    void set_values_of(std::pair<std::int32_t, std::int32_t> shape, const Array<Offset>& offsets,
                       const Array<std::int32_t>& columns, const Array<Value>& values) {
        const sw::CsrView<Value> matrix(shape.first, shape.second, view(offsets, "indptr"), view(columns, "indices"),
                                        view(values, "data"));
        const py::gil_scoped_release without_gil;
        a_.set_values(matrix);
    }

    void set_values_on_gpu(OnGpu values) {
        const py::gil_scoped_release without_gil;
        a_.set_values(on_gpu<const Value>(values));
    }

    Array<Value> product(const Array<Value>& x, bool recipe_order) {
        Array<Value> y(a_.facts().rows);
        multiply(x, y, recipe_order, false);
        return y;
    }

    Array<Value> permuted(const Array<Value>& from, bool to_recipe) const {
        Array<Value> to(a_.facts().columns);
        const sw::ArrayView<Value> target(to.mutable_data(), static_cast<std::size_t>(to.size()));
        to_recipe ? a_.to_recipe_order(view(from, "v"), target) : a_.from_recipe_order(view(from, "v"), target);
        return to;
    }

    /// A view of the operator's own array, which keeps the operator alive.
    static py::array order(const py::object& self, bool of_rows) {
        const auto& a = self.cast<const Core&>().a_;
        const sw::ArrayView<const std::int32_t> order = of_rows ? a.row_order() : a.column_order();
        py::array array = Array<std::int32_t>(static_cast<py::ssize_t>(order.size()), order.data(), self);
        array.attr("flags").attr("writeable") = false;
        return array;
    }

    [[nodiscard]] py::dict facts() const {
        const sw::OperatorFacts& facts = a_.facts();
        return py::dict("rows"_a = facts.rows, "columns"_a = facts.columns, "nonzeros"_a = facts.nonzeros,
                        "device"_a = facts.device == sw::Device::gpu ? "gpu" : "host", "device_name"_a = facts.device_name,
                        "layout"_a = facts.layout, "kernel"_a = facts.kernel, "backend"_a = facts.backend,
                        "bytes"_a = facts.bytes, "bytes_to_move"_a = facts.bytes_to_move, "seconds"_a = facts.seconds,
                        "verified"_a = facts.verified, "notes"_a = facts.notes);
    }

private:
    explicit Core(sw::Operator<Value> a) : a_(std::move(a)) {}

    static Core make_from(const sw::Recipe& recipe, const auto& matrix, const sw::Options& options) {
        try {
            const py::gil_scoped_release without_gil;
            return Core(sw::Operator<Value>(recipe, matrix, options));
        } catch (const sw::Stopped&) {
            throw py::error_already_set();  // KeyboardInterrupt
        }
    }

    template <typename From, typename To>
    void run(From x, To y, bool recipe_order, bool accumulate) {
        const py::gil_scoped_release without_gil;
        if (recipe_order) {
            accumulate ? a_.multiply_add_in_recipe_order(x, y) : a_.multiply_in_recipe_order(x, y);
        } else {
            accumulate ? a_.multiply_add(x, y) : a_.multiply(x, y);
        }
    }

    sw::Operator<Value> a_;
};

template <typename Value>
void add_core(py::module_& module, const char* name) {
    using This = Core<Value>;
    py::class_<This> core(module, name);
    const auto add_for_offsets = [&core](auto offset) {
        core.def(py::init(&This::template make<decltype(offset)>), "recipe"_a, "shape"_a, "indptr"_a.noconvert(),
                 "indices"_a.noconvert(), "data"_a.noconvert(), "device"_a, "kernel"_a, "verify"_a, "triangle"_a, "stream"_a)
            .def("set_values_of", &This::template set_values_of<decltype(offset)>, "shape"_a, "indptr"_a.noconvert(),
                 "indices"_a.noconvert(), "data"_a.noconvert());
    };
    add_for_offsets(std::int32_t{});
    add_for_offsets(std::int64_t{});
    core.def_static("on_gpu", &This::make_on_gpu, "recipe"_a, "shape"_a, "indptr"_a, "long_offsets"_a, "indices"_a, "data"_a,
                    "device"_a, "kernel"_a, "verify"_a, "triangle"_a, "stream"_a);
    core.def("multiply", &This::multiply, "x"_a.noconvert(), "y"_a.noconvert(), "recipe_order"_a, "accumulate"_a)
        .def("multiply_on_gpu", &This::multiply_on_gpu, "x"_a, "y"_a, "recipe_order"_a, "accumulate"_a)
        .def("permute_on_gpu", &This::permute_on_gpu, "v"_a, "to"_a, "to_recipe"_a)
        .def("set_values", &This::set_values, "values"_a.noconvert())
        .def("set_values_on_gpu", &This::set_values_on_gpu, "values"_a)
        .def("product", &This::product, "x"_a.noconvert(), "recipe_order"_a)
        .def("permuted", &This::permuted, "v"_a.noconvert(), "to_recipe"_a)
        .def("facts", &This::facts)
        .def("row_order", [](const py::object& self) { return This::order(self, true); })
        .def("column_order", [](const py::object& self) { return This::order(self, false); });
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
    add_core<float>(module, "OperatorF32");
    add_core<double>(module, "OperatorF64");
}
