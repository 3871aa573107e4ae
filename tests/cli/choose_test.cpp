// workbench choose. Texts are compared with tests/golden/cli.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/page_sections.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const std::string recipes = WORKBENCH_SOURCE_DIR "/recipes/";

/// Runs choose in the test's folder, which is "OUT" in the text; the project's folder is "PROJECT".
Outcome choose_in(const fs::path& folder, const std::string& arguments) {
    Outcome outcome = workbench_in(folder, "choose " + arguments);
    outcome.text = replaced(replaced(outcome.text, folder.string(), "OUT"), WORKBENCH_SOURCE_DIR, "PROJECT");
    return outcome;
}

void expect_choice(const std::string& name, const fs::path& folder, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = choose_in(folder, arguments);
    CHECK(outcome.exit_code == exit_code);
    compare_with_stored(name, outcome.text);
}

const std::string on_host = " --backend kokkos ";
const std::string wide_matrix = WORKBENCH_SOURCE_DIR "/tests/golden/cli/wide.mtx";

}  // namespace

TEST_SUITE("choose with the program") {
    TEST_CASE("help and errors before the work") {
        const TemporaryFolder folder;
        const std::string matrix = "--generate laplace2d:nx=9 ";
        expect_choice("help_choose", folder.path(), "--help", 0);
        expect_choice("choose_no_matrix", folder.path(), "", 2);
        std::ofstream(folder.path() / "small.toml") << "[matrix]\ngenerate = 'laplace2d'\nnx = 9\n[layout]\nuse = 'ell'\n";
        expect_choice("choose_other_matrix", folder.path(), "small.toml " + recipes + "sell.toml", 2);
        expect_choice("choose_budget", folder.path(), matrix + "--budget soon", 2);
        expect_choice("choose_no_budget", folder.path(), matrix + "--budget 0", 2);
        expect_choice("choose_no_products", folder.path(), matrix + "--products 0", 2);
        expect_choice("choose_no_vectors", folder.path(), matrix + "--vectors 65", 2);
        expect_choice("choose_two_devices", folder.path(), recipes + "sell.toml " + matrix + "--backend kokkos,cuda", 2);
        expect_choice("choose_two_matrices", folder.path(), recipes + "sell.toml " + matrix + "--sweep matrix.nx=8,9", 2);
        expect_choice("choose_no_file", folder.path(), recipes + "sell.toml --matrix none.mtx", 3);
        std::ofstream(folder.path() / "winner.toml") << "mine";
        expect_choice("choose_there", folder.path(), recipes + "sell.toml " + matrix, 2);
        expect_choice("choose_not_writable", folder.path(), recipes + "sell.toml " + matrix + "-o winner.toml/w.toml", 4);
        expect_choice("choose_json_not_writable", folder.path(),
                      recipes + "sell.toml " + matrix + "-o w.toml --json winner.toml/w.json", 4);
        expect_choice("choose_one_file", folder.path(), recipes + "sell.toml " + matrix + "-o w.toml --json ./w.toml", 2);
        CHECK(file_text(folder.path() / "winner.toml") == "mine");
        CHECK_FALSE(fs::exists(folder.path() / "w.toml"));
    }

    TEST_CASE("the matrix of a recipe") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "small.toml") << "[matrix]\ngenerate = 'laplace2d'\nnx = 9\n[layout]\nuse = 'ell'\n";
        const Outcome chosen = choose_in(folder.path(), "small.toml --budget 1 --products 1" + on_host);
        CHECK_MESSAGE(chosen.exit_code == 0, chosen.text);
        CHECK(chosen.text.starts_with("laplace2d nx=9 scramble=0: 81 x 81, 369 nonzeros\n"));
    }

    TEST_CASE("no recipe is written if none suits the matrix") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "huge.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n";
        expect_choice("choose_nothing_suits", folder.path(), recipes + "sell.toml --matrix huge.mtx --precision f32" + on_host,
                      3);
        CHECK_FALSE(fs::exists(folder.path() / "winner.toml"));
    }

    TEST_CASE("a wrong kernel gives exit code 1, and the choice is written nevertheless") {
        const TemporaryFolder folder;
        fs::create_directory(folder.path() / "recipes");
        std::ofstream(folder.path() / "recipes" / "wrong.toml")
            << "[recipe]\nname = 'Wrong'\n[layout]\nuse = 'sell'\n[kernel]\ncpu_source = 'wrong.cpp'\n";
        std::ofstream(folder.path() / "recipes" / "wrong.cpp")
            << "#include \"arrays.hpp\"\n"
               "void multiply(const Arrays& a, const Value*, Value* y, bool accumulate) {\n"
               "    for (Index row = 0; row < a.row_count; ++row) y[row] = accumulate ? y[row] : 0;\n}\n";
        const Outcome chosen =
            choose_in(folder.path(), "recipes/wrong.toml --backend cpu --budget 40 --products 1 --matrix " + wide_matrix);
        CHECK_MESSAGE(chosen.exit_code == 1, chosen.text);
        CHECK(chosen.text.find("\n  WRONG RESULT of kernel wrong: row ") != std::string::npos);
        CHECK(chosen.text.ends_with("error: a kernel failed verification, see WRONG RESULT under 'Not timed'\n"));
        CHECK(fs::exists(folder.path() / "winner.toml"));
    }

    TEST_CASE("a matrix that is not square has no other orders") {
        const TemporaryFolder folder;
        const Outcome chosen = choose_in(folder.path(), "--backend kokkos --budget 1 --products 1 --matrix " + wide_matrix);
        CHECK_MESSAGE(chosen.exit_code == 0, chosen.text);
        CHECK(chosen.text.find("needs a square matrix: CSR after RCM;") != std::string::npos);
        CHECK(chosen.text.find("Sliced ELL after RCM") == std::string::npos);
    }

    TEST_CASE("the chosen recipe is written and can be run") {
        const TemporaryFolder folder;
        // One product pays for no recipe, so that no winner is timed again.
        const Outcome chosen =
            choose_in(folder.path(),
                      recipes + "sell.toml " + recipes +
                          "metis_sell.toml --budget 40 --products 1 --precision f32 --keep kept --json all.json --matrix " +
                          wide_matrix + on_host);
        CHECK(chosen.exit_code == 0);
        CHECK(chosen.text.find("wide.mtx: 3 x 4, 5 nonzeros\nf32 on ") == 0);
        CHECK(chosen.text.find("\n  needs a square matrix: CSR after RCM; METIS SELL-32-256\n") != std::string::npos);
        CHECK(chosen.text.ends_with(".\nWritten to winner.toml, all.json\n"));
        const auto json = nlohmann::json::parse(file_text(folder.path() / "all.json"));
        // The bandwidth that this machine reaches now decides if SELL is timed.
        std::multiset<std::string> tried;
        for (const char* list : {"ranking", "not_timed"}) {
            for (const auto& one : json[list]) tried.insert(one["recipe"].get<std::string>());
        }
        CHECK(tried == std::multiset<std::string>{"CSR", "CSR after RCM", "METIS SELL-32-256", "Sliced ELL"});
        CHECK(json["ranking"].size() >= 1);
        CHECK(json["precision"] == "f32");
        CHECK(json["products"] == 1);
        CHECK_FALSE(fs::is_empty(folder.path() / "kept"));
        const std::string answer = json["answer"];
        CHECK(file_text(folder.path() / "winner.toml").starts_with("# " + answer + "\n"));

        const Outcome run =
            shell("cd '" + folder.path().string() +
                  "' && '" WORKBENCH_BINARY "' run winner.toml --samples 1 --seconds 0 --cache warm --no-pictures");
        CHECK(run.exit_code == 0);
        CHECK(run.text.starts_with(json["ranking"][0]["recipe"].get<std::string>() + "\n"));
        CHECK(run.text.find("wide.mtx: 3 x 4, 5 nonzeros") != std::string::npos);
        const Outcome summary = shell("cd '" + folder.path().string() + "' && '" WORKBENCH_BINARY "' summary all.json");
        CHECK(summary.exit_code == 0);
        CHECK(summary.text.find("CPU, f32: 1 matrix") != std::string::npos);
    }

    TEST_CASE("a choice for several vectors, whose log belongs to their number") {
        const TemporaryFolder folder;
        const std::string search =
            recipes + "sell.toml " + recipes + "csc.toml --generate laplace2d:nx=9 --log l.jsonl --force" + on_host;
        const Outcome chosen = choose_in(folder.path(), search + "--vectors 6 --budget 2 --products 1 --json all.json");
        CHECK_MESSAGE(chosen.exit_code == 0, chosen.text);
        CHECK(chosen.text.find(", cold cache, 6 vectors\n") != std::string::npos);
        const auto json = nlohmann::json::parse(file_text(folder.path() / "all.json"));
        CHECK(json["vectors"] == 6);
        REQUIRE(json["runs"].size() >= 1);
        for (const auto& run : json["runs"]) CHECK(run["vectors"] == 6);
        const Outcome other = choose_in(folder.path(), search + "--budget 0.1");
        CHECK(other.exit_code == 2);
        CHECK_MESSAGE(
            other.text.find("expected the options \"choose, cold cache, kokkos eigen\", found \"choose, cold cache, 6 vectors, "
                            "kokkos eigen\"") != std::string::npos,
            other.text);
    }

    TEST_CASE("with all shipped recipes, those that need a square matrix say so for a wide or tall one") {
        const TemporaryFolder folder;
        for (const auto& [rows, columns] : {std::pair{7, 11}, std::pair{11, 7}, std::pair{1, 9}, std::pair{9, 1}}) {
            CAPTURE(rows);
            CAPTURE(columns);
            std::ofstream file(folder.path() / "a.mtx");
            file << "%%MatrixMarket matrix coordinate real general\n" << rows << ' ' << columns << ' ' << 2 * rows << '\n';
            for (int row = 1; row <= rows; ++row) {
                for (const int column : {row, row + 4}) file << row << ' ' << (column - 1) % columns + 1 << " 1\n";
            }
            file.close();
            const Outcome outcome =
                workbench_in(project, "choose --budget 0.5 --force --json - -o " + (folder.path() / "w.toml").string() +
                                          " --matrix " + (folder.path() / "a.mtx").string() + on_host);
            CHECK(outcome.exit_code == 0);
            std::map<std::string, std::string> reasons;
            const nlohmann::json choice = nlohmann::json::parse(outcome.text);
            for (const auto& one : choice["not_timed"]) reasons[one["recipe"]] = one["reason"];
            for (const std::string recipe : {"CSR after RCM", "METIS SELL-32-256", "EHYB", "SELL-32-16384", "Halo"}) {
                CHECK_MESSAGE(reasons[recipe] == "needs a square matrix", recipe);
            }
            for (const auto& [recipe, reason] : reasons) {
                CHECK_MESSAGE(reason.find("failed") == std::string::npos, recipe, ": ", reason);
            }
        }
    }

    TEST_CASE("the log of a search belongs to one matrix of an archive") {
        const TemporaryFolder folder;
        CHECK(shell("cd '" + folder.path().string() +
                    "' && mkdir m && printf '%%%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n' > m/a.mtx && "
                    "cp m/a.mtx m/b.mtx && tar cf m.tar m")
                  .exit_code == 0);
        const std::string search =
            recipes + "sell.toml --backend kokkos --budget 0.1 --log l.jsonl --force --matrix m.tar --member ";
        CHECK(choose_in(folder.path(), search + "a.mtx").exit_code == 0);
        const Outcome other = choose_in(folder.path(), search + "b.mtx");
        CHECK(other.exit_code == 2);
        CHECK_MESSAGE(other.text.find("expected the matrix \"m.tar:b.mtx\", found \"m.tar:a.mtx\"") != std::string::npos,
                      other.text);
    }

    TEST_CASE("a space is searched, with a log that continues the search, and a page") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "space.toml")
            << "[space]\nname = 'small'\n[[stage]]\noptional = true\nuse = 'row_sort'\nwithin = 'window'\nwindow = [2, 4]\n"
               "[layout]\nuse = { sweep = ['csr', { use = 'sell', slice_height = [2, 4] }] }\n";
        const std::string search =
            "space.toml --budget 20 --generate laplace2d:nx=150 --log log.jsonl --page page.html" + on_host;
        const Outcome begun = choose_in(folder.path(), search);
        CHECK_MESSAGE(begun.exit_code == 0, begun.text);
        CHECK(begun.text.find("The model priced all 9 points of the space in ") != std::string::npos);
        CHECK(begun.text.find("Written to winner.toml, log.jsonl, page.html\n") != std::string::npos);
        const std::string page = file_text(folder.path() / "page.html");
        CHECK(page.starts_with("<!DOCTYPE html>"));
        const auto document = nlohmann::json::parse(section_of_page(page, "document"));
        CHECK(document["kind"] == "choose");
        CHECK(document["choice"]["search"]["points"] == 9);
        const std::string log = file_text(folder.path() / "log.jsonl");
        CHECK(std::count(log.begin(), log.end(), '\n') >= 3);
        const Outcome check = workbench_in(folder.path(), "check winner.toml");
        CHECK_MESSAGE(check.exit_code == 0, check.text);
        const Outcome summary = workbench_in(folder.path(), "summary log.jsonl");
        CHECK_MESSAGE(summary.exit_code == 0, summary.text);
        CHECK(summary.text.find("CPU, f64: 1 matrix") != std::string::npos);

        const Outcome again = choose_in(folder.path(), search + "--force --json again.json");
        CHECK_MESSAGE(again.exit_code == 0, again.text);
        const auto continued = nlohmann::json::parse(file_text(folder.path() / "again.json"))["search"];
        CHECK(continued["points"] == 9);
        // On a busy machine, CSR may have been so fast that no point was promising.
        const bool any_point = log.find("\"point\":[") != std::string::npos;
        if (any_point) CHECK(continued["logged"] > 0);
        expect_choice("choose_log_of_another", folder.path(),
                      "space.toml --generate laplace2d:nx=8 --log log.jsonl -o other.toml" + on_host, 2);
        expect_choice("choose_two_spaces", folder.path(), "space.toml space.toml --generate laplace2d:nx=8 -o other.toml", 2);
        expect_choice("choose_page_name", folder.path(), "--generate laplace2d:nx=8 --page page.txt -o other.toml", 2);
        expect_choice("choose_log_is_json", folder.path(),
                      recipes + "sell.toml --generate laplace2d:nx=8 --log a.json --json a.json -o other.toml", 2);
        CHECK_FALSE(fs::exists(folder.path() / "other.toml"));
    }

    TEST_CASE("recipes beside a space have its number of unknowns per node") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "space.toml") << "[space]\nname = 's'\n[layout]\nuse = 'sell'\n";
        const Outcome chosen = workbench_in(
            folder.path(),
            "choose space.toml --generate elasticity3d:nx=2 --set matrix.node_size=3 --budget 1 --json -" + on_host);
        REQUIRE_MESSAGE(chosen.exit_code == 0, chosen.text);
        const auto ranking = nlohmann::json::parse(chosen.text.substr(chosen.text.find("{\n")))["ranking"];
        CHECK_FALSE(ranking.empty());  // CSR is always tried
        for (const auto& one : ranking) {
            const auto resolved = one["resolved"].get<std::string>();
            CHECK_MESSAGE(resolved.find("node_size = 3\n") != std::string::npos, resolved);
        }
    }

    TEST_CASE("Ctrl-C chooses among the recipes that were timed before, says so, and gives its own exit code") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "mine.toml")
            << "[recipe]\nname = 'Mine'\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = 'mine.cpp'\n";
        // The kernel sends one SIGINT from its trial, a child process of the search. A second one would end the search at once.
        const std::string kernel = R"(#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
