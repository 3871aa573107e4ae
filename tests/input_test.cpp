// Files and generators: what is read, and what is refused with which words.
#include <archive.h>
#include <archive_entry.h>
#include <doctest/doctest.h>
#include <fmt/core.h>
#include <zlib.h>

#include <Eigen/SparseCholesky>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <sstream>

#include "pipeline/contract/errors.hpp"
#include "pipeline/input/generators.hpp"
#include "pipeline/input/inline_matrix.hpp"
#include "pipeline/input/matrix_market.hpp"
#include "pipeline/input/read_matrix.hpp"
#include "pipeline/input/words.hpp"
#include "pipeline/matrix/permutation.hpp"
#include "support/battery.hpp"
#include "support/data_folder.hpp"
#include "support/eigen.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

using namespace workbench;

namespace {

using Rows = std::vector<std::string>;

// For the files of these tests, removed at the end.
const std::filesystem::path& folder() {
    static const TemporaryFolder folder;
    return folder.path();
}

std::filesystem::path write(const std::string& name, const std::string& bytes) {
    std::filesystem::remove(folder() / name);  // truncating a file that was just written waits for the disk
    std::ofstream(folder() / name, std::ios::binary) << bytes;
    return folder() / name;
}

CsrMatrix read_text(const std::string& text) { return read_matrix(write("m.mtx", text)); }

// None where it is refused.
std::optional<CsrMatrix> read_or_refuse(const std::filesystem::path& path) {
    try {
        return read_matrix(path);
    } catch (const InputError&) {
        return std::nullopt;
    }
}

// The message of the InputError that reading the file ends in, without the folder; "read" where there is none.
std::string refusal(const std::filesystem::path& path) {
    try {
        const CsrMatrix matrix = read_matrix(path);
        return "read";
    } catch (const InputError& error) {
        CHECK(error.exit_code == 3);
        std::string what = error.what();
        const std::string prefix = path.parent_path().string() + "/";
        return what.substr(what.compare(0, prefix.size(), prefix) == 0 ? prefix.size() : 0);
    }
}

std::string refusal_of_text(const std::string& text) { return refusal(write("m.mtx", text)); }

std::string real_general(const std::string& rest) { return "%%MatrixMarket matrix coordinate real general\n" + rest; }

// ---- archives ----

// Deflated with zlib; the window bits say in which wrapping: 31 gzip, -15 none.
std::string deflated(const std::string& text, int window_bits) {
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string result(deflateBound(&stream, text.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(result.data());
    stream.avail_out = static_cast<uInt>(result.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    result.resize(stream.total_out);
    deflateEnd(&stream);
    return result;
}

std::string compressed(const std::string& text) { return deflated(text, 31); }

// Little-endian, as everything in a zip archive.
std::string bytes_of(std::uint64_t number, int count) {
    std::string result;
    for (int i = 0; i < count; ++i) result += static_cast<char>(number >> (8 * i) & 0xff);
    return result;
}

using Members = std::map<std::string, std::string>;

// A zip archive: each member behind its header, then the directory, then where the directory is.
std::filesystem::path write_npz(const std::string& name, const Members& members, bool deflate = true) {
    std::string archive;
    std::string directory;
    for (const auto& [member, bytes] : members) {
        const std::string file = member + ".npy";
        const std::string stored = deflate ? deflated(bytes, -15) : bytes;
        const std::uint64_t check_sum = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
        const std::string header = bytes_of(20, 2) + bytes_of(0, 2) + bytes_of(deflate ? 8 : 0, 2) + bytes_of(0, 4) +
                                   bytes_of(check_sum, 4) + bytes_of(stored.size(), 4) + bytes_of(bytes.size(), 4) +
                                   bytes_of(file.size(), 2) + bytes_of(0, 2);
        directory += "PK\x01\x02" + bytes_of(20, 2) + header + std::string(10, '\0') + bytes_of(archive.size(), 4) + file;
        archive += "PK\x03\x04" + header + file + stored;
    }
    const std::string end = "PK\x05\x06" + bytes_of(0, 4) + bytes_of(members.size(), 2) + bytes_of(members.size(), 2) +
                            bytes_of(directory.size(), 4) + bytes_of(archive.size(), 4) + bytes_of(0, 2);
    return write(name, archive + directory + end);
}

std::string npy_header(const std::string& type, const std::string& shape) {
    std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}", type, shape);
    text.resize(118 - 1, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
}

template <typename Number>
std::string npy(const std::string& type, const std::vector<Number>& numbers) {
    const std::string bytes(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(Number));
    return npy_header(type, fmt::format("({},)", numbers.size())) + bytes;
}

template <typename Number>
std::string npy_as(const std::string& type, const std::vector<int>& numbers) {
    return npy(type, std::vector<Number>(numbers.begin(), numbers.end()));
}

std::string npy_int(const std::vector<int>& numbers) { return npy("<i4", numbers); }
std::string npy_format(const std::string& format) { return npy_header("|S3", "()") + format; }

// The matrix of most tests below, and its three formats.
const Rows example{"1 . 2 .", ". . . .", "3 0 . 4"};

Members csr_members() {
    return {{"format", npy_format("csr")},
            {"shape", npy_as<std::int64_t>("<i8", {3, 4})},
            {"indptr", npy_int({0, 2, 2, 5})},
            {"indices", npy_int({0, 2, 0, 1, 3})},
            {"data", npy<double>("<f8", {1, 2, 3, 0, 4})}};
}

Members with(Members members, const std::string& name, const std::string& bytes) {
    members[name] = bytes;
    return members;
}

std::string npz_refusal(const Members& members) { return refusal(write_npz("m.npz", members)); }

// ---- an oracle that shares nothing with the reader ----

std::string decompressed(const std::filesystem::path& path) {
    archive* in = archive_read_new();
    archive_read_support_filter_gzip(in);
    archive_read_support_format_raw(in);
    REQUIRE(archive_read_open_filename(in, path.c_str(), 1 << 16) == ARCHIVE_OK);
    archive_entry* entry = nullptr;
    REQUIRE(archive_read_next_header(in, &entry) == ARCHIVE_OK);
    std::string text;
    std::vector<char> buffer(1 << 16);
    for (la_ssize_t got = 0; (got = archive_read_data(in, buffer.data(), buffer.size())) > 0;) text.append(buffer.data(), got);
    archive_read_free(in);
    return text;
}

struct NaiveMatrix {
    bool supported = false;
    long rows = 0;
    long columns = 0;
    std::map<std::pair<long, long>, double> entries;
};

NaiveMatrix read_naively(const std::string& text) {
    NaiveMatrix matrix;
    std::istringstream in(text);
    std::string line;
    std::getline(in, line);
    std::transform(line.begin(), line.end(), line.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto banner_has = [&line](const char* word) { return line.find(word) != std::string::npos; };
    if (banner_has("complex") || banner_has("array")) return matrix;
    matrix.supported = true;
    const double sign = banner_has("skew") ? -1 : 1;
    const bool mirrored = banner_has("symmetric");
    const bool pattern = banner_has("pattern");
    bool sizes_known = false;
    while (std::getline(in, line)) {
        char* rest = line.data();
        const long row = std::strtol(rest, &rest, 10);
        if (rest == line.data()) continue;  // blank, or a comment
        const long column = std::strtol(rest, &rest, 10);
        const double value = pattern ? 1 : std::strtod(rest, nullptr);
        if (!sizes_known) {
            matrix.rows = row;
            matrix.columns = column;
            sizes_known = true;
            continue;
        }
        matrix.entries[{row - 1, column - 1}] += value;
        if (mirrored && row != column) matrix.entries[{column - 1, row - 1}] += sign * value;
    }
    return matrix;
}

bool same(const CsrMatrix& matrix, const NaiveMatrix& naive) {
    if (matrix.rows != naive.rows || matrix.columns != naive.columns ||
        matrix.nonzeros() != static_cast<Offset>(naive.entries.size())) {
        return false;
    }
    auto expected = naive.entries.begin();
    for (Index row = 0; row < matrix.rows; ++row) {
        for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i, ++expected) {
            const double value = matrix.values[i];
            if (expected->first != std::pair<long, long>(row, matrix.column_indices[i])) return false;
            if (value != expected->second && !(std::isnan(value) && std::isnan(expected->second))) return false;
        }
    }
    return true;
}

// ---- generators ----

CsrMatrix generate(const std::string& name, const std::map<std::string, std::int64_t>& given) {
    const GeneratorEntry* generator = find_generator(name);
    REQUIRE(generator != nullptr);
    return generator->generate(Parameters(generator->parameters, {given.begin(), given.end()}));
}

double largest_difference(const CsrMatrix& matrix, const Eigen::MatrixXd& expected) {
    if (matrix.rows != expected.rows() || matrix.columns != expected.cols()) return std::numeric_limits<double>::infinity();
    return (Eigen::MatrixXd(to_eigen(matrix)) - expected).cwiseAbs().maxCoeff();
}

}  // namespace

TEST_CASE("numbers are read whole or not at all") {
    CHECK(parse_integer("42") == 42);
    CHECK(parse_integer("+42") == 42);
    CHECK(parse_integer("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
    for (const char* word : {"", "+", "-", "+-1", "++1", "1.0", "1x", "9223372036854775808", "0x10"}) {
        CAPTURE(word);
        CHECK_FALSE(parse_integer(word));
    }
    CHECK(parse_real("1.5e3") == 1500);
    CHECK(parse_real("+.5") == 0.5);
    CHECK(parse_real("-1.") == -1);
    CHECK(parse_real("1E+05") == 1e5);
    CHECK(parse_real("4.9e-324") == std::numeric_limits<double>::denorm_min());
    CHECK(parse_real("0.1") == 0.1);
    CHECK(parse_real("1e-400") == 0);
    CHECK(parse_real("-Inf") == -std::numeric_limits<double>::infinity());
    CHECK(std::isnan(parse_real("NaN").value()));
    for (const char* word : {"", "+", "+-1", "1e", "0x10", "1,5", "1.5.2", "1e400", "-1e400", "four", "1d5", "1_000"}) {
        CAPTURE(word);
        CHECK_FALSE(parse_real(word));
    }
    CHECK(why_not_real("1e400") == "found '1e400', which is beyond the range of f64; expected a smaller number");
    CHECK(why_not_real("1D5") == "found '1D5', a number with a Fortran exponent; expected an exponent with 'e'");
    CHECK(why_not_real("4,5") == "found '4,5', with a comma; expected a number with a decimal point");
    CHECK(why_not_real("four") == "found 'four'; expected a number");
    CHECK(in_quotes("a\tb\x80") == "'a?b?'");
    CHECK(in_quotes(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}

TEST_CASE("an inline matrix: a dot is no entry, a zero is one") {
    const CsrMatrix matrix = csr_from_rows(Rows{" 1 . -2.5", ".\t0 ."});
    CHECK(matrix.rows == 2);
    CHECK(matrix.columns == 3);
    CHECK(matrix.row_offsets == std::vector<Offset>{0, 2, 3});
    CHECK(matrix.column_indices == std::vector<Index>{0, 2, 1});
    CHECK(matrix.values == std::vector<double>{1, -2.5, 0});
    CHECK(csr_from_rows(Rows{}) == CsrMatrix{});
    CHECK(csr_from_rows(Rows{"", ""}).rows == 2);

    const auto refused = [](const Rows& rows, std::size_t row, std::size_t character, const std::string& what) {
        try {
            const CsrMatrix none = csr_from_rows(rows);
            FAIL("not refused");
        } catch (const InlineMatrixError& error) {
            CHECK(error.row == row);
            CHECK(error.character == character);
            CHECK(std::string(error.what()) == what);
        }
    };
    refused({"1 2", "3 x4"}, 1, 2, "row 2, column 2: found 'x4'; expected a number or '.'");
    refused({"1 2", "3 4 5"}, 1, 5, "row 2: found 3 columns; expected 2, as in row 1");
    refused({"1 2", ""}, 1, 0, "row 2: found 0 columns; expected 2, as in row 1");
}

TEST_CASE("Matrix Market: fields and symmetries") {
    CHECK(read_text(real_general("3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n")) == csr_from_rows(example));
    CHECK(read_text("%%MatrixMarket matrix coordinate integer general\n2 2 2\n1 2 -7\n2 1 +3\n") ==
          csr_from_rows(Rows{". -7", "3 ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 2\n2 3\n") ==
          csr_from_rows(Rows{". 1 .", ". . 1"}));
    const CsrMatrix symmetric = csr_from_rows(Rows{"1 2 .", "2 . 3", ". 3 4"});
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 1 2\n3 2 3\n3 3 4\n") == symmetric);
    // Entries of the upper triangle stand for their mirror images just as well.
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n1 2 2\n2 3 3\n3 3 4\n") == symmetric);
    CHECK(read_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n1 2 2\n3 2 3\n3 3 4\n") == symmetric);
    CHECK(read_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n") == csr_from_rows(Rows{". 1", "1 ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 2\n3 1 -3\n") ==
          csr_from_rows(Rows{". -2 3", "2 . .", "-3 . ."}));
    CHECK(read_text("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 2\n1 2 5\n2 2 0\n") ==
          csr_from_rows(Rows{". 5", "-5 0"}));
    CHECK(read_text(real_general("0 0 0\n")) == CsrMatrix{});
    CHECK(read_text(real_general("2 3 0\n")) == csr_from_rows(Rows{". . .", ". . ."}));
}

TEST_CASE("Matrix Market: what writers do differently") {
    const CsrMatrix expected = csr_from_rows(Rows{"1 .", "3 4"});
    CHECK(read_text("%%matrixmarket MATRIX Coordinate\tREAL  General  \n2 2 3\n1 1 1\n2 1 3\n2 2 4\n") == expected);
    CHECK(read_text(real_general("% comment\n\n%\n  \t\n 2 2\t3 \n\n 1  1 1.0 \n% more\n\t2 1 3e0\n2 2 4\n\n% end\n")) ==
          expected);
    CHECK(read_text("%%MatrixMarket matrix coordinate real general\r\n% c\r\n2 2 3\r\n1 1 1\r\n2 1 3\r\n2 2 4\r\n") ==
          expected);
    CHECK(read_text(real_general("2 2 3\n2 2 4\n1 1 1\n2 1 3")) == expected);                      // unsorted, no last newline
    CHECK(read_text(real_general("2 2 5\n2 2 1.5\n1 1 1\n2 1 3\n2 2 1.5\n2 2 1\n")) == expected);  // duplicates
    CHECK(read_text(real_general("+2 +2 3\n+1 1 +1\n2 1 3\n2 2 4\n")) == expected);
    const CsrMatrix odd = read_text(real_general("1 3 3\n1 1 inf\n1 2 -0\n1 3 nan\n"));
    CHECK(std::isinf(odd.values[0]));
    CHECK(std::signbit(odd.values[1]));
    CHECK(std::isnan(odd.values[2]));
    // Duplicates are summed in the order of the file.
    CHECK(read_text(real_general("1 1 3\n1 1 1e16\n1 1 1\n1 1 -1e16\n")).values[0] == 0);
}

TEST_CASE("Matrix Market: every refusal says where, what was found and what was expected") {
    const std::string banner =
        "expected the banner '%%MatrixMarket matrix coordinate real|integer|pattern general|symmetric|skew-symmetric'";
    const std::string kinds =
        "expected a Matrix Market file ('%%MatrixMarket ...', gzip-compressed or not) or a .npz of scipy.sparse.save_npz";
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "m.mtx: is empty; " + kinds},
        {"\n", "m.mtx: starts with ''; " + kinds},
        {"%MatrixMarket matrix", "m.mtx: starts with '%MatrixMarket matrix'; " + kinds},
        {"%%Matrix\n", "m.mtx:1: found '%%Matrix'; " + banner},
        {"%%MatrixMarket vector coordinate real general\n",
         "m.mtx:1: found '%%MatrixMarket vector coordinate real ge...'; " + banner},
        {"%%MatrixMarket matrix array real general\n",
         "m.mtx:1: found a dense matrix (array), which is not supported; expected coordinate"},
        {"%%MatrixMarket matrix list real general\n", "m.mtx:1: found the format 'list'; expected coordinate"},
        {"%%MatrixMarket matrix coordinate complex hermitian\n",
         "m.mtx:1: found a complex matrix, which is not supported; expected real, integer or pattern"},
        {"%%MatrixMarket matrix coordinate real hermitian\n",
         "m.mtx:1: found a Hermitian matrix, which is not supported; expected general, symmetric or skew-symmetric"},
        {"%%MatrixMarket matrix coordinate quaternion general\n",
         "m.mtx:1: found the field 'quaternion'; expected real, integer or pattern"},
        {"%%MatrixMarket matrix coordinate real\n3 3 1\n",
         "m.mtx:1: found the symmetry ''; expected general, symmetric or skew-symmetric"},
        {"%%MatrixMarket matrix coordinate real general more\n",
         "m.mtx:1: found 'more' after the symmetry; expected the end of the line"},
        {"%%MatrixMarket matrix coordinate pattern skew-symmetric\n",
         "m.mtx:1: found a skew-symmetric pattern; expected values, which alone can be skew-symmetric"},
        {real_general("% a\n"), "m.mtx:3: found the end of the file; expected the size line: rows, columns and entries"},
        {real_general("3 x 1\n"), "m.mtx:2: found 'x' in '3 x 1'; expected a count from 0 to 9223372036854775807"},
        {real_general("3 3 -1\n"), "m.mtx:2: found '-1' in '3 3 -1'; expected a count from 0 to 9223372036854775807"},
        {real_general("3 3\n"), "m.mtx:2: found '' in '3 3'; expected a count from 0 to 9223372036854775807"},
        {real_general("3 3 9223372036854775808\n"),
         "m.mtx:2: found '9223372036854775808' in '3 3 9223372036854775808'; expected a count from 0 to 9223372036854775807"},
        {real_general("3 3 1 1\n"),
         "m.mtx:2: found '1' at the end of the line; expected the size line: rows, columns and entries"},
        {real_general("2147483648 3 1\n1 1 1\n"),
         "m.mtx:2: found a matrix of 2147483648 x 3; expected at most 2147483647 rows and columns"},
        {real_general("0 3 1\n1 1 1\n"), "m.mtx:2: found a matrix of 0 x 3 with entries (1); expected none"},
        {real_general("2147483647 3 1\n1 1 1\n"),
         "m.mtx:2: found 2147483647 rows and 3 columns, but entries: 1; expected one for every 64 of them beyond 16777216"},
        {"%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
         "m.mtx:2: found 3 rows and 4 columns; expected a square matrix, for it is said to be symmetric"},
        {real_general("3 3 2\n0 1 1\n"), "m.mtx:3: found the row '0'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n4 1 1\n"), "m.mtx:3: found the row '4'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n-3 1 1\n"), "m.mtx:3: found the row '-3'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n1 1 1\n% c\n\n1 1.5 1\n"), "m.mtx:6: found the column '1.5'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n18446744073709551617 1 1\n"),
         "m.mtx:3: found the row '18446744073709551617'; expected an integer from 1 to 3"},
        {real_general("3 3 2\n1\n"), "m.mtx:3: found the column ''; expected an integer from 1 to 3"},
        {real_general("3 3 2\n1 1\n"), "m.mtx:3: found ''; expected a number"},
        {real_general("3 3 2\n1 1 4abc\n"), "m.mtx:3: found '4abc'; expected a number"},
        {real_general("3 3 2\n1 1 4 5\n"), "m.mtx:3: found '5' at the end of the line; expected row, column and value alone"},
        {"%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 1 5\n",
         "m.mtx:3: found '5' at the end of the line; expected row and column alone, for the banner says pattern"},
        {"%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 2.5\n",
         "m.mtx:3: found the value '2.5'; expected an integer, as the banner says"},
        {"%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 3\n",
         "m.mtx:3: found a diagonal entry in a skew-symmetric matrix; expected entries off the diagonal"},
        {"%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 3\n1 2 1\n2 1 1\n",
         "m.mtx:6: found both triangles of a symmetric matrix; expected one, or the symmetry 'general' in the banner"},
        {real_general("3 3 2\n1 1 1\n"),
         "m.mtx:4: found the end of the file after 1 of 2 entries; expected as many as the size line says"},
        {real_general("3 3 1099511627776\n1 1 1\n"),
         "m.mtx:4: found the end of the file after 1 of 1099511627776 entries; expected as many as the size line says"},
        {real_general("3 3 1\n1 1 1\n\n1 2 9\n"), "m.mtx:5: found a further entry; expected 1, as the size line says"},
        {real_general("3 3 1\n" + std::string(3 << 20, '1')),
         "m.mtx:3: found a line of more than 1048576 characters; expected a text file"},
    };
    for (const auto& [text, expected] : cases) CHECK(refusal_of_text(text) == expected);
}

TEST_CASE("files that are no files") {
    const std::string kinds =
        "expected a Matrix Market file ('%%MatrixMarket ...', gzip-compressed or not) or a .npz of scipy.sparse.save_npz";
    CHECK(refusal(folder() / "absent") == "absent: there is no such file; " + kinds);
    std::filesystem::create_directory(folder() / "sub");
    CHECK(refusal(folder() / "sub") == "sub: is a directory; " + kinds);
    CHECK(refusal("/dev/null") == "null: is not a regular file; " + kinds);
    CHECK_THROWS_AS((void)read_matrix_market(folder() / "absent"), InputError);
    CHECK_THROWS_AS((void)read_matrix_market(folder() / "sub"), InputError);
}

TEST_CASE("long files pass through the buffer line by line") {
    std::string text = real_general("% " + std::string(1000000, 'c') + "\n200000 1 200000\n");
    for (int i = 1; i <= 200000; ++i) text += fmt::format("{} 1 {}\n", i, i * 0.25);
    const CsrMatrix matrix = read_text(text);
    REQUIRE(matrix.nonzeros() == 200000);
    bool right = true;
    for (Index i = 0; i < 200000; ++i) right = right && matrix.values[i] == (i + 1) * 0.25 && matrix.row_length(i) == 1;
    CHECK(right);
    CHECK(read_matrix(write("long.mtx.gz", compressed(text))) == matrix);
}

TEST_CASE("gzip: any number of members; cut short or damaged it is refused or read right") {
    const std::string text = real_general("3 4 5\n1 1 1\n1 3 2\n3 1 3\n3 2 0\n3 4 4\n");
    const CsrMatrix expected = csr_from_rows(example);
    const std::string whole = compressed(text);
    CHECK(read_matrix(write("named_otherwise.txt", whole)) == expected);
    CHECK(read_matrix(write("m.gz", compressed(text.substr(0, 60)) + compressed("") + compressed(text.substr(60)))) ==
          expected);

    CHECK(refusal(write("m.gz", whole.substr(0, 10))) == "m.gz:1: found a gzip stream that breaks off; expected a whole one");
    CHECK(refusal(write("m.gz", compressed(""))).substr(0, 22) == "m.gz:1: found nothing;");
    for (std::size_t length = 2; length < whole.size(); ++length) {
        CAPTURE(length);
        CHECK(refusal(write("m.gz", whole.substr(0, length))) != "read");
    }
    int refused = 0;
    for (std::size_t place = 2; place < whole.size(); ++place) {
        std::string damaged = whole;
        damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
        const auto matrix = read_or_refuse(write("m.gz", damaged));
        CAPTURE(place);
        CHECK((!matrix || *matrix == expected));  // unharmed: the header's time and system
        if (!matrix) ++refused;
    }
    CHECK(refused >= static_cast<int>(whole.size()) - 12);
}

TEST_CASE("a damaged text is refused or is a matrix, byte by byte") {
    const std::string text =
        "%%MatrixMarket matrix coordinate real symmetric\n% c\n4 4 5\n1 1 1.5\n2 1 -2\n3 3 4e1\n4 2 7\n4 4 1\n";
    for (std::size_t place = 0; place < text.size(); ++place) {
        for (const char byte : {'\0', ' ', '\n', '9', '-', '%', 'e', '\xff'}) {
            std::string damaged = text;
            damaged[place] = byte;
            const auto matrix = read_or_refuse(write("m.mtx", damaged));
            if (matrix) CHECK_NOTHROW(check_csr(*matrix));
        }
        CHECK((place + 2 > text.size() || refusal_of_text(text.substr(0, place)) != "read"));
    }
}

TEST_CASE("npz: CSR, CSC and COO, stored and compressed") {
    const CsrMatrix expected = csr_from_rows(example);
    CHECK(read_matrix(write_npz("m.npz", csr_members())) == expected);
    CHECK(read_matrix(write_npz("named_otherwise.mtx", csr_members(), false)) == expected);
    CHECK(read_matrix(write_npz("m.npz", {{"format", npy_format("csc")},
                                          {"shape", npy_as<std::int64_t>("<i8", {3, 4})},
                                          {"indptr", npy_int({0, 2, 3, 4, 5})},
                                          {"indices", npy_int({2, 0, 2, 0, 2})},  // unsorted
                                          {"data", npy<double>("<f8", {3, 1, 0, 2, 4})}})) == expected);
    CHECK(read_matrix(write_npz("m.npz", {{"format", npy_format("coo")},
                                          {"shape", npy_as<std::int64_t>("<i8", {3, 4})},
                                          {"row", npy_int({2, 0, 0, 2, 2, 2})},
                                          {"col", npy_int({3, 2, 0, 1, 0, 3})},
                                          {"data", npy<double>("<f8", {3, 2, 1, 0, 3, 1})}})) == expected);
    // Unsorted, a duplicate, room to spare behind the last entry, and the name in UTF-32 as older scipy wrote it.
    Members odd = csr_members();
    odd["format"] = npy_header("<U3", "()") + std::string("c\0\0\0s\0\0\0r\0\0\0", 12);
    odd["indptr"] = npy_int({0, 2, 2, 6});
    odd["indices"] = npy_int({2, 0, 3, 0, 1, 3, 99 % 4});
    odd["data"] = npy<double>("<f8", {2, 1, 1, 3, 0, 3, 1000});
    CHECK(read_matrix(write_npz("m.npz", odd)) == expected);
    CHECK(read_matrix(write_npz("m.npz", {{"format", npy_format("csr")},
                                          {"shape", npy_as<std::int64_t>("<i8", {0, 0})},
                                          {"indptr", npy_int({0})},
                                          {"indices", npy_int({})},
                                          {"data", npy<double>("<f8", {})},
                                          {"_is_array", npy_as<std::uint8_t>("|b1", {1})}})) == CsrMatrix{});
}

TEST_CASE("npz: all types of indices and values") {
    const CsrMatrix expected = csr_from_rows(example);
    const std::vector<int> values{1, 2, 3, 0, 4};
    for (const std::string& data :
         {npy_as<float>("<f4", values), npy_as<std::int8_t>("|i1", values), npy_as<std::uint8_t>("|u1", values),
          npy_as<std::int16_t>("<i2", values), npy_as<std::uint16_t>("<u2", values), npy_as<std::int32_t>("<i4", values),
          npy_as<std::uint32_t>("<u4", values), npy_as<std::int64_t>("<i8", values), npy_as<std::uint64_t>("<u8", values)}) {
        CHECK(read_matrix(write_npz("m.npz", with(csr_members(), "data", data))) == expected);
    }
    CHECK(read_matrix(write_npz("m.npz", with(csr_members(), "data", npy_as<std::uint8_t>("|b1", {1, 0, 1, 1, 0})))).values ==
          std::vector<double>{1, 0, 1, 1, 0});
    CHECK(
        read_matrix(write_npz("m.npz", with(csr_members(), "data", npy_as<std::int16_t>("<i2", {-1, 2, 3, 0, 4})))).values[0] ==
        -1);
    Members wide = csr_members();
    wide["indices"] = npy_as<std::int64_t>("<i8", {0, 2, 0, 1, 3});
    wide["indptr"] = npy_as<std::int64_t>("<i8", {0, 2, 2, 5});
    CHECK(read_matrix(write_npz("m.npz", wide)) == expected);
}

TEST_CASE("npz: every refusal names the member") {
    const auto refusal_with = [](const char* name, const std::string& bytes) {
        return npz_refusal(with(csr_members(), name, bytes));
    };
    CHECK(refusal_with("format", npy_format("bsr")) ==
          "m.npz: member format.npy: found 'bsr'; expected csr, csc or coo (in scipy: matrix.tocsr())");
    CHECK(npz_refusal({{"a", npy_int({1})}}) ==
          "m.npz: member format.npy: found nothing; expected what scipy.sparse.save_npz writes");
    CHECK(refusal_with("shape", npy_int({3, 4, 5})) == "m.npz: member shape.npy: found 3 dimensions; expected 2");
    CHECK(refusal_with("shape", npy_as<std::int64_t>("<i8", {-3, 4})) ==
          "m.npz: member shape.npy: found -3 at place 0; expected an integer from 0 to 9223372036854775807");
    CHECK(refusal_with("shape", npy<std::int64_t>("<i8", {std::int64_t{1} << 31, 4})) ==
          "m.npz: found a matrix of 2147483648 x 4; expected at most 2147483647 rows and columns");
    CHECK(refusal_with("shape", npy_int({2147483647, 4})) ==
          "m.npz: found 2147483647 rows and 4 columns, but entries: 5; expected one for every 64 of them beyond 16777216");
    CHECK(refusal_with("indptr", npy_int({0, 2, 5})) == "m.npz: member indptr.npy: found 3 items; expected 4");
    CHECK(refusal_with("indptr", npy_int({1, 2, 2, 5})) == "m.npz: member indptr.npy: found 1 at place 0; expected 0");
    CHECK(refusal_with("indptr", npy_int({0, 3, 2, 5})) ==
          "m.npz: member indptr.npy: found 2 after 3 at place 2; expected ascending offsets");
    CHECK(refusal_with("indptr", npy_int({0, 2, 2, 6})) ==
          "m.npz: member indptr.npy: found 6 at place 3; expected an integer from 0 to 5");
    CHECK(refusal_with("indices", npy_int({0, 2, 0, 1, 4})) ==
          "m.npz: member indices.npy: found 4 at place 4; expected an integer from 0 to 3");
    CHECK(refusal_with("indices", npy_int({0, 2, 0, -1, 3})) ==
          "m.npz: member indices.npy: found -1 at place 3; expected an integer from 0 to 3");
    CHECK(refusal_with("indices", npy<std::uint64_t>("<u8", {0, 2, 0, ~std::uint64_t{0}, 3})) ==
          "m.npz: member indices.npy: found 18446744073709551615 at place 3; expected an integer from 0 to 3");
    CHECK(refusal_with("indices", npy<double>("<f8", {0, 2, 0, 1, 3})) ==
          "m.npz: member indices.npy: found type <f8; expected integers, little-endian");
    CHECK(refusal_with("data", npy<double>("<f8", {1, 2, 3, 0})) ==
          "m.npz: member data.npy: found 4 items; expected 5, as in indices.npy");
    CHECK(refusal_with("data", npy<double>(">f8", {1, 2, 3, 0, 4})) ==
          "m.npz: member data.npy: found values of type >f8; expected f32, f64, integers or bool, little-endian");
    CHECK(refusal_with("data", npy_header("<c16", "(5,)") + std::string(80, '\0')) ==
          "m.npz: member data.npy: found complex values (<c16), which are not supported; expected real ones");
    CHECK(refusal_with("data", npy_header("<f8", "(5, 1)") + std::string(40, '\0')) ==
          "m.npz: member data.npy: found an array of 2 dimensions; expected 1");
    CHECK(refusal_with("data", npy_header("<f8", "(5,)") + std::string(39, '\0')) ==
          "m.npz: member data.npy: found 39 bytes of data; expected 40, as its shape says");
    CHECK(refusal_with("data", npy_header("<f8", "(5,)") + std::string(41, '\0')) ==
          "m.npz: member data.npy: found more than 40 bytes of data, which its shape says; expected no more");
    // What a member claims costs nothing.
    CHECK(refusal_with("data", npy_header("<f8", "(1099511627776,)") + std::string(40, '\0')) ==
          "m.npz: member data.npy: found 40 bytes of data; expected 8796093022208, as its shape says");
    CHECK(refusal_with("data", npy_header("<f8", "(4294967296, 4294967296)")) ==
          "m.npz: member data.npy: found a shape of more than 2^63 bytes; expected a smaller array");
    CHECK(refusal_with("data", "no array") == "m.npz: member data.npy: found no numpy array; expected the start '\\x93NUMPY'");
    CHECK(refusal_with("data", std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)) ==
          "m.npz: member data.npy: found a header of 4294967295 bytes; expected at most 65536");
    CHECK(refusal_with("data", npy_header("<f8", "(-5,)")) ==
          "m.npz: member data.npy: found '-5' in the shape; expected a length");
    CHECK(refusal_with("data", npy_header("object", "(5,)")) ==
          "m.npz: member data.npy: found the type 'object'; expected one like '<f8'");
}

TEST_CASE("npz: cut short or damaged it is refused or read right, byte by byte") {
    const CsrMatrix expected = csr_from_rows(example);
    for (const bool deflate : {true, false}) {
        const std::string whole = file_text(write_npz("m.npz", csr_members(), deflate));
        for (std::size_t length = 0; length < whole.size(); length += 7) {
            CAPTURE(length);
            CHECK(refusal(write("cut.npz", whole.substr(0, length))) != "read");
        }
        for (std::size_t place = 0; place < whole.size(); ++place) {
            std::string damaged = whole;
            damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
            const auto matrix = read_or_refuse(write("damaged.npz", damaged));
            CAPTURE(place);
            CHECK((!matrix || *matrix == expected));
        }
    }
}

TEST_CASE("the battery survives a way through both kinds of files") {
    for (const NamedMatrix& named : battery()) {
        const CsrMatrix& matrix = named.matrix;
        CAPTURE(named.name);
        std::string text = real_general(fmt::format("{} {} {}\n", matrix.rows, matrix.columns, matrix.nonzeros()));
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset i = matrix.row_offsets[row]; i < matrix.row_offsets[row + 1]; ++i) {
                text += fmt::format("{} {} {}\n", row + 1, matrix.column_indices[i] + 1, matrix.values[i]);
            }
        }
        CHECK(read_text(text) == matrix);
        CHECK(read_matrix(write_npz("m.npz", {{"format", npy_format("csr")},
                                              {"shape", npy_int({matrix.rows, matrix.columns})},
                                              {"indptr", npy("<i8", matrix.row_offsets)},
                                              {"indices", npy("<i4", matrix.column_indices)},
                                              {"data", npy("<f8", matrix.values)}})) == matrix);
    }
}

