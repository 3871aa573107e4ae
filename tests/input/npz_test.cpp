// scipy's .npz: accepted files, and the exact text of each refusal.
#include <doctest/doctest.h>
#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "core/matrix/battery.hpp"
#include "input/input_files.hpp"
#include "input/npz_files.hpp"
#include "support/free_memory.hpp"
#include "support/golden.hpp"

namespace workbench {
namespace {

std::string npz_refusal(const Members& members) { return refusal(write_npz("m.npz", members)); }

}  // namespace

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
    // Unsorted columns, a duplicate, surplus items after the last entry, and a format name in UTF-32 as older scipy versions
    // wrote.
    Members odd = csr_members();
    odd["format"] = npy_header("<U3", "()") + std::string("c\0\0\0s\0\0\0r\0\0\0", 12);
    odd["indptr"] = npy_int({0, 2, 2, 6});
    odd["indices"] = npy_int({2, 0, 3, 0, 1, 3, 99 % 4});
    odd["data"] = npy<double>("<f8", {2, 1, 1, 3, 0, 3, 1000});
    CHECK(read_matrix(write_npz("m.npz", odd)) == expected);
    Members spare = csr_members();
    spare["indices"] = npy_int({0, 2, 0, 1, 3, 3});
    spare["data"] = npy<double>("<f8", {1, 2, 3, 0, 4, 1000});
    CHECK(read_matrix(write_npz("m.npz", spare)) == expected);
    // Sorted, with a duplicate column in a row.
    Members twice = csr_members();
    twice["indptr"] = npy_int({0, 3, 3, 6});
    twice["indices"] = npy_int({0, 2, 2, 0, 1, 3});
    twice["data"] = npy<double>("<f8", {1, 1.5, 0.5, 3, 0, 4});
    CHECK(read_matrix(write_npz("m.npz", twice)) == expected);
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

TEST_CASE("npz: integers that f64 would round are refused") {
    const auto with_last = [](auto number) {
        using Number = decltype(number);
        const std::string type = std::is_signed_v<Number> ? "<i8" : "<u8";
        return write_npz("m.npz", with(csr_members(), "data", npy<Number>(type, {1, 2, 3, 0, number})));
    };
    constexpr std::int64_t limit = std::int64_t{1} << 53;
    CHECK(read_matrix(with_last(-limit)).values[4] == -9007199254740992.0);
    CHECK(read_matrix(with_last(std::uint64_t{1} << 63)).values[4] == 9223372036854775808.0);
    CHECK(refusal(with_last(limit + 1)) ==
          "m.npz: member data.npy: found 9007199254740993 at place 4, which f64 rounds to 9007199254740992; expected exact "
          "integers, or values of type f64");
    for (const std::uint64_t number : {~std::uint64_t{0}, (std::uint64_t{1} << 63) - 1}) {
        CHECK(refusal(with_last(number)).find("which f64 rounds to") != std::string::npos);
    }
    CHECK(refusal(with_last(std::numeric_limits<std::int64_t>::max())).find("which f64 rounds to") != std::string::npos);
}

TEST_CASE("npz: COO arrays with coords, as scipy stores those of any number of dimensions") {
    const CsrMatrix expected = csr_from_rows(example);
    const auto coordinates = [](const std::string& header, const std::vector<int>& numbers) {
        const std::vector<int> copy = numbers;
        return header + std::string(reinterpret_cast<const char*>(copy.data()), copy.size() * sizeof(int));
    };
    Members members{{"format", npy_format("coo")},
                    {"shape", npy_as<std::int64_t>("<i8", {3, 4})},
                    {"data", npy_as<double>("<f8", {4, 1, 2, 0, 3})},
                    {"coords", coordinates(npy_header("<i4", "(2, 5)"), {2, 0, 0, 2, 2, 3, 0, 2, 1, 0})}};
    CHECK(read_matrix(write_npz("m.npz", members)) == expected);
    Members both = with(members, "row", npy_int({2, 0, 0, 2, 2}));
    both["col"] = npy_int({3, 0, 2, 1, 0});
    CHECK(read_matrix(write_npz("m.npz", both)) == expected);
    std::string by_columns = npy_header("<i4", "(2, 5)");
    by_columns.replace(by_columns.find("False"), 5, "True ");
    by_columns = coordinates(by_columns, {2, 3, 0, 0, 0, 2, 2, 1, 2, 0});
    CHECK(read_matrix(write_npz("m.npz", with(members, "coords", by_columns))) == expected);

    const auto refused = [&](const char* name, const std::string& bytes) { return npz_refusal(with(members, name, bytes)); };
    CHECK(refused("shape", npy_as<std::int64_t>("<i8", {12})) == "m.npz: member shape.npy: found 1 dimension; expected 2");
    CHECK(refused("shape", npy_as<std::int64_t>("<i8", {2, 3, 2})) ==
          "m.npz: member shape.npy: found 3 dimensions; expected 2");
    CHECK(refused("coords", coordinates(npy_header("<i4", "(2, 4)"), {2, 0, 0, 2, 3, 0, 2, 1})) ==
          "m.npz: member coords.npy: found the shape (2, 4); expected (2, 5), a row and a column for each item of data.npy");
    CHECK(refused("coords", npy_int({2, 0, 0, 2, 2, 3, 0, 2, 1, 0})) ==
          "m.npz: member coords.npy: found the shape (10); expected (2, 5), a row and a column for each item of data.npy");
    CHECK(refused("coords", coordinates(npy_header("<i4", "(2, 5)"), {2, 0, 0, 3, 2, 3, 0, 2, 1, 0})) ==
          "m.npz: member coords.npy: found 3 at place 3; expected an integer from 0 to 2");
    CHECK(refused("coords", coordinates(npy_header("<i4", "(2, 5)"), {2, 0, 0, 2, 2, 3, 0, 2, -1, 0})) ==
          "m.npz: member coords.npy: found -1 at place 8; expected an integer from 0 to 3");
}

TEST_CASE("npz: every refusal names the member") {
    CHECK(refusal(write("m.npz.gz", compressed(file_text(write_npz("m.npz", csr_members()))))) ==
          "m.npz.gz: found a compressed .npz; expected the .npz itself");
    const auto refusal_with = [](const char* name, const std::string& bytes) {
        return npz_refusal(with(csr_members(), name, bytes));
    };
    CHECK(refusal_with("format", npy_format("bsr")) ==
          "m.npz: member format.npy: found 'bsr'; expected csr, csc or coo (in scipy: matrix.tocsr())");
    CHECK(npz_refusal({{"a", npy_int({1})}}) ==
          "m.npz: found a zip archive without format.npy; expected what scipy.sparse.save_npz writes");
    CHECK(refusal_with("shape", npy_int({3, 4, 5})) == "m.npz: member shape.npy: found 3 dimensions; expected 2");
    CHECK(refusal_with("shape", npy_as<std::int64_t>("<i8", {-3, 4})) ==
          "m.npz: member shape.npy: found -3 at place 0; expected an integer from 0 to 9223372036854775807");
    CHECK(refusal_with("shape", npy<std::int64_t>("<i8", {std::int64_t{1} << 31, 4})) ==
          "m.npz: found a matrix of 2147483648 x 4; expected at most 2147483647 rows and columns");
    CHECK(refusal_with("shape", npy_int({2147483647, 4})) ==
          "m.npz: found 2147483647 rows and 4 columns with 5 entries: too empty to read; expected at least one entry per 64 "
          "rows and columns above 2^24 of them");
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
          "m.npz: member data.npy: found more than 40 bytes of data; expected as many as its shape says");
    // The claimed size of a member takes no memory.
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

TEST_CASE("npz: truncated or damaged files are refused or read correctly, byte by byte") {
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

TEST_CASE("the battery is unchanged after writing and reading both kinds of files") {
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
        CHECK(read_matrix(write_npz("m.npz", csr_members(matrix))) == matrix);
    }
}

TEST_CASE("npz: a matrix that does not fit is refused, whichever array exceeds the memory") {
    // One row; an entry takes 12 bytes in the file, 12 in the matrix, and more while it is sorted.
    constexpr int entries = 2000000;
    std::vector<int> columns(entries);
    std::iota(columns.begin(), columns.end(), 0);
    Members members{{"format", npy_format("csr")},
                    {"shape", npy_as<std::int64_t>("<i8", {1, entries})},
                    {"indptr", npy_int({0, entries})},
                    {"indices", npy_int(columns)},
                    {"data", npy("<f8", std::vector<double>(entries, 1.0))}};
    const auto in_order = write_npz("in_order.npz", members, false);
    std::reverse(columns.begin(), columns.end());
    members["indices"] = npy_int(columns);
    const auto reversed = write_npz("reversed.npz", members, false);
    const auto refused = [](const std::filesystem::path& path, std::size_t free, const std::string& words) {
        const FreeMemory memory(free);
        CHECK_THROWS_WITH_AS((void)read_matrix(path), doctest::Contains(words.c_str()), MachineError);
    };
    refused(in_order, 10 * mebibyte,
            "in_order.npz: member data.npy: an array of 16000000 bytes needs as many bytes of memory; ");
    refused(in_order, 28 * mebibyte, "in_order.npz: a matrix of 2000000 entries needs 8000000 bytes of memory; ");
    refused(in_order, 33 * mebibyte, "in_order.npz: a matrix of 2000000 entries needs 16000000 bytes of memory; ");
    refused(reversed, 64 * mebibyte, "reversed.npz: a matrix of 2000000 entries needs 64000000 bytes of memory; ");
    const FreeMemory enough(64 * mebibyte);
    CHECK(read_matrix(in_order).nonzeros() == entries);
}

}  // namespace workbench
