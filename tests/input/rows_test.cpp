// Rows read or generated without the others: identical bits, memory for these rows only.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "core/contract/catalogue.hpp"
#include "core/contract/errors.hpp"
#include "core/input/generators/generators.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/input/npz/read_rows.hpp"
#include "core/matrix/battery.hpp"
#include "input/generated.hpp"
#include "input/input_files.hpp"
#include "input/npz_files.hpp"
#include "support/cut_out.hpp"
#include "support/free_memory.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

/// Empty ranges, one row, the first and last rows, all rows, and ranges that coincide with no boundary.
std::vector<RowRange> ranges_of(Index rows) {
    std::vector<RowRange> ranges{{0, 0}, {rows, rows}, {rows / 2, rows / 2}, {0, rows}, {rows / 3, rows - rows / 5}};
    for (Index row = 0; row < rows; row += 1 + rows / 7) ranges.push_back({row, row + 1});
    for (const Index length : {2, 5, 7, 16}) {
        for (Index first = 0; first < rows; first += 1 + rows / 4) ranges.push_back({first, std::min(rows, first + length)});
    }
    return ranges;
}

const GeneratorEntry& generator(const std::string& name) {
    static const Catalogue known{.generators = generators()};
    const GeneratorEntry* found = known.find_generator(name);
    REQUIRE(found != nullptr);
    return *found;
}

CsrMatrix made_rows(const std::string& name, const Given& given, RowRange range) {
    const GeneratorEntry& kind = generator(name);
    return kind.generate_rows(Parameters(kind.parameters, given), range);
}

struct Kind {
    std::string name;
    Given given;
};

const std::vector<Kind>& examples() {
    static const std::vector<Kind> all{
        {"laplace2d", {{"nx", whole(9)}, {"ny", whole(5)}}},
        {"laplace2d", {{"nx", whole(6)}, {"scramble", whole(3)}}},
        {"laplace2d", {{"nx", whole(1)}}},
        {"laplace3d", {{"nx", whole(4)}, {"ny", whole(5)}, {"nz", whole(3)}}},
        {"laplace3d", {{"nx", whole(4)}, {"points", whole(27)}, {"scramble", whole(1)}}},
        {"laplace3d", {{"nx", whole(1)}, {"ny", whole(1)}, {"nz", whole(40)}, {"points", whole(27)}}},
        {"elasticity3d", {{"nx", whole(3)}, {"ny", whole(2)}, {"nz", whole(4)}}},
        {"elasticity3d", {{"nx", whole(3)}, {"scramble", whole(9)}}},
        {"curlcurl3d", {{"nx", whole(3)}, {"ny", whole(2)}, {"nz", whole(4)}}},
        {"curlcurl3d", {{"nx", whole(3)}, {"scramble", whole(9)}}},
        {"banded", {{"rows", whole(60)}, {"bandwidth", whole(7)}}},
        {"banded", {{"rows", whole(60)}, {"bandwidth", whole(200)}, {"fill", 0.3}, {"seed", whole(5)}}},
        {"random_uniform", {{"rows", whole(50)}, {"columns", whole(70)}, {"shortest", whole(0)}, {"longest", whole(70)}}},
        {"random_laplacian", {{"rows", whole(50)}, {"degree", whole(8)}}},
        {"random_normal", {{"rows", whole(80)}, {"columns", whole(9)}, {"mean", 4.0}, {"deviation", 5.0}}},
    };
    return all;
}

struct Damaged {
    std::string name;
    std::string bytes;
};

/// The InputError's message from opening the file or reading any range, formatted as `refusal` does.
std::string refusal_by_rows(const std::filesystem::path& path) {
    try {
        const auto reader = open_rows(path);
        if (!reader) return "null";
        const Index half = reader->rows() / 2;
        static_cast<void>(reader->read({0, half}));
        static_cast<void>(reader->read({half, reader->rows()}));
        return "read";
    } catch (const InputError& error) {
        const std::string what = error.what();
        return what.substr(path.parent_path().string().size() + 1);
    }
}

