#include "core/input/npz/scipy_npz.hpp"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/contract/errors.hpp"
#include "core/input/bytes/reading_memory.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/system/host_memory.hpp"
#include "core/text/words.hpp"

namespace workbench {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays are copied from the file byte for byte");

class Npz {
public:
    Npz(const std::filesystem::path& path, const std::map<std::string, ItemRange>& wanted)
        : path_(path.string()), arrays_(read_npz(path, wanted)) {}

    template <typename... Values>
    [[noreturn]] void fail(const std::string& name, fmt::format_string<Values...> text, Values&&... values) const {
        throw InputError(fmt::format("{}: member {}.npy: {}", path_, name, fmt::format(text, std::forward<Values>(values)...)));
    }
    [[noreturn]] void fail(const std::string& what) const { throw InputError(fmt::format("{}: {}", path_, what)); }

    [[nodiscard]] const NpyArray& array(const std::string& name) const {
        const auto found = arrays_.find(name);
        if (found == arrays_.end()) fail(name, "found nothing; expected what scipy.sparse.save_npz writes");
        return found->second;
    }

    [[nodiscard]] const NpyArray& list(const std::string& name) const {
        const NpyArray& found = array(name);
        if (found.shape.size() != 1) {
            fail(name, "found an array of {}; expected 1", counted(found.shape.size(), "dimension"));
        }
        return found;
    }

    /// Throws MachineError if memory is short for `items` more items of `bytes` each.
    void require_memory(std::int64_t items, std::size_t bytes) const {
        require_host_memory(static_cast<std::size_t>(items) * bytes,
                            fmt::format("{}: a matrix of {}", path_, counted(items, "entry")));
    }

    [[nodiscard]] bool has(const std::string& name) const { return arrays_.contains(name); }

    void release(const std::string& name) { arrays_.erase(name); }

private:
    std::string path_;
    std::map<std::string, NpyArray> arrays_;
};

HostArray<double> values(const Npz& npz, const std::string& name) {
    const NpyArray& array = npz.list(name);
    npz.require_memory(array.items_read(), sizeof(double));
    HostArray<double> result(array.items_read());
    const bool known = with_number_type(array.type, [&](auto number) {
        for (std::size_t i = 0; i < result.size(); ++i) {
            const auto found = item<decltype(number)>(array, i);
            result[i] = static_cast<double>(found);
            if constexpr (std::is_integral_v<decltype(number)> && sizeof(number) == sizeof(double)) {
                if (is_exact(found, result[i])) continue;
                npz.fail(name,
                         "found {} at place {}, which f64 rounds to {:.0f}; expected exact integers, or values of type f64",
                         found, array.items.first + static_cast<std::int64_t>(i), result[i]);
            }
        }
    });
    if (known) return result;
    if (array.type.find('c') != std::string::npos) {
        npz.fail(name, "found complex values ({}), which are not supported; expected real ones", array.type);
    }
    npz.fail(name, "found values of type {}; expected f32, f64, integers or bool, little-endian", array.type);
}

/// Some of the items that were read: `first`, `first` + `step`, ...
struct Items {
    std::size_t first = 0;
    std::size_t step = 1;
    std::int64_t count = 0;
};

/// Items as integers, each of which must be from 0 to `most`.
template <typename Integer>
HostArray<Integer> integers(const Npz& npz, const std::string& name, std::int64_t most, const Items& items) {
    const NpyArray& array = npz.array(name);
    npz.require_memory(items.count, sizeof(Integer));
    HostArray<Integer> result(items.count);
    const bool known = with_integer_type(array.type, [&](auto number) {
        for (std::size_t i = 0; i < result.size(); ++i) {
            const std::size_t place = items.first + i * items.step;
            const auto found = item<decltype(number)>(array, place);
            if (std::cmp_less(found, 0) || std::cmp_greater(found, most)) {
                npz.fail(name, "found {} at place {}; expected an integer from 0 to {}", found,
                         array.items.first + static_cast<std::int64_t>(place), most);
            }
            result[i] = static_cast<Integer>(found);  // NOLINT(bugprone-signed-char-misuse): it is not negative here
        }
    });
    if (!known) npz.fail(name, "found type {}; expected integers, little-endian", array.type);
    return result;
}

template <typename Integer>
HostArray<Integer> integers(const Npz& npz, const std::string& name, std::int64_t most) {
    return integers<Integer>(npz, name, most, {0, 1, npz.list(name).items_read()});
}

/// The name of the format, stored as bytes or as UTF-32; dropping zero bytes reads both.
std::string format_of(const Npz& npz) {
    if (!npz.has("format")) npz.fail("found a zip archive without format.npy; expected what scipy.sparse.save_npz writes");
    std::string format;
    for (const std::byte byte : npz.array("format").bytes) {
        if (byte != std::byte{0}) format += std::to_integer<char>(byte);
    }
    return format;
}

struct Shape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
};

