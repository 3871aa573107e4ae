// Stages from files, programs and C++ files beside the recipe, in the whole program.
#include <doctest/doctest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/shown_files.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// A folder in which the program runs, with a cache of its own.
class Workplace {
public:
    void write(const std::string& name, const std::string& text) const {
        std::ofstream(folder_.path() / name, std::ios::binary) << text;
    }
    [[nodiscard]] std::string text(const std::string& name) const { return file_text(folder_.path() / name); }
    [[nodiscard]] fs::path path(const std::string& name) const { return folder_.path() / name; }

    /// The text without the path of the folder.
    [[nodiscard]] Outcome workbench(const std::string& arguments) const {
        Outcome outcome = workbench_in(folder_.path(), arguments, "XDG_CACHE_HOME='" + folder_.path().string() + "/cache'");
        outcome.text = replaced(outcome.text, folder_.path().string() + "/", "");
        return outcome;
    }

private:
    TemporaryFolder folder_;
};

const std::string quickly = " --backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures";

/// Exports a recipe, and then the one with these stages instead, which take what was exported.
void check_round_trip(const std::string& recipe, const std::string& stages, const std::string& layouts,
                      const std::array<std::string, 2>& last_ids) {
    CAPTURE(recipe);
    const Workplace place;
    const std::string matrix = "[matrix]\ngenerate = 'laplace2d'\nnx = 8\n";
    place.write("a.toml", matrix + recipe + layouts);
    place.write("b.toml", matrix + stages + layouts);
    const Outcome first = place.workbench("export a.toml -o a");
    CHECK_MESSAGE(first.exit_code == 0, first.text);
    const Outcome second = place.workbench("export b.toml -o b");
    CHECK_MESSAGE(second.exit_code == 0, second.text);
    int compared = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(place.path("a"))) {
        const std::string name = entry.path().filename().string();
        if (name == "README.txt" || name == "recipe.toml") continue;
        CAPTURE(name);
        CHECK(place.text("a/" + name) == place.text("b/" + name));
        ++compared;
    }
    CHECK(compared >= 6);
    // Pictures of the last stages differ in their captions alone.
    const auto picture = [&](const std::string& name, const std::string& id) {
        const Outcome drawn = place.workbench("draw " + name + ".toml --stage " + id + " --format svg --out " + name + ".svg");
        CHECK_MESSAGE(drawn.exit_code == 0, drawn.text);
        std::istringstream lines(place.text(name + ".svg"));
        std::string shapes;
        for (std::string line; std::getline(lines, line);) {
            if (line.find("<text") == std::string::npos && line.find("<title") == std::string::npos) shapes += line + "\n";
        }
        return shapes;
    };
    const std::string drawn = picture("a", last_ids[0]);
    CHECK(drawn.size() > 1000);
    CHECK(drawn == picture("b", last_ids[1]));
}

TEST_CASE("what export writes and imported reads gives the same matrix, orders, cuts, shares and pictures") {
    const std::string order = "[[stage]]\nuse = 'imported'\nid = 'order'\norder = 'a/row_old_of_new.npy'\n";
    const std::string csr = "[layout]\nuse = 'csr'\n";
    check_round_trip("[[stage]]\nuse = 'cuthill_mckee'\n", order, csr, {"cuthill_mckee", "order"});
    check_round_trip("[[stage]]\nuse = 'row_sort'\napply = 'rows'\n[[stage]]\nuse = 'column_sort'\n",
                     "[[stage]]\nuse = 'imported'\nid = 'rows'\norder = 'a/row_old_of_new.txt'\napply = 'rows'\n"
                     "[[stage]]\nuse = 'imported'\nid = 'columns'\norder = 'a/column_old_of_new.txt'\napply = 'columns'\n",
                     csr, {"column_sort", "columns"});
    check_round_trip(
        "[[stage]]\nuse = 'metis_partition'\nparts = 4\n[[stage]]\nuse = 'row_sort'\nwithin = 'partition'\n"
        "[[stage]]\nuse = 'split'\nby = 'inside_partition'\n"
        "[[stage]]\nid = 'sort_outside'\nuse = 'row_sort'\nshare = 'outside'\n",
        order +
            "[[stage]]\nuse = 'imported'\nid = 'parts'\ncuts = 'a/cuts_partition.npy'\nkind = 'partition'\n"
            "[[stage]]\nuse = 'imported'\nid = 'shares'\nshares = 'a/shares.npz'\nnames = 'inside, outside'\n",
        "[layout]\nuse = 'ehyb'\n", {"sort_outside", "shares"});
    check_round_trip("[[stage]]\nuse = 'split'\nby = 'row_length'\nlonger_than = 4\n",
                     "[[stage]]\nuse = 'imported'\nid = 'shares'\nshares = 'a/shares.npz'\nnames = 'long, short'\n",
                     "[[layout]]\nshare = 'long'\nuse = 'csr'\n[[layout]]\nshare = 'short'\nuse = 'sell'\n",
                     {"split", "shares"});
}