TEST_CASE("real files are read as a naive reader reads them") {
    const auto small = data_folder("small");
    if (small.empty()) return;
    int read = 0;
    int refused = 0;
    for (const auto& file : std::filesystem::directory_iterator(small)) {
        CAPTURE(file.path().filename().string());
        const NaiveMatrix expected = read_naively(decompressed(file.path()));
        if (expected.supported) {
            CHECK(same(read_matrix(file.path()), expected));
            ++read;
        } else {
            CHECK(refusal(file.path()).find("which is not supported") != std::string::npos);
            ++refused;
        }
    }
    CHECK(read >= 60);
    CHECK(refused >= 5);
}

TEST_CASE("malformed files are refused, or read right where the format leaves it open") {
    const auto bad = data_folder("bad");
    if (bad.empty()) return;
    std::ifstream expectations(bad / "EXPECT.tsv");
    std::string line;
    std::getline(expectations, line);
    int count = 0;
    while (std::getline(expectations, line)) {
        const auto tab = line.find('\t');
        const std::filesystem::path path = bad / line.substr(0, tab);
        const std::string expected = line.substr(tab + 1, 6);
        const std::string outcome = refusal(path);
        CAPTURE(line);
        if (expected == "reject") CHECK(outcome != "read");
        if (expected == "accept") CHECK(outcome == "read");
        if (outcome == "read") {
            CHECK(same(read_matrix(path), read_naively(decompressed(path))));
        } else {
            CHECK(outcome.substr(0, path.filename().string().size() + 1) == path.filename().string() + ":");
            CHECK(outcome.find("; expected ") != std::string::npos);
        }
        ++count;
    }
    CHECK(count >= 39);
}