bool same_bits(const CsrMatrix& a, const CsrMatrix& b) {
    return a.rows == b.rows && a.columns == b.columns && hash_of(a) == hash_of(b);
}

}  // namespace

TEST_CASE("generators make any range of rows as in the whole matrix") {
    for (const Kind& kind : examples()) {
        CAPTURE(kind.name);
        const CsrMatrix whole_matrix = made(kind.name, kind.given);
        const GeneratorEntry& entry = generator(kind.name);
        CHECK(entry.row_count(Parameters(entry.parameters, kind.given)) == whole_matrix.rows);
        for (const RowRange range : ranges_of(whole_matrix.rows)) {
            CAPTURE(range.first);
            CAPTURE(range.end);
            const CsrMatrix rows = made_rows(kind.name, kind.given, range);
            check_csr(rows);
            CHECK(rows == cut_out(whole_matrix, range));
        }
    }
}

TEST_CASE("generators make rows by ranges or declare that they cannot") {
    for (const GeneratorEntry& entry : generators()) {
        CAPTURE(entry.name);
        const bool whole_only = entry.name == "rmat" || entry.name == "delaunay" || entry.name == "finite_volume";
        CHECK((entry.row_count == nullptr) == whole_only);
        CHECK((entry.generate_rows == nullptr) == whole_only);
    }
    const Given six{{"nx", whole(3)}, {"ny", whole(2)}};
    for (const RowRange wrong : {RowRange{-1, 2}, RowRange{3, 2}, RowRange{0, 7}}) {
        CHECK_THROWS_AS((void)made_rows("laplace2d", six, wrong), std::out_of_range);
    }
    const GeneratorEntry& grid = generator("laplace2d");
    CHECK_THROWS_AS((void)grid.row_count(Parameters(grid.parameters, {{"nx", whole(46341)}})), InputError);
    const GeneratorEntry& space = generator("laplace3d");
    CHECK_THROWS_AS((void)space.row_count(Parameters(space.parameters, {{"nx", whole(3)}, {"points", whole(9)}})),
                    ParameterError);
}

TEST_CASE("generators take memory only for the rows that they make") {
    const FreeMemory little(48 * mebibyte);
    // The whole matrices take 2 to 17 GB each.
    const std::vector<Kind> large{
        {"laplace2d", {{"nx", whole(16000)}}},
        {"laplace3d", {{"nx", whole(300)}}},
        {"laplace3d", {{"nx", whole(1)}, {"ny", whole(1)}, {"nz", whole(100'000'000)}, {"points", whole(27)}}},
        {"elasticity3d", {{"nx", whole(120)}}},
        {"banded", {{"rows", whole(20'000'000)}, {"bandwidth", whole(20)}}},
        {"random_uniform", {{"rows", whole(100'000'000)}, {"shortest", whole(3)}, {"longest", whole(9)}}},
        {"random_normal", {{"rows", whole(100'000'000)}, {"mean", 7.0}, {"deviation", 2.0}}}};
    for (const Kind& kind : large) {
        CAPTURE(kind.name);
        const GeneratorEntry& entry = generator(kind.name);
        const Parameters parameters(entry.parameters, kind.given);
        CHECK_THROWS_AS((void)entry.generate(parameters), MachineError);
        const Index rows = entry.row_count(parameters);
        const Index some = kind.name == "elasticity3d" ? 2000 : 20000;
        const std::size_t taken = memory_taken([&] {
            const CsrMatrix matrix = entry.generate_rows(parameters, {rows / 2, rows / 2 + some});
            CHECK(matrix.rows == some);
            CHECK(matrix.columns >= 1'000'000);
        });
        if (memory_is_ours) CHECK(taken < 12 * mebibyte);
        // Only the requested rows count, even at the end of the matrix.
        CHECK_THROWS_WITH_AS((void)entry.generate_rows(parameters, {rows - 4'000'000, rows}),
                             doctest::Contains("a matrix of 4000000 rows and "), MachineError);
    }
    // A random numbering is computed for all nodes at once.
    CHECK_THROWS_AS((void)made_rows("laplace2d", {{"nx", whole(4000)}, {"scramble", whole(1)}}, {0, 1}), MachineError);
    CHECK(made_rows("laplace2d", {{"nx", whole(4000)}}, {0, 1}).nonzeros() == 3);
}