TEST_CASE("an imported split becomes a hybrid, and wrong files end the recipe with their place") {
    const Workplace place;
    place.write("labels.txt", "0\n1\n1\n0\n0\n0\n1\n0\n0\n1\n1\n0\n");
    const std::string recipe =
        "[matrix]\ngenerate = 'laplace2d'\nnx = 2\n[[stage]]\nuse = 'imported'\nshares = 'labels.txt'\n"
        "names = 'label_0, label_1'\n[[layout]]\nshare = 'label_0'\nuse = 'csr'\n"
        "[[layout]]\nshare = 'label_1'\nuse = 'coo'\n";
    place.write("a.toml", recipe);
    const Outcome good = place.workbench("run a.toml" + quickly);
    CHECK_MESSAGE(good.exit_code == 0, good.text);
    CHECK(good.text.find("label_1") != std::string::npos);
    place.write("labels.txt", "0\n1\n1\n0\n0\n0\n1\n0\n0\n1\n7\n0\n");
    const Outcome bad = place.workbench("run a.toml" + quickly);
    CHECK(bad.exit_code == 3);
    CHECK(bad.text.find("error: a.toml:4: stage 'imported': labels.txt:11: found label 7 for a nonzero of row 3; expected one "
                        "from 0 to 1, as names has 2") != std::string::npos);
}

TEST_CASE("a kept result is not used for a file or a program that has changed") {
    const Workplace place;
    place.write("order.txt", "1\n0\n2\n3\n");
    place.write("mine.sh", "printf '1\\n0\\n2\\n3\\n' > order.txt\n");
    const std::string matrix = "[matrix]\ngenerate = 'laplace2d'\nnx = 2\n";
    place.write("file.toml", matrix + "[[stage]]\nuse = 'imported'\norder = 'order.txt'\n[layout]\nuse = 'csr'\n");
    place.write("program.toml", matrix + "[[stage]]\nprogram = ['sh', 'mine.sh']\n[layout]\nuse = 'csr'\n");
    const auto kept = [&](const std::string& recipe) {
        const Outcome outcome = place.workbench("run " + recipe + quickly + " --keep kept --json result.json");
        REQUIRE_MESSAGE(outcome.exit_code == 0, outcome.text);
        const nlohmann::json report = json_in(place.path("result.json"));
        return report["stages"][1]["kept_seconds"].is_number();
    };
    CHECK_FALSE(kept("file.toml"));
    CHECK(kept("file.toml"));
    place.write("order.txt", "0\n1\n3\n2\n");
    CHECK_FALSE(kept("file.toml"));
    CHECK_FALSE(kept("program.toml"));
    CHECK(kept("program.toml"));
    place.write("helper.sh", "a file that the program may read\n");
    CHECK_FALSE(kept("program.toml"));
}

