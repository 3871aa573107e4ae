// Fetching and suites as their users meet them: the program itself, a server on this machine, and none.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "cli/shell.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/recipe/recipe.hpp"
#include "pipeline/recipe/suite.hpp"
#include "support/golden.hpp"
#include "support/http_server.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

std::string text_of_rows(int rows) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(rows) + " " + std::to_string(rows) +
                       " " + std::to_string(rows) + "\n";
    for (int row = 1; row <= rows; ++row) text += std::to_string(row) + " " + std::to_string(row) + " 2\n";
    return text;
}

/// A folder and a server with Good/one (3 rows), Good/two (5), Good/three (4) and several broken files.
struct Site {
    TemporaryFolder folder;
    HttpServer server{answer};

    static HttpReply answer(const HttpRequest& request) {
        const std::string begin = "/MM/Good/";
        for (const auto& [name, rows] : {std::pair<std::string, int>{"one", 3}, {"two", 5}, {"three", 4}}) {
            if (request.path == begin + name + ".tar.gz") {
                return file_reply(request, collection_archive(name, text_of_rows(rows)), "\"" + name + "\"");
            }
        }
        if (request.path == "/MM/Bad/page.tar.gz") return {.body = "<html>Sign in</html>"};
        if (request.path == "/MM/Bad/half.tar.gz") {
            HttpReply reply = file_reply(request, collection_archive("half", text_of_rows(50)), "\"half\"");
            reply.stop_after = 100;
            return reply;
        }
        if (request.path == "/MM/Bad/silent.tar.gz") return {.body = "silent", .stop_after = 0, .hang = true};
        return {.status = 404, .body = "<html>Not found</html>"};
    }

    [[nodiscard]] Outcome run(const std::string& arguments, const std::string& more = "") const {
        const std::string environment = "env -u WORKBENCH_COLLECTION no_proxy=127.0.0.1 OMP_NUM_THREADS=1 " + more;
        return workbench_in(folder.path(), arguments, environment);
    }
    [[nodiscard]] Outcome fetch(const std::string& arguments) const {
        return run("fetch --from " + server.address() + " " + arguments);
    }

    /// Masks what varies from run to run.
    [[nodiscard]] std::string stable(std::string text) const {
        text = replaced(replaced(std::move(text), server.address(), "SERVER"), project.string(), "SOURCE");
        text = std::regex_replace(text, std::regex(R"(\b\d+( B$| bytes))", std::regex::multiline), "N$1");  // compressed sizes
        return std::regex_replace(text, std::regex(R"(127\.0\.0\.1:\d+|127\.0\.0\.1 port \d+)"), "NOBODY");
    }
    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((folder.path() / file).parent_path());
        std::ofstream(folder.path() / file, std::ios::binary) << text;
    }
};

void expect_fetch(const std::string& name, const std::string& text) { compare_with_stored("fetch_" + name, text); }

/// The output of a bench up to its tables, without times and the warnings about them, which depend on the machine.
std::string without_times(const std::string& text) {
    std::string head = text.substr(0, text.find("\nCPU"));
    head = std::regex_replace(head, std::regex(R"(    warning: (?!the file has )[^\n]*\n)"), "");
    return std::regex_replace(head, std::regex(R"(: (too few samples|the baseline|[\d.]+ [mun]?s), kokkos \S+)"), ": T");
}

/// A value of --max-memory that the program accepts, whose use of memory differs from run to run by some 0.5 MiB, and that
/// leaves nothing once a matrix is read.
std::string almost_no_memory() {
    const std::string text = run("info tests/golden/cli/wide.mtx --max-memory 1K").text;
    const std::string before = "already, ";
    return std::to_string(std::stoi(text.substr(text.find(before) + before.size())) + 2) + "M";
}

}  // namespace