TEST_CASE("generators predict the memory of any range of rows") {
    const auto wanted = [](const Kind& kind, RowRange range) {
        const FreeMemory nothing(0);
        try {
            static_cast<void>(made_rows(kind.name, kind.given, range));
            return std::string("made");
        } catch (const MachineError& error) {
            const std::string what = error.what();
            return what.substr(0, what.find(" bytes"));
        }
    };
    const auto counted = [](Index rows, Offset nonzeros) {
        return fmt::format("a matrix of {} rows and {} nonzeros needs {}", rows, nonzeros, 8 * rows + 12 * nonzeros);
    };
    // Full bands, narrow and wider than the matrix, and thin grids, whose rows have fewer than 27 nonzeros.
    for (const int bandwidth : {0, 1, 7, 40, 59, 200}) {
        const Kind band{"banded", {{"rows", whole(60)}, {"bandwidth", whole(bandwidth)}}};
        const CsrMatrix matrix = made(band.name, band.given);
        for (const RowRange range : ranges_of(matrix.rows)) {
            if (range.count() == 0) continue;
            CHECK(wanted(band, range) == counted(range.count(), cut_out(matrix, range).nonzeros()));
        }
    }
    const Kind line{"laplace3d", {{"nx", whole(1)}, {"ny", whole(40)}, {"nz", whole(1)}, {"points", whole(27)}}};
    CHECK(wanted(line, {10, 20}) == counted(10, 30));
    CHECK(wanted(line, {0, 40}) == counted(40, 118));
    const Kind plane{"elasticity3d", {{"nx", whole(30)}, {"ny", whole(30)}, {"nz", whole(1)}}};
    CHECK(wanted(plane, {1000, 1010}) == counted(10, 270));
    const Kind random{"random_uniform", {{"rows", whole(90)}, {"shortest", whole(4)}, {"longest", whole(6)}}};
    CHECK(wanted(random, {10, 70}) == counted(60, 300));
}

TEST_CASE("npz: rows of a file equal those of the whole matrix, stored or compressed") {
    std::vector<NamedMatrix> matrices = battery();
    matrices.push_back({"elasticity", made("elasticity3d", {{"nx", whole(4)}, {"scramble", whole(2)}})});
    for (const NamedMatrix& named : matrices) {
        CAPTURE(named.name);
        const CsrMatrix& matrix = named.matrix;
        Members members = csr_members(matrix);
        for (const bool deflate : {false, true}) {
            const auto path = write_npz("m.npz", members, deflate);
            const auto reader = open_rows(path);
            REQUIRE(reader != nullptr);
            CHECK(reader->rows() == matrix.rows);
            CHECK(reader->columns() == matrix.columns);
            for (const RowRange range : ranges_of(matrix.rows)) {
                CAPTURE(range.first);
                CAPTURE(range.end);
                CHECK(same_bits(reader->read(range), cut_out(matrix, range)));
            }
            CHECK_THROWS_AS((void)reader->read({0, matrix.rows + 1}), std::out_of_range);
            members["indptr"] = npy("<i4", std::vector<std::int32_t>(matrix.row_offsets.begin(), matrix.row_offsets.end()));
            members["indices"] =
                npy("<i8", std::vector<std::int64_t>(matrix.column_indices.begin(), matrix.column_indices.end()));
        }
    }
}

TEST_CASE("npz: rows with unsorted columns, duplicate columns and surplus items") {
    Members odd = csr_members();
    odd["indptr"] = npy_int({0, 2, 2, 6});
    odd["indices"] = npy_int({2, 0, 3, 0, 1, 3, 3, 77});  // surplus items may contain invalid columns
    odd["data"] = npy<float>("<f4", {2, 1, 1, 3, 0, 3, 1000, 1000});
    const CsrMatrix expected = csr_from_rows(example);
    const auto path = write_npz("m.npz", odd);
    CHECK(read_matrix(path) == expected);
    const auto reader = open_rows(path);
    for (Index first = 0; first <= 3; ++first) {
        for (Index end = first; end <= 3; ++end) CHECK(reader->read({first, end}) == cut_out(expected, {first, end}));
    }
}

