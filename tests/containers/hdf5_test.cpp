// Matrices of HDF5 files: the Binsparse format, and version 7.3 of MATLAB's.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <hdf5.h>

#include <cstring>
#include <fstream>
#include <map>

#include "containers/written.hpp"
#include "core/contract/errors.hpp"
#include "core/input/inline_matrix.hpp"
#include "input/input_files.hpp"
#include "support/free_memory.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

/// An array of a file: numbers, and the type in which they are stored.
struct Stored {
    std::vector<double> numbers;
    hid_t type = H5T_STD_U64LE;
    bool compressed = false;
};
using Arrays = std::map<std::string, Stored>;

void add(hid_t group, const std::string& name, const Stored& stored) {
    const hsize_t count = stored.numbers.size();
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    const hid_t options = H5Pcreate(H5P_DATASET_CREATE);
    if (stored.compressed) {
        H5Pset_chunk(options, 1, &count);
        H5Pset_deflate(options, 9);
    }
    const hid_t data = H5Dcreate2(group, name.c_str(), stored.type, space, H5P_DEFAULT, options, H5P_DEFAULT);
    if (H5Tget_class(stored.type) == H5T_ENUM) {  // of bytes
        const std::vector<std::int8_t> bytes(stored.numbers.begin(), stored.numbers.end());
        REQUIRE(H5Dwrite(data, stored.type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0);
    } else {
        REQUIRE(H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, stored.numbers.data()) >= 0);
    }
    H5Dclose(data);
    H5Pclose(options);
    H5Sclose(space);
}

/// An attribute with a text of fixed length.
void add_text(hid_t object, const char* name, const std::string& text) {
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, text.size());
    const hid_t space = H5Screate(H5S_SCALAR);
    const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Awrite(attribute, type, text.data()) >= 0);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
}

/// The descriptor of a 3 x 4 matrix.
std::string descriptor(const std::string& format, const std::string& more = "", const std::string& values = "float64") {
    return fmt::format(
        R"({{"binsparse": {{"version": "0.1", "format": "{}", "shape": [3, 4], "data_types": {{"values": "{}"}}{}}}}})", format,
        values, more);
}

struct Group {
    std::string name;  // "/" for the root
    std::string text;
    Arrays arrays;
};

std::filesystem::path hdf5(const std::vector<Group>& groups) {
    const std::filesystem::path path = write("m.h5", "");
    const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    for (const Group& each : groups) {
        const hid_t group = each.name == "/" ? H5Gopen2(file, "/", H5P_DEFAULT)
                                             : H5Gcreate2(file, each.name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        for (const auto& [name, stored] : each.arrays) add(group, name, stored);
        add_text(group, "binsparse", each.text);
        H5Gclose(group);
    }
    H5Fclose(file);
    return path;
}

std::filesystem::path hdf5(const std::string& text, const Arrays& arrays) { return hdf5({{"/", text, arrays}}); }

const Arrays csr{
    {"pointers_to_1", {{0, 2, 2, 5}}}, {"indices_1", {{0, 2, 0, 1, 3}}}, {"values", {{1, 2, 3, 0, 4}, H5T_IEEE_F64LE}}};
const Arrays by_entries{
    {"indices_0", {{0, 0, 2, 2, 2}}}, {"indices_1", {{0, 2, 0, 1, 3}}}, {"values", {{1, 2, 3, 0, 4}, H5T_IEEE_F64LE}}};

Arrays with(Arrays arrays, const std::string& name, const Stored& stored) {
    arrays[name] = stored;
    return arrays;
}

}  // namespace

