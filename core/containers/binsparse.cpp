// workbench_hdf5: sparse matrices in HDF5 files, as the SuiteSparse collection has them.
// Source: GraphBLAS, "Binary Sparse Format Specification" 0.1: a group with arrays and a JSON descriptor.
#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/containers/program.hpp"
#include "core/contract/errors.hpp"
#include "core/input/bytes/reading_memory.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

using Json = nlohmann::ordered_json;

/// The innermost message of the library.
std::string reason() {
    std::string text;
    const auto take = [](unsigned /*depth*/, const H5E_error2_t* error, void* to) -> herr_t {
        auto& first = *static_cast<std::string*>(to);
        if (first.empty() && error->desc != nullptr) first = error->desc;
        return 0;
    };
    (void)H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take, &text);
    return text.empty() ? "" : " (" + text + ")";
}

/// An object of the library.
class Handle {
public:
    Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
    Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    Handle& operator=(Handle&&) = delete;
    ~Handle() {
        if (is_open()) (void)close_(id_);
    }
    [[nodiscard]] bool is_open() const { return id_ >= 0; }
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor): for the library's functions

private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

constexpr const char* descriptor_name = "binsparse";

/// The members of the descriptor that say how the arrays are to be read.
struct Descriptor {
    std::string format;
    bool by_columns = false;
    std::array<std::int64_t, 2> shape{};
    bool one_value = false;  // of all entries
    bool fill = false;       // places without an entry have a value, which Finch writes although it is 0
    std::string structure;
    std::int64_t stored = -1;  // number_of_stored_values, if it is there
};

/// Rows, columns and values. The outer index is that by which the format is ordered.
struct Entries {
    std::vector<std::int64_t> outer;
    std::vector<std::int64_t> inner;
    std::vector<double> values;
};

class BinsparseReader {
public:
    BinsparseReader(const std::filesystem::path& path, const std::string& member)
        : path_(path.string()), file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose) {
        if (!file_.is_open()) fail("cannot be opened" + reason(), "an undamaged HDF5 file");
        name_ = choose(member);
    }

    void read(WholeFile& npz) const {
        const Handle group(H5Gopen2(file_, name_.c_str(), H5P_DEFAULT), H5Gclose);
        if (!group.is_open()) fail_here("cannot be opened" + reason(), "a group");
        const Descriptor matrix = parse(text_of_descriptor(group));
        if (matrix.fill) check_fill_value(group);
        const NpyArray inner = array(group, "indices_1");
        const NpyArray values = array(group, "values");
        if (matrix.stored >= 0 && matrix.stored != inner.size()) {
            fail_here(
                fmt::format("found {} and \"number_of_stored_values\": {}", counted(inner.size(), "index"), matrix.stored),
                "as many");
        }
        const bool listed = matrix.format.starts_with("COO");
        const bool doubly = matrix.format.starts_with("D");
        if (!listed && !doubly && !matrix.one_value && matrix.structure.empty()) {
            const NpyArray pointers = array(group, "pointers_to_1");
            const std::vector<NamedArray> arrays{{"indptr", view(pointers)}, {"indices", view(inner)}, {"data", view(values)}};
            return write_arrays(npz, matrix.by_columns ? "csc" : "csr", matrix.shape, arrays);
        }
        Entries entries;
        if (listed || doubly) entries.outer = integers(array(group, "indices_0"), "indices_0");
        if (!listed) {
            if (!doubly) entries.outer = first_integers(matrix.shape[matrix.by_columns ? 1 : 0]);
            entries.outer = repeated(entries.outer, integers(array(group, "pointers_to_1"), "pointers_to_1"), inner.size());
        }
        entries.inner = integers(inner, "indices_1");
        entries.values = numbers(values, matrix, inner.size());
        write_entries(npz, matrix, std::move(entries));
    }

