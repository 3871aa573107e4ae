// Values that the GPU codes where they lie, compared with the layout on the host.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/matrix/battery.hpp"
#include "core/matrix/distinct_values.hpp"
#include "gpu/gpu_matrices.hpp"
#include "gpu/on_device_checks.hpp"
#include "kernels/gpu/gpu.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

std::string coded(const std::string& layout, const std::string& values) {
    const std::string more = layout.starts_with("ell") ? any_padding : "";
    return fmt::format("[layout]\nuse = '{}'\nvalues = '{}'\n{}", layout, values,
                       layout == "sell" ? "column_index = 'u16'\nthreads_per_row = 1\n" : more);
}

double thirds(std::size_t k) { return static_cast<double>(k + 1) / 3; }
double exact_ones(std::size_t k) { return 0.25 * static_cast<double>(k + 1); }

/// `count` values, one of them -0.
std::function<double(std::size_t)> some_values(std::size_t count) {
    return [count](std::size_t k) { return k % count == 1 ? -0.0 : 0.1 * static_cast<double>(1 + k * 7 % count); };
}

/// The number of a nonzero of the first row.
std::size_t beside_diagonal(const CsrMatrix& matrix) {
    REQUIRE(matrix.row_length(0) > 1);
    return matrix.column_indices[0] == 0 ? 1 : 0;
}

double zeros_of_both_signs(std::size_t k) {
    if (k % 41 == 7) return -0.0;
    return static_cast<double>(k % 3);
}

/// Slices of few rows that reach over more than 65536 columns, or over exactly as many, and narrow ones.
CsrMatrix wide_slices() {
    std::vector<Entry> entries;
    for (Index row = 0; row < 70001; row += 7) entries.push_back({row, row, 1});
    for (const Entry& far : {Entry{0, 70000, 1}, Entry{70000, 0, 1}, Entry{3, 65539, 1}, Entry{64, 65598, 1}, Entry{64, 64, 1},
                             Entry{200, 200, 1}, Entry{200, 65735, 1}}) {
        entries.push_back(far);
    }
    return csr_from_entries(70001, 70001, entries);
}

const std::vector<std::string> layouts{"csr", "csr16", "ell", "ellr", "sell"};

}  // namespace