#include "arrays.hpp"
void multiply(const Arrays&, const Value*, Value*, bool accumulate) {
    const bool in_trial = std::strcmp(program_invocation_short_name, "workbench_trial") == 0;
    if (in_trial && !accumulate && open("SENT", O_CREAT | O_EXCL, 0600) >= 0) kill(getppid(), SIGINT);
}
)";
        std::ofstream(folder.path() / "mine.cpp") << replaced(kernel, "SENT", (folder.path() / "sent").string());
        const Outcome stopped =
            choose_in(folder.path(), "mine.toml --backend cpu --budget 40 --products 1 --generate laplace2d:nx=4");
        CHECK_MESSAGE(stopped.exit_code == 130, stopped.text);
        CHECK(stopped.text.find("\n  stopped before it was timed: Mine\n") != std::string::npos);
        CHECK(stopped.text.ends_with("\nstopped: this is the best of the 2 recipes that were timed before\n"));
        CHECK(fs::exists(folder.path() / "winner.toml"));
    }

    TEST_CASE("a recipe that crashes or hangs costs a line") {
        const TemporaryFolder folder;
        // Calls in the trial, which is a program of its own, succeed.
        const std::string multiply =
            "void multiply(const Arrays& a, const Value* x, Value* y, bool accumulate) {\n"
            "    if (std::strcmp(program_invocation_short_name, \"workbench_trial\") != 0) END;\n"
            "    for (Index row = 0; row < a.row_count; ++row) {\n        Value sum = 0;\n"
            "        for (Offset i = a.row_offsets[row]; i < a.row_offsets[row + 1]; ++i) sum += a.values[i] * "
            "x[a.column_indices[i]];\n"
            "        y[row] = accumulate ? y[row] + sum : sum;\n    }\n}\n";
        for (const auto& [name, end] :
             {std::pair<std::string, std::string>{"crash", "std::abort()"}, {"hang", "for (;;) pause()"}}) {
            std::ofstream(folder.path() / (name + ".toml"))
                << "[recipe]\nname = '" << name << "'\n[layout]\nuse = 'csr'\n[kernel]\ncpu_source = '" << name << ".cpp'\n";
            std::ofstream(folder.path() / (name + ".cpp"))
                << "#include \"arrays.hpp\"\n#include <unistd.h>\n#include <cerrno>\n#include <cstdlib>\n#include <cstring>\n"
                << replaced(multiply, "END", end);
        }
        const std::string generated = " --backend cpu --generate laplace2d:nx=9";
        const Outcome crashed = workbench_in(
            folder.path(), "choose crash.toml --budget 40 --products 1 --log log.jsonl --json all.json" + generated);
        CHECK_MESSAGE(crashed.exit_code == 0, crashed.text);
        CHECK_MESSAGE(
            crashed.text.find("crash: killed by signal 6 (Aborted); the search goes on without it\n") != std::string::npos,
            crashed.text);
        CHECK(crashed.text.find("\n  killed by signal 6 (Aborted): crash\n") != std::string::npos);
        CHECK(nlohmann::json::parse(file_text(folder.path() / "all.json"))["budget_seconds"] > 20);  // what was left
        CHECK(fs::exists(folder.path() / "winner.toml"));
        const Outcome hung = workbench_in(folder.path(), "choose hang.toml --budget 6 --log other.jsonl --force" + generated,
                                          "WORKBENCH_HANG_SECONDS=3");  // half of the budget
        CHECK_MESSAGE(hung.exit_code == 0, hung.text);
        // 20 times its prediction may be longer, but not on this matrix as long as the usual 30 s.
        const std::string did_not_end = "hang: did not end within ";
        const std::size_t at = hung.text.find(did_not_end);
        REQUIRE_MESSAGE(at != std::string::npos, hung.text);
        const double seconds = std::stod(hung.text.substr(at + did_not_end.size()));
        CHECK_MESSAGE((seconds >= 3 && seconds < 30), hung.text);
    }
}

}  // namespace workbench
