// Several recipes in one run on a scripted machine, which can give wrong results and fail: failures are reported and do not
// stop the other recipes.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "core/contract/errors.hpp"
#include "core/contract/failure.hpp"
#include "frontends/cli/run_recipes.hpp"
#include "support/golden.hpp"
#include "support/layouts/scripted.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Redirects standard output and standard error to one file.
class CapturedOutput {
public:
    CapturedOutput() {
        (void)std::fflush(stdout);
        dup2(fileno(file_), STDOUT_FILENO);
        dup2(fileno(file_), STDERR_FILENO);
    }
    CapturedOutput(const CapturedOutput&) = delete;
    CapturedOutput& operator=(const CapturedOutput&) = delete;
    ~CapturedOutput() {
        release();
        (void)std::fclose(file_);
        close(out_);
        close(err_);
    }

    [[nodiscard]] std::string text() {
        release();
        std::rewind(file_);
        std::string text(100000, ' ');
        text.resize(std::fread(text.data(), 1, text.size(), file_));
        return text;
    }

private:
    void release() const {
        (void)std::fflush(stdout);
        dup2(out_, STDOUT_FILENO);
        dup2(err_, STDERR_FILENO);
    }

    std::FILE* file_ = std::tmpfile();
    int out_ = dup(STDOUT_FILENO);
    int err_ = dup(STDERR_FILENO);
};

const CsrMatrix& example() {
    static const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1.5}, {1, 2, 2.5}, {2, 1, 3.5}});
    return matrix;
}

struct NamedRecipe {
    std::string name;
    std::string text;
};

/// The machine fails for the recipe with the name `unlucky`.
Outcome run_scripted(const std::vector<NamedRecipe>& texts, const RunOutput& output, const CsrMatrix& matrix = example(),
                     const std::map<std::string, int>& breaks = {}) {
    new_script().breaks = breaks;
    ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
    RunOptions options;
    options.timing = {CacheState::warm, 5, 0, 1, scripted_clock()};
    Runner runner(matrix, scripted_catalogue(), {host}, options);
    std::vector<Recipe> recipes;
    for (const NamedRecipe& one : texts) recipes.push_back(parse_recipe(one.text, one.name + ".toml", scripted_catalogue()));
    CapturedOutput captured;
    const auto runner_for = [&](const Recipe& recipe) -> Runner& {
        if (recipe.file.stem() == "unlucky") throw MachineError("no memory for the matrix");
        return runner;
    };
    const ExitCode exit_code =
        run_recipes(runner_for, recipes, output, [](RunReport& report) { report.matrix.source = "a matrix"; });
    return {static_cast<int>(exit_code), captured.text()};
}

std::vector<std::string> files_in(const fs::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), folder).string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

const NamedRecipe good{"good", "[layout]\nuse = 'plain'\n"};
const NamedRecipe reversed{"reversed", "[[stage]]\nuse = 'reverse'\n[layout]\nuse = 'plain'\n"};
const NamedRecipe wrong{"wrong", "[layout]\nuse = 'bad'\n[kernel]\nkokkos = 'wrong'\n"};
const NamedRecipe refused{"refused", "[[stage]]\nuse = 'reverse'\n[[stage]]\nuse = 'refuse'\n[layout]\nuse = 'plain'\n"};
const NamedRecipe of_pairs{"of_pairs", "[matrix]\nnode_size = 2\n[layout]\nuse = 'plain'\n"};

using Files = std::vector<std::string>;

}  // namespace

