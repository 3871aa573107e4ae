// workbench_matlab: sparse matrices of MATLAB's .mat files, of versions 5 to 7 and, with HDF5, 7.3.
// Source: The MathWorks, "MAT-File Format". Sparse matrices are stored by columns.
#include <fmt/format.h>
#include <matio.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/containers/program.hpp"
#include "core/contract/errors.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

using Index32 = std::remove_pointer_t<decltype(mat_sparse_t::ir)>;

/// The first message of the library, which says what is wrong.
std::string& message() {
    static std::string first;
    return first;
}

struct CloseMatlab {
    void operator()(mat_t* file) const { Mat_Close(file); }
    void operator()(matvar_t* variable) const { Mat_VarFree(variable); }
};
using File = std::unique_ptr<mat_t, CloseMatlab>;
using Variable = std::unique_ptr<matvar_t, CloseMatlab>;

/// Discards the unpacked bytes of a zlib stream; returns false unless it is whole and its checksum is right.
bool is_whole(std::istream& file, std::uint64_t packed) {
    z_stream stream{};
    if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
    std::vector<char> input(std::size_t{1} << 16);
    std::vector<char> output(input.size());
    int status = Z_OK;
    while (packed > 0 && status == Z_OK) {
        file.read(input.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(packed, input.size())));
        packed -= static_cast<std::uint64_t>(file.gcount());
        stream.next_in = reinterpret_cast<Bytef*>(input.data());
        stream.avail_in = static_cast<uInt>(file.gcount());
        while (stream.avail_in > 0 && status == Z_OK) {
            stream.next_out = reinterpret_cast<Bytef*>(output.data());
            stream.avail_out = static_cast<uInt>(output.size());
            status = inflate(&stream, Z_NO_FLUSH);
        }
        if (file.gcount() == 0) break;
    }
    inflateEnd(&stream);
    return status == Z_STREAM_END;
}

/// Throws InputError unless each element of a file of version 5 is whole. The library takes bytes that are missing for zeros,
/// and does not compare checksums.
void check_elements(const std::filesystem::path& path) {
    constexpr std::uint64_t header = 128;
    constexpr std::uint64_t tag = 8;
    std::ifstream file(path, std::ios::binary);
    const std::uint64_t size = std::filesystem::file_size(path);
    std::array<std::uint32_t, 2> type_and_bytes{};
    std::array<char, 4> version_and_order{};
    file.seekg(header - 4).read(version_and_order.data(), 4);
    const bool swapped = version_and_order[2] == 'M';
    for (std::uint64_t place = header; place < size;) {
        file.seekg(static_cast<std::streamoff>(place)).read(reinterpret_cast<char*>(type_and_bytes.data()), tag);
        const auto [type, bytes] = type_and_bytes;
        const std::uint64_t length = swapped ? __builtin_bswap32(bytes) : bytes;
        const bool compressed = (swapped ? __builtin_bswap32(type) : type) == MAT_T_COMPRESSED;
        if (!file || length > size - place - tag || (compressed && !is_whole(file, length))) {
            throw InputError(
                fmt::format("{}: found a damaged element at byte {}; expected an undamaged file", path.string(), place));
        }
        place += tag + length;
    }
}

class MatlabReader {
public:
    explicit MatlabReader(const std::filesystem::path& path)
        : path_(path.string()), file_(Mat_Open(path.c_str(), MAT_ACC_RDONLY)) {
        if (file_ == nullptr) fail("cannot be opened" + reason(), "a MATLAB file of version 5 to 7.3");
        if (Mat_GetVersion(file_.get()) == MAT_FT_MAT5) check_elements(path);
        for (;;) {
            const Variable variable(Mat_VarReadNextInfo(file_.get()));
            if (variable == nullptr) break;
            if (variable->name != nullptr) list(variable.get(), variable->name, 0);
        }
        for (const std::string& name : logical_) (is_sparse(name) ? sparse_ : others_).push_back(name);
    }

    void read(const std::string& member, WholeFile& npz) const {
        const std::string name = choose(member);
        message().clear();
        Variable variable;
        const matvar_t* const matrix = read_sparse(name, variable);
        if (matrix == nullptr) fail_at(name, "cannot be read" + reason(), "an undamaged file");
        write(name, *matrix, npz);
    }

private:
    [[noreturn]] void fail(const std::string& found, const std::string& expected) const {
        throw InputError(fmt::format("{}: {}; expected {}", path_, found, expected));
    }
    [[noreturn]] void fail_at(const std::string& name, const std::string& found, const std::string& expected) const {
        fail(fmt::format("variable {}: {}", in_quotes(name), found), expected);
    }
    [[nodiscard]] static std::string reason() { return message().empty() ? "" : " (" + message() + ")"; }