TEST_SUITE("fetch") {
    TEST_CASE("several matrices: failures cost only their own lines; existing files are not fetched again") {
        const Site site;
        const Outcome first = site.fetch("Good/one Bad/none Bad/page Bad/half Good/two Good/one");
        CHECK(first.exit_code == 1);
        expect_fetch("several", site.stable(first.text));
        CHECK(fs::exists(site.folder.path() / "matrices/Good/one.tar.gz"));
        CHECK(file_text(site.folder.path() / "matrices/Bad/half.tar.gz.part").size() == 100);

        const std::size_t asked = site.server.requests().size();
        const Outcome again = site.fetch("Good/one Good/two");
        CHECK(again.exit_code == 0);
        CHECK(again.text ==
              "Good/one: already present, 3 x 3, 3 nonzeros, matrices/Good/one.tar.gz\n"
              "Good/two: already present, 5 x 5, 5 nonzeros, matrices/Good/two.tar.gz\n"
              "0 fetched, 2 already present, 0 failed; in matrices\n");
        CHECK(site.server.requests().size() == asked);
        CHECK(site.run("info matrices/Good/two.tar.gz").exit_code == 0);
    }

    TEST_CASE("files that the user unpacked or moved count as present; broken ones are fetched again") {
        const Site site;
        site.write("down/one/one.mtx", text_of_rows(3));
        site.write("down/two.mtx", text_of_rows(5));
        site.write("down/Other/three.mtx", text_of_rows(4));  // a matrix of the same name, in another group
        const Outcome outcome = site.fetch("Good/one Good/two Good/three --into down");
        CHECK(outcome.exit_code == 0);
        CHECK(
            outcome.text.starts_with("Good/one: already present, 3 x 3, 3 nonzeros, down/one/one.mtx\n"
                                     "Good/two: already present, 5 x 5, 5 nonzeros, down/two.mtx\n"
                                     "Good/three: fetched, 4 x 4, 4 nonzeros, "));
        site.write("down/Good/three.tar.gz", "nothing");
        const Outcome again = site.fetch("Good/three --into down");
        CHECK(again.exit_code == 0);
        CHECK(again.text.starts_with(
            "note: Good/three: fetched again, as the existing file is broken: down/Good/three.tar.gz: starts with "
            "'nothing'; expected "));
        CHECK(again.text.find("Good/three: fetched, 4 x 4, 4 nonzeros, ") != std::string::npos);
        CHECK(file_text(site.folder.path() / "down/Good/three.tar.gz") == collection_archive("three", text_of_rows(4)));
    }

    TEST_CASE("a suite whose source contradicts a matrix") {
        const Site site;
        site.write("s.toml", "[suite]\nsource = 'Nobody, table 3'\nrecipes = ['" + csr_file +
                                 "']\nnamed = [{ name = 'Good/one', rows = 3, nonzeros = 4 }, { name = 'alone' },\n"
                                 "    { name = 'Good/two', rows = 5, nonzeros = 5 }]\n");
        const Outcome outcome = site.fetch("s.toml");
        CHECK(outcome.exit_code == 0);
        expect_fetch("suite", site.stable(outcome.text));
    }

    TEST_CASE("no network, and a server that stops sending") {
        const Site site;
        const Outcome unreachable = site.run("fetch Good/one Good/two Good/three --from " + unused_address() + "/");
        CHECK(unreachable.exit_code == 4);
        expect_fetch("no_network", std::regex_replace(site.stable(unreachable.text), std::regex("\\(.*\\)"), "(REASON)"));
        CHECK(site.run("fetch Good/one", "WORKBENCH_COLLECTION=" + unused_address()).exit_code == 4);
        const Outcome silent = site.fetch("Bad/silent --timeout 1");
        CHECK(silent.exit_code == 1);
        CHECK(site.stable(silent.text) ==
              "error: Bad/silent: SERVER/MM/Bad/silent.tar.gz: no data for 1 s, before the first byte\n");
    }

    TEST_CASE("a matrix too large to check is kept with a note") {
        const Site site;
        const Outcome outcome = site.fetch("Good/one --max-memory " + almost_no_memory());
        CHECK(outcome.exit_code == 0);
        CHECK(site.stable(outcome.text).starts_with("Good/one: fetched, N B\nnote: Good/one: not checked: matrices/Good/one."));
        CHECK(fs::exists(site.folder.path() / "matrices/Good/one.tar.gz"));
    }

    TEST_CASE("a full disk, and a folder that is a file") {
        const Site site;
        const std::string limited = "cd '" + site.folder.path().string() +
                                    "' && (trap '' XFSZ; ulimit -f 0; no_proxy=127.0.0.1 '" WORKBENCH_BINARY
                                    "' fetch Good/one --from " +
                                    site.server.address() + " 2>&1)";
        const Outcome full = shell(limited);
        CHECK(full.exit_code == 4);
        CHECK(full.text.find("cannot be written: File too large\n") != std::string::npos);
        site.write("file", "x");
        const Outcome none = site.fetch("Good/one --into file");
        CHECK(none.exit_code == 4);
        CHECK(none.text == "error: file/Good: cannot be created: Not a directory\n");
    }

    TEST_CASE("invalid command lines") {
        const Site site;
        site.write("own.toml", "[suite]\nrecipes = []\n");
        std::string text;
        for (const std::string arguments : {"cant", "Good/../x", "Good/one/two", "none.toml", "own.toml", csr_file.c_str(),
                                            "Good/one --from ftp://a", "Good/one --from https://", "Good/one --timeout 0"}) {
            const Outcome outcome = site.run("fetch " + arguments);
            CHECK(outcome.exit_code == 2);
            text += site.stable(outcome.text);
        }
        CHECK(site.run("fetch Good/one", "WORKBENCH_COLLECTION=here").text ==
              "error: WORKBENCH_COLLECTION: found 'here', expected an address such as https://sparse.tamu.edu\n");
        expect_fetch("errors", text);
        CHECK(!fs::exists(site.folder.path() / "matrices"));
    }
}