TEST_CASE("Binsparse: every format, type and compression is read") {
    CHECK(read_matrix(hdf5(descriptor("CSR"), csr)) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("CSR"), with(csr, "indices_1", {{0, 2, 0, 1, 3}, H5T_STD_I32BE, true}))) ==
          example_matrix());
    CHECK(read_matrix(hdf5(descriptor("CSR"), with(csr, "values", {{1, 2, 3, 0, 4}, H5T_STD_I8LE}))) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("CSR"), with(csr, "values", {{1, 2, 3, 0, 4}, H5T_IEEE_F32BE}))) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("CSC"), {{"pointers_to_1", {{0, 2, 3, 4, 5}}},
                                               {"indices_1", {{0, 2, 2, 0, 2}}},
                                               {"values", {{1, 3, 0, 2, 4}, H5T_IEEE_F64LE}}})) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("COO"), by_entries)) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("COOR"), by_entries)) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("COOC"), {{"indices_0", {{0, 0, 1, 2, 3}}},
                                                {"indices_1", {{0, 2, 2, 0, 2}}},
                                                {"values", {{1, 3, 0, 2, 4}, H5T_IEEE_F64LE}}})) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("DCSR"), {{"indices_0", {{0, 2}}},
                                                {"pointers_to_1", {{0, 2, 5}}},
                                                {"indices_1", {{0, 2, 0, 1, 3}}},
                                                {"values", {{1, 2, 3, 0, 4}, H5T_IEEE_F64LE}}})) == example_matrix());
    CHECK(read_matrix(hdf5(descriptor("DCSC"), {{"indices_0", {{0, 1, 2, 3}}},
                                                {"pointers_to_1", {{0, 2, 3, 4, 5}}},
                                                {"indices_1", {{0, 2, 2, 0, 2}}},
                                                {"values", {{1, 3, 0, 2, 4}, H5T_IEEE_F64LE}}})) == example_matrix());
}

TEST_CASE("Binsparse: one value of all entries, and stored triangles") {
    const CsrMatrix sevens = read_matrix(hdf5(descriptor("CSR", "", "iso[int8]"), with(csr, "values", {{7}, H5T_STD_I8LE})));
    CHECK(sevens.row_offsets == example_matrix().row_offsets);
    CHECK(sevens.values == HostArray<double>(5, 7));
    const Arrays lower{
        {"pointers_to_1", {{0, 1, 2, 4}}}, {"indices_1", {{0, 0, 0, 2}}}, {"values", {{1, 2, 3, 4}, H5T_IEEE_F64LE}}};
    const auto square = [](const std::string& structure) {
        return fmt::format(R"({{"binsparse": {{"format": "CSR", "shape": [3, 3], "structure": "{}"}}}})", structure);
    };
    for (const char* structure : {"symmetric_lower", "hermitian_lower"}) {
        CHECK(read_matrix(hdf5(square(structure), lower)) == csr_from_rows(Rows{"1 2 3", "2 . .", "3 . 4"}));
    }
    CHECK(read_matrix(hdf5(square("skew_symmetric_lower"), lower)) == csr_from_rows(Rows{"1 -2 -3", "2 . .", "3 . 4"}));
    const Arrays upper{{"indices_0", {{0, 1}}}, {"indices_1", {{2, 1}}}, {"values", {{5, 6}, H5T_IEEE_F64LE}}};
    CHECK(read_matrix(hdf5(R"({"binsparse": {"format": "COO", "shape": [3, 3], "structure": "symmetric_upper"}})", upper)) ==
          csr_from_rows(Rows{". . 5", ". 6 .", "5 . ."}));
    CHECK(
        refusal(hdf5(square("symmetric_upper"), lower)) ==
        "m.h5: group '/': found an entry in row 1 and column 0, from 0; expected entries of the triangle of 'symmetric_upper'");
    CHECK(refusal(hdf5(square("banded_lower"), lower)) ==
          "m.h5: group '/': found the structure 'banded_lower' of a 3 x 3 matrix; expected symmetric_, hermitian_ or "
          "skew_symmetric_, then lower or upper, of a square one");
}