TEST_CASE("check lists the code of a recipe, and --no-sources refuses it") {
    const Workplace place;
    place.write("mine.sh", "exit 1\n");
    place.write("mine.cpp", "\n");
    place.write("a.toml",
                "[[stage]]\nprogram = ['sh', 'mine.sh']\n\n[[stage]]\nsource = 'mine.cpp'\nid = 'second'\n\n"
                "[layout]\nuse = 'csr'\n\n[kernel]\ncpu_source = 'mine.cpp'\n");
    const Outcome check = place.workbench("check a.toml");
    CHECK(check.exit_code == 0);
    compare_with_stored("beside_check", check.text);
    place.write("b.toml", "[[stage]]\nprogram = ['sh', 'other.sh']\n[layout]\nuse = 'csr'\n");
    CHECK(place.workbench("check b.toml --set stage.other.program=\"['sh', 'mine.sh']\"").text ==
          "b.toml: ok: other -> csr\n  brings code: stage 'other': program sh mine.sh (the command line)\n");
    const Outcome refused = place.workbench("check a.toml --no-sources");
    CHECK(refused.exit_code == 2);
    compare_with_stored("beside_no_sources", refused.text);
    for (const char* command : {"run", "bench", "choose", "solve", "compare", "draw", "animate", "export", "cache"}) {
        const std::string name = command;
        std::string arguments = name + " a.toml --no-sources --generate laplace2d:nx=2";
        if (name == "compare") arguments += " a.toml";
        if (name == "animate") arguments += " -o a.gif";
        if (name == "export") arguments += " -o out";
        const Outcome outcome = place.workbench(arguments);
        CAPTURE(name);
        CHECK_MESSAGE(outcome.exit_code == 2, outcome.text);
        CHECK_MESSAGE(outcome.text.find("found code beside the recipe; expected none") != std::string::npos, outcome.text);
    }
    place.write("wrong.toml",
                "[matrix]\ngenerate = 'laplace2d'\nnx = 2\n[[stage]]\nprogram = ['sh', 'mine.sh']\n[layout]\nuse = 'csr'\n");
    const Outcome failed = place.workbench("run wrong.toml" + quickly);
    CHECK(failed.exit_code == 3);
    CHECK(failed.text.find("error: wrong.toml:4: stage 'mine': program sh mine.sh ends with exit code 1; it printed nothing") !=
          std::string::npos);
}

TEST_CASE("the program of docs/beside_the_recipe.md") {
    const std::string path = "docs/examples/my_order.py";
    const std::string text = file_text(project / path);
    const ShownBlocks shown = shown_blocks(file_text(project / "docs/beside_the_recipe.md"));
    REQUIRE(shown.files.contains(path));
    CHECK(shown.files.at(path) == text);
    if (shell("python3 -c 'import scipy.sparse.csgraph' 2>/dev/null").exit_code != 0) {
        MESSAGE("not run: there is no python3 with scipy");
        return;
    }
    const Workplace place;
    place.write("my_order.py", text);
    place.write("a.toml",
                "[matrix]\ngenerate = 'laplace2d'\nnx = 6\n[[stage]]\nprogram = ['python3', 'my_order.py']\n"
                "symmetric = true\ncheck_purity = true\n[layout]\nuse = 'csr'\n");
    const Outcome outcome = place.workbench("run a.toml" + quickly);
    CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
    CHECK(outcome.text.find("first row") != std::string::npos);
}

/// The start that `new stage` writes, with changes to its source.
class NewStage {
public:
    NewStage() {
        const Outcome written = place.workbench("new stage my_order");
        REQUIRE_MESSAGE(written.exit_code == 0, written.text);
        message = written.text;
    }
    /// Runs it with other text in the source or the recipe; both texts may be empty.
    [[nodiscard]] Outcome run(const std::string& from, const std::string& to, const std::string& options = "") const {
        if (from.empty()) return place.workbench("run my_order/my_order.toml" + quickly + " " + options);
        for (const char* name : {"my_order/my_order.cpp", "my_order/my_order.toml"}) {
            place.write(name, replaced(place.text(name), from, to));
        }
        const Outcome outcome = place.workbench("run my_order/my_order.toml" + quickly + " " + options);
        for (const char* name : {"my_order/my_order.cpp", "my_order/my_order.toml"}) {
            place.write(name, replaced(place.text(name), to, from));
        }
        return outcome;
    }
    [[nodiscard]] std::size_t compiled() const {
        const fs::directory_iterator files(place.path("cache/spmv-workbench/stages"));
        return static_cast<std::size_t>(std::distance(begin(files), end(files)));
    }

    Workplace place;
    std::string message;
};