    /// Lists the sparse matrices of a variable and of the fields of a struct, such as Problem.A of the SuiteSparse collection.
    void list(matvar_t* variable, const std::string& name, int depth) {
        constexpr int deepest = 8;
        if (variable->class_type == MAT_C_SPARSE) return sparse_.push_back(name);
        const bool is_mat5 = Mat_GetVersion(file_.get()) == MAT_FT_MAT5;
        if (is_mat5 && variable->class_type == MAT_C_UINT8 && variable->isLogical != 0) return logical_.push_back(name);
        if (variable->class_type != MAT_C_STRUCT) return others_.push_back(name);
        const bool is_one = variable->rank == 2 && variable->dims[0] == 1 && variable->dims[1] == 1;
        char* const* const fields = is_one && depth < deepest ? Mat_VarGetStructFieldnames(variable) : nullptr;
        for (unsigned i = 0; fields != nullptr && i < Mat_VarGetNumberOfFields(variable); ++i) {
            matvar_t* const field = Mat_VarGetStructFieldByIndex(variable, i, 0);
            if (field != nullptr && fields[i] != nullptr) list(field, name + "." + fields[i], depth + 1);
        }
    }

    /// The variable, or field of a struct, of this name, without its numbers; `top` keeps what the file has at the top.
    [[nodiscard]] matvar_t* find(const std::string& name, Variable& top) const {
        const std::string top_name = name.substr(0, name.find('.'));
        top.reset(Mat_VarReadInfo(file_.get(), top_name.c_str()));
        matvar_t* found = top.get();
        for (std::size_t dot = top_name.size(); found != nullptr && dot < name.size();) {
            const std::size_t end = std::min(name.find('.', dot + 1), name.size());
            found = Mat_VarGetStructFieldByName(found, name.substr(dot + 1, end - dot - 1).c_str(), 0);
            dot = end;
        }
        return found;
    }

    /// Reads a sparse matrix, whose numbers have the type of their data element; null if it cannot be read.
    [[nodiscard]] const matvar_t* read_sparse(const std::string& name, Variable& top) const {
        // In a logical matrix, the library takes doubles for bytes with a wrong name. Octave writes doubles. Bytes so named are
        // recognized by the length of their element.
        for (const bool bytes_named_doubles : {false, true}) {
            matvar_t* const matrix = find(name, top);
            if (matrix == nullptr) return nullptr;
            const bool logical = matrix->isLogical != 0;
            if (!bytes_named_doubles) matrix->isLogical = 0;
            matrix->class_type = MAT_C_SPARSE;
            // HDF5 would round to the type that the class names, and converts any type to doubles.
            if (Mat_GetVersion(file_.get()) == MAT_FT_MAT73) matrix->data_type = MAT_T_DOUBLE;
            if (Mat_VarReadDataAll(file_.get(), matrix) != 0 || matrix->data == nullptr || !message().empty()) return nullptr;
            const auto& sparse = *static_cast<const mat_sparse_t*>(matrix->data);
            const bool has_doubles = sparse.ndata >= count_in(sparse) && sparse.ndata != sparse.nzmax / sizeof(double);
            if (bytes_named_doubles || !logical || has_doubles) return matrix;
        }
        return nullptr;
    }

    /// True if a logical array of class uint8 has the elements of a sparse matrix, as Octave writes logical sparse matrices.
    [[nodiscard]] bool is_sparse(const std::string& name) const {
        const std::string before = std::exchange(message(), "");
        Variable variable;
        const matvar_t* const matrix = read_sparse(name, variable);
        message() = before;
        return matrix != nullptr && is_consistent(*matrix);
    }

    /// The columns say how many entries there are; a file may have places for more.
    [[nodiscard]] static std::size_t count_in(const mat_sparse_t& sparse) {
        return sparse.njc == 0 || sparse.jc == nullptr ? 0 : static_cast<std::size_t>(sparse.jc[sparse.njc - 1]);
    }

    [[nodiscard]] static bool is_consistent(const matvar_t& matrix) {
        const auto& sparse = *static_cast<const mat_sparse_t*>(matrix.data);
        const std::size_t count = count_in(sparse);
        return matrix.rank == 2 && sparse.njc == matrix.dims[1] + 1 && count <= sparse.nir && count <= sparse.ndata;
    }

    [[nodiscard]] std::string choose(const std::string& member) const {
        const auto has = [&](const std::string& name) { return std::ranges::find(sparse_, name) != sparse_.end(); };
        const std::string found = sparse_.empty() ? "found no sparse matrix" : "found the matrices " + names_in_quotes(sparse_);
        if (!member.empty()) {
            if (has(member)) return member;
            fail(found, "a sparse matrix " + in_quotes(member));
        }
        if (sparse_.size() == 1) return sparse_.front();
        if (has("Problem.A")) return "Problem.A";
        if (!sparse_.empty()) fail(found, "one, or --member NAME");
        if (!others_.empty()) fail(found + ", but " + names_in_quotes(others_), "one, as of MATLAB's sparse()");
        fail(found + reason(), "one, in an undamaged file");
    }

