// Stages whose results come from files and programs beside the recipe. Programs are shell scripts that copy prepared files.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "beside/beside_folder.hpp"
#include "core/contract/errors.hpp"
#include "stages/beside/beside.hpp"

namespace workbench {
namespace {

const std::string old_of_new = "2\n0\n3\n1\n5\n4\n";

TEST_CASE("every parameter of the stages has a description, and every default is accepted") {
    for (const StageEntry& stage : {imported_stage(), program_stage(), source_stage()}) {
        CAPTURE(stage.name);
        CHECK_FALSE(stage.summary.empty());
        for (const ParameterDeclaration& declaration : stage.parameters) {
            CAPTURE(declaration.name);
            CHECK(declaration.help.size() > 20);
            if (declaration.default_value) CHECK(reason_to_refuse(declaration, *declaration.default_value) == "");
        }
    }
}

TEST_CASE("an imported order, in all forms and directions") {
    const BesideFolder folder;
    const StagedMatrix before = unsymmetric();
    const Numbers order{2, 0, 3, 1, 5, 4};
    const auto imported = [&](const std::string& file, Given more = {}) {
        more["order"] = folder.file(file);
        return changed_by(imported_stage(), more, before).row_order;
    };
    const Permutation expected = Permutation::from_old_of_new({2, 0, 3, 1, 5, 4});
    folder.write("a.txt", "# a comment\n\n" + old_of_new);
    CHECK(imported("a.txt") == expected);
    folder.write("savetxt.txt", "2.000000000000000000e+00\n0\n3\n1\n5.0\n4\n");
    CHECK(imported("savetxt.txt") == expected);
    folder.write("a.mtx", "%%MatrixMarket matrix array integer general\n% comment\n6 1\n" + old_of_new);
    CHECK(imported("a.mtx") == expected);
    folder.write_npy<std::int64_t>("a.npy", "<i8", order);
    CHECK(imported("a.npy") == expected);
    folder.write_npy<std::uint8_t>("bytes.npy", "|u1", order);
    CHECK(imported("bytes.npy") == expected);
    folder.write("from1.txt", "3\n1\n4\n2\n6\n5\n");
    CHECK(imported("from1.txt", {{"base", 1_i}}) == expected);
    CHECK(imported("a.txt", {{"direction", "new_of_old"}}) == Permutation::from_new_of_old({2, 0, 3, 1, 5, 4}));

    const StagedMatrix rows = changed_by(imported_stage(), {{"order", folder.file("a.txt")}, {"apply", "rows"}}, before);
    CHECK(rows.row_order == expected);
    CHECK(rows.column_order.is_identity());
    const StagedMatrix columns = changed_by(imported_stage(), {{"order", folder.file("a.txt")}, {"apply", "columns"}}, before);
    CHECK(columns.row_order.is_identity());
    CHECK(columns.column_order == expected);
}

TEST_CASE("an imported order of nodes, or of rows that keeps nodes whole") {
    const BesideFolder folder;
    const StagedMatrix before = unsymmetric(2);
    folder.write("nodes.txt", "2\n0\n1\n");
    folder.write("rows.txt", "4\n5\n0\n1\n2\n3\n");
    const Permutation expected = Permutation::from_old_of_new({4, 5, 0, 1, 2, 3});
    CHECK(changed_by(imported_stage(), {{"order", folder.file("nodes.txt")}}, before).row_order == expected);
    CHECK(changed_by(imported_stage(), {{"order", folder.file("rows.txt")}}, before).row_order == expected);
    folder.write("cut.txt", old_of_new);
    CHECK(folder.reason(imported_stage(), {{"order", folder.file("cut.txt")}}, before) ==
          "cut.txt: position 1 of the new order has row 0; expected the 2 rows of a node together and in order (node_size)");
    folder.write("short.txt", "0\n1\n");
    CHECK(folder.reason(imported_stage(), {{"order", folder.file("short.txt")}}, before) ==
          "short.txt: found 2 numbers; expected 6, one for each row, or 3, one for each node");
}

TEST_CASE("wrong orders are refused with their place") {
    const BesideFolder folder;
    const auto reason = [&](const std::string& name, const std::string& text) {
        folder.write(name, text);
        return folder.reason(imported_stage(), {{"order", folder.file(name)}}, unsymmetric());
    };
    CHECK(reason("a.txt", "0\n1\n2\n") == "a.txt: found 3 numbers; expected 6, one for each row");
    CHECK(reason("a.txt", "# comment\n0\n1\n2\n1\n4\n5\n") ==
          "a.txt:5: found row 1 a second time, after entry 1, and row 3 is missing; expected each once");
    CHECK(reason("a.txt", "1\n2\n3\n4\n5\n6\n") ==
          "a.txt:6: found 6; expected a row from 0 to 5; if they are counted from 1, set base = 1");
    CHECK(reason("a.txt", "0\n-1\n2\n3\n4\n5\n") == "a.txt:2: found -1; expected a row from 0 to 5");
    CHECK(reason("a.txt", "0\n1\n2.5\n3\n4\n5\n") == "a.txt:3: found '2.5'; expected an integer");
    CHECK(reason("a.txt", "0 # first\n1 % second\n2\n3\n4\n5 #\n") == "nothing was thrown");
    CHECK(reason("a.txt", "0 1\n2\n") == "a.txt:1: found several numbers in a line; expected one");
    CHECK(reason("a.txt", "") == "a.txt: found 0 numbers; expected 6, one for each row");
    CHECK(reason("a.mtx", "%%MatrixMarket matrix array integer general\n5 1\n0\n") ==
          "a.mtx:4: found 1 number; expected 5, as the header says");
    CHECK(reason("a.mtx", "%%MatrixMarket matrix coordinate integer general\n5 1\n0\n") ==
          "a.mtx:1: found '%%MatrixMarket matrix coordinate integer general'; expected '%%MatrixMarket matrix array integer "
          "general'");
    CHECK(reason("a.npy", "\x93NUMPY\x01") == "a.npy: found no numpy array; expected the start '\\x93NUMPY'");
    folder.write_npy<double>("b.npy", "<f8", {0, 1, 2, 3, 4, 5});
    CHECK(folder.reason(imported_stage(), {{"order", folder.file("b.npy")}}, unsymmetric()) ==
          "b.npy: found values of type <f8; expected integers, little-endian, as of numpy's astype(numpy.int64)");
    folder.write_npy<std::int32_t>("c.npy", "<i4", {0, 1, 2, 2, 4, 5});
    CHECK(folder.reason(imported_stage(), {{"order", folder.file("c.npy")}}, unsymmetric()) ==
          "c.npy: entry 3: found row 2 a second time, after entry 2, and row 3 is missing; expected each once");
    CHECK(folder.reason(imported_stage(), {{"order", folder.file("none.npy")}}, unsymmetric()).starts_with("none.npy: "));
}

TEST_CASE("an imported order within the partition keeps it") {
    const BesideFolder folder;
    StagedMatrix before = unsymmetric();
    before.cuts = {{CutKind::partition, {0, 2, 6}}};
    const auto given = [&](const std::string& text) {
        folder.write("a.txt", text);
        return Given{{"order", folder.file("a.txt")}, {"within", "partition"}};
    };
    const StageEntry stage = imported_stage();
    const Given inside = given("1\n0\n5\n3\n4\n2\n");
    const StageContract contract = stage.contract(Parameters(stage.parameters, inside));
    CHECK(contract.needs.cuts == std::vector{CutKind::partition});
    CHECK(contract.keeps == std::vector{CutKind::partition});
    CHECK(result_of(stage, inside, before).change.order->order == Permutation::from_old_of_new({1, 0, 5, 3, 4, 2}));
    CHECK(folder.reason(stage, given("1\n2\n0\n3\n4\n5\n"), before) ==
          "a.txt: row 2 moves from part 1 to part 0; expected rows to stay in their part (within)");
}

TEST_CASE("an imported partition sorts the rows by their part, as METIS's .part.K") {
    const BesideFolder folder;
    folder.write("a.part.3", "2\n0\n1\n0\n2\n1\n");
    const StagedMatrix after = changed_by(imported_stage(), {{"partition", folder.file("a.part.3")}}, unsymmetric());
    CHECK(after.row_order == Permutation::from_old_of_new({1, 3, 2, 5, 0, 4}));
    CHECK(after.cuts == std::vector<Cuts>{{CutKind::partition, {0, 2, 4, 6}}});
    const auto reason = [&](const std::string& text, Index node_size = 1) {
        folder.write("a.part.3", text);
        return folder.reason(imported_stage(), {{"partition", folder.file("a.part.3")}}, unsymmetric(node_size));
    };
    CHECK(reason("2\n0\n1\n0\n2\n") == "a.part.3: found 5 numbers; expected 6, one for each row");
    CHECK(reason("2\n0\n-1\n0\n2\n1\n") == "a.part.3:3: found -1; expected a part of at least 0");
    CHECK(reason("2\n0\n7\n0\n2\n1\n") == "a.part.3:3: found part 7; expected fewer parts than the 6 rows");
    CHECK(reason("2\n0\n3\n0\n2\n0\n") == "a.part.3: found no row in part 1, but some in part 3; expected rows in each part");
    CHECK(reason("2\n1\n2\n1\n2\n1\n") ==
          "a.part.3: found no row in part 0, but some in part 2; expected rows in each part; if parts are counted from 1, set "
          "base = 1");
    CHECK(reason("0\n0\n1\n0\n1\n1\n", 2) ==
          "a.part.3:4: found part 0 for row 3, but part 1 for the first row of its node of 2 rows; expected one part for a "
          "node");
    folder.write("nodes.part.2", "1\n0\n1\n");
    CHECK(changed_by(imported_stage(), {{"partition", folder.file("nodes.part.2")}}, unsymmetric(2)).row_order ==
          Permutation::from_old_of_new({2, 3, 0, 1, 4, 5}));
}

TEST_CASE("imported cuts") {
    const BesideFolder folder;
    folder.write("cuts.txt", "0\n2\n2\n6\n");
    const Given given{{"cuts", folder.file("cuts.txt")}, {"kind", "row_block"}};
    CHECK(changed_by(imported_stage(), given, unsymmetric()).cuts == std::vector<Cuts>{{CutKind::row_block, {0, 2, 2, 6}}});
    const auto reason = [&](const std::string& text, const char* kind = "segment", Index node_size = 1) {
        folder.write("cuts.txt", text);
        return folder.reason(imported_stage(), {{"cuts", folder.file("cuts.txt")}, {"kind", kind}}, unsymmetric(node_size));
    };
    CHECK(reason("0\n") == "cuts.txt: found 1 number; expected boundaries from 0 to 6");
    CHECK(reason("1\n6\n") == "cuts.txt:1: found 1; expected 0, the first boundary");
    CHECK(reason("0\n4\n2\n6\n") == "cuts.txt:3: found 2; expected a boundary from 4 to 6");
    CHECK(reason("0\n5\n") == "cuts.txt:2: found 5; expected 6, the last boundary");
    CHECK(reason("0\n3\n6\n", "partition", 2) == "cuts.txt:2: found 3, which cuts a node of 2 rows; expected whole nodes");
}

TEST_CASE("imported shares of the nonzeros") {
    const BesideFolder folder;
    const StagedMatrix before = unsymmetric();  // rows of 2, 1, 2, 1, 1, 2 nonzeros
    folder.write("labels.txt", "1\n0\n0\n1\n1\n0\n0\n1\n1\n");
    const Given given{{"shares", folder.file("labels.txt")}, {"names", "label_0, long"}};
    const StagedMatrix after = changed_by(imported_stage(), given, before);
    REQUIRE(after.shares.size() == 2);
    CHECK(after.shares[0] == Share{{ShareKind::label_0}, {0, 1, 3, 4}, {0, 1, 2, 3, 4}, {1, 2, 5, 6}});
    CHECK(after.shares[1] == Share{{ShareKind::long_rows}, {0, 2, 5}, {0, 1, 3, 5}, {0, 3, 4, 7, 8}});
    const auto reason = [&](const std::string& text, const std::string& names) {
        folder.write("labels.txt", text);
        return folder.reason(imported_stage(), {{"shares", folder.file("labels.txt")}, {"names", names}}, before);
    };
    CHECK(reason("1\n0\n", "label_0, label_1") == "labels.txt: found 2 numbers; expected 9, one for each nonzero");
    CHECK(reason("1\n0\n0\n2\n1\n0\n0\n1\n1\n", "label_0, label_1") ==
          "labels.txt:4: found label 2 for a nonzero of row 2; expected one from 0 to 1, as names has 2");
    CHECK(reason("1\n0\n0\n-1\n1\n0\n0\n1\n1\n", "label_0, label_1") ==
          "labels.txt:4: found label -1 for a nonzero of row 2; expected one from 0 to 1, as names has 2");
    // The name says what a share contains, which labels may contradict.
    CHECK(
        reason("1\n0\n0\n1\n1\n0\n0\n1\n1\n", "first, rest")
            .starts_with("labels.txt: share 'first' has entry 1, which does not belong to it; expected shares of this matrix"));
}

TEST_CASE("the contract of imported follows from the kind of file") {
    const auto contract = [](const Given& given) {
        const StageEntry stage = imported_stage();
        return stage.contract(Parameters(stage.parameters, given));
    };
    CHECK(contract({{"order", "x"}}).acts == Acts::symmetric);
    CHECK(contract({{"order", "x"}, {"apply", "rows"}}).acts == Acts::rows);
    CHECK_FALSE(contract({{"order", "x"}, {"apply", "rows"}}).needs.square);
    CHECK(contract({{"partition", "x"}}).gives_cuts == std::vector{CutKind::partition});
    CHECK(contract({{"cuts", "x"}, {"kind", "segment"}}).gives_cuts == std::vector{CutKind::segment});
    CHECK(contract({{"shares", "x"}, {"names", "inside, outside"}}).needs.cuts == std::vector{CutKind::partition});
    const auto error = [&](const Given& given) {
        try {
            (void)contract(given);
        } catch (const ParameterError& wrong) {
            return wrong.parameter + ": " + wrong.what();
        }
        return std::string("nothing was thrown");
    };
    CHECK(error({}) == "order: found none, expected one of order, partition, cuts or shares");
    CHECK(error({{"order", "x"}, {"shares", "y"}}) ==
          "shares: found shares beside order, expected only one of order, partition, cuts or shares");
    CHECK(error({{"partition", "x"}, {"apply", "rows"}}) == "apply: found without order, expected it only with order");
    CHECK(error({{"partition", "x"}, {"direction", "new_of_old"}}) ==
          "direction: found without order, expected it only with order");
    CHECK(error({{"shares", "x"}}) == "names: found none, expected the names of the shares, as \"label_0, label_1\"");
    CHECK(error({{"shares", "x"}, {"names", "first, first"}}) == "names: found 'first' twice, expected each name once");
    CHECK(error({{"shares", "x"}, {"names", "segment"}}).starts_with("names: found 'segment'; expected one of inside, "));
    CHECK(error({{"cuts", "x"}}) == "kind: found none, expected the kind of the cuts");
    CHECK(error({{"cuts", "x"}, {"kind", "segment"}, {"base", 1_i}}) ==
          "base: found beside cuts, whose boundaries begin with 0, expected none");
}

}  // namespace
}  // namespace workbench