TEST_CASE("Binsparse: a fill value of 0, as Finch writes it, and booleans") {
    const std::string filled = descriptor("CSR", R"(, "fill": true)");
    CHECK(read_matrix(hdf5(descriptor("CSR", R"(, "fill": false)"), csr)) == example_matrix());
    CHECK(read_matrix(hdf5(filled, with(csr, "fill_value", {{0}, H5T_IEEE_F64LE}))) == example_matrix());
    CHECK(read_matrix(hdf5(filled, with(csr, "fill_value", {{0}, H5T_STD_I8LE}))) == example_matrix());
    CHECK(refusal(hdf5(filled, with(csr, "fill_value", {{1.5}, H5T_IEEE_F64LE}))) ==
          "m.h5: group '/': found the fill value 1.5; expected zeros where nothing is stored");
    CHECK(refusal(hdf5(filled, with(csr, "fill_value", {{0, 0}, H5T_IEEE_F64LE}))) ==
          "m.h5: group '/': found 2 values for 1 entry; expected one of all");
    CHECK(refusal(hdf5(filled, csr)).starts_with("m.h5: group '/': array 'fill_value': cannot be opened ("));

    const auto enumeration = [](const std::vector<std::pair<std::string, std::int8_t>>& members) {
        const hid_t type = H5Tenum_create(H5T_STD_I8LE);
        for (const auto& [name, value] : members) H5Tenum_insert(type, name.c_str(), &value);
        return type;
    };
    const hid_t boolean = enumeration({{"FALSE", 0}, {"TRUE", 1}});
    const Arrays truths = with(csr, "values", {{1, 1, 1, 0, 1}, boolean});
    CHECK(read_matrix(hdf5(descriptor("CSR", "", "bint8"), truths)).values == HostArray<double>{1, 1, 1, 0, 1});
    CHECK(read_matrix(hdf5(descriptor("CSR", "", "iso[bint8]"), with(csr, "values", {{1}, boolean}))).values ==
          HostArray<double>(5, 1));
    CHECK(read_matrix(hdf5(filled, with(csr, "fill_value", {{0}, boolean}))) == example_matrix());
    const hid_t colours = enumeration({{"RED", 0}, {"GREEN", 1}, {"BLUE", 2}});
    CHECK(refusal(hdf5(descriptor("CSR"), with(csr, "values", {{1, 1, 1, 0, 1}, colours})))
              .find("array 'values': found another type") != std::string::npos);
}

TEST_CASE("Binsparse: the only matrix, or the named one") {
    const Arrays other = with(csr, "values", {{9, 9, 9, 9, 9}, H5T_IEEE_F64LE});
    CHECK(read_matrix(hdf5({{"K", descriptor("CSR"), csr}})) == example_matrix());
    const auto two = hdf5({{"K", descriptor("CSR"), csr}, {"M", descriptor("CSR"), other}});
    CHECK(refusal(two) == "m.h5: found the matrices 'K', 'M'; expected one, or --member NAME");
    CHECK(read_matrix(two, {"M"}).values == HostArray<double>(5, 9));
    CHECK(refusal(two, {"L"}) == "m.h5: found the matrices 'K', 'M'; expected a matrix 'L'");
}

TEST_CASE("Binsparse: what is not as it says is refused") {
    const auto text = [](const std::string& what) { return refusal(hdf5(what, csr)); };
    CHECK(text("{") == "m.h5: group '/': found no JSON object \"binsparse\" in the attribute; expected one");
    CHECK(text(descriptor("DMATR")) ==
          "m.h5: group '/': found the format 'DMATR'; expected CSR, CSC, DCSR, DCSC, COO, COOR or COOC");
    CHECK(text(R"({"binsparse": {"format": "CSR", "shape": [3]}})") ==
          "m.h5: group '/': found no shape of two numbers; expected \"shape\": [ROWS, COLUMNS]");
    CHECK(text(R"({"binsparse": {"format": "CSR", "shape": [3, 4294967296]}})") ==
          "m.h5: group '/': found a matrix of 3 x 4294967296; expected at most 2147483647 rows and columns");
    CHECK(text(descriptor("CSR", "", "complex[float64]")) ==
          "m.h5: group '/': found complex values, which are not supported; expected real ones");
    for (const int stored : {0, 6}) {
        CHECK(text(descriptor("CSR", fmt::format(R"(, "number_of_stored_values": {})", stored))) ==
              fmt::format("m.h5: group '/': found 5 indices and \"number_of_stored_values\": {}; expected as many", stored));
    }
    const auto array = [](const std::string& name, const Stored& stored) {
        return refusal(hdf5(descriptor("CSR"), with(csr, name, stored)));
    };
    CHECK(array("values", {{1, 2}, H5T_IEEE_F64LE}) ==
          "m.h5, as a .npz: member data.npy: found 2 items; expected 5, as in indices.npy");
    CHECK(array("indices_1", {{0, 2, 0, 1, 4}}) ==
          "m.h5, as a .npz: member indices.npy: found 4 at place 4; expected an integer from 0 to 3");
    CHECK(array("values", {{1, 2, 3, 0, 4}, H5T_NATIVE_LDOUBLE}) ==
          "m.h5: group '/': array 'values': found another type; expected booleans, integers of 8 to 64 bits, or real numbers "
          "of 32 or 64 bits");
    CHECK(refusal(hdf5(descriptor("DCSR"), with(csr, "indices_0", {{0, 2}}))) ==
          "m.h5: group '/': found other 'pointers_to_1'; expected 3 ascending ones from 0 to 5");
    CHECK(refusal(hdf5(descriptor("CSR"), {})).starts_with("m.h5: group '/': array 'indices_1': cannot be opened ("));
    CHECK(refusal(hdf5(std::vector<Group>{})) ==
          "m.h5: found no group with the attribute 'binsparse'; expected a matrix in the Binsparse format");
}

