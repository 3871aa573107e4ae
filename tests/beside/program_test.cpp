// The stage program. Each program is a shell script.
#include <doctest/doctest.h>

#include <chrono>
#include <string>

#include "beside/beside_folder.hpp"
#include "core/system/process.hpp"
#include "stages/beside/beside.hpp"

namespace workbench {
namespace {

/// A script and prepared results.
class Script {
public:
    explicit Script(const std::string& text) {
        folder.write("mine.sh", text);
        folder.write_npy<std::int64_t>("order", "<i8", {2, 0, 3, 1, 5, 4});
    }
    [[nodiscard]] Given given(Given more = {}) const {
        more["program"] = command_of({"sh", folder.file("mine.sh"), folder.file("order")});
        return more;
    }
    [[nodiscard]] std::string reason(const Given& more = {}, Index node_size = 1) const {
        const std::string text = folder.reason(program_stage(), given(more), unsymmetric(node_size));
        const std::string shown = "program sh mine.sh order";
        const std::size_t at = text.find(shown);
        return at == std::string::npos ? text : text.substr(0, at) + "IT" + text.substr(at + shown.size());
    }

    BesideFolder folder;
};

const Permutation expected = Permutation::from_old_of_new({2, 0, 3, 1, 5, 4});

std::string note_of(const StageResult& result, const std::string& name) {
    for (const auto& [what, text] : result.notes) {
        if (what == name) return text;
    }
    return "(no note)";
}

TEST_CASE("a program gives an order, with its parameters and what it prints") {
    const Script script(
        "test -s matrix.npz || exit 5\n"
        "tr -d '\\n ' < parameters.json\n"
        "echo '{\"width\": 7, \"why\": \"a reason\"}' > notes.json\n"
        "cp \"$1\" order.npy\n");
    const Given given = script.given({{"seed", 3_i}, {"factor", 0.5}, {"kind", "a \"b\""}, {"on", true}});
    StagedMatrix before = unsymmetric();
    before.cuts = {{CutKind::row_block, {0, 2, 6}}};
    const StageResult result = result_of(program_stage(), given, before);
    REQUIRE(result.change.order.has_value());
    CHECK(result.change.order->order == expected);
    CHECK(result.change.order->acts == Acts::symmetric);
    CHECK(note_of(result, "width") == "7");
    CHECK(note_of(result, "why") == "a reason");
    CHECK(note_of(result, "printed") ==
          R"({"rows":6,"columns":6,"nonzeros":9,"node_size":1,"precision":"f64","gives":"order","apply":"symmetric",)"
          R"("cuts":{"row_block":[0,2,6]},"parameters":{"factor":0.5,"kind":"a\"b\"","on":true,"seed":3}})");
    const Script rows("cp \"$1\" order.npy\n");
    CHECK(changed_by(program_stage(), rows.given({{"apply", "rows"}}), unsymmetric()).row_order == expected);
}

TEST_CASE("a program gives a partition, as labels or as an order with boundaries") {
    const Script labels("printf '2\\n0\\n1\\n0\\n2\\n1\\n' > partition.txt\n");
    const StagedMatrix by_labels = changed_by(program_stage(), labels.given({{"gives", "partition"}}), unsymmetric());
    CHECK(by_labels.row_order == Permutation::from_old_of_new({1, 3, 2, 5, 0, 4}));
    CHECK(by_labels.cuts == std::vector<Cuts>{{CutKind::partition, {0, 2, 4, 6}}});
    const Script order("cp \"$1\" order.npy; printf '0\\n4\\n6\\n' > cuts_partition.txt\n");
    const StagedMatrix by_order = changed_by(program_stage(), order.given({{"gives", "partition"}}), unsymmetric());
    CHECK(by_order.row_order == expected);
    CHECK(by_order.cuts == std::vector<Cuts>{{CutKind::partition, {0, 4, 6}}});
}

TEST_CASE("a program gives shares") {
    const Script script("printf '1\\n0\\n0\\n1\\n1\\n0\\n0\\n1\\n1\\n' > shares.txt\n");
    const StagedMatrix after =
        changed_by(program_stage(), script.given({{"gives", "shares"}, {"names", "label_0, label_1"}}), unsymmetric());
    REQUIRE(after.shares.size() == 2);
    CHECK(after.shares[1] == Share{{ShareKind::label_1}, {0, 2, 5}, {0, 1, 3, 5}, {0, 3, 4, 7, 8}});
}