    void write(const std::string& name, const matvar_t& matrix, WholeFile& npz) const {
        if (matrix.isComplex != 0) fail_at(name, "found complex values, which are not supported", "real ones");
        if (matrix.rank != 2) fail_at(name, fmt::format("found {}", counted(matrix.rank, "dimension")), "2");
        const auto type = type_of(matrix.data_type);
        if (!type)
            fail_at(name, fmt::format("found values of MATLAB's type {}", int{matrix.data_type}), "numbers or logical values");
        const auto& sparse = *static_cast<const mat_sparse_t*>(matrix.data);
        const std::size_t count = count_in(sparse);
        if (!is_consistent(matrix)) {
            fail_at(name,
                    fmt::format("found {}, {} and {} for {} and {}", counted(sparse.njc, "column offset"),
                                counted(sparse.nir, "row"), counted(sparse.ndata, "value"), counted(matrix.dims[1], "column"),
                                counted(count, "entry")),
                    "an undamaged file");
        }
        const auto array = [](const std::string& numbers, const void* data, std::size_t length, std::size_t bytes) {
            return NumpyArray{
                numbers, {static_cast<std::int64_t>(length)}, {{static_cast<const std::byte*>(data), length * bytes}}};
        };
        const std::vector<NamedArray> arrays{
            {"indptr", array("<u4", sparse.jc, sparse.njc, sizeof(Index32))},
            {"indices", array("<u4", sparse.ir, count, sizeof(Index32))},
            {"data", array(*type, sparse.data, count, Mat_SizeOf(matrix.data_type))},
        };
        write_arrays(npz, "csc", {static_cast<std::int64_t>(matrix.dims[0]), static_cast<std::int64_t>(matrix.dims[1])},
                     arrays);
    }

    /// numpy's name of a type.
    [[nodiscard]] static std::optional<std::string> type_of(matio_types type) {
        switch (type) {
            case MAT_T_DOUBLE: return "<f8";
            case MAT_T_SINGLE: return "<f4";
            case MAT_T_INT8: return "|i1";
            case MAT_T_UINT8: return "|u1";
            case MAT_T_INT16: return "<i2";
            case MAT_T_UINT16: return "<u2";
            case MAT_T_INT32: return "<i4";
            case MAT_T_UINT32: return "<u4";
            case MAT_T_INT64: return "<i8";
            case MAT_T_UINT64: return "<u8";
            default: return std::nullopt;
        }
    }

    std::string path_;
    File file_;
    std::vector<std::string> sparse_;
    std::vector<std::string> logical_;  // of class uint8
    std::vector<std::string> others_;
};

void read_matlab(const std::filesystem::path& path, const std::string& member, WholeFile& npz) {
    MatlabReader(path).read(member, npz);
}

/// Writes version 5, which every MATLAB and scipy read. `transposed` has the columns as its rows.
void write_matlab(const std::filesystem::path& path, const CsrMatrix& transposed) {
    const auto check = [&path](bool done) {
        if (!done) {
            throw MachineError(
                fmt::format("{}: cannot be written{}", path.string(), message().empty() ? "" : ": " + message()));
        }
    };
    constexpr Offset most = std::numeric_limits<std::int32_t>::max() / sizeof(double);
    if (transposed.nonzeros() > most) {
        throw MachineError(fmt::format("{}: found {}; expected at most {} in a .mat file, or a .h5 or .npz file", path.string(),
                                       counted(transposed.nonzeros(), "entry"), most));
    }
    std::vector<Index32> offsets(transposed.row_offsets.begin(), transposed.row_offsets.end());
    std::vector<Index32> rows(transposed.column_indices.begin(), transposed.column_indices.end());
    std::vector<double> values(transposed.values.begin(), transposed.values.end());
    const auto count = static_cast<Index32>(values.size());
    mat_sparse_t sparse{count, rows.data(), count, offsets.data(), static_cast<Index32>(offsets.size()), count, values.data()};
    std::array<std::size_t, 2> shape{static_cast<std::size_t>(transposed.columns), static_cast<std::size_t>(transposed.rows)};
    // Without a text of its own the library writes the date, and equal matrices would make different files.
    const File file(Mat_CreateVer(path.c_str(), "MATLAB 5.0 MAT-file, written by the SpMV workbench", MAT_FT_MAT5));
    check(file != nullptr);
    const Variable variable(Mat_VarCreate("A", MAT_C_SPARSE, MAT_T_DOUBLE, 2, shape.data(), &sparse, MAT_F_DONT_COPY_DATA));
    check(variable != nullptr && Mat_VarWrite(file.get(), variable.get(), MAT_COMPRESSION_NONE) == 0);
}

}  // namespace
}  // namespace workbench

int main(int argc, char** argv) {
    const auto keep_first = [](int /*level*/, auto* text) {  // whose characters are constant in newer versions of the library
        if (workbench::message().empty()) workbench::message() = text;
    };
    (void)Mat_LogInitFunc("", keep_first);
    return workbench::run_container_program(argc, argv, {workbench::read_matlab, workbench::write_matlab});
}