TEST_CASE("files that cannot be read by rows are left to read_matrix") {
    CHECK(open_rows(write("m.mtx", example_text)) == nullptr);
    CHECK(open_rows(write("m.mtx.gz", compressed(example_text))) == nullptr);
    CHECK(open_rows(write("empty", "")) == nullptr);
    CHECK(open_rows(folder() / "nothing.npz") == nullptr);
    CHECK(open_rows(folder()) == nullptr);
    const auto csr = write_npz("m.npz", csr_members());
    CHECK(open_rows(csr, "m.mtx") == nullptr);  // only archives have members
    for (const char* format : {"csc", "coo", "bsr"}) {
        CHECK(open_rows(write_npz("m.npz", with(csr_members(), "format", npy_format(format)))) == nullptr);
    }
}

TEST_CASE("npz: reading by rows refuses what reading the whole matrix refuses, in the same words") {
    const std::vector<Damaged> damages{
        {"shape", npy_int({3, 4, 5})},
        {"shape", npy<std::int64_t>("<i8", {std::int64_t{1} << 31, 4})},
        {"shape", npy_int({2147483647, 4})},
        {"shape", npy_int({3, 3})},
        {"indptr", npy_int({0, 2, 5})},
        {"indptr", npy_int({1, 2, 2, 5})},
        {"indptr", npy_int({0, 3, 2, 5})},
        {"indptr", npy_int({0, 2, 2, 6})},
        {"indptr", npy<double>("<f8", {0, 2, 2, 5})},
        {"indices", npy_int({0, 2, 0, 1, 4})},
        {"indices", npy_int({0, 2, 0, -1, 3})},
        {"indices", npy<double>("<f8", {0, 2, 0, 1, 3})},
        {"indices", npy_header("<i4", "(5, 1)") + std::string(20, '\0')},
        {"indices", npy_header("<i4", "(1099511627776,)") + std::string(20, '\0')},
        {"indices", npy_header("<i0", "(4611686018427387904,)")},
        {"data", npy<double>("<f8", {1, 2, 3, 0})},
        {"data", npy<double>(">f8", {1, 2, 3, 0, 4})},
        {"data", npy_header("<c16", "(5,)") + std::string(80, '\0')},
        {"data", npy_header("<f8", "(5,)") + std::string(39, '\0')},
        {"data", npy_header("<f8", "(5,)") + std::string(8, '\0')},
        {"data", npy_header("<f8", "(5,)") + std::string(41, '\0')},
        {"data", npy_header("<f8", "(1099511627776,)") + std::string(40, '\0')},
        {"data", npy_header("<f8", "(4294967296, 4294967296)")},
        {"data", "no array"},
    };
    for (const Damaged& damage : damages) {
        const auto path = write_npz("m.npz", with(csr_members(), damage.name, damage.bytes));
        const std::string words = refusal(path);
        CAPTURE(words);
        CHECK(words.substr(0, 7) == "m.npz: ");
        CHECK(refusal_by_rows(path) == words);
    }
    // 2^62 items of zero bytes.
    Members nothing = csr_members();
    nothing["indptr"] = npy<std::int64_t>("<i8", {0, 2, 2, std::int64_t{1} << 62});
    nothing["indices"] = npy_header("<i0", "(4611686018427387904,)");
    nothing["data"] = npy_header("<f0", "(4611686018427387904,)");
    const auto path = write_npz("m.npz", nothing);
    CHECK(refusal(path) == "m.npz: member indices.npy: found type <i0; expected integers, little-endian");
    CHECK(refusal_by_rows(path) == refusal(path));
    Members unnamed = csr_members();
    unnamed.erase("format");
    CHECK(refusal_by_rows(write_npz("m.npz", unnamed)) ==
          "m.npz: found a zip archive without format.npy; expected what scipy.sparse.save_npz writes");
    for (const char* name : {"shape", "indptr", "indices", "data"}) {
        Members without = csr_members();
        without.erase(name);
        CHECK(refusal_by_rows(write_npz("m.npz", without)) ==
              fmt::format("m.npz: member {}.npy: found nothing; expected what scipy.sparse.save_npz writes", name));
    }
    // An invalid column is found only by reading its row.
    const auto reader = open_rows(write_npz("m.npz", with(csr_members(), "indices", npy_int({0, 2, 0, 1, 4}))));
    CHECK(reader->read({0, 2}) == cut_out(csr_from_rows(example), {0, 2}));
    CHECK_THROWS_WITH_AS((void)reader->read({1, 3}), doctest::Contains("found 4 at place 4; expected an integer from 0 to 3"),
                         InputError);
}

