// Matrices that a bench finds in a folder, and its file of results.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "studies/bench/matrices.hpp"
#include "studies/bench/results_file.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
}

std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const BenchMatrix& matrix : matrices_in(folder)) names.push_back(matrix.name);
    return names;
}

using Names = std::vector<std::string>;

std::string error_of_opening(const fs::path& file) {
    return message_of<RecipeError>([&] { const ResultsFile results(file, false); });
}

}  // namespace

TEST_SUITE("matrices of a bench") {
    TEST_CASE("a folder of downloads: archives, unpacked archives, right-hand sides beside the matrix, other files") {
        const TemporaryFolder folder;
        const fs::path down = folder.path() / "down";
        for (const char* file :
             {"bus.tar.gz", "plate/plate.mtx", "plate/plate_b.mtx", "plate/plate_coord.mtx", "plate.tar.gz", "a.mtx.gz",
              "b.npz", "c.rb.xz", "d.graph.zst", "e.tgz", "notes.txt", "f.mtx.bak", "two/x.mtx", "two/y.mtx", ".mtx"}) {
            write(down / file, "12345");
        }
        CHECK(names_in(down) == Names{"down/a.mtx.gz", "down/b.npz", "down/bus.tar.gz", "down/c.rb.xz", "down/d.graph.zst",
                                      "down/e.tgz", "down/plate/plate.mtx", "down/two/x.mtx", "down/two/y.mtx"});
        CHECK(names_in(down / "plate") == Names{"plate/plate.mtx"});
        CHECK(names_in(down / ".") == names_in(down));
        CHECK(matrices_in(down).front().bytes == 5);

        const auto alone = matrices_at(down / "a.mtx.gz");
        REQUIRE(alone.size() == 1);
        CHECK(alone[0].name == "down/a.mtx.gz");
        CHECK(std::get<MatrixFile>(alone[0].choice.from).path == down / "a.mtx.gz");
    }

    TEST_CASE("find_named prefers the folder of the group") {
        const TemporaryFolder folder;
        for (const char* file : {"A/x.tar.gz", "B/x/x.mtx", "y.mtx.gz", "A/z.npz", "xx.mtx"}) write(folder.path() / file, "1");
        const std::vector<BenchMatrix> all = any_matrices_in(folder.path());
        const auto found = [&](const std::string& group, const std::string& name) -> std::string {
            const BenchMatrix* matrix = find_named(all, group, name);
            return matrix == nullptr ? "none"
                                     : std::get<MatrixFile>(matrix->choice.from).path.lexically_relative(folder.path());
        };
        CHECK(found("A", "x") == "A/x.tar.gz");
        CHECK(found("B", "x") == "B/x/x.mtx");
        CHECK(found("C", "x") == "A/x.tar.gz");
        CHECK(found("", "x") == "A/x.tar.gz");
        CHECK(found("A", "y") == "y.mtx.gz");
        CHECK(found("A", "z") == "A/z.npz");
        CHECK(found("A", "w") == "none");
        CHECK(folder_of(*find_named(all, "B", "x")) == folder.path() / "B");
        CHECK(folder_of(*find_named(all, "A", "x")) == folder.path() / "A");
        CHECK(any_matrices_in(folder.path() / "B" / "x").size() == 1);
    }

    TEST_CASE("matrices are also found in folders that symbolic links name") {
        const TemporaryFolder folder;
        write(folder.path() / "elsewhere" / "x.mtx", "1");
        fs::create_directory(folder.path() / "all");
        fs::create_directory_symlink(folder.path() / "elsewhere", folder.path() / "all" / "link");
        const std::vector<BenchMatrix> found = any_matrices_in(folder.path() / "all");
        REQUIRE(found.size() == 1);
        CHECK(std::get<MatrixFile>(found[0].choice.from).path == folder.path() / "all" / "link" / "x.mtx");
    }

    TEST_CASE("a file that contradicts its source") {
        CHECK(contradiction({}, 3, 4).empty());
        CHECK(contradiction({"S", 3, 4}, 3, 4).empty());
        CHECK(contradiction({"S", 3, {}}, 3, 4).empty());
        CHECK(contradiction({"S", 3, 5}, 3, 4) == "the file has 3 rows and 4 nonzeros, but S states 3 and 5");
        CHECK(contradiction({"S", 2, {}}, 3, 4) == "the file has 3 rows, but S states 2");
        CHECK(contradiction({"", {}, 5}, 3, 4) == "the file has 4 nonzeros, but the suite states 5");
    }

    TEST_CASE("a folder without a matrix, and a missing file") {
        const TemporaryFolder folder;
        CHECK(message_of<InputError>([&] { (void)matrices_at(folder.path()); }) ==
              folder.path().string() +
                  ": this folder contains no matrix; expected .mtx, .rb, .graph, .npz, .mat, .h5 or .tar files");
        CHECK(message_of<InputError>([] { (void)matrices_at("none.mtx"); }) ==
              "none.mtx: no such file; expected a matrix file or a folder of matrix files");
    }
}

