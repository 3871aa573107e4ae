// Sparse matrices of MATLAB files, which are made here byte by byte.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "containers/written.hpp"
#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

// Types of elements after the MathWorks' "MAT-File Format", table 1-1, and classes of arrays, table 1-3.
enum : std::uint32_t {
    mi_int8 = 1,
    mi_uint8 = 2,
    mi_int16 = 3,
    mi_int32 = 5,
    mi_uint32 = 6,
    mi_single = 7,
    mi_double = 9,
    mi_matrix = 14,
    mi_compressed = 15
};
enum : std::uint32_t { mx_struct = 2, mx_sparse = 5, mx_double = 6, mx_uint8 = 9, logical = 0x200, complex = 0x800 };

template <typename Number>
std::string bytes_of_all(const std::vector<Number>& numbers) {
    std::string bytes;
    for (const Number number : numbers) bytes += std::string(reinterpret_cast<const char*>(&number), sizeof(Number));
    return bytes;
}

std::string element(std::uint32_t type, std::string data) {
    const std::string tag = bytes_of(type, 4) + bytes_of(data.size(), 4);
    return tag + data + std::string((8 - data.size() % 8) % 8, '\0');
}

std::string array(std::uint32_t flags, std::uint32_t most, int rows, int columns, const std::string& name,
                  const std::string& rest) {
    return element(mi_matrix, element(mi_uint32, bytes_of(flags, 4) + bytes_of(most, 4)) +
                                  element(mi_int32, bytes_of_all(std::vector{rows, columns})) + element(mi_int8, name) + rest);
}

struct Sparse {
    std::string name = "A";
    std::uint32_t flags = mx_sparse;
    std::vector<int> rows{0, 2, 2, 0, 2};
    std::vector<int> offsets{0, 2, 3, 4, 5};
    std::string values = element(mi_double, bytes_of_all(std::vector<double>{1, 3, 0, 2, 4}));
};

/// `example`, unless changed.
std::string sparse(const Sparse& matrix = {}) {
    return array(
        matrix.flags, static_cast<std::uint32_t>(matrix.rows.size()), 3, static_cast<int>(matrix.offsets.size()) - 1,
        matrix.name,
        element(mi_int32, bytes_of_all(matrix.rows)) + element(mi_int32, bytes_of_all(matrix.offsets)) + matrix.values);
}

std::string dense(const std::string& name) {
    return array(mx_double, 0, 1, 2, name, element(mi_double, bytes_of_all(std::vector<double>{7, 8})));
}

std::string structure(const std::string& name, const std::vector<std::pair<std::string, std::string>>& fields) {
    std::string names;
    std::string contents;
    for (const auto& [field, content] : fields) {
        names += field + std::string(32 - field.size(), '\0');
        contents += content;
    }
    const std::string name_length = bytes_of(4 << 16 | mi_int32, 4) + bytes_of(32, 4);  // an element of at most 4 bytes
    return array(mx_struct, 0, 1, 1, name, name_length + element(mi_int8, names) + contents);
}

std::string zipped(const std::string& variable) {
    const std::string data = deflated(variable, 15);
    return bytes_of(mi_compressed, 4) + bytes_of(data.size(), 4) + data;
}

std::filesystem::path matlab(const std::string& variables) {
    std::string header = "MATLAB 5.0 MAT-file, made by a test";
    header.resize(124, ' ');
    return write("m.mat", header + std::string("\x00\x01IM", 4) + variables);
}

}  // namespace

TEST_CASE("MATLAB: numbers of every size, logical and compressed variables, and places without entries are read") {
    CHECK(read_matrix(matlab(sparse())) == example_matrix());
    CHECK(read_matrix(matlab(zipped(sparse()))) == example_matrix());
    const std::string bytes{1, 3, 0, 2, 4};
    CHECK(read_matrix(matlab(sparse({.values = element(mi_uint8, bytes)}))) == example_matrix());
    CHECK(read_matrix(matlab(sparse({.values = element(mi_int8, bytes)}))) == example_matrix());
    CHECK(read_matrix(matlab(sparse({.values = element(mi_int16, bytes_of_all(std::vector<std::int16_t>{1, 3, 0, 2, 4}))}))) ==
          example_matrix());
    Sparse roomy;
    roomy.rows.resize(9);
    roomy.values = element(mi_double, bytes_of_all(std::vector<double>{1, 3, 0, 2, 4, 9, 9, 9, 9}));
    CHECK(read_matrix(matlab(sparse(roomy))) == example_matrix());
}