TEST_CASE("Binsparse: truncated files and claims beyond the memory are refused") {
    const std::filesystem::path path = hdf5(descriptor("CSR"), csr);
    std::ifstream file(path, std::ios::binary);
    const std::string whole(std::istreambuf_iterator<char>(file), {});
    for (const std::size_t length : {std::size_t{8}, std::size_t{96}, whole.size() / 2, whole.size() - 1}) {
        CHECK(refusal(write("cut.h5", whole.substr(0, length))).starts_with("cut.h5: cannot be opened ("));
    }
    // A dataset may have a size without the bytes.
    const std::filesystem::path claim =
        hdf5(descriptor("CSR"), {{"pointers_to_1", {{0, 2, 2, 5}}}, {"indices_1", {{0, 2, 0, 1, 3}}}});
    const hid_t changed = H5Fopen(claim.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hsize_t count = hsize_t{1} << 50;
    const hid_t space = H5Screate_simple(1, &count, nullptr);
    H5Dclose(H5Dcreate2(changed, "values", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    H5Sclose(space);
    H5Fclose(changed);
    CHECK(message_of<MachineError>([&] {
              (void)read_matrix(claim);
          }).find("array 'values' of 1125899906842624 numbers needs") != std::string::npos);
}

TEST_CASE("written HDF5 files are read back bit for bit, and equal matrices make equal files") { check_written(".h5"); }

// Source: MATLAB's files of version 7.3, as they are.
TEST_CASE("MATLAB 7.3 is read; the type of the numbers decides, whatever the class is") {
    const auto matlab = [](const std::string& name_of_class, const Stored& numbers) {
        const std::filesystem::path path = write("m.mat", "");
        const hid_t options = H5Pcreate(H5P_FILE_CREATE);
        constexpr std::size_t block = 512;
        H5Pset_userblock(options, block);
        const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, options, H5P_DEFAULT);
        const hid_t group = H5Gcreate2(file, "A", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        add_text(group, "MATLAB_class", name_of_class);
        const hid_t one = H5Screate(H5S_SCALAR);
        const hid_t rows = H5Acreate2(group, "MATLAB_sparse", H5T_STD_U64LE, one, H5P_DEFAULT, H5P_DEFAULT);
        const std::uint64_t row_count = 3;
        REQUIRE(H5Awrite(rows, H5T_NATIVE_UINT64, &row_count) >= 0);
        add(group, "jc", {{0, 2, 3, 4, 5}});
        add(group, "ir", {{0, 2, 2, 0, 2}, H5T_STD_U64LE, true});
        add(group, "data", numbers);
        H5Aclose(rows);
        H5Sclose(one);
        H5Gclose(group);
        H5Fclose(file);
        H5Pclose(options);
        std::string header = "MATLAB 7.3 MAT-file, made by a test";
        header.resize(124, ' ');
        std::fstream stream(path, std::ios::binary | std::ios::in | std::ios::out);
        stream << header << std::string("\x00\x02IM", 4);
        return path;
    };
    CHECK(read_matrix(matlab("double", {{1, 3, 0, 2, 4}, H5T_IEEE_F64LE, true})) == example_matrix());
    CHECK(read_matrix(matlab("logical", {{1, 3, 0, 2, 4}, H5T_STD_U8LE})) == example_matrix());
    CHECK(read_matrix(matlab("logical", {{1, 3, 0, 2, 4}, H5T_IEEE_F64LE})) == example_matrix());
    CHECK(read_matrix(matlab("uint8", {{0.5, 300, 0, 2, -4}, H5T_IEEE_F64LE})).values == HostArray<double>{0.5, 2, 300, 0, -4});
}

}  // namespace workbench
