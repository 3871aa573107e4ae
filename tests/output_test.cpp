// Written files contain the matrix bit for bit, in formats that other programs read.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "core/contract/errors.hpp"
#include "core/input/npz/npz_archive.hpp"
#include "core/input/read_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "core/matrix/random.hpp"
#include "core/output/export.hpp"
#include "core/output/numpy_writer.hpp"
#include "core/output/write_matrix.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using Extremes = std::numeric_limits<double>;

std::filesystem::path written(const TemporaryFolder& folder, const std::string& name, const CsrMatrix& matrix) {
    WholeFile file(folder.path() / name);
    write_matrix(file, matrix_format_of(name), matrix);
    file.finish();
    return folder.path() / name;
}

bool same_bits(const CsrMatrix& a, const CsrMatrix& b) {
    return a.rows == b.rows && a.columns == b.columns && a.row_offsets == b.row_offsets &&
           a.column_indices == b.column_indices && a.values.size() == b.values.size() &&
           (a.values.empty() || std::memcmp(a.values.data(), b.values.data(), a.values.size() * sizeof(double)) == 0);
}

CsrMatrix row_of(const HostArray<double>& values) {
    CsrMatrix matrix{1, static_cast<Index>(values.size()), {0, static_cast<Offset>(values.size())}, {}, values};
    for (Index column = 0; column < matrix.columns; ++column) matrix.column_indices.push_back(column);
    return matrix;
}

template <typename Number>
std::vector<Number> numbers_of(const NpyArray& array) {
    std::vector<Number> numbers(array.bytes.size() / sizeof(Number));
    if (!numbers.empty()) std::memcpy(numbers.data(), array.bytes.data(), array.bytes.size());
    return numbers;
}

// Rows in the order 2, 0, 1, columns in the order 1, 0, 2, 3, cut after two rows, and split into two shares.
StagedMatrix staged_example() {
    StagedMatrix staged = stage_input(
        csr_from_entries(3, 4, std::vector<Entry>{{0, 0, 0.1}, {0, 3, -2}, {1, 2, 1e300}, {2, 0, 5e-324}, {2, 1, -0.0}}));
    apply(staged, {OrderChange{Acts::rows, Permutation::from_old_of_new({2, 0, 1})}}, {});
    StageChange change{OrderChange{Acts::columns, Permutation::from_old_of_new({1, 0, 2, 3})}};
    change.cuts = {{CutKind::row_block, {0, 2, 3}}, {CutKind::segment, {0, 4}}};
    change.shares = std::vector<Share>{{{ShareKind::first}, {1, 0}, {0, 1, 2}, {2, 0}},
                                       {{ShareKind::rest}, {0, 1, 2}, {0, 1, 2, 3}, {1, 3, 4}}};
    apply(staged, change, {});
    return staged;
}

}  // namespace

TEST_CASE("the battery is unchanged, bit for bit, after writing and reading every kind of file") {
    const TemporaryFolder folder;
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        for (const char* name : {"m.mtx", "m.mtx.gz", "m.npz"}) {
            CAPTURE(name);
            CHECK(same_bits(read_matrix(written(folder, name, named.matrix)), named.matrix));
        }
    }
}

TEST_CASE("every f64 is unchanged, in decimal files too") {
    const TemporaryFolder folder;
    HostArray<double> values{0.0,
                             -0.0,
                             0.1,
                             1.0 / 3,
                             Extremes::max(),
                             Extremes::lowest(),
                             Extremes::min(),
                             Extremes::epsilon(),
                             Extremes::denorm_min(),
                             -Extremes::denorm_min(),
                             123456789012345678.0,
                             Extremes::infinity(),
                             -Extremes::infinity()};
    for (std::uint64_t i = 0; i < 100'000; ++i) {  // many blocks in one row
        const auto value = std::bit_cast<double>(mixed(i));
        if (!std::isnan(value)) values.push_back(value);
    }
    const CsrMatrix matrix = row_of(values);
    for (const char* name : {"m.mtx", "m.mtx.gz", "m.npz"}) {
        CAPTURE(name);
        CHECK(same_bits(read_matrix(written(folder, name, matrix)), matrix));
    }
}

TEST_CASE("a NaN keeps its sign, and in .npz all its bits") {
    const TemporaryFolder folder;
    const CsrMatrix matrix =
        row_of({Extremes::quiet_NaN(), -Extremes::quiet_NaN(), std::bit_cast<double>(std::uint64_t{0xFFF8DEADBEEF0001})});
    CHECK(same_bits(read_matrix(written(folder, "m.npz", matrix)), matrix));
    const HostArray<double> read = read_matrix(written(folder, "m.mtx", matrix)).values;
    for (std::size_t i = 0; i < read.size(); ++i) {
        CHECK(std::isnan(read[i]));
        CHECK(std::signbit(read[i]) == std::signbit(matrix.values[i]));
    }
}