TEST_SUITE("suites that name matrices") {
    TEST_CASE("missing matrices are listed with the command to fetch them, the others are measured") {
        const Site site;
        site.write("s.toml", "[suite]\nsource = 'Nobody, table 3'\nrecipes = ['" + csr_file +
                                 "']\nnamed = [{ name = 'Good/one', rows = 3, nonzeros = 4 }, { name = 'Good/two' },\n"
                                 "    { name = 'alone' }]\n");
        const Outcome nothing = site.run("bench s.toml" + quick);
        CHECK(nothing.exit_code == 3);
        expect_fetch("bench_nothing", nothing.text);
        CHECK(!fs::exists(site.folder.path() / "s.jsonl"));

        CHECK(site.fetch("Good/one").exit_code == 0);
        const Outcome some = site.run("bench s.toml" + quick);
        CHECK(some.exit_code == 0);
        expect_fetch("bench_some", without_times(some.text));
        const std::string lines = file_text(site.folder.path() / "s.jsonl");
        CHECK(lines.find(R"("matrix":"Good/one")") != std::string::npos);
        CHECK(lines.find("the file has 3 rows and 3 nonzeros, but Nobody, table 3 states 3 and 4") != std::string::npos);

        CHECK(site.fetch("s.toml").exit_code == 0);
        const Outcome more = site.run("bench s.toml" + quick);
        CHECK(more.text.starts_with(
            "1 of the suite's 3 matrices are missing in matrices:\n  alone: its group in the collection is unknown"));
        CHECK(more.text.find("3 already measured; written to s.jsonl") != std::string::npos);
    }

    TEST_CASE("with --matrices FOLDER, only named matrices run, and the fetch commands contain the folder") {
        const Site site;
        site.write("s.toml", "[suite]\nrecipes = ['" + csr_file +
                                 "']\ngenerate = ['laplace2d:nx=4']\nnamed = [{ name = 'Good/one' }, { name = 'Good/two' }]\n");
        site.write("my files/two/two.mtx", text_of_rows(5));
        site.write("my files/other.mtx", text_of_rows(5));
        const Outcome outcome = site.run("bench s.toml --matrices 'my files'" + quick);
        CHECK(outcome.exit_code == 0);
        CHECK(without_times(outcome.text)
                  .starts_with("1 of the suite's 2 matrices are missing in my files:\n"
                               "  workbench fetch Good/one --into 'my files'\n"
                               "To fetch all of them: workbench fetch s.toml --into 'my files'\n"
                               "[1/2] Good/two\n  CSR f64: T\n"));
        CHECK(outcome.text.find("[2/2] laplace2d:nx=4\n") != std::string::npos);
        CHECK(outcome.text.find("other") == std::string::npos);
        CHECK(site.run("bench s.toml --matrices nowhere" + quick).text ==
              "error: nowhere: no such file; expected a matrix file or a folder of matrix files\n");
        CHECK(site.run("bench s.toml --out new.jsonl --generate laplace2d:nx=3" + quick).text.find("laplace2d:nx=4") ==
              std::string::npos);
    }

    TEST_CASE("given files are measured even if the suite does not name them; without folders, nothing else is measured") {
        const Site site;
        site.write("s.toml", "[suite]\nsource = 'Nobody, table 3'\nrecipes = ['" + csr_file +
                                 "']\ngenerate = ['laplace2d:nx=4']\n"
                                 "named = [{ name = 'Good/one', rows = 3 }, { name = 'Good/two' }]\n");
        site.write("mine/other.mtx", text_of_rows(5));
        site.write("mine/one.mtx", text_of_rows(5));
        site.write("kept/two.mtx", text_of_rows(5));
        const Outcome alone = site.run("bench s.toml --matrices mine/other.mtx mine/one.mtx mine/../mine/one.mtx" + quick);
        CHECK(alone.exit_code == 0);
        CHECK(alone.text.starts_with("[1/2] Good/one\n"));
        CHECK(alone.text.find("\n[2/2] mine/other.mtx\n") != std::string::npos);
        CHECK(alone.text.find("missing") == std::string::npos);
        CHECK(file_text(site.folder.path() / "s.jsonl").find("but Nobody, table 3 states 3") != std::string::npos);

        const Outcome both = site.run("bench s.toml --out b.jsonl --matrices kept mine/other.mtx" + quick);
        for (const std::string line : {"[1/3] Good/two", "[2/3] mine/other.mtx", "[3/3] laplace2d:nx=4"}) {
            CHECK(both.text.find('\n' + line + '\n') != std::string::npos);
        }
        CHECK(both.text.starts_with("1 of the suite's 2 matrices are missing in kept:\n"));

        site.write("files.toml",
                   "[suite]\nrecipes = ['" + csr_file + "']\nmatrices = ['mine/one.mtx']\nnamed = [{ name = 'Good/two' }]\n");
        CHECK(site.run("bench files.toml" + quick).exit_code == 3);  // the suite's matrices are only searched
    }

    TEST_CASE("the shipped suites: recipes are valid and have distinct names, generators exist") {
        std::size_t named = 0;
        std::size_t suites = 0;
        for (const auto& file : std::filesystem::directory_iterator(project / "suites")) {
            if (file.path().extension() != ".toml") continue;
            ++suites;
            CAPTURE(file.path().string());
            const Suite suite = load_suite(file.path());
            CHECK(suite.name == file.path().stem());
            CHECK(!suite.source.empty());
            std::set<std::string> names;
            for (const SuiteItem& recipe : suite.recipes) {
                names.insert(load_points(recipe.text, catalogue()).points.at(0).name);
            }
            CHECK(names.size() == suite.recipes.size());
            CHECK(names.size() >= 2);
            for (const SuiteItem& item : suite.generated) (void)generated_matrix(item.text, {}, catalogue());
            for (const SuiteMatrix& matrix : suite.named) {
                CHECK_MESSAGE((matrix.group.empty() == (matrix.name == "e40r5000")), matrix.name);
            }
            named += suite.named.size();
        }
        CHECK(suites == 14);
        CHECK(named == 92 + 12 + 3 + 3 + 3 + 4 + 3 + 8);
    }

    TEST_CASE("an installed program finds its suites and their recipes in any folder") {
        const Site site;
        const fs::path prefix = site.folder.path() / "prefix";
        const fs::path share = prefix / "share/spmv-workbench";
        fs::create_directories(prefix / "bin");
        fs::create_directories(share / "recipes");
        fs::copy(WORKBENCH_BINARY, prefix / "bin/workbench");
        fs::copy(csr_file, share / "recipes/csr.toml");
        site.write(
            "prefix/share/spmv-workbench/suites/small.toml",
            "[suite]\nrecipes = ['../recipes/csr.toml']\ngenerate = ['laplace2d:nx=4']\nnamed = [{ name = 'Good/one' }]\n");
        const std::string at = "cd '" + site.folder.path().string() + "' && no_proxy=127.0.0.1 prefix/bin/workbench ";
        CHECK(shell(at + "fetch suites/small.toml --from " + site.server.address() + " 2>&1").exit_code == 0);
        const Outcome outcome = shell(at + "bench suites/small.toml" + quick + " 2>&1");
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.text.find("6 measured, 0 unsuitable, 0 wrong, 0 failed, 0 already measured; written to small.jsonl") !=
              std::string::npos);
    }
}

}  // namespace workbench