TEST_CASE("a stage in one C++ file: its start runs, is compiled once, and its mistakes cost one line") {
    if (shell("command -v c++").exit_code != 0) {
        MESSAGE("skipped: there is no C++ compiler");
        return;
    }
    const NewStage stage;
    compare_with_stored("new_stage", stage.message);
    std::ofstream(stage.place.path("my_order/my_order.cpp"), std::ios::app) << "// changed\n";
    CHECK(stage.place.workbench("new stage my_order").exit_code == 2);  // nothing that somebody has changed is replaced
    CHECK(file_text(stage.place.path("my_order/my_order.cpp")).ends_with("// changed\n"));
    const Outcome first = stage.run("unchanged", "unchanged", "--json report.json");
    CHECK_MESSAGE(first.exit_code == 0, first.text);
    const nlohmann::json of_stage = json_in(stage.place.path("report.json"))["stages"][1];
    const std::string compiled = of_stage["notes"]["compiled"];  // "in 4.2 s, which are not part of the stage's time"
    CHECK(of_stage["seconds"] < std::stod(compiled.substr(3)));
    const Outcome again = stage.run("width  = 2", "width  = 3");
    CHECK_MESSAGE(again.exit_code == 0, again.text);
    CHECK(stage.compiled() == 1);
    // Columns of the first nonzeros: 0, 3, 1, 0, 4, 2; in pairs 0, 1, 0, 0, 2, 1.
    const Outcome exported = stage.place.workbench("export my_order/my_order.toml -o exported --format text");
    CHECK_MESSAGE(exported.exit_code == 0, exported.text);
    const std::string order = stage.place.text("exported/row_old_of_new.txt");
    CHECK(order.substr(order.find('\n') + 1) == "0\n2\n3\n1\n5\n4\n");

    const auto reason = [&](const std::string& from, const std::string& to, const std::string& options = "") {
        const Outcome outcome = stage.run(from, to, options);
        CHECK(outcome.exit_code == 3);
        const std::string begin = "error: my_order/my_order.toml:4: stage 'my_order': my_order/my_order.cpp";
        const std::size_t at = outcome.text.find(begin);
        if (at == std::string::npos) return outcome.text;
        return outcome.text.substr(at + begin.size(), outcome.text.find('\n', at) - at - begin.size());
    };
    CHECK(reason("width  = 2", "width  = 0") == ": parameter width: found 0, expected an integer of at least 1 (columns)");
    CHECK(reason("width  = 2", "depth  = 2") == ": the stage has no parameter 'depth'; expected one of width");
    CHECK(reason("apply  = \"rows\"", "apply  = \"columns\"") ==
          ": its contract has acts = rows, but the recipe has apply = \"columns\"; expected the same");
    CHECK(reason("StageEntry my_order_stage", "StageEntry other_stage") ==
          ": found no function my_order_stage(); expected 'workbench::StageEntry my_order_stage()', named like the file");
    const Outcome broken = stage.run("stable_sort_by(order, keys);", "stable_sort_by(ordre, keys);");
    CHECK(broken.exit_code == 2);
    CHECK(broken.text.find("my_order/my_order.cpp:19:20: error: ") != std::string::npos);

    // One compilation serves all mistakes that show when the stage runs.
    std::string source = stage.place.text("my_order/my_order.cpp");
    source =
        replaced(source, ".parameters = {", ".parameters = {integer_parameter(\"fault\", by_default(0), at_least(0), \"\"), ");
    source = replaced(source, "    stable_sort_by(order, keys);",
                      "    const std::int64_t fault = parameters.integer(\"fault\");\n"
                      "    if (fault == 1) throw std::runtime_error(\"no such luck\");\n"
                      "    if (fault == 2) *reinterpret_cast<volatile int*>(8) = 1;\n"
                      "    if (fault == 3) order[0] = order[1];\n"
                      "    for (volatile bool on = fault == 4; on;) {\n    }\n");
    stage.place.write("my_order/my_order.cpp", source);
    const auto with_fault = [&](const std::string& fault) { return reason("", "", "--set stage.my_order.fault=" + fault); };
    CHECK(with_fault("1") == ": no such luck");
    CHECK(with_fault("2") == " ends with a signal: Segmentation fault; it printed nothing");
    CHECK(with_fault("3") == ": not a permutation of 0 .. 5: element 1 is 1, which is a duplicate");
    CHECK(with_fault("4 --set stage.my_order.limit_seconds=0.5") ==
          " does not end within 0.5 s (limit_seconds); it printed nothing");
}

}  // namespace
}  // namespace workbench