TEST_CASE("blocks of text: rows of all lengths, and more than one batch of blocks") {
    const TemporaryFolder folder;
    CsrMatrix matrix;
    matrix.rows = 30'000;
    matrix.columns = 200'000;
    for (Index row = 0; row < matrix.rows; ++row) {
        // Empty rows at both ends and in between, and a row longer than a block.
        const std::uint64_t random = mixed(row);
        const Index length = row == 15'000 ? 150'000 : row < 10 || row > 29'990 ? 0 : static_cast<Index>(random % 12);
        for (Index k = 0; k < length; ++k) {
            matrix.column_indices.push_back(k);
            matrix.values.push_back(static_cast<double>(mixed(random + static_cast<std::uint64_t>(k)) % 10'000) / 64);
        }
        matrix.row_offsets.push_back(static_cast<Offset>(matrix.values.size()));
    }
    CHECK(same_bits(read_matrix(written(folder, "m.mtx", matrix)), matrix));
    CHECK(same_bits(read_matrix(written(folder, "m.mtx.gz", matrix)), matrix));
}

TEST_CASE("the exact texts") {
    const TemporaryFolder folder;
    CHECK(file_text(written(folder, "m.mtx", staged_example().matrix)) ==
          "%%MatrixMarket matrix coordinate real general\n"
          "3 4 5\n"
          "1 1 -0\n"
          "1 2 5e-324\n"
          "2 2 0.1\n"
          "2 4 -2\n"
          "3 3 1e+300\n");
    CHECK(file_text(written(folder, "m.mtx", csr_from_entries(2, 0, {}))) ==
          "%%MatrixMarket matrix coordinate real general\n2 0 0\n");
}

TEST_CASE("a .npy, byte by byte, and the arrays of a .npz as scipy names them") {
    const TemporaryFolder folder;
    WholeFile file(folder.path() / "a.npy");
    const std::vector<std::int32_t> numbers{7, -1};
    write_npy(file, numpy_array(std::span<const std::int32_t>(numbers)));
    file.finish();
    std::string expected =
        std::string("\x93NUMPY\x01\x00\x76\x00", 10) + "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }";
    expected.resize(127, ' ');
    expected += '\n';
    expected += std::string("\x07\0\0\0\xFF\xFF\xFF\xFF", 8);
    CHECK(file_text(folder.path() / "a.npy") == expected);

    const auto arrays = read_npz(
        written(folder, "m.npz", staged_example().matrix),
        {{"format", all_items}, {"shape", all_items}, {"indptr", all_items}, {"indices", all_items}, {"data", all_items}});
    CHECK(arrays.at("format").type == "|S3");
    CHECK(arrays.at("format").shape.empty());
    CHECK(numbers_of<std::int64_t>(arrays.at("shape")) == std::vector<std::int64_t>{3, 4});
    CHECK(numbers_of<std::int32_t>(arrays.at("indptr")) == std::vector<std::int32_t>{0, 2, 4, 5});
    CHECK(numbers_of<std::int32_t>(arrays.at("indices")) == std::vector<std::int32_t>{0, 1, 1, 3, 2});
    CHECK(arrays.at("data").type == "<f8");
}

TEST_CASE("an export states the direction of its orders") {
    const TemporaryFolder folder;
    const StagedMatrix staged = staged_example();
    std::vector<std::string> names;
    for (const ExportedFile& file : write_export(folder.path(), staged, {})) names.push_back(file.name);
    CHECK(names == std::vector<std::string>{"matrix.mtx", "matrix.npz", "row_old_of_new.txt", "row_old_of_new.npy",
                                            "column_old_of_new.txt", "column_old_of_new.npy", "cuts_row_block.txt",
                                            "cuts_row_block.npy", "cuts_segment.txt", "cuts_segment.npy", "shares.txt",
                                            "shares.npz"});
    const auto text = [&](const std::string& name) { return file_text(folder.path() / name); };
    CHECK(same_bits(read_matrix(folder.path() / "matrix.mtx"), staged.matrix));
    CHECK(same_bits(read_matrix(folder.path() / "matrix.npz"), staged.matrix));
    CHECK(text("row_old_of_new.txt") ==
          "# row_old_of_new: entry i is the row of the input that is row i of the matrix here, counted from 0\n2\n0\n1\n");
    CHECK(text("column_old_of_new.txt") ==
          "# column_old_of_new: entry i is the column of the input that is column i of the "
          "matrix here, counted from 0\n1\n0\n2\n3\n");
    CHECK(text("cuts_row_block.txt") ==
          "# cuts_row_block: piece i of the rows begins at entry i and ends before entry i + 1, "
          "counted from 0\n0\n2\n3\n");
    CHECK(text("row_old_of_new.npy").substr(128) == std::string("\2\0\0\0\0\0\0\0\1\0\0\0", 12));
    CHECK(text("cuts_segment.npy").substr(128) == std::string("\0\0\0\0\4\0\0\0", 8));
    CHECK(text("shares.txt") ==
          "# the share of each nonzero; the rows of a share are in storage order\n"
          "# each line: share, row, nonzero; counted from 0, nonzeros numbered by rows\n"
          "# share 0 is 'first'\n"
          "# share 1 is 'rest'\n"
          "0 1 2\n0 0 0\n1 0 1\n1 1 3\n1 2 4\n");
    const auto shares = read_npz(folder.path() / "shares.npz", {{"names", all_items},
                                                                {"row_begins", all_items},
                                                                {"rows", all_items},
                                                                {"nonzero_begins", all_items},
                                                                {"nonzeros", all_items}});
    CHECK(shares.at("names").type == "|S5");
    CHECK(numbers_of<char>(shares.at("names")) == std::vector<char>{'f', 'i', 'r', 's', 't', 'r', 'e', 's', 't', '\0'});
    CHECK(numbers_of<std::int64_t>(shares.at("row_begins")) == std::vector<std::int64_t>{0, 2, 5});
    CHECK(numbers_of<std::int32_t>(shares.at("rows")) == std::vector<std::int32_t>{1, 0, 0, 1, 2});
    CHECK(numbers_of<std::int64_t>(shares.at("nonzero_begins")) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(numbers_of<std::int64_t>(shares.at("nonzeros")) == std::vector<std::int64_t>{2, 0, 1, 3, 4});

    const TemporaryFolder plain;
    CHECK(write_export(plain.path(), stage_input(csr_from_entries(0, 0, {})), {true, false}).size() == 3);
    CHECK(file_text(plain.path() / "row_old_of_new.txt").find('\n') + 1 ==
          std::filesystem::file_size(plain.path() / "row_old_of_new.txt"));
}

TEST_CASE("an export of shares numbers rows and nonzeros, and states which axes the cuts divide") {
    const TemporaryFolder folder;
    StagedMatrix staged = stage_input(csr_from_entries(2, 3, std::vector<Entry>{{0, 0, 1}, {0, 1, 2}, {0, 2, 3}, {1, 1, 4}}));
    staged.cuts = {{CutKind::segment, {0, 3}}, {CutKind::length_group, {0, 2}}};
    staged.shares = {{{ShareKind::first}, {1, 0}, {0, 1, 3}, {3, 0, 1}}, {{ShareKind::rest}, {0}, {0, 1}, {2}}};
    (void)write_export(folder.path(), staged, {});
    const auto shares = read_npz(folder.path() / "shares.npz", {{"row_begins", all_items}, {"nonzero_begins", all_items}});
    CHECK(numbers_of<std::int64_t>(shares.at("row_begins")) == std::vector<std::int64_t>{0, 2, 3});
    CHECK(numbers_of<std::int64_t>(shares.at("nonzero_begins")) == std::vector<std::int64_t>{0, 1, 3, 4});
    const auto begins = [&](const std::string& kind, const std::string& text) {
        return file_text(folder.path() / ("cuts_" + kind + ".txt")).find("# cuts_" + kind + ": piece i of the " + text) == 0;
    };
    CHECK(begins("segment", "columns begins"));
    CHECK(begins("length_group", "rows begins"));
    staged.shares.clear();
    staged.cuts = {{CutKind::partition, {0, 1, 2}}};
    (void)write_export(folder.path(), staged, {});
    CHECK(begins("partition", "rows and columns begins"));
}

TEST_CASE("files are complete or absent") {
    const TemporaryFolder folder;
    {
        WholeFile file(folder.path() / "m.mtx");
        file.write("half");
    }
    CHECK(std::filesystem::is_empty(folder.path()));
    const auto fill = [](const char* name) {
        WholeFile full("/dev/full");
        write_matrix(full, matrix_format_of(name), battery().back().matrix);
        full.finish();
    };
    for (const char* name : {"m.mtx", "m.mtx.gz", "m.npz"}) CHECK_THROWS_AS(fill(name), MachineError);
    for (const char* name : {"m", "m.gz", "mtx", "m.npy", "m.mtx.bz2", ".mtx/m"}) {
        CHECK_THROWS_AS(static_cast<void>(matrix_format_of(name)), RecipeError);
    }
}

// Compares with numpy and scipy if WORKBENCH_TEST_PYTHON names a Python that has both.
TEST_CASE("scipy reads the same matrix from every kind of file") {
    const char* python = std::getenv("WORKBENCH_TEST_PYTHON");
    if (python == nullptr) return;
    const TemporaryFolder folder;
    const CsrMatrix matrix = row_of({0.1, -2.5, 1e300, 5e-324, Extremes::infinity()});
    for (const char* name : {"a.mtx", "b.mtx.gz", "c.npz"}) written(folder, name, matrix);
    const std::string script =
        "import scipy.io, scipy.sparse\n"
        "m = scipy.sparse.load_npz('c.npz').toarray().tobytes()\n"
        "assert m == bytes.fromhex('9a9999999999b93f00000000000004c09c7500883ce4377e0100000000000000000000000000f07f')\n"
        "assert scipy.io.mmread('a.mtx').toarray().tobytes() == m\n"
        "assert scipy.io.mmread('b.mtx.gz').toarray().tobytes() == m\n";
    const std::string command = "cd '" + folder.path().string() + "' && " + python + " -c \"" + script + "\"";
    CHECK(std::system(command.c_str()) == 0);
}

}  // namespace workbench