TEST_CASE("MATLAB: logical matrices have the numbers of their data element, also with the class of dense ones") {
    const std::vector<double> numbers{1, 1, 0, 1, 1};
    const std::string bytes{1, 1, 0, 1, 1};
    const std::vector<std::string> elements{
        element(mi_uint8, bytes), element(mi_double, bytes_of_all(numbers)),  // Octave writes doubles
        element(mi_double, bytes),                                            // bytes with the name of doubles
        element(mi_single, bytes_of_all(std::vector<float>(numbers.begin(), numbers.end()))),
        element(mi_int32, bytes_of_all(std::vector<int>(numbers.begin(), numbers.end())))};
    for (const std::uint32_t flags : {mx_sparse | logical, mx_uint8 | logical}) {  // Octave writes uint8
        for (std::size_t i = 0; i < elements.size(); ++i) {
            CAPTURE(flags);
            CAPTURE(i);
            const std::string variable = sparse({.flags = flags, .values = elements[i]});
            const HostArray<double> expected{1, 1, 1, 0, 1};
            CHECK(read_matrix(matlab(variable)).values == expected);
            CHECK(read_matrix(matlab(zipped(variable))).values == expected);
            const std::string field = sparse({.name = "", .flags = flags, .values = elements[i]});
            CHECK(read_matrix(matlab(structure("S", {{"x", dense("")}, {"A", field}}))).values == expected);
        }
    }
    // Places without entries: as many bytes as doubles have.
    Sparse roomy{.flags = mx_sparse | logical};
    roomy.rows.resize(40);
    roomy.values = element(mi_double, bytes + std::string(35, '\0'));
    CHECK(read_matrix(matlab(sparse(roomy))).values == HostArray<double>{1, 1, 1, 0, 1});
    const std::string mask = array(mx_uint8 | logical, 0, 3, 4, "mask", element(mi_uint8, std::string(12, '\1')));
    CHECK(read_matrix(matlab(mask + sparse() + mask)) == example_matrix());
    CHECK(refusal(matlab(mask)) == "m.mat: found no sparse matrix, but 'mask'; expected one, as of MATLAB's sparse()");
}

TEST_CASE("MATLAB: the only sparse matrix, Problem.A or the named one is read") {
    CHECK(read_matrix(matlab(dense("b") + sparse({.name = "K"}) + dense("x"))) == example_matrix());
    Sparse other{.name = "", .values = element(mi_double, bytes_of_all(std::vector<double>{9, 9, 9, 9, 9}))};
    const std::string problem = structure("Problem", {{"name", dense("")},
                                                      {"Zeros", sparse(other)},
                                                      {"A", sparse({.name = ""})},
                                                      {"aux", structure("", {{"M", sparse(other)}})}});
    CHECK(read_matrix(matlab(problem)) == example_matrix());
    CHECK(read_matrix(matlab(zipped(problem))) == example_matrix());
    CHECK(read_matrix(matlab(problem), {"Problem.aux.M"}).values == HostArray<double>(5, 9));
    CHECK(read_matrix(matlab(zipped(problem)), {"Problem.Zeros"}).values == HostArray<double>(5, 9));
    other.name = "M";
    const auto two = matlab(sparse(other) + sparse({.name = "K"}));
    CHECK(refusal(two) == "m.mat: found the matrices 'M', 'K'; expected one, or --member NAME");
    CHECK(read_matrix(two, {"K"}) == example_matrix());
    CHECK(refusal(two, {"L"}) == "m.mat: found the matrices 'M', 'K'; expected a sparse matrix 'L'");
    CHECK(refusal(matlab(dense("b") + dense("x"))) ==
          "m.mat: found no sparse matrix, but 'b', 'x'; expected one, as of MATLAB's sparse()");
    CHECK(refusal(matlab("")) == "m.mat: found no sparse matrix; expected one, in an undamaged file");
}

TEST_CASE("MATLAB: what is complex, damaged or too large is refused") {
    const std::string imaginary = element(mi_double, std::string(5 * sizeof(double), '\0'));
    Sparse waves{.flags = mx_sparse | complex};
    waves.values += imaginary;
    CHECK(refusal(matlab(sparse(waves))) ==
          "m.mat: variable 'A': found complex values, which are not supported; expected real ones");
    CHECK(refusal(matlab(sparse({.rows = {0, 2, 7, 0, 2}}))) ==
          "m.mat, as a .npz: member indices.npy: found 7 at place 2; expected an integer from 0 to 2");
    CHECK(refusal(matlab(sparse({.offsets = {0, 4, 3, 4, 5}}))) ==
          "m.mat, as a .npz: member indptr.npy: found 3 after 4 at place 2; expected ascending offsets");
    for (const std::string& whole : {sparse(), zipped(sparse())}) {
        for (std::size_t length = 4; length < whole.size(); length += whole.size() / 5) {
            CHECK(refusal(matlab(whole.substr(0, length))) ==
                  "m.mat: found a damaged element at byte 128; expected an undamaged file");
        }
    }
    std::string damaged = zipped(sparse());
    damaged[damaged.size() - 1] ^= 1;  // the checksum
    CHECK(refusal(matlab(damaged)) == "m.mat: found a damaged element at byte 128; expected an undamaged file");
    CHECK(refusal(write("m.mat.gz", deflated(std::string(124, ' ') + std::string("\x00\x01IM", 4), 31))) ==
          "m.mat.gz: found a compressed MATLAB file; expected the MATLAB file itself");
}

TEST_CASE("MATLAB: a matrix that exceeds the free memory is refused") {
    Sparse large;
    const std::size_t count = 4'000'000;
    large.rows.assign(count, 0);
    large.offsets = {0, static_cast<int>(count)};
    large.values = element(mi_uint8, std::string(count, '\1'));
    const std::filesystem::path path = matlab(zipped(sparse(large)));
    const FreeMemory some(mebibyte);
    CHECK_THROWS_AS((void)read_matrix(path), UserError);
}

TEST_CASE("written MATLAB files are read back bit for bit, and equal matrices make equal files") { check_written(".mat"); }

}  // namespace workbench
