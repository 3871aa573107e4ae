// Layout csr16: its arrays and refusals. kernels_test.cpp checks what all layouts have in common.
#include <doctest/doctest.h>

#include "core/contract/errors.hpp"
#include "kernels/formats/rows/variants.hpp"
#include "support/drawn_matrix.hpp"
#include "support/given.hpp"

namespace workbench {
namespace {

std::unique_ptr<Layout<double>> build_csr16(const CsrMatrix& matrix) { return build(csr16_entry(), stage_input(matrix)); }

}  // namespace

TEST_CASE("csr16: the arrays of the 6 x 6 matrix") {
    const auto built = build_csr16(drawn());
    const auto& csr16 = std::get<0>(dynamic_cast<const Csr16Layout<double>&>(*built).stored);
    CHECK(csr16.row_offsets == std::vector<Offset>{0, 3, 6, 7, 9, 12, 13});
    CHECK(csr16.first_columns == std::vector<Index>{0, 1, 2, 3, 0, 5});
    CHECK(csr16.values == std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13});
    CHECK(csr16.columns_from_first == std::vector<std::uint16_t>{0, 1, 2, 0, 1, 3, 0, 0, 2, 0, 4, 5, 0});
    CHECK(built->bytes_to_move() == 7 * 8 + 6 * 4 + 13 * (2 + 8) + 8 * (6 + 6));
}

TEST_CASE("csr16: a row that spans 65536 columns fits, one of 65537 is refused with its span") {
    const auto reaching = [](Index last) { return csr_from_entries(2, 70000, std::vector<Entry>{{1, 3, 1}, {1, last, 2}}); };
    const CsrMatrix fits = reaching(3 + 65535);
    CHECK_NOTHROW(check_layout(*build_csr16(fits), fits));
    CHECK(
        message_of<Unsuitable>([&] { (void)build_csr16(reaching(3 + 65536)); }) ==
        "row 1 reaches over 65537 columns, but columns of 16 bits reach 65536: an order of less bandwidth (cuthill_mckee) may "
        "bring them together");
}

}  // namespace workbench