TEST_SUITE("run_recipes") {
    TEST_CASE("success") {
        const TemporaryFolder folder;
        const Outcome ended = run_scripted({good, reversed}, {folder.path(), "", false});
        CHECK(ended.exit_code == 0);
        CHECK(ended.text.find("error:") == std::string::npos);
        CHECK(files_in(folder.path()) == Files{"good/report.json", "reversed/report.json"});
        CHECK(json_in(folder.path() / "good" / "report.json")["errors"].empty());
        CHECK(json_in(folder.path() / "good" / "report.json")["matrix"]["source"] == "a matrix");
    }

    TEST_CASE("a wrong result gives exit code 1, whatever the other recipes give") {
        const TemporaryFolder folder;
        const std::string message = "\nerror: a kernel failed verification, see WRONG RESULT";
        for (const auto& recipes : {std::vector{wrong}, {good, wrong}, {wrong, good}, {refused, wrong}}) {
            const Outcome ended = run_scripted(recipes, {folder.path(), "", false});
            CHECK(ended.exit_code == 1);
            CHECK(ended.text.find("bad wrong kokkos f64: WRONG RESULT: row 2: y = ") != std::string::npos);
            CHECK(ended.text.find(message) != std::string::npos);
        }
        CHECK(json_in(folder.path() / "wrong" / "report.json")["kernels"][1]["status"] == "wrong");
    }

    TEST_CASE("an unsuitable recipe does not stop the others") {
        const TemporaryFolder folder;
        const std::string all = (folder.path() / "all.json").string();
        const Outcome ended = run_scripted({refused, of_pairs, good}, {folder.path(), all, false});
        CHECK(ended.exit_code == 3);
        const std::string reason = "refused.toml:3: stage 'refuse': this matrix has no such order";
        const std::string odd = "the matrix has 3 rows; expected a multiple of node_size = 2 in [matrix] of of_pairs.toml";
        CHECK(ended.text.find("\n  error: " + reason + '\n') != std::string::npos);
        CHECK(ended.text.find("\n  error: " + odd + '\n') != std::string::npos);
        // Repeated at the end.
        CHECK(ended.text.ends_with("error: refused.toml: " + reason + "\nerror: of_pairs.toml: " + odd + '\n'));
        CHECK(ended.text.find("Kernels", ended.text.find(odd)) != std::string::npos);

        const auto runs = json_in(all)["runs"];
        REQUIRE(runs.size() == 3);
        CHECK(runs[0]["errors"] == nlohmann::json{reason});
        CHECK(runs[0]["stages"].size() == 2);  // the input and the stage before
        CHECK(runs[0]["kernels"].empty());
        CHECK(runs[1]["errors"] == nlohmann::json{odd});
        CHECK(runs[1]["stages"].empty());
        CHECK(runs[2]["errors"].empty());
        CHECK(runs[2]["kernels"].size() == 4);
        CHECK(files_in(folder.path()) == Files{"all.json", "good/report.json", "of_pairs/report.json", "refused/report.json"});
    }

    TEST_CASE("if several recipes fail, the exit code is that of the first") {
        const TemporaryFolder folder;
        const NamedRecipe unlucky{"unlucky", good.text};
        const Outcome first = run_scripted({good, unlucky, refused}, {folder.path(), "", false});
        CHECK(first.exit_code == 4);
        CHECK(first.text.find("\nerror: unlucky.toml: no memory for the matrix\nerror: refused.toml: ") != std::string::npos);
        CHECK(run_scripted({refused, good, unlucky}, {folder.path(), "", false}).exit_code == 3);
    }

    TEST_CASE("after a recipe that breaks its device, no other recipe runs") {
        const TemporaryFolder folder;
        const std::string all = (folder.path() / "all.json").string();
        const NamedRecipe slow{"slow", "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'slow'\n"};
        const NamedRecipe fast{"fast", "[layout]\nuse = 'plain'\n[kernel]\nkokkos = 'fast'\n"};
        const NamedRecipe last{"last", fast.text};
        const Outcome ended = run_scripted({fast, slow, last}, {folder.path(), all, false}, example(), {{"run slow", 3}});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.find("\nerror: 1 further recipe was not run\n") != std::string::npos);
        CHECK(files_in(folder.path()) == Files{"all.json", "fast/report.json", "slow/report.json"});
        const auto runs = json_in(all)["runs"];
        REQUIRE(runs.size() == 2);
        CHECK(runs[0]["errors"].empty());
        CHECK(runs[1]["errors"] == nlohmann::json{"an illegal address in run slow", "a host no longer works in this process"});
    }

    TEST_CASE("a single unsuitable recipe is an error, and nothing is written") {
        const TemporaryFolder folder;
        const std::string message = message_of<InputError>([&] {
            (void)run_scripted({refused}, {folder.path() / "out", (folder.path() / "all.json").string(), true});
        });
        CHECK(message == "refused.toml:3: stage 'refuse': this matrix has no such order");
        CHECK(files_in(folder.path()) == Files{"all.json"});
        CHECK(json_in(folder.path() / "all.json")["unsuitable"] == message);
        CHECK(json_in(folder.path() / "all.json")["kernels"].empty());
    }

    TEST_CASE("a run that measures nothing leaves the results of an earlier one") {
        const TemporaryFolder folder;
        const RunOutput output{folder.path(), "", true};
        (void)run_scripted({{"r", reversed.text}, good}, output);
        const Files before = files_in(folder.path());
        const std::string report = file_text(folder.path() / "r" / "report.json");
        const Outcome ended = run_scripted({{"r", refused.text}, {"good", of_pairs.text}}, output);
        CHECK(ended.exit_code == 3);
        CHECK(ended.text.find("the results of an earlier run in " + (folder.path() / "r").string() + " are kept") !=
              std::string::npos);
        CHECK(files_in(folder.path()) == before);
        CHECK(file_text(folder.path() / "r" / "report.json") == report);
        CHECK_THROWS_AS((void)run_scripted({{"r", refused.text}}, output), InputError);
        CHECK(files_in(folder.path()) == before);
    }

    TEST_CASE("stale pictures stay if a new one cannot be written") {
        const TemporaryFolder folder;
        (void)run_scripted({{"r", "[[stage]]\nuse = 'reverse'\nid = 'before'\n[layout]\nuse = 'plain'\n"}},
                           {folder.path(), "", true});
        fs::create_directories(folder.path() / "r" / "1_after.png" / "in the way");
        const Outcome ended = run_scripted({{"r", "[[stage]]\nuse = 'reverse'\nid = 'after'\n[layout]\nuse = 'plain'\n"}},
                                           {folder.path(), "", true});
        CHECK(ended.exit_code == 4);
        CHECK(fs::exists(folder.path() / "r" / "1_before.png"));
    }

    TEST_CASE("a matrix that cannot be read is reported once, and nothing is written for it") {
        const TemporaryFolder folder;
        new_script();
        std::vector<Recipe> recipes;
        for (const NamedRecipe& one : {good, reversed}) {
            recipes.push_back(parse_recipe(one.text, one.name + ".toml", scripted_catalogue()));
        }
        CapturedOutput captured;
        const ExitCode exit_code = run_recipes([](const Recipe&) -> Runner& { throw InputError("none.mtx: no such file"); },
                                               recipes, {folder.path(), "", true}, [](RunReport&) {});
        const std::string text = captured.text();
        CHECK(exit_code == ExitCode::bad_input);
        CHECK(text.find("0 x 0") == std::string::npos);
        CHECK(text.find("\nerror: ") == text.rfind("\nerror: "));
        CHECK(text.ends_with("none.mtx: no such file\n"));
        CHECK(fs::is_empty(folder.path()));
        recipes.resize(1);
        const std::string json = (folder.path() / "all.json").string();
        CHECK_THROWS_AS((void)run_recipes([](const Recipe&) -> Runner& { throw InputError("none.mtx: no such file"); }, recipes,
                                          {folder.path(), json, true}, [](RunReport&) {}),
                        InputError);
        CHECK(fs::is_empty(folder.path()));
    }

    TEST_CASE("Ctrl-C keeps the recipes that have run, and says so") {
        const TemporaryFolder folder;
        const auto run_until = [&](std::size_t recipe) {
            new_script();
            ScriptedDevice host({DeviceKind::host, "a host", 1, 0, 0, 0});
            RunOptions options;
            options.timing = {CacheState::warm, 5, 0, 1, scripted_clock()};
            Runner runner(example(), scripted_catalogue(), {host}, options);
            std::vector<Recipe> recipes;
            for (const NamedRecipe& one : {good, reversed}) {
                recipes.push_back(parse_recipe(one.text, one.name + ".toml", scripted_catalogue()));
            }
            std::size_t begun = 0;
            CapturedOutput captured;
            const ExitCode exit_code = run_recipes(
                [&](const Recipe&) -> Runner& {
                    if (begun++ == recipe) (void)raise(SIGINT);
                    return runner;
                },
                recipes, {folder.path(), "", false}, [](RunReport& report) { report.matrix.source = "a matrix"; });
            return Outcome{static_cast<int>(exit_code), captured.text()};
        };
        CHECK(message_of<Stopped>([&] { (void)run_until(0); }) == "stopped: nothing was measured, and nothing was written");
        CHECK(fs::is_empty(folder.path()));
        const Outcome ended = run_until(1);
        CHECK(ended.exit_code == 130);
        CHECK(ended.text.ends_with("\nstopped: the results of 1 of 2 recipes are kept in " + folder.path().string() + "\n"));
        CHECK(files_in(folder.path()) == Files{"good/report.json"});
    }

    TEST_CASE("no kernel") {
        const TemporaryFolder folder;
        CHECK_THROWS_AS(
            (void)run_scripted({{"none", "[layout]\nuse = 'refusing'\n[kernel]\nkokkos = 'fast'\neigen = 'none'\n"}},
                               {folder.path(), "", false}),
            RecipeError);
    }

    TEST_CASE("values beyond f32 are the reason why no kernel ran in f32") {
        const TemporaryFolder folder;
        std::ofstream(folder.path() / "a.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e308\n2 2 1\n";
        const Outcome run = workbench_in(folder.path(), "run '" + std::string(WORKBENCH_SOURCE_DIR) +
                                                            "/recipes/csr.toml' --matrix a.mtx --precision f32 --samples 1 "
                                                            "--seconds 0 --no-pictures --out out");
        CHECK(run.exit_code == 3);
        CHECK(
            run.text.find("error: no kernel ran: csr: 1 of 2 values are finite in f64 but not in f32 (the largest magnitude is "
                          "1e+308): use f64\n") != std::string::npos);
    }

    TEST_CASE("a recipe without a kernel for the backends is an error, unless another recipe has one") {
        const TemporaryFolder folder;
        const std::string recipes = std::string(WORKBENCH_SOURCE_DIR) + "/recipes/";
        const auto run = [&](const std::string& files) {
            return workbench_in(folder.path(), "run " + files +
                                                   " --generate laplace2d:nx=5 --backend eigen --samples 1 --seconds 0 "
                                                   "--cache warm --no-pictures --out out");
        };
        const Outcome alone = run(recipes + "ell.toml");
        CHECK(alone.exit_code == 2);
        CHECK(alone.text.find("no kernel ran: none of these layouts has a kernel for the requested backends\n") !=
              std::string::npos);
        CHECK(run(recipes + "csr.toml " + recipes + "ell.toml").exit_code == 0);
    }

    TEST_CASE("an unwritable picture is recorded as an error") {
        const TemporaryFolder folder;
        const fs::path picture = folder.path() / "reversed" / "0_input.png";
        fs::create_directories(picture / "in the way");
        const Outcome ended = run_scripted({reversed}, {folder.path(), "", true});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.find("\n  error: " + picture.string() + ": cannot be written: ") != std::string::npos);
        CHECK(files_in(folder.path()) == Files{"reversed/1_reverse.png", "reversed/report.html", "reversed/report.json",
                                               "reversed/stages.png", "reversed/storage.png", "reversed/storage.svg"});
        const auto report = json_in(folder.path() / "reversed" / "report.json");
        CHECK(report["stages"][0]["picture"].is_null());
        CHECK(report["stages"][1]["picture"] == "1_reverse.png");
        CHECK(report["kernels"].size() == 4);
        CHECK(report["errors"].size() == 1);
    }

    TEST_CASE("an unwritable storage picture is recorded as an error") {
        const TemporaryFolder folder;
        const fs::path picture = folder.path() / "good" / "storage.png";
        fs::create_directories(picture / "in the way");
        const Outcome ended = run_scripted({good}, {folder.path(), "", true});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.find("error: " + picture.string() + ": cannot be written: ") != std::string::npos);
        CHECK(!fs::exists(folder.path() / "good" / "storage.svg"));
        const auto report = json_in(folder.path() / "good" / "report.json");
        CHECK(report["storage_picture"].is_null());
        CHECK(report["contact_sheet"] == "stages.png");
        CHECK(report["kernels"].size() == 4);
    }

    TEST_CASE("an unwritable page is recorded as an error") {
        const TemporaryFolder folder;
        const fs::path page = folder.path() / "reversed" / "report.html";
        fs::create_directories(page / "in the way");
        const Outcome ended = run_scripted({reversed}, {folder.path(), "", true});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.find("\n  error: " + page.string() + ": cannot be written: ") != std::string::npos);
        CHECK(files_in(folder.path()) == Files{"reversed/0_input.png", "reversed/1_reverse.png", "reversed/report.json",
                                               "reversed/stages.png", "reversed/storage.png", "reversed/storage.svg"});
        const auto report = json_in(folder.path() / "reversed" / "report.json");
        CHECK(report["page"].is_null());
        CHECK(report["errors"].size() == 1);
    }

    TEST_CASE("an unwritable report is recorded as an error") {
        const TemporaryFolder folder;
        fs::create_directories(folder.path() / "good" / "report.json" / "in the way");
        const std::string all = (folder.path() / "all.json").string();
        const Outcome ended = run_scripted({good, reversed}, {folder.path(), all, false});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.find("written to " + (folder.path() / "good").string()) == std::string::npos);
        CHECK(ended.text.find("written to " + (folder.path() / "reversed").string()) != std::string::npos);
        CHECK(json_in(all)["runs"][0]["errors"].size() == 1);
        CHECK(json_in(all)["runs"][0]["kernels"].size() == 4);
        CHECK(fs::exists(folder.path() / "reversed" / "report.json"));
    }

    TEST_CASE("a full disk for --json loses only that file") {
        const TemporaryFolder folder;
        const Outcome ended = run_scripted({good}, {folder.path(), "/dev/full", false});
        CHECK(ended.exit_code == 4);
        CHECK(ended.text.ends_with("\nerror: /dev/full: cannot be written: No space left on device\n"));
        CHECK(ended.text.find("plain   fast") != std::string::npos);
        CHECK(json_in(folder.path() / "good" / "report.json")["kernels"].size() == 4);
    }

    TEST_CASE("--json - prints JSON only") {
        const TemporaryFolder folder;
        const Outcome one = run_scripted({good}, {folder.path(), "-", false});
        CHECK(one.exit_code == 0);
        CHECK(nlohmann::json::parse(one.text) == json_in(folder.path() / "good" / "report.json"));
        const Outcome two = run_scripted({good, reversed}, {folder.path(), "-", false});
        CHECK(nlohmann::json::parse(two.text)["runs"].size() == 2);
        CHECK(!fs::exists("-"));
    }

    TEST_CASE("stale pictures are deleted, other files are not") {
        const TemporaryFolder folder;
        const fs::path own = folder.path() / "r";
        (void)run_scripted({{"r", "[[stage]]\nuse = 'reverse'\nid = 'before'\n[layout]\nuse = 'plain'\n"}},
                           {folder.path(), "", true});
        std::ofstream(own / "7_mine.png") << "the user's";
        CHECK(files_in(own) == Files{"0_input.png", "1_before.png", "7_mine.png", "report.html", "report.json", "stages.png",
                                     "storage.png", "storage.svg"});
        (void)run_scripted({{"r", "[[stage]]\nuse = 'reverse'\nid = 'after'\n[layout]\nuse = 'plain'\n"}},
                           {folder.path(), "", true});
        CHECK(files_in(own) == Files{"0_input.png", "1_after.png", "7_mine.png", "report.html", "report.json", "stages.png",
                                     "storage.png", "storage.svg"});
        RunOutput without_page{folder.path(), "", true};
        without_page.page = false;
        (void)run_scripted({{"r", "[layout]\nuse = 'plain'\n"}}, without_page);
        CHECK(files_in(own) == Files{"0_input.png", "7_mine.png", "report.json", "stages.png", "storage.png", "storage.svg"});
        (void)run_scripted({{"r", "[layout]\nuse = 'plain'\n"}}, {folder.path(), "", true});
        CHECK(files_in(own) ==
              Files{"0_input.png", "7_mine.png", "report.html", "report.json", "stages.png", "storage.png", "storage.svg"});
        (void)run_scripted({{"r", "[layout]\nuse = 'plain'\n"}}, {folder.path(), "", false});
        CHECK(files_in(own) == Files{"7_mine.png", "report.json"});
    }

    TEST_CASE("a foreign report.json is harmless") {
        const TemporaryFolder folder;
        const fs::path own = folder.path() / "good";
        for (const char* text : {"", "[1]", "{\"stages\": 3}", "{\"contact_sheet\": \"../a.png\", \"stages\": [1, {}]}",
                                 "{\"contact_sheet\": \"b.txt\"}", "{\"stages\": [{\"picture\": \"/a.png\"}]}"}) {
            fs::create_directories(own);
            std::ofstream(own / "report.json") << text;
            std::ofstream(folder.path() / "a.png") << "a";
            std::ofstream(own / "b.txt") << "b";
            CHECK(run_scripted({good}, {folder.path(), "", false}).exit_code == 0);
            CHECK(files_in(folder.path()) == Files{"a.png", "good/b.txt", "good/report.json"});
        }
    }

    TEST_CASE("check_output finds unwritable files and leaves no files") {
        const TemporaryFolder folder;
        const auto check = [&](const fs::path& out, const std::string& json) {
            check_output({out, json, true}, {parse_recipe(good.text, "good.toml", scripted_catalogue())});
        };
        CHECK_NOTHROW(check(folder.path() / "new" / "folder", (folder.path() / "other" / "all.json").string()));
        CHECK_NOTHROW(check(folder.path(), "-"));
        CHECK_NOTHROW(check(folder.path(), "/dev/full"));
        CHECK(fs::is_empty(folder.path()));
        std::ofstream(folder.path() / "taken") << "a file";
        CHECK_THROWS_AS(check(folder.path() / "taken", ""), MachineError);
        CHECK_THROWS_AS(check(folder.path(), (folder.path() / "taken" / "all.json").string()), MachineError);
        CHECK_THROWS_AS(check(folder.path(), folder.path().string()), MachineError);
        CHECK(files_in(folder.path()) == Files{"taken"});
        CHECK(file_text(folder.path() / "taken") == "a file");
    }
}

}  // namespace workbench