TEST_SUITE("prepare") {
    TEST_CASE("values on the device are coded there as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix square = uneven_matrix(120, 120, 30);
        for (const std::string& layout : layouts) {
            for (const std::string& order : {std::string(), by_length}) {
                for (const std::size_t count : {2, 100, 255}) {
                    const CsrMatrix matrix = with_values(square, some_values(count));
                    check_like_host<double>(*device, order + coded(layout, "dictionary"), matrix, "some values");
                    check_like_host<float>(*device, order + coded(layout, "dictionary"), matrix, "some values");
                }
                const CsrMatrix narrow = with_values(square, exact_ones);
                check_like_host<double>(*device, order + coded(layout, "f32"), narrow, "f32");
                check_like_host<float>(*device, order + coded(layout, "f32"), narrow, "f32");
                for (const CsrMatrix& each : {with_values(square, some_values(255)), with_values(square, some_values(256)),
                                              narrow, with_values(square, thirds)}) {
                    check_like_host<double>(*device, order + coded(layout, "auto"), each, "auto");
                    check_like_host<float>(*device, order + coded(layout, "auto"), each, "auto");
                }
            }
        }
        const CsrMatrix grid = generated("laplace3d", {{"nx", 7_i}});
        for (const char* values : {"dictionary", "f32", "auto"}) {
            const std::string slices = short_columns + fmt::format("values = '{}'\n", values);
            check_like_host<double>(*device, by_cuthill_mckee + windows + slices, grid, "slices that fill a warp");
            check_like_host<float>(*device, slices, grid, "slices that fill a warp");
        }
        for (const NamedMatrix& each : battery()) {
            if (!each.matrix.square() || distinct_values<double>(each.matrix.values, 1)) continue;
            check_like_host<double>(*device, coded("csr16", "auto"), each.matrix, each.name);
            check_like_host<float>(*device, coded("csr16", "auto"), each.matrix, each.name);
        }
    }

    TEST_CASE("values that a GPU does not code are left to the host, with the reason") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = generated("laplace3d", {{"nx", 6_i}});
        const CsrMatrix any = with_values(matrix, thirds);
        CHECK(left_to_host(*device, coded("csr16", "dictionary"), any) == "there are more distinct values than codes");
        CHECK(left_to_host(*device, coded("csr", "f32"), any) == "f32 does not represent all values exactly");
        CHECK(left_to_host(*device, coded("ell", "one"), any) == "the values are not all equal");
    }

    TEST_CASE("zeros beside padding and values that are no numbers are coded on the device as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix square = uneven_matrix(120, 120, 30);
        const CsrMatrix with_zeros = with_values(square, [](std::size_t k) { return static_cast<double>(k % 9); });
        for (const std::uint64_t bits : {~std::uint64_t{0}, std::uint64_t{0xFFF8000020000000},
                                         std::uint64_t{0x7FF0000000000001}, std::uint64_t{0x7FF0000000000000}}) {
            const CsrMatrix special = with_values(square, [&](std::size_t k) {
                return k == beside_diagonal(square) ? std::bit_cast<double>(bits) : 0.5 * static_cast<double>(k % 7);
            });
            for (const std::string& layout : layouts) {
                for (const char* values : {"dictionary", "auto"}) {
                    check_like_host<double>(*device, coded(layout, values), special, "no number");
                    check_like_host<float>(*device, coded(layout, values), special, "no number");
                }
            }
            const CsrMatrix many = with_values(square, [&](std::size_t k) {
                return k == beside_diagonal(square) ? std::bit_cast<double>(bits) : exact_ones(k);
            });
            check_like_host<double>(*device, coded("csr16", "auto"), many, "f32 if it represents what is no number");
        }
        for (const std::string& layout : layouts) {
            check_like_host<double>(*device, coded(layout, "dictionary"), with_zeros, "zeros");
            check_like_host<float>(*device, coded(layout, "dictionary"), with_zeros, "zeros");
        }
    }

    TEST_CASE("one value for all is stored on the device as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(1500, 1500, 24)});
        const auto value = [](std::size_t) { return -0.1; };
        for (const std::string& layout : layouts) {
            for (const NamedMatrix& each : matrices) {
                if (!each.matrix.square() || each.matrix.nonzeros() == 0) continue;
                const CsrMatrix equal = with_values(each.matrix, value);
                check_like_host<double>(*device, by_length + coded(layout, "one"), equal, each.name);
                check_like_host<float>(*device, coded(layout, "auto"), equal, each.name);
            }
        }
        const std::string slices = "[layout]\nuse = 'sell'\nslice_height = 2\nthreads_per_row = 1\nvalues = 'one'\n";
        check_like_host<double>(*device, slices, with_values(uneven_matrix(120, 120, 30), value), "columns of 32 bits");
        check_like_host<double>(*device, slices + "column_index = 'u16'\n", with_values(wide_slices(), value), "wide slices");
        const CsrMatrix zeros = with_values(uneven_matrix(120, 120, 30), [](std::size_t) { return 0; });
        check_like_host<double>(*device, coded("ellr", "one"), zeros, "zeros");
    }

    TEST_CASE("one value for each row or column is stored on the device as on the host") {
        const auto device = make_cuda_device();
        std::vector<NamedMatrix> matrices = battery();
        matrices.push_back({"rows of all lengths", uneven_matrix(1500, 1500, 24)});
        for (const NamedMatrix& each : matrices) {
            if (!each.matrix.square() || each.matrix.nonzeros() == 0) continue;
            CsrMatrix by_row = each.matrix;
            CsrMatrix by_column = each.matrix;
            for (Index row = 0; row < each.matrix.rows; ++row) {
                for (Offset k = each.matrix.row_offsets[row]; k < each.matrix.row_offsets[row + 1]; ++k) {
                    by_row.values[k] = thirds(static_cast<std::size_t>(row));
                    by_column.values[k] = thirds(static_cast<std::size_t>(each.matrix.column_indices[k]));
                }
            }
            for (const std::string& order : {std::string(), by_length}) {
                check_like_host<double>(*device, order + coded("csr", "by_row"), by_row, each.name);
                check_like_host<float>(*device, order + coded("csr", "by_column"), by_column, each.name);
                check_like_host<float>(*device, order + coded("csr", "auto"), by_row, each.name);
                check_like_host<double>(*device, order + coded("csr", "auto"), by_column, each.name);
            }
        }
        const CsrMatrix grid = generated("laplace3d", {{"nx", 6_i}});
        CHECK(left_to_host(*device, coded("csr", "by_row"), grid) == "the values of a row are not all equal");
        CHECK(left_to_host(*device, coded("csr", "by_column"), grid) == "the values of a column are not all equal");
        const auto ones = [](double value) { return [value](std::size_t) { return value; }; };
        const OnDevice<double> there(*device, with_values(grid, ones(1)), true);
        const OnDevice<double> other(*device, with_values(grid, ones(4)), true);
        const OnDevice<double> uneven(*device, grid, true);
        const auto planned = run_plan(*device, plan_of(parsed(coded("csr", "by_row"))), there.view);
        planned->set_values(other.view.values);
        CHECK(planned->difference(other.view) == "");
        CHECK(
            message_of<Unsuitable>([&] { planned->set_values(uneven.view.values); }).starts_with("new values: those of a row"));
    }

    TEST_CASE("rounded values, words and columns as the slices need them are stored on the device as on the host") {
        const auto device = make_cuda_device();
        const std::string one_thread = "[layout]\nuse = 'sell'\nthreads_per_row = 1\n";
        const std::vector<std::string> sells{
            one_thread + "column_index = 'word'\nvalues = 'dictionary'\n",
            one_thread + "column_index = 'auto'\nvalues = 'dictionary'\nslice_height = 3\n",
            one_thread + "column_index = 'auto'\nvalues = 'rounded_f32'\n",
            one_thread + "column_index = 'u16'\nvalues = 'rounded_bf16'\n",
            one_thread + "column_index = 'auto'\n",
            one_thread + "column_index = 'auto'\nvalues = 'one'\n",
            one_thread + "column_index = 'auto'\nvalues = 'auto'\n",
            one_thread + "column_index = 'u32'\nvalues = 'auto'\n",
            one_thread + "column_index = 'word'\nvalues = 'auto'\n",
        };
        const CsrMatrix square = uneven_matrix(120, 120, 30);
        std::vector<NamedMatrix> matrices = battery();
        for (const std::size_t count : {1, 100, 255, 900}) {
            matrices.push_back({fmt::format("{} values", count), with_values(square, some_values(count))});
        }
        matrices.push_back({"thirds", with_values(square, thirds)});
        matrices.push_back({"exact", with_values(square, exact_ones)});
        matrices.push_back({"many of one value", with_values(uneven_matrix(1500, 1500, 24), some_values(1))});
        std::vector<Entry> spread;
        for (Index row = 0; row < 70001; ++row) {
            spread.push_back({row, row, 2});
            spread.push_back({row, (row + 66000) % 70001, 3});
        }
        matrices.push_back({"mostly wide", csr_from_entries(70001, 70001, spread)});
        matrices.push_back({"far apart", with_values(wide_slices(), some_values(2))});
        for (const std::string& text : sells) {
            for (const NamedMatrix& each : matrices) {
                if (!each.matrix.square() || each.matrix.nonzeros() == 0) continue;
                check_like_host_or_refused<double>(*device, by_length + text, each.matrix, each.name);
                check_like_host_or_refused<float>(*device, text, each.matrix, each.name);
            }
        }
        CHECK(left_to_host(*device, sells[0], with_values(square, thirds)) == "there are more distinct values than codes");
        const double huge = 1e39;
        const CsrMatrix beyond = with_values(square, [&](std::size_t k) { return k == 7 ? huge : thirds(k); });
        CHECK(left_to_host(*device, sells[3], beyond) == "a value would be rounded to infinity");
        const CsrMatrix special = with_values(square, [&](std::size_t k) {
            return k == beside_diagonal(square) ? std::bit_cast<double>(std::uint64_t{0xFFF0000020000001}) : thirds(k);
        });
        check_like_host<double>(*device, sells[2], special, "a NaN in f32");
        check_like_host<double>(*device, sells[3], special, "a NaN in bf16");
    }

    TEST_CASE("blocks of values are coded on the device as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix cube = generated("elasticity3d", {{"nx", 5_i}, {"ny", 6_i}, {"nz", 7_i}});
        const std::string in_codes = "[layout]\nuse = 'block_sell'\nslots_per_nonzero = 100\nvalues = ";
        const CsrMatrix grid = generated("laplace3d", {{"nx", 7_i}});
        for (const char* values : {"'dictionary'\n", "'auto'\n"}) {
            check_like_host<double>(*device, nodes + by_cuthill_mckee + windows + in_codes + values, cube, "elasticity");
            check_like_host<float>(*device, nodes + in_codes + values, cube, "elasticity");
            for (const Index size : {2, 3, 4, 6}) {
                const std::string of_size = in_codes + values + fmt::format("block_size = {}\n", size);
                check_like_host<double>(*device, of_size, grid, "the last blocks exceed the matrix");
                check_like_host<float>(*device, of_size, with_values(grid, some_values(5)), "some values");
                check_like_host<double>(*device, of_size, with_values(uneven_matrix(120, 120, 30), zeros_of_both_signs),
                                        "zeros");
            }
        }
        const CsrMatrix many = with_values(uneven_matrix(3000, 3000, 30), thirds);
        check_like_host<double>(*device, "[matrix]\nnode_size = 2\n" + in_codes + "'auto'\n", many, "many blocks");
        CHECK(left_to_host(*device, in_codes + "'dictionary'\nblock_size = 2\n", many) ==
              "there are more distinct blocks than codes");
        CHECK(left_to_host(*device, in_codes + "'dictionary'\nblock_size = 1\n", grid) ==
              "blocks of one value have no dictionary");

        const OnDevice<double> there(*device, with_values(grid, some_values(9)), true);
        const OnDevice<double> fewer(*device, with_values(grid, some_values(1)), true);
        const OnDevice<double> other(*device, with_values(grid, thirds), true);
        const auto planned = run_plan(*device, plan_of(parsed(in_codes + "'dictionary'\nblock_size = 2\n")), there.view);
        planned->set_values(fewer.view.values);
        CHECK(planned->difference(fewer.view) == "");
        CHECK(message_of<Unsuitable>([&] { planned->set_values(other.view.values); }).find("distinct blocks") !=
              std::string::npos);
        planned->set_values(there.view.values);
        CHECK(planned->difference(there.view) == "");
    }

    TEST_CASE("new values of a coded matrix are coded again, or refused as a whole") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = with_values(generated("laplace3d", {{"nx", 6_i}}), some_values(20));
        const OnDevice<double> there(*device, matrix, true);
        const OnDevice<double> fewer(*device, with_values(matrix, some_values(9)), true);
        const OnDevice<double> more(*device, with_values(matrix, some_values(23)), true);
        const OnDevice<double> other(*device, with_values(matrix, thirds), true);
        for (const std::string& layout : layouts) {
            const auto planned = run_plan(*device, plan_of(parsed(coded(layout, "dictionary"))), there.view);
            planned->set_values(fewer.view.values);
            CHECK(planned->difference(fewer.view) == "");
            planned->set_values(there.view.values);
            for (const auto* refused : {&more, &other}) {
                const std::string reason = message_of<Unsuitable>([&] { planned->set_values(refused->view.values); });
                CHECK(reason.starts_with("new values: the dictionary has room for 2"));
            }
            CHECK(planned->difference(there.view) == "");
        }
        const OnDevice<double> equal(*device, with_values(matrix, [](std::size_t) { return 3; }), true);
        for (const std::string& layout : layouts) {
            const auto planned = run_plan(*device, plan_of(parsed(coded(layout, "one"))), equal.view);
            CHECK(message_of<Unsuitable>([&] {
                      planned->set_values(there.view.values);
                  }).starts_with("new values: they are not those of the matrix"));
            planned->set_values(equal.view.values);
            CHECK(planned->difference(equal.view) == "");
        }
        const OnDevice<double> narrow(*device, with_values(matrix, exact_ones), true);
        const auto planned = run_plan(*device, plan_of(parsed(coded("csr", "f32"))), narrow.view);
        CHECK(message_of<Unsuitable>([&] { planned->set_values(other.view.values); }) ==
              "new values: f32 does not represent all of them exactly; expected a new operator");
        CHECK(planned->difference(narrow.view) == "");
    }
}