Shape shape_of(const Npz& npz) {
    const auto lengths = integers<std::int64_t>(npz, "shape", std::numeric_limits<std::int64_t>::max());
    if (lengths.size() != 2) npz.fail("shape", "found {}; expected 2", counted(lengths.size(), "dimension"));
    return {lengths[0], lengths[1]};
}

void check_shape(const Npz& npz, const Shape& shape, std::int64_t entries) {
    try {
        check_size(shape.rows, shape.columns, entries);
    } catch (const LineError& error) {
        npz.fail(error.what);
    }
}

void check_same_length(const Npz& npz, const std::string& name, const std::string& other) {
    const std::int64_t found = npz.list(name).size();
    const std::int64_t expected = npz.list(other).size();
    if (found != expected) {
        npz.fail(name, "found {}; expected {}, as in {}.npy", counted(found, "item"), expected, other);
    }
}

HostArray<Offset> offsets(const Npz& npz, std::int64_t rows, std::int64_t entries) {
    auto result = integers<Offset>(npz, "indptr", entries);
    if (static_cast<std::int64_t>(result.size()) != rows + 1) {
        npz.fail("indptr", "found {}; expected {}", counted(result.size(), "item"), rows + 1);
    }
    if (result.front() != 0) npz.fail("indptr", "found {} at place 0; expected 0", result.front());
    for (std::size_t i = 1; i < result.size(); ++i) {
        if (result[i] < result[i - 1]) {
            npz.fail("indptr", "found {} after {} at place {}; expected ascending offsets", result[i], result[i - 1], i);
        }
    }
    return result;
}

bool columns_ascend(const CsrMatrix& matrix) {
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row] + 1; i < matrix.row_offsets[row + 1]; ++i) {
            if (matrix.column_indices[i - 1] >= matrix.column_indices[i]) return false;
        }
    }
    return true;
}

// Per entry: the list, the matrix that csr_from_entries returns, and the index that it sorts by.
constexpr std::size_t bytes_to_sort = sizeof(Entry) + 2 * sizeof(Index) + sizeof(double);

/// Sorts and sums: scipy allows unsorted and duplicate columns.
CsrMatrix in_order(const Npz& npz, CsrMatrix matrix) {
    if (columns_ascend(matrix)) return matrix;
    npz.require_memory(matrix.nonzeros(), bytes_to_sort);
    std::vector<Entry> entries;
    entries.reserve(matrix.values.size());
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
            entries.push_back({row, matrix.column_indices[i], matrix.values[i]});
        }
    }
    return csr_from_entries(matrix.rows, matrix.columns, entries);
}

/// A CSR matrix, or the transpose of a CSC matrix.
class CsrRows final : public RowReader {
public:
    CsrRows(Npz& opened, std::filesystem::path path, const Shape& shape)
        : path_(std::move(path)), rows_(static_cast<Index>(shape.rows)), columns_(static_cast<Index>(shape.columns)) {
        const std::int64_t stored = opened.list("indices").size();
        check_shape(opened, shape, stored);
        offsets_ = offsets(opened, shape.rows, stored);
        opened.release("indptr");
    }

    [[nodiscard]] Index rows() const override { return rows_; }
    [[nodiscard]] Index columns() const override { return columns_; }

