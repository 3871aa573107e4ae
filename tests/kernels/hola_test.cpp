// Layout hola: exact arrays, the boundaries of shares, which thread reads what, and refusals.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/matrix/battery.hpp"
#include "kernels/formats/hola/layout.hpp"
#include "kernels/host/host_device.hpp"
#include "kernels/reads.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"
#include "support/message_of.hpp"

namespace workbench {
namespace {

using Indices = std::vector<Index>;
using Offsets = std::vector<Offset>;

std::unique_ptr<Layout<double>> build_hola(const CsrMatrix& matrix, const Given& given = {}) {
    return build(hola_entry(), stage_input(matrix), given);
}

const Hola<double, HostArray>& as_hola(const std::unique_ptr<Layout<double>>& layout) {
    return std::get<0>(dynamic_cast<const HolaLayout<double>&>(*layout).stored);
}

/// Row i has lengths[i] nonzeros, in the columns from 0 on, with the values 1, 2, ...
CsrMatrix packed_rows(const Indices& lengths, Index columns) {
    std::vector<Entry> entries;
    for (Index row = 0; row < static_cast<Index>(lengths.size()); ++row) {
        for (Index k = 0; k < lengths[row]; ++k) entries.push_back({row, k, 1.0 + k});
    }
    return csr_from_entries(static_cast<Index>(lengths.size()), columns, entries);
}

/// The pieces of all shares as "row begin-end"; a piece whose row continues in the next share is in parentheses.
std::string pieces(const Hola<double, HostArray>& hola) {
    std::string text;
    for (Offset number = 0; number < hola.shares(); ++number) {
        const HolaShare share = share_of(hola, number, hola.nonzeros_per_share());
        if (number > 0) text += " | ";
        for (Index i = 0; i < share.pieces(); ++i) {
            const HolaPiece piece = piece_of(hola, share, i, PlainLoad{});
            const std::string one =
                std::to_string(share.first_row + i) + " " + std::to_string(piece.begin) + "-" + std::to_string(piece.end);
            if (i > 0) text += ", ";
            text += i < share.rows ? one : "(" + one + ")";
        }
    }
    return text;
}

}  // namespace

TEST_CASE("hola: the arrays of the 6 x 6 matrix") {
    const LayoutEntry entry = hola_entry();
    const auto layout = build_hola(drawn());
    const auto& hola = as_hola(layout);
    CHECK(hola.first_rows == Indices{0, 6});
    CHECK(hola.row_offsets == std::vector<Offset>{0, 3, 6, 7, 9, 12, 13});
    CHECK(hola.column_indices == Indices{0, 1, 2, 1, 2, 4, 2, 3, 5, 0, 4, 5, 5});
    CHECK(layout->bytes_to_move() == 7 * 8 + 2 * 4 + 13 * (4 + 8) + 8 * (6 + 6));
    const std::unique_ptr<Device> host = make_host_device();
    CHECK(entry.kernels.front().prepare.f64(*layout, *host)->own_bytes_to_move() == layout->bytes_to_move());
}

TEST_CASE("hola: a row ends in the share of its last nonzero, and empty rows end there too") {
    CHECK(first_rows_of_shares({0}, 4) == Indices{0});
    CHECK(first_rows_of_shares({0, 0, 0}, 4) == Indices{0, 2});
    CHECK(first_rows_of_shares({0, 3, 6, 7, 9, 12, 13}, 4) == Indices{0, 1, 3, 5, 6});
    CHECK(first_rows_of_shares({0, 0, 4, 4, 5, 5}, 4) == Indices{0, 3, 5});
    CHECK(first_rows_of_shares({0, 4, 4}, 4) == Indices{0, 2});
    CHECK(first_rows_of_shares({0, 13}, 4) == Indices{0, 0, 0, 0, 1});
    CHECK(first_rows_of_shares({0, Offset{5} << 31, Offset{6} << 31}, Offset{1} << 32) == Indices{0, 0, 0, 2});
}

TEST_CASE("hola: shares of a matrix") {
    const Given small{{"threads", 128_i}, {"nonzeros_per_thread", 5_i}};
    const auto layout = build_hola(packed_rows({0, 600, 0, 40, 0, 0, 700, 3, 1297, 0}, 2000), small);
    CHECK(pieces(as_hola(layout)) ==
          "0 0-0, 1 0-600, 2 600-600, 3 600-640, 4 640-640, 5 640-640, (6 640-640) | (6 0-640) | 6 0-60, 7 60-63, (8 63-640) | "
          "(8 0-640) | 8 0-80, 9 80-80");
    CHECK(dynamic_cast<const HolaLayout<double>&>(*layout).bytes_of_product() == layout->bytes_to_move() + 2 * 4 * (4 + 8));
    CHECK(pieces(as_hola(build_hola(packed_rows({0, 0}, 3), small))) == "0 0-0, 1 0-0");
    CHECK(pieces(as_hola(build_hola(packed_rows({640, 0, 640, 0}, 700), small))) ==
          "0 0-640, 1 640-640, (2 640-640) | 2 0-640, 3 640-640");
    CHECK(pieces(as_hola(build_hola(packed_rows({}, 3), small))).empty());
}

TEST_CASE("hola: adjacent threads of a block read adjacent nonzeros") {
    const auto layout = build_hola(packed_rows(Indices(40, 100), 100));
    for_each_read_of<double>(hola_entry(), "shares", *layout, [](const Read& read) {
        const Offset in_share = read.index % 1792;
        CHECK(read.warp == read.index / 1792 * 8 + in_share % 256 / 32);
        CHECK(read.lane == in_share % 32);
        CHECK(read.step == in_share / 256);
    });
}

TEST_CASE("hola: lanes per piece") {
    CHECK(lanes_of_pieces(1, 256) == 32);
    CHECK(lanes_of_pieces(8, 256) == 32);
    CHECK(lanes_of_pieces(9, 256) == 16);
    CHECK(lanes_of_pieces(128, 256) == 2);
    CHECK(lanes_of_pieces(129, 256) == 1);
    CHECK(lanes_of_pieces(2147483647, 256) == 1);
}

TEST_CASE("hola: block shapes without a kernel are refused") {
    const LayoutEntry entry = hola_entry();
    const auto refusal = [&](const Given& given) {
        return message_of<ParameterError>([&] { (void)entry.needs(Parameters(entry.parameters, given)); });
    };
    CHECK(entry.needs(Parameters(entry.parameters, {})).unsplit);
    CHECK(refusal({{"threads", 192_i}}) == "a block has 128 or 256 threads");
    CHECK(refusal({{"nonzeros_per_thread", 8_i}}) == "a thread has 5, 7, 9 or 11 nonzeros");
    const auto of_shape = [](Index threads, Index nonzeros_per_thread) {
        Hola<double, HostArray> hola;
        hola.threads = threads;
        hola.nonzeros_per_thread = nonzeros_per_thread;
        return hola;
    };
    CHECK_THROWS_AS(with_hola_shape(of_shape(128, 6), [](auto) {}), std::logic_error);
    for (const Index threads : {128, 256}) {
        for (const Index count : {5, 7, 9, 11}) {
            with_hola_shape(of_shape(threads, count), [&](auto shape) {
                CHECK(shape.threads == threads);
                CHECK(shape.loads == count);
            });
        }
    }
}

TEST_CASE("hola: equal values are not stored") {
    const LayoutEntry entry = hola_entry();
    const auto host = make_host_device();
    for (const NamedMatrix& named : battery()) {
        CAPTURE(named.name);
        CsrMatrix equal = named.matrix;
        std::fill(equal.values.begin(), equal.values.end(), 3.0);
        const auto layout = build(entry, stage_input(equal), {{"values", std::string("auto")}});
        if (equal.nonzeros() > 0)
            CHECK(layout->notes() == std::vector<std::pair<std::string, std::string>>{{"values", "all are 3; none is stored"}});
        CHECK_NOTHROW(check_layout(*layout, equal));
        for (const ScheduleEntry& schedule : entry.schedules) CHECK_NOTHROW(check_schedule(*layout, schedule.walk.f64));
        std::vector<double> x(equal.columns), y(equal.rows, -1.0);
        for (Index column = 0; column < equal.columns; ++column) x[column] = 1 + column % 5;
        entry.kernels.front().prepare.f64(*layout, *host)->run(x.data(), y.data(), false);
        for (Index row = 0; row < equal.rows; ++row) {
            double expected = 0;
            for (Offset k = equal.row_offsets[row]; k < equal.row_offsets[row + 1]; ++k)
                expected += 3 * x[equal.column_indices[k]];
            CHECK(y[row] == expected);
        }
    }
    CHECK(message_of<ParameterError>([&] {
              (void)entry.needs(Parameters(entry.parameters, {{"values", std::string("one")}, {"threads", 128_i}}));
          }) == "equal values require threads = 256 and nonzeros_per_thread = 7");
}

}  // namespace workbench