TEST_CASE("ten mistakes of programs and what is said") {
    CHECK(Script("printf '0\\n1\\n' > order.txt\n").reason() ==
          "order.txt of IT: found 2 numbers; expected 6, one for each row");
    CHECK(Script("printf '0\\n1\\n2\\n1\\n4\\n5\\n' > order.txt\n").reason() ==
          "order.txt of IT:4: found row 1 a second time, after entry 1, and row 3 is missing; expected each once");
    CHECK(Script("echo before; echo 'what went wrong' >&2; exit 7\n").reason() ==
          "IT ends with exit code 7; its last output: before | what went wrong");
    CHECK(Script("kill -SEGV $$\n").reason() == "IT ends with a signal: Segmentation fault; it printed nothing");
    const auto begin = std::chrono::steady_clock::now();
    CHECK(Script("echo waiting; sleep 100 & wait\n").reason({{"limit_seconds", 0.3}}) ==
          "IT does not end within 0.3 s (limit_seconds); its last output: waiting");
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
    CHECK(Script("printf garbage > order.npy\n").reason() == "order.npy of IT:1: found 'garbage'; expected an integer");
    CHECK(Script("exit 0\n").reason() == "IT wrote no order.npy; expected it in its current folder, as gives = \"order\"");
    const Script real("cp \"$1\" order.npy\n");
    real.folder.write_npy<double>("order", "<f8", {0, 1, 2, 3, 4, 5});
    CHECK(real.reason() ==
          "order.npy of IT: found values of type <f8; expected integers, little-endian, as of numpy's astype(numpy.int64)");
    CHECK(Script("cp \"$1\" order.npy\n").reason({}, 2) ==
          "order.npy of IT: position 1 of the new order has row 0; expected the 2 rows of a node together and in order "
          "(node_size)");
    const std::string endless = Script("while :; do echo again and again and again; done\n").reason({{"limit_seconds", 0.3}});
    CHECK(endless.starts_with("IT does not end within 0.3 s (limit_seconds); its last output: "));
    CHECK(endless.size() < 600);
    const BesideFolder folder;
    CHECK(folder.reason(program_stage(), {{"program", "no_such_program_here 3"}}, unsymmetric()) ==
          "program no_such_program_here 3 cannot be started: no_such_program_here: No such file or directory; expected a "
          "program on PATH, or a path relative to the recipe");
    CHECK(Script("mkfifo order.npy\n").reason().starts_with("order.npy of IT: "));
    CHECK(Script("cp \"$1\" order.npy; echo '[1]' > notes.json\n").reason() ==
          "notes.json of IT: expected an object of texts and numbers, of at most 65536 bytes");
}

TEST_CASE("a program that is not pure is found by a second run") {
    const BesideFolder folder;
    folder.write("mine.sh",
                 "if test -e \"$0.once\"; then printf '1\\n0\\n2\\n3\\n4\\n5\\n'; else printf '0\\n1\\n2\\n3\\n4\\n5\\n'; "
                 "fi > order.txt; : > \"$0.once\"\n");
    const Given given{{"program", command_of({"sh", folder.file("mine.sh")})}, {"check_purity", true}};
    CHECK(folder.reason(program_stage(), given, unsymmetric()) ==
          "program sh mine.sh gives another result in a second run; expected the same one for the same input (check_purity)");
    CHECK(changed_by(program_stage(), given, unsymmetric()).row_order.old_of_new(0) == 1);  // now always the same
}

TEST_CASE("the contract of a program follows from what it gives") {
    const StageEntry stage = program_stage();
    const auto error = [&](Given given) {
        given["program"] = "x";
        try {
            (void)stage.contract(parameters_of(stage, given));
        } catch (const ParameterError& wrong) {
            return wrong.parameter + ": " + wrong.what();
        }
        return std::string("nothing was thrown");
    };
    CHECK(error({}) == "nothing was thrown");
    CHECK(error({{"gives", "shares"}}) == "names: found none, expected the names of the shares, as \"label_0, label_1\"");
    CHECK(error({{"names", "label_0"}}) == "names: found for code that gives order, expected it only with gives = \"shares\"");
    CHECK(error({{"gives", "partition"}, {"apply", "rows"}}) ==
          "apply: found for code that gives partition, expected it only with gives = \"order\"");
    CHECK(error({{"source", "x.cpp"}}) == "source: found a second piece of code, expected only one in a stage");
}

}  // namespace
}  // namespace workbench