TEST_SUITE("shared_memory") {
    TEST_CASE("values of a small matrix on the device are coded there") {
        const auto device = make_cuda_device();
        const CsrMatrix matrix = with_values(uneven_matrix(120, 120, 20), some_values(100));
        for (const std::string& layout : layouts) {
            check_like_host<double>(*device, coded(layout, "dictionary"), matrix, "some values");
            check_like_host<double>(*device, coded(layout, "f32"), with_values(matrix, exact_ones), "f32");
        }
    }
}

TEST_SUITE("prepare_large") {
    TEST_CASE("many values on the device are coded there as on the host") {
        const auto device = make_cuda_device();
        const CsrMatrix grid = generated("laplace3d", {{"nx", 50_i}});
        for (const std::string& layout : layouts) {
            check_like_host<double>(*device, by_cuthill_mckee + coded(layout, "dictionary"), grid, "laplace3d");
            check_like_host<float>(*device, coded(layout, "dictionary"), with_values(grid, some_values(255)), "many values");
        }
        const CsrMatrix uneven = uneven_matrix(150000, 150000, 24);
        check_like_host<double>(*device, coded("csr", "f32"), with_values(uneven, exact_ones), "long rows");
        check_like_host<double>(*device, coded("csr", "dictionary"), with_values(uneven, some_values(200)), "long rows");
        CHECK(left_to_host(*device, coded("csr", "dictionary"), with_values(uneven, thirds)) ==
              "there are more distinct values than codes");
    }
}

}  // namespace workbench