    [[nodiscard]] CsrMatrix read(RowRange range) const override {
        check_range(range, rows_);
        const ItemRange entries{offsets_[range.first], offsets_[range.end]};
        Npz npz(path_, {{"indices", entries}, {"data", entries}});
        check_same_length(npz, "data", "indices");
        CsrMatrix matrix;
        matrix.rows = range.count();
        matrix.columns = columns_;
        matrix.row_offsets.assign(offsets_.begin() + range.first, offsets_.begin() + range.end + 1);
        for (Offset& offset : matrix.row_offsets) offset -= entries.first;
        matrix.column_indices = integers<Index>(npz, "indices", std::int64_t{columns_} - 1);
        npz.release("indices");
        matrix.values = values(npz, "data");
        npz.release("data");
        if (static_cast<Offset>(matrix.values.size()) != matrix.nonzeros()) {
            npz.fail("found other entries than when its row offsets were read; expected a file that does not change");
        }
        return in_order(npz, std::move(matrix));
    }

private:
    std::filesystem::path path_;
    Index rows_ = 0;
    Index columns_ = 0;
    HostArray<Offset> offsets_;  // [rows + 1]
};

CsrMatrix read_all(const CsrRows& rows) { return rows.read({0, rows.rows()}); }

CsrMatrix from_entries(const Npz& npz, const Shape& shape, const HostArray<Index>& rows, const HostArray<Index>& columns) {
    const auto data = values(npz, "data");
    npz.require_memory(static_cast<std::int64_t>(data.size()), bytes_to_sort);
    std::vector<Entry> entries(data.size());
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i] = {rows[i], columns[i], data[i]};
    return csr_from_entries(static_cast<Index>(shape.rows), static_cast<Index>(shape.columns), entries);
}

/// Rows and columns as one array of two rows, as scipy stores COO arrays of any number of dimensions.
CsrMatrix read_coordinates(const std::filesystem::path& path, const Shape& shape) {
    const Npz npz(path, {{"coords", all_items}, {"data", all_items}});
    const std::int64_t entries = npz.list("data").size();
    const NpyArray& both = npz.array("coords");
    if (both.shape != std::vector<std::int64_t>{2, entries}) {
        npz.fail("coords", "found the shape ({}); expected (2, {}), a row and a column for each item of data.npy",
                 fmt::join(both.shape, ", "), entries);
    }
    check_shape(npz, shape, entries);
    const std::size_t step = both.by_columns ? 2 : 1;
    const std::size_t first_column = both.by_columns ? 1 : static_cast<std::size_t>(entries);
    return from_entries(npz, shape, integers<Index>(npz, "coords", shape.rows - 1, {0, step, entries}),
                        integers<Index>(npz, "coords", shape.columns - 1, {first_column, step, entries}));
}

CsrMatrix read_coo(const std::filesystem::path& path, const Shape& shape) {
    const Npz npz(path, {{"row", all_items}, {"col", all_items}, {"coords", no_items}, {"data", all_items}});
    if (!npz.has("row") && npz.has("coords")) return read_coordinates(path, shape);
    check_same_length(npz, "row", "data");
    check_same_length(npz, "col", "data");
    check_shape(npz, shape, npz.list("data").size());
    return from_entries(npz, shape, integers<Index>(npz, "row", shape.rows - 1),
                        integers<Index>(npz, "col", shape.columns - 1));
}

/// Reads the arrays that describe the matrix, and only the headers of columns and values.
Npz open_npz(const std::filesystem::path& path) {
    return {path,
            {{"format", all_items}, {"shape", all_items}, {"indptr", all_items}, {"indices", no_items}, {"data", no_items}}};
}

}  // namespace

CsrMatrix read_scipy_npz(const std::filesystem::path& path) {
    Npz npz = open_npz(path);
    const std::string format = format_of(npz);
    const Shape shape = shape_of(npz);
    if (format == "csr") return read_all(CsrRows(npz, path, shape));
    if (format == "csc") {
        const CsrMatrix columns = read_all(CsrRows(npz, path, {shape.columns, shape.rows}));
        npz.require_memory(columns.nonzeros(), sizeof(Index) + sizeof(double));
        return transpose(columns);
    }
    if (format == "coo") return read_coo(path, shape);
    npz.fail("format", "found {}; expected csr, csc or coo (in scipy: matrix.tocsr())", in_quotes(format));
}

std::unique_ptr<RowReader> open_scipy_npz_rows(const std::filesystem::path& path) {
    Npz npz = open_npz(path);
    if (format_of(npz) != "csr") return nullptr;
    return std::make_unique<CsrRows>(npz, path, shape_of(npz));
}

}  // namespace workbench