TEST_CASE("npz: damage found by reading the whole matrix is found by reading any rows, byte by byte") {
    const auto refuses = [](const std::filesystem::path& path, RowRange range) {
        try {
            const auto reader = open_rows(path);
            if (reader) static_cast<void>(reader->read(range));
            return !reader;
        } catch (const InputError&) {
            return true;
        }
    };
    for (const bool deflate : {true, false}) {
        const std::string undamaged = file_text(write_npz("m.npz", csr_members(), deflate));
        for (std::size_t place = 0; place < undamaged.size(); ++place) {
            CAPTURE(place);
            std::string damaged = undamaged;
            damaged[place] = static_cast<char>(damaged[place] ^ 0x11);
            const auto path = write("damaged.npz", damaged);
            if (read_or_refuse(path)) continue;  // the damaged byte is never read
            CHECK(refuses(path, {0, 1}));
            CHECK(refuses(path, {2, 3}));
        }
    }
}

TEST_CASE("npz: a file that changes between opening and reading is refused") {
    const auto path = write_npz("m.npz", csr_members());
    const auto reader = open_rows(path);
    Members shorter = csr_members();
    shorter["indices"] = npy_int({0, 2, 0});
    shorter["data"] = npy<double>("<f8", {1, 2, 3});
    write_npz("m.npz", shorter);
    CHECK(reader->read({0, 1}) == cut_out(csr_from_rows(example), {0, 1}));
    CHECK_THROWS_WITH_AS((void)reader->read({0, 3}), doctest::Contains("m.npz: found other entries than when"), InputError);
}

TEST_CASE("npz: rows take memory of their own size, anywhere in the file") {
    constexpr Index rows = 1000;
    constexpr Index length = 2000;
    CsrMatrix matrix;
    matrix.rows = rows;
    matrix.columns = length;
    for (Index row = 0; row < rows; ++row) {
        matrix.row_offsets.push_back(matrix.row_offsets.back() + length);
        for (Index i = 0; i < length; ++i) {
            matrix.column_indices.push_back(i);
            matrix.values.push_back(row + 1e-4 * i);
        }
    }
    Members members = csr_members(matrix);
    const auto stored = write_npz("stored.npz", members, false);
    members["data"] = npy("<f8", std::vector<double>(matrix.values.size(), 1.0));
    const auto deflated_file = write_npz("deflated.npz", members, true);
    members = {};
    const CsrMatrix middle = cut_out(matrix, {500, 501});
    matrix = {};
    for (const auto& path : {stored, deflated_file}) {
        {
            const FreeMemory little(12 * mebibyte);
            CHECK_THROWS_AS((void)read_matrix(path), MachineError);
        }
        const FreeMemory little(12 * mebibyte);  // a new limit, because freed memory stays resident until then
        const auto reader = open_rows(path);
        for (const RowRange range : {RowRange{0, 1}, RowRange{500, 501}, RowRange{rows - 1, rows}}) {
            CsrMatrix read;
            const std::size_t taken = memory_taken([&] { read = reader->read(range); });
            CHECK(read.nonzeros() == length);
            CHECK(read.column_indices == middle.column_indices);
            if (path == stored) CHECK(read.values.front() == range.first);
            if (memory_is_ours) CHECK(taken < 3 * mebibyte);
        }
        CHECK_THROWS_WITH_AS((void)reader->read({0, rows}), doctest::Contains("an array of "), MachineError);
    }
}

}  // namespace workbench
