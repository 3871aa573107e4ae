// Formats whose values may have any coding (kernels/common/storage/any_coding.hpp), and csr: what is stored, that kernels
// multiply as with values in full, and refusals. sell_coded_test.cpp has the codings of sell.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/coo/layout.hpp"
#include "kernels/formats/csr/layout.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "kernels/host/host_device.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

std::vector<LayoutEntry> formats() {
    return {csr_entry(), csr16_entry(), ell_entry(), ellr_entry(), rows_entry(), coo_entry()};
}

Given coded(const std::string& values) { return {{"values", values}}; }

/// The bytes of a slot's value in f64.
int bytes_of(const std::string& coding) { return coding == "one" ? 0 : coding == "dictionary" ? 1 : 4; }

/// The matrix with values that fit a coding: one, three or as many as f32 has.
CsrMatrix with_values_for(CsrMatrix matrix, const std::string& coding) {
    for (std::size_t i = 0; i < matrix.values.size(); ++i) {
        matrix.values[i] = coding == "one"          ? 0.1
                           : coding == "dictionary" ? 1.0 / (3 + i % 3)
                                                    : 0.25 * static_cast<double>(i + 1);
    }
    return matrix;
}

std::string choice(const LayoutEntry& format, const CsrMatrix& matrix, Precision precision = Precision::f64) {
    return format.settled(Parameters(format.parameters, coded("auto")), matrix, precision, 1).text("values");
}

std::int64_t slots_of(const Layout<double>& layout) {
    std::int64_t slots = 0;
    layout.for_each_slot([&](const Slot&) { ++slots; });
    return slots;
}

/// The product of a format's first kernel on the host.
template <ValueType Value>
std::vector<Value> product(const LayoutEntry& format, const Layout<Value>& layout, const std::vector<Value>& x) {
    const auto host = make_host_device();
    std::vector<Value> y(layout.rows(), Value{-1});
    format.kernels.front().prepare.get<Value>()(layout, *host)->run(x.data(), y.data(), false);
    return y;
}

template <ValueType Value>
std::vector<Value> ramp(Index count) {
    std::vector<Value> x(count);
    for (Index i = 0; i < count; ++i) x[i] = Value{1} / (2 + i % 7);
    return x;
}

}  // namespace

TEST_CASE("the description of `values` explains each word that it accepts") {
    std::vector<LayoutEntry> all = formats();
    all.push_back(sell_entry());
    for (const LayoutEntry& entry : all) {
        const auto values = std::ranges::find(entry.parameters, "values", &ParameterDeclaration::name);
        REQUIRE(values != entry.parameters.end());
        CHECK(values->words.size() > 2);
        for (const std::string& word : values->words) {
            CHECK_MESSAGE((word == "full" || values->help.find(word) != std::string::npos), entry.name, ": ", word);
        }
    }
}

TEST_CASE("coded values: each format stores the bytes of the coding, and its dictionary") {
    for (const LayoutEntry& format : formats()) {
        for (const std::string coding : {"one", "dictionary", "f32"}) {
            CAPTURE(format.name);
            CAPTURE(coding);
            const CsrMatrix matrix = with_values_for(drawn(), coding);
            const auto full = build(format, stage_input(matrix));
            const auto layout = build(format, stage_input(matrix), coded(coding));
            const std::int64_t slots = slots_of(*layout);
            const int dictionary = coding == "dictionary" ? 8 * (slots > matrix.nonzeros() ? 4 : 3) : 0;
            CHECK(layout->bytes_to_move() == full->bytes_to_move() - slots * (8 - bytes_of(coding)) + dictionary);
            CHECK_NOTHROW(check_layout(*layout, matrix));
            for (const ScheduleEntry& schedule : format.schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        }
    }
}

TEST_CASE("coded values: the reports name the coding") {
    using Notes = std::vector<std::pair<std::string, std::string>>;
    for (const LayoutEntry& format : formats()) {
        CAPTURE(format.name);
        const auto notes = [&](const std::string& coding) {
            return build(format, stage_input(with_values_for(drawn(), coding)), coded(coding))->notes();
        };
        CHECK(notes("one") == Notes{{"values", "all are 0.1; none is stored"}});
        const bool pads = format.name == "ell" || format.name == "ellr" || format.name == "rows";
        CHECK(notes("dictionary") ==
              Notes{{"values", std::string(pads ? "4" : "3") + " in the dictionary, in codes of 8 bits"}});
        CHECK(notes("f32").empty());
    }
}

TEST_CASE_TEMPLATE("coded values: kernels on the host multiply as with values in full, bit for bit", Value, float, double) {
    for (const LayoutEntry& format : formats()) {
        if (format.name == "coo") continue;  // adds in any order
        for (const std::string coding : {"one", "dictionary", "f32"}) {
            for (const NamedMatrix& named : battery()) {
                CAPTURE(format.name);
                CAPTURE(coding);
                CAPTURE(named.name);
                const StagedMatrix staged = stage_input(with_values_for(named.matrix, coding));
                try {
                    const auto full = build<Value>(format, staged);
                    const auto layout = build<Value>(format, staged, coded(coding));
                    const std::vector<Value> x = ramp<Value>(named.matrix.columns);
                    CHECK(product<Value>(format, *layout, x) == product<Value>(format, *full, x));
                } catch (const Unsuitable&) {
                    CHECK((format.name == "ell" || format.name == "ellr" || format.name == "rows"));  // too much padding
                }
            }
        }
    }
}

TEST_CASE("coded values: auto takes the first coding that fits") {
    CsrMatrix full = drawn();
    full.values.front() = 0.1;
    std::vector<Entry> many;
    for (Index i = 0; i < 256; ++i) many.push_back({i, i, 1.0 + i});
    for (Index i = 0; i < 256; ++i) many.push_back({i, (i + 1) % 256, 1000.0 + i});
    const CsrMatrix in_f32 = csr_from_entries(256, 256, many);
    CsrMatrix wide = in_f32;
    wide.values.front() = 0.1;
    for (const LayoutEntry& format : formats()) {
        CAPTURE(format.name);
        CHECK(choice(format, with_values_for(drawn(), "one")) == "one");
        CHECK(choice(format, full) == "dictionary");
        CHECK(choice(format, in_f32) == "f32");
        CHECK(choice(format, wide) == "full");
        CHECK(choice(format, in_f32, Precision::f32) == "full");
    }
}

TEST_CASE("coded values: what does not fit is refused with the figure") {
    std::vector<Entry> many;
    for (Index i = 0; i < 256; ++i) many.push_back({i, i, 1.0 + i});
    const CsrMatrix distinct = csr_from_entries(256, 256, many);
    CsrMatrix inexact = drawn();
    inexact.values.back() = 0.1;
    for (const LayoutEntry& format : formats()) {
        CAPTURE(format.name);
        const auto refusal = [&](const CsrMatrix& matrix, const std::string& coding) {
            return message_of<Unsuitable>([&] { (void)build(format, stage_input(matrix), coded(coding)); });
        };
        CHECK(refusal(drawn(), "one") == "values = \"one\" requires that all values are equal, but 1 and 2 differ");
        CHECK(refusal(distinct, "dictionary") ==
              "values = \"dictionary\" requires at most 255 distinct values here, and there are more");
        CHECK(refusal(inexact, "f32") ==
              "values = \"f32\" requires values that f32 represents exactly, but 0.1 would become 0.10000000149011612");
    }
}

}  // namespace workbench