private:
    [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
        throw InputError(fmt::format("{}: {}; expected {}", path_, found, expected));
    }
    [[noreturn]] void fail_here(const std::string& found, const std::string& expected) const {
        fail(fmt::format("group {}: {}", in_quotes(name_, 200), found), expected);
    }

    /// The group of this name, or the only one with a descriptor.
    [[nodiscard]] std::string choose(const std::string& member) const {
        std::vector<std::string> groups;
        const auto take = [](hid_t file, const char* name, const H5O_info_t* info, void* to) -> herr_t {
            if (info->type != H5O_TYPE_GROUP || H5Aexists_by_name(file, name, descriptor_name, H5P_DEFAULT) <= 0) return 0;
            static_cast<std::vector<std::string>*>(to)->emplace_back(std::string_view(name) == "." ? "/" : name);
            return 0;
        };
        if (H5Ovisit(file_, H5_INDEX_NAME, H5_ITER_NATIVE, take, &groups) < 0)
            fail("cannot be read" + reason(), "an undamaged file");
        if (groups.empty()) fail("found no group with the attribute 'binsparse'", "a matrix in the Binsparse format");
        const std::string found = "found the matrices " + names_in_quotes(groups);
        if (!member.empty()) {
            if (std::ranges::find(groups, member) != groups.end()) return member;
            fail(found, "a matrix " + in_quotes(member));
        }
        if (groups.size() > 1) fail(found, "one, or --member NAME");
        return groups.front();
    }

    [[nodiscard]] std::string text_of_descriptor(hid_t group) const {
        constexpr std::size_t longest = std::size_t{1} << 20;
        const auto refuse = [&] {
            fail_here("the attribute 'binsparse' cannot be read" + reason(), "a text of at most 1 MiB");
        };
        const Handle attribute(H5Aopen(group, descriptor_name, H5P_DEFAULT), H5Aclose);
        const Handle type(H5Aget_type(attribute), H5Tclose);
        const Handle space(H5Aget_space(attribute), H5Sclose);
        if (!type.is_open() || H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1) refuse();
        std::string text;
        if (H5Tis_variable_str(type) > 0) {
            char* whole = nullptr;
            if (H5Aread(attribute, type, &whole) < 0 || whole == nullptr) refuse();
            text = whole;
            (void)H5free_memory(whole);
        } else {
            text.resize(H5Tget_size(type));
            if (text.size() > longest || H5Aread(attribute, type, text.data()) < 0) refuse();
            text.resize(std::min(text.find('\0'), text.size()));
        }
        if (text.size() > longest) refuse();
        return text;
    }

    [[nodiscard]] Descriptor parse(const std::string& text) const {
        const Json whole = Json::parse(text, nullptr, false);
        const Json* const json = whole.is_object() && whole.contains(descriptor_name) ? &whole[descriptor_name] : nullptr;
        if (json == nullptr || !json->is_object()) fail_here("found no JSON object \"binsparse\" in the attribute", "one");
        const auto text_at = [](const Json& object, const char* key) {
            return object.contains(key) && object[key].is_string() ? object[key].get<std::string>() : "";
        };
        Descriptor matrix;
        matrix.format = text_at(*json, "format");
        constexpr std::array known{"CSR", "CSC", "DCSR", "DCSC", "COO", "COOR", "COOC"};
        if (std::ranges::find(known, matrix.format) == known.end()) {
            fail_here(fmt::format("found the format {}", in_quotes(matrix.format)), "CSR, CSC, DCSR, DCSC, COO, COOR or COOC");
        }
        const Json shape = json->value("shape", Json());
        if (!shape.is_array() || shape.size() != 2 || !shape[0].is_number_unsigned() || !shape[1].is_number_unsigned()) {
            fail_here("found no shape of two numbers", "\"shape\": [ROWS, COLUMNS]");
        }
        matrix.shape = {shape[0].get<std::int64_t>(), shape[1].get<std::int64_t>()};
        try {
            check_size(matrix.shape[0], matrix.shape[1]);
        } catch (const LineError& error) {
            throw InputError(fmt::format("{}: group {}: {}", path_, in_quotes(name_, 200), error.what));
        }
        matrix.by_columns = matrix.format == "CSC" || matrix.format == "DCSC" || matrix.format == "COOC";
        const Json types = json->value("data_types", Json());
        const std::string value_type = types.is_object() ? text_at(types, "values") : "";
        matrix.one_value = value_type.starts_with("iso[");
        if (value_type.find("complex[") != std::string::npos) {
            fail_here("found complex values, which are not supported", "real ones");
        }
        matrix.fill = json->value("fill", Json(false)) != false;
        matrix.structure = text_at(*json, "structure");
        if (matrix.structure == "general") matrix.structure.clear();
        // A real Hermitian matrix is symmetric.
        const bool mirrored = matrix.structure.starts_with("symmetric_") || matrix.structure.starts_with("hermitian_") ||
                              matrix.structure.starts_with("skew_symmetric_");
        const bool a_triangle = matrix.structure.ends_with("_lower") || matrix.structure.ends_with("_upper");
        if (!matrix.structure.empty() && (!mirrored || !a_triangle || matrix.shape[0] != matrix.shape[1])) {
            fail_here(fmt::format("found the structure {} of a {} x {} matrix", in_quotes(matrix.structure), matrix.shape[0],
                                  matrix.shape[1]),
                      "symmetric_, hermitian_ or skew_symmetric_, then lower or upper, of a square one");
        }
        const Json stored = json->value("number_of_stored_values", Json());
        if (stored.is_number_unsigned()) matrix.stored = stored.get<std::int64_t>();
        return matrix;
    }

    void check_fill_value(hid_t group) const {
        Descriptor one;
        one.one_value = true;
        const double value = numbers(array(group, "fill_value"), one, 1)[0];
        if (value != 0) fail_here(fmt::format("found the fill value {}", value), "zeros where nothing is stored");
    }

    /// True for the enumeration of two integers as which h5py and others store booleans.
    [[nodiscard]] static bool is_boolean(hid_t type) {
        constexpr std::size_t longest = 8;
        if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2 || H5Tget_size(type) > longest) return false;
        const Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
        std::int64_t sum = 0;
        for (unsigned i = 0; i < 2; ++i) {
            std::int64_t value = 0;  // little-endian, so that shorter integers are its first bytes
            if (H5Tget_member_value(native, i, &value) < 0 || value < 0 || value > 1) return false;
            sum += value;
        }
        return sum == 1;
    }

    /// Reads an array in its own type; booleans are integers.
    [[nodiscard]] NpyArray array(hid_t group, const char* name) const {
        const auto refuse = [&](const std::string& found, const std::string& expected) {
            fail_here(fmt::format("array {}: {}", in_quotes(name), found), expected);
        };
        const Handle data(H5Dopen2(group, name, H5P_DEFAULT), H5Dclose);
        if (!data.is_open()) refuse("cannot be opened" + reason(), "what Binsparse defines for this format");
        const Handle space(H5Dget_space(data), H5Sclose);
        const hssize_t count = H5Sget_simple_extent_npoints(space);
        if (count < 0 || H5Sget_simple_extent_ndims(space) > 1) refuse("found no list", "an array of one dimension");
        const Handle type(H5Dget_type(data), H5Tclose);
        const Handle base(is_boolean(type) ? H5Tget_super(type) : H5Tcopy(type), H5Tclose);
        const H5T_class_t kind = H5Tget_class(base);
        const std::size_t bytes = H5Tget_size(type);
        const bool real = kind == H5T_FLOAT && (bytes == 4 || bytes == 8);
        if (!real && (kind != H5T_INTEGER || bytes > 8 || (bytes & (bytes - 1)) != 0)) {
            refuse("found another type", "booleans, integers of 8 to 64 bits, or real numbers of 32 or 64 bits");
        }
        const bool is_signed = kind == H5T_INTEGER && H5Tget_sign(base) == H5T_SGN_2;
        // A file can claim up to 2^64 numbers; in f64, bytes of them do not overflow.
        require_host_memory(static_cast<std::size_t>(std::min(static_cast<double>(count) * static_cast<double>(bytes), 1e18)),
                            fmt::format("{}: array {} of {}", path_, in_quotes(name), counted(count, "number")));
        NpyArray result;
        result.type = fmt::format("{}{}{}", bytes == 1 ? '|' : '<', real ? 'f' : is_signed ? 'i' : 'u', bytes);
        result.shape = {count};
        result.items = {0, count};
        result.bytes.resize(static_cast<std::size_t>(count) * bytes);
        const Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
        if (count > 0 && H5Dread(data, native, H5S_ALL, H5S_ALL, H5P_DEFAULT, result.bytes.data()) < 0) {
            refuse("cannot be read" + reason(), "an undamaged file");
        }
        return result;
    }

    static NumpyArray view(const NpyArray& array) { return {array.type, array.shape, {std::span(array.bytes)}}; }

    template <typename Number>
    [[nodiscard]] std::vector<Number> list_of(std::int64_t count) const {
        const auto size = static_cast<std::size_t>(count);
        require_host_memory(size * sizeof(Number), fmt::format("{}: a list of {}", path_, counted(count, "number")));
        return std::vector<Number>(size);
    }

    [[nodiscard]] std::vector<std::int64_t> integers(const NpyArray& array, const char* name) const {
        auto result = list_of<std::int64_t>(array.size());
        const bool known = with_integer_type(array.type, [&](auto number) {
            for (std::size_t i = 0; i < result.size(); ++i)
                result[i] = static_cast<std::int64_t>(item<decltype(number)>(array, i));
        });
        if (!known) fail_here(fmt::format("array {}: found type {}", in_quotes(name), array.type), "integers");
        return result;
    }

    [[nodiscard]] std::vector<double> numbers(const NpyArray& array, const Descriptor& matrix, std::int64_t count) const {
        const bool one = matrix.one_value;
        if (array.size() != (one ? 1 : count)) {
            fail_here(fmt::format("found {} for {}", counted(array.size(), "value"), counted(count, "entry")),
                      one ? "one of all" : "as many");
        }
        auto result = list_of<double>(count);
        const auto take = [&](auto number) {
            for (std::size_t i = 0; i < result.size(); ++i) {
                const auto found = item<decltype(number)>(array, one ? 0 : i);
                result[i] = static_cast<double>(found);
                if (std::is_integral_v<decltype(number)> && !is_exact(found, result[i])) {
                    fail_here(fmt::format("found the value {}, which f64 rounds to {:.0f}", found, result[i]),
                              "exact integers, or real numbers");
                }
            }
        };
        if (array.type == "<f8") take(double{});
        if (array.type == "<f4") take(float{});
        (void)with_integer_type(array.type, take);
        return result;
    }

    [[nodiscard]] std::vector<std::int64_t> first_integers(std::int64_t count) const {
        auto result = list_of<std::int64_t>(count);
        std::iota(result.begin(), result.end(), 0);
        return result;
    }

    /// For each entry the row, or column, between whose pointers it is.
    [[nodiscard]] std::vector<std::int64_t> repeated(const std::vector<std::int64_t>& rows,
                                                     const std::vector<std::int64_t>& pointers, std::int64_t count) const {
        if (pointers.size() != rows.size() + 1 || pointers.front() != 0 || pointers.back() != count ||
            !std::ranges::is_sorted(pointers)) {
            fail_here("found other 'pointers_to_1'", fmt::format("{} ascending ones from 0 to {}", rows.size() + 1, count));
        }
        auto result = list_of<std::int64_t>(count);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            std::fill(result.begin() + pointers[i], result.begin() + pointers[i + 1], rows[i]);
        }
        return result;
    }

    /// Writes entries, followed by their mirror images if the matrix has a structure.
    void write_entries(WholeFile& npz, const Descriptor& matrix, Entries entries) const {
        auto& [rows, columns, values] = entries;
        if (matrix.by_columns) std::swap(rows, columns);
        if (rows.size() != columns.size()) {
            fail_here(fmt::format("found {} and {} of entries", counted(rows.size(), "row"), counted(columns.size(), "column")),
                      "as many");
        }
        const bool lower = matrix.structure.ends_with("lower");
        const double sign = matrix.structure.starts_with("skew") ? -1 : 1;
        const std::size_t stored = matrix.structure.empty() ? 0 : rows.size();
        require_host_memory(3 * stored * sizeof(double),
                            fmt::format("{}: a matrix of {}", path_, counted(2 * stored, "entry")));
        for (std::size_t i = 0; i < stored; ++i) {
            if (lower ? columns[i] > rows[i] : rows[i] > columns[i]) {
                fail_here(fmt::format("found an entry in row {} and column {}, from 0", rows[i], columns[i]),
                          "entries of the triangle of " + in_quotes(matrix.structure));
            }
            if (rows[i] == columns[i]) continue;
            rows.push_back(columns[i]);
            columns.push_back(rows[i]);
            values.push_back(sign * values[i]);
        }
        const std::vector<NamedArray> arrays{{"row", numpy_array(std::span<const std::int64_t>(rows))},
                                             {"col", numpy_array(std::span<const std::int64_t>(columns))},
                                             {"data", numpy_array(std::span<const double>(values))}};
        write_arrays(npz, "coo", matrix.shape, arrays);
    }

    std::string path_;
    Handle file_;
    std::string name_;
};

