// Layout csr. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {

TEST_CASE("csr: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = csr_entry();
    const auto built = build(entry, stage_input(drawn()));
    const auto& layout = full_csr<double>(dynamic_cast<const CsrLayout<double>&>(*built), "test");
    CHECK(layout.row_offsets == std::vector<Offset>{0, 3, 6, 7, 9, 12, 13});
    CHECK(layout.column_indices == std::vector<Index>{0, 1, 2, 1, 2, 4, 2, 3, 5, 0, 4, 5, 5});
    CHECK(layout.values == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
}

TEST_CASE("csr: the footprint is the arrays") {
    const auto csr = build<float>(csr_entry(), stage_input(drawn()));
    CHECK(csr->bytes_to_move() == 7 * 8 + 13 * (4 + 4) + 4 * (6 + 6));
}

TEST_CASE("csr: two lanes of the CUDA kernel vector read a short row, one lane of scalar reads any row") {
    const auto text_of = [](const std::string& kernel) {
        std::string text;
        for_each_read_of<double>(csr_entry(), kernel, *build(csr_entry(), stage_input(drawn())), [&](const Read& read) {
            CHECK(read.warp == 0);
            text += fmt::format("{}:{}/{} ", read.row, read.lane, read.step);
        });
        return text;
    };
    CHECK(text_of("vector") == "0:0/0 0:0/1 0:1/0 1:2/0 1:2/1 1:3/0 2:4/0 3:6/0 3:7/0 4:8/0 4:8/1 4:9/0 5:10/0 ");
    CHECK(text_of("scalar") == "0:0/0 0:0/1 0:0/2 1:1/0 1:1/1 1:1/2 2:2/0 3:3/0 3:3/1 4:4/0 4:4/1 4:4/2 5:5/0 ");
}

TEST_CASE("csr: its needs") {
    const Needs csr = csr_entry().needs({});
    CHECK(csr.unsplit);
    CHECK_FALSE(csr.square);
}

TEST_CASE("csr: equal values are not stored, and kernels that read values refuse such a layout") {
    CsrMatrix matrix = drawn();
    std::fill(matrix.values.begin(), matrix.values.end(), 3.0);
    const LayoutEntry csr = csr_entry();
    const auto layout = build(csr, stage_input(matrix), {{"values", std::string("one")}});
    CHECK(layout->bytes_to_move() == 7 * 8 + 13 * 4 + 8 * (6 + 6));
    CHECK(layout->notes() == std::vector<std::pair<std::string, std::string>>{{"values", "all are 3; none is stored"}});
    const auto host = make_host_device();
    for (const KernelEntry& kernel : csr.kernels) {
        if (kernel.name != "eigen") continue;
        CHECK(message_of<Unsuitable>([&] { (void)kernel.prepare.f64(*layout, *host); }) ==
              "eigen reads values in full, but they are coded (expected values = \"full\")");
    }
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CsrMatrix equal = named.matrix;
        std::fill(equal.values.begin(), equal.values.end(), 3.0);
        const auto stored = build(csr, stage_input(equal), {{"values", std::string("one")}});
        CHECK_NOTHROW(check_layout(*stored, equal));
        for (const ScheduleEntry& schedule : csr.schedules) CHECK_NOTHROW(check_schedule(*stored, schedule.walk.f64));
        const std::vector<double> x(equal.columns, 2.0);
        std::vector<double> y(equal.rows, -1.0);
        csr.kernels.front().prepare.f64(*stored, *host)->run(x.data(), y.data(), false);
        for (Index row = 0; row < equal.rows; ++row) CHECK(y[row] == 6.0 * static_cast<double>(equal.row_length(row)));
    }
    CHECK(message_of<Unsuitable>([&] {
              (void)build(csr, stage_input(drawn()), {{"values", std::string("one")}});
          }) == "values = \"one\" requires that all values are equal, but 1 and 2 differ");
}

TEST_CASE("csr: one value is stored for each row or column whose values are equal") {
    const LayoutEntry csr = csr_entry();
    const auto host = make_host_device();
    CsrMatrix matrix = drawn();
    const std::vector<double> x{1, 2, 3, 4, 5, 6};
    for (const bool by_row : {true, false}) {
        CAPTURE(by_row);
        for (Index row = 0; row < matrix.rows; ++row) {
            for (Offset k = matrix.row_offsets[row]; k < matrix.row_offsets[row + 1]; ++k) {
                matrix.values[k] = 1.0 / (3 + (by_row ? row : matrix.column_indices[k]));
            }
        }
        const Parameters parameters(csr.parameters, {{"values", std::string("auto")}});
        CHECK(csr.settled(parameters, matrix, Precision::f64, 1).is_word("values", by_row ? "by_row" : "by_column"));
        const auto layout = build(csr, stage_input(matrix), {{"values", std::string("auto")}});
        CHECK(layout->bytes_to_move() == 7 * 8 + 13 * 4 + 6 * 8 + 8 * (6 + 6));
        CHECK(layout->notes() ==
              std::vector<std::pair<std::string, std::string>>{{"values", by_row ? "one a row" : "one a column"}});
        CHECK_NOTHROW(check_layout(*layout, matrix));
        for (const ScheduleEntry& schedule : csr.schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        const std::vector<LayoutField> fields = layout->fields();
        const auto& values =
            *std::find_if(fields.begin(), fields.end(), [](const LayoutField& one) { return one.name == "values"; });
        CHECK_FALSE(values.has_memory());
        for (Offset k = 0; k < matrix.nonzeros(); ++k) CHECK(value_at(values, k) == matrix.values[k]);
        // The products are those of values in full, in the same order.
        const auto full = build(csr, stage_input(matrix));
        std::vector<double> y(6), expected(6);
        csr.kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
        csr.kernels.front().prepare.f64(*full, *host)->run(x.data(), expected.data(), false);
        CHECK(y == expected);
    }
    for (const auto& [rows, columns] : {std::pair{7, 3}, {3, 7}}) {
        std::vector<Entry> entries;
        for (Index row = 0; row < rows; ++row) {
            for (Index column = 0; column < columns; ++column) entries.push_back({row, column, row + 1.0});
        }
        const CsrMatrix of_rows = csr_from_entries(rows, columns, entries);
        CHECK_NOTHROW(check_layout(*build(csr, stage_input(of_rows), {{"values", std::string("by_row")}}), of_rows));
        const CsrMatrix of_columns = transpose(of_rows);
        CHECK_NOTHROW(check_layout(*build(csr, stage_input(of_columns), {{"values", std::string("by_column")}}), of_columns));
    }
    const auto refused = [&](const char* how) {
        return message_of<Unsuitable>([&] { (void)build(csr, stage_input(drawn()), {{"values", std::string(how)}}); });
    };
    CHECK(refused("by_row") == "values = \"by_row\" requires that the values of each row are equal, but row 1 has 1 and 2");
    CHECK(refused("by_column") ==
          "values = \"by_column\" requires that the values of each column are equal, but column 2 has 2 and 4");
}

}  // namespace workbench