TEST_SUITE("results file") {
    TEST_CASE("existing lines are found again; an incomplete last line is truncated") {
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "new" / "r.jsonl";
        const std::string one = R"({"key":{"a":1},"status":"measured"})";
        const std::string two = R"({"key":{"a":2},"status":"failed"})";
        {
            ResultsFile results(file, false);
            CHECK(!results.has(R"({"a":1})"));
            results.add(R"({"a":1})", one);
            CHECK(results.has(R"({"a":1})"));
            results.add(R"({"a":2})", two);
        }
        CHECK(file_text(file) == one + '\n' + two + '\n');
        // The program may be killed after any byte.
        for (std::size_t bytes = 1; bytes < two.size(); ++bytes) {
            write(file, one + '\n' + two.substr(0, bytes));
            const ResultsFile results(file, false);
            CHECK(results.was_truncated());
            CHECK(results.has(R"({"a":1})"));
            CHECK(!results.has(R"({"a":2})"));
            CHECK(file_text(file) == one + '\n');
        }
        write(file, one + '\n' + two + '\n');
        CHECK(ResultsFile(file, false).has(R"({"a":2})"));
        CHECK(!ResultsFile(file, true).has(R"({"a":2})"));  // failed lines are repeated
        CHECK(ResultsFile(file, true).has(R"({"a":1})"));
        CHECK(!ResultsFile(file, true).was_truncated());
        // Only what failed is repeated.
        for (const std::string status : {"measured", "unsuitable", "wrong", "failed"}) {
            write(file, R"({"key":{"a":1},"status":")" + status + "\"}\n");
            CHECK(ResultsFile(file, true).has(R"({"a":1})") == (status != "failed"));
            CHECK(ResultsFile(file, false).has(R"({"a":1})"));
        }
    }

    TEST_CASE("other files are refused and left unchanged") {
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "notes";
        const std::string expected = R"(not a line of a bench; expected {"key":{...},...}; choose another file with --out)";
        for (const auto& [text, line] : {std::pair{"my notes", 1},
                                         {"my notes\n", 1},
                                         {"{\"status\":\"\"}\n", 1},
                                         {"{\"key\":{}}\n", 1},
                                         {"{\"key\":{},\"status\":\"\"}\n{}\n", 2},
                                         {"{\"key\":{},\"status\":\"\"}\n{\"k\":", 2}}) {
            write(file, text);
            CHECK(error_of_opening(file) ==
                  file.string() + ":" + std::to_string(line) + ":1: " + expected + (line > 1 ? ", or remove this line" : ""));
            CHECK(file_text(file) == text);
        }
    }

    TEST_CASE("the file is locked") {
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "r.jsonl";
        const ResultsFile results(file, false);
        CHECK(message_of<MachineError>([&] { const ResultsFile again(file, false); }) ==
              file.string() + ": another bench is writing to this file; wait for it or choose another file with --out");
    }
}

}  // namespace workbench