void read_binsparse(const std::filesystem::path& path, const std::string& member, WholeFile& npz) {
    BinsparseReader(path, member).read(npz);
}

class BinsparseWriter {
public:
    explicit BinsparseWriter(const std::filesystem::path& path)
        : path_(path.string()), file_(check(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT)), H5Fclose) {}

    template <typename Numbers>
    void add(const char* name, hid_t type, const Numbers& numbers) const {
        const hsize_t count = numbers.size();
        const Handle space(check(H5Screate_simple(1, &count, nullptr)), H5Sclose);
        // Equal matrices make equal files without times.
        const Handle options(check(H5Pcreate(H5P_DATASET_CREATE)), H5Pclose);
        check(H5Pset_obj_track_times(options, 0));
        const Handle data(check(H5Dcreate2(file_, name, type, space, H5P_DEFAULT, options, H5P_DEFAULT)), H5Dclose);
        if (count > 0) check(H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data()));
    }

    void add_descriptor(const std::string& text) const {
        const Handle type(check(H5Tcopy(H5T_C_S1)), H5Tclose);
        check(H5Tset_size(type, H5T_VARIABLE));
        check(H5Tset_cset(type, H5T_CSET_UTF8));
        const Handle space(check(H5Screate(H5S_SCALAR)), H5Sclose);
        const Handle attribute(check(H5Acreate2(file_, descriptor_name, type, space, H5P_DEFAULT, H5P_DEFAULT)), H5Aclose);
        const char* const begin = text.c_str();
        check(H5Awrite(attribute, type, &begin));
    }

    void finish() const { check(H5Fflush(file_, H5F_SCOPE_GLOBAL)); }

private:
    template <typename Result>
    Result check(Result result) const {
        if (result < 0) throw MachineError(fmt::format("{}: cannot be written{}", path_, reason()));
        return result;
    }

    std::string path_;
    Handle file_;
};

void write_binsparse(const std::filesystem::path& path, const CsrMatrix& matrix) {
    const Json descriptor{{descriptor_name,
                           {{"version", "0.1"},
                            {"format", "CSR"},
                            {"shape", {matrix.rows, matrix.columns}},
                            {"number_of_stored_values", matrix.nonzeros()},
                            {"data_types", {{"pointers_to_1", "int64"}, {"indices_1", "int32"}, {"values", "float64"}}}}}};
    const BinsparseWriter file(path);
    file.add("pointers_to_1", H5T_NATIVE_INT64, matrix.row_offsets);
    file.add("indices_1", H5T_NATIVE_INT32, matrix.column_indices);
    file.add("values", H5T_NATIVE_DOUBLE, matrix.values);
    file.add_descriptor(descriptor.dump());
    file.finish();
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    (void)H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // it would print
    // Reading needs no lock, which some network file systems refuse.
    (void)setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
    return workbench::run_container_program(argc, argv, {workbench::read_binsparse, workbench::write_binsparse});
}