TEST_CASE("laplace2d, exactly") {
    CHECK(generate("laplace2d", {{"nx", 3}, {"ny", 2}}) == csr_from_rows(Rows{"4 -1 . -1 . .",   //
                                                                              "-1 4 -1 . -1 .",  //
                                                                              ". -1 4 . . -1",   //
                                                                              "-1 . . 4 -1 .",   //
                                                                              ". -1 . -1 4 -1",  //
                                                                              ". . -1 . -1 4"}));
    CHECK(generate("laplace2d", {{"nx", 5}}).rows == 25);
    CHECK(generate("laplace2d", {{"nx", 1}}) == csr_from_rows(Rows{"4"}));
}

TEST_CASE("laplace3d is the sum of its neighbours") {
    const int nx = 4;
    const int ny = 3;
    const int nz = 5;
    for (const int points : {7, 27}) {
        Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(nx * ny * nz, nx * ny * nz);
        for (int i = 0; i < nx * ny * nz; ++i) {
            for (int j = 0; j < nx * ny * nz; ++j) {
                const int dx = std::abs(i % nx - j % nx);
                const int dy = std::abs(i / nx % ny - j / nx % ny);
                const int dz = std::abs(i / nx / ny - j / nx / ny);
                const bool near = points == 7 ? dx + dy + dz <= 1 : std::max({dx, dy, dz}) <= 1;
                if (near) expected(i, j) = i == j ? points - 1 : -1;
            }
        }
        const CsrMatrix matrix = generate("laplace3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}, {"points", points}});
        check_csr(matrix);
        CHECK(largest_difference(matrix, expected) == 0);
        CHECK(matrix.nonzeros() == (expected.array() != 0).count());
    }
    CHECK_THROWS_AS((void)generate("laplace3d", {{"nx", 3}, {"points", 9}}), ParameterError);
}

// The stiffness of one cube by Gauss quadrature, exact for trilinear functions on it; node = x + 2 y + 4 z.
static Eigen::Matrix<double, 24, 24> cube_stiffness(double lambda, double mu) {
    Eigen::Matrix<double, 24, 24> stiffness = Eigen::Matrix<double, 24, 24>::Zero();
    const std::array<double, 2> points{0.5 - std::sqrt(1.0 / 12), 0.5 + std::sqrt(1.0 / 12)};
    for (int q = 0; q < 8; ++q) {
        const std::array<double, 3> place{points[q & 1], points[q >> 1 & 1], points[q >> 2 & 1]};
        Eigen::Matrix<double, 6, 24> strain = Eigen::Matrix<double, 6, 24>::Zero();
        for (int node = 0; node < 8; ++node) {
            std::array<double, 3> gradient{1, 1, 1};
            for (int d = 0; d < 3; ++d) {
                for (int axis = 0; axis < 3; ++axis) {
                    const bool upper = (node >> axis & 1) == 1;
                    gradient[d] *= axis == d ? (upper ? 1.0 : -1.0) : (upper ? place[axis] : 1 - place[axis]);
                }
            }
            for (int d = 0; d < 3; ++d) {
                const int e = (d + 1) % 3;
                strain(d, 3 * node + d) = gradient[d];
                strain(3 + d, 3 * node + d) = gradient[e];  // engineering shear of d and e
                strain(3 + d, 3 * node + e) = gradient[d];
            }
        }
        Eigen::Matrix<double, 6, 6> material = Eigen::Matrix<double, 6, 6>::Zero();
        material.topLeftCorner<3, 3>().setConstant(lambda);
        for (int d = 0; d < 3; ++d) material(d, d) += 2 * mu;
        for (int d = 3; d < 6; ++d) material(d, d) = mu;
        stiffness += strain.transpose() * material * strain / 8;
    }
    return stiffness;
}

TEST_CASE("elasticity3d is what assembling trilinear cubes gives") {
    // The grid and the fixed nodes around it, which are left out.
    const int nx = 3;
    const int ny = 2;
    const int nz = 4;
    const auto cube = cube_stiffness(36, 36);
    Eigen::MatrixXd expected = Eigen::MatrixXd::Zero(3 * nx * ny * nz, 3 * nx * ny * nz);
    const auto number = [&](int x, int y, int z) {
        const bool free = x >= 0 && x < nx && y >= 0 && y < ny && z >= 0 && z < nz;
        return free ? x + nx * (y + ny * z) : -1;
    };
    for (int e = 0; e < (nx + 1) * (ny + 1) * (nz + 1); ++e) {
        const int x = e % (nx + 1) - 1;
        const int y = e / (nx + 1) % (ny + 1) - 1;
        const int z = e / (nx + 1) / (ny + 1) - 1;
        for (int a = 0; a < 8; ++a) {
            for (int b = 0; b < 8; ++b) {
                const int row = number(x + (a & 1), y + (a >> 1 & 1), z + (a >> 2));
                const int column = number(x + (b & 1), y + (b >> 1 & 1), z + (b >> 2));
                if (row >= 0 && column >= 0) expected.block<3, 3>(3 * row, 3 * column) += cube.block<3, 3>(3 * a, 3 * b);
            }
        }
    }
    const CsrMatrix matrix = generate("elasticity3d", {{"nx", nx}, {"ny", ny}, {"nz", nz}});
    check_csr(matrix);
    CHECK(largest_difference(matrix, expected) < 1e-11);
    CHECK(std::all_of(matrix.values.begin(), matrix.values.end(), [](double v) { return v == std::round(v) && v <= 160; }));
    CHECK(matrix == transpose(matrix));
    CHECK(matrix.nonzeros() == 9 * 7 * 4 * 10);  // (3 nx - 2) (3 ny - 2) (3 nz - 2) blocks

    const CsrMatrix whole = generate("elasticity3d", {{"nx", 5}});
    Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> cholesky(to_eigen(whole));
    CHECK(cholesky.info() == Eigen::Success);
    const Index middle = 3 * (2 + 5 * (2 + 5 * 2));
    CHECK(whole.row_length(middle) == 81);
    CHECK(std::accumulate(whole.values.begin() + whole.row_offsets[middle],
                          whole.values.begin() + whole.row_offsets[middle + 1],
                          0.0) == 0);  // moving all nodes alike costs no force
}

// Follows the path graph of nodes of d unknowns from its lower-numbered end: the order of the nodes along it.
static std::vector<Index> nodes_along_path(const CsrMatrix& matrix, Index d) {
    const Index nodes = matrix.rows / d;
    const auto neighbours = [&](Index node) {
        std::vector<Index> result;
        for (const Index column : matrix.row_columns(node * d)) {
            if (column % d == 0 && column / d != node) result.push_back(column / d);
        }
        return result;
    };
    std::vector<Index> path;
    for (Index node = 0; node < nodes && path.empty(); ++node) {
        if (neighbours(node).size() == 1) path.push_back(node);
    }
    REQUIRE(!path.empty());
    while (static_cast<Index>(path.size()) < nodes) {
        const auto next = neighbours(path.back());
        path.push_back(path.size() == 1 || next[0] != path[path.size() - 2] ? next[0] : next[1]);
    }
    return path;
}

TEST_CASE("scrambling renumbers whole nodes, rows and columns alike") {
    for (const std::string name : {"laplace2d", "laplace3d", "elasticity3d"}) {
        CAPTURE(name);
        const Index d = name == "elasticity3d" ? 3 : 1;
        std::map<std::string, std::int64_t> given{{"nx", 40}, {"ny", 1}};
        if (name != "laplace2d") given["nz"] = 1;
        const CsrMatrix natural = generate(name, given);
        given["scramble"] = 7;
        const CsrMatrix scrambled = generate(name, given);
        check_csr(scrambled);
        CHECK(scrambled != natural);
        // The k-th node along the path is number path[k] now; read from the other end, a path gives the same matrix.
        const std::vector<Index> path = nodes_along_path(scrambled, d);
        std::vector<Index> new_of_old(natural.rows);
        for (Index row = 0; row < natural.rows; ++row) new_of_old[row] = path[row / d] * d + row % d;
        const Permutation order = Permutation::from_new_of_old(new_of_old);
        CHECK(scrambled == permute(natural, order, order));
        CHECK(generate(name, given) == scrambled);
        given["scramble"] = 8;
        CHECK(generate(name, given) != scrambled);
    }
    // The order itself is the same everywhere: pinned.
    CHECK(nodes_along_path(generate("laplace2d", {{"nx", 8}, {"ny", 1}, {"scramble", 1}}), 1) ==
          std::vector<Index>{3, 5, 4, 0, 1, 2, 7, 6});
    const CsrMatrix grid = generate("elasticity3d", {{"nx", 4}, {"ny", 5}, {"nz", 3}, {"scramble", 3}});
    check_csr(grid);
    CHECK(grid == transpose(grid));
    Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> cholesky(to_eigen(grid));
    CHECK(cholesky.info() == Eigen::Success);
}

TEST_CASE("generators refuse what does not fit") {
    const auto refusal_to_generate = [](const std::string& name, std::int64_t nx) -> std::string {
        try {
            const CsrMatrix matrix = generate(name, {{"nx", nx}});
            return "generated";
        } catch (const UserError& error) {
            return fmt::format("{} {}", error.exit_code, error.what());
        }
    };
    CHECK(refusal_to_generate("laplace2d", 46341) ==
          "3 found a grid of 46341 x 46341 x 1 nodes with 1 unknown each; expected at most 2147483647 rows");
    CHECK(
        refusal_to_generate("elasticity3d", 2147483647) ==
        "3 found a grid of 2147483647 x 2147483647 x 2147483647 nodes with 3 unknowns each; expected at most 2147483647 rows");
    CHECK(refusal_to_generate("elasticity3d", 890).substr(0, 78) ==
          "4 a matrix of 2114907000 rows and 170922794688 nonzeros wants 2073632544256 by");
    for (const GeneratorEntry& generator : generators()) {
        CHECK(find_generator(generator.name) == &generator);
        CHECK(!generator.summary.empty());
    }
    CHECK(find_generator("laplace4d") == nullptr);
}
