// workbench draw, spy and animate.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;
const fs::path source = WORKBENCH_SOURCE_DIR;
const std::string small = "recipes/teaching/small_inline.toml";

Outcome run(const std::string& arguments, const std::string& environment = "") {
    return shell("cd '" + source.string() + "' && LC_ALL=C.UTF-8 " + environment + " '" WORKBENCH_BINARY "' " + arguments +
                 " 2>&1");
}

/// "OUT" stands for the test's folder.
void expect(const std::string& name, const std::string& folder, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = run(replaced(arguments, "OUT", folder));
    CHECK(outcome.exit_code == exit_code);
    const std::string text = folder.empty() ? outcome.text : replaced(outcome.text, folder, "OUT");
    compare_with_golden(source / "tests/golden/cli" / (name + ".txt"), text);
}

std::size_t files_in(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

}  // namespace

TEST_SUITE("draw") {
    TEST_CASE("help and errors, which leave no files") {
        const TemporaryFolder folder;
        const std::string out = folder.path().string();
        for (const std::string command : {"draw", "spy", "animate"}) expect("help_" + command, out, command + " --help", 0);
        expect("draw_nothing", out, "draw -o OUT/x.png", 2);
        expect("draw_twice", out, "draw a.mtx --generate laplace2d:nx=3 -o OUT/x.png", 2);
        expect("draw_no_recipe", out, "draw no/such.toml -o OUT/x.png", 2);
        expect("draw_no_matrix", out, "draw no/such.mtx -o OUT/x.png", 3);
        expect("draw_no_stage", out, "draw " + small + " --stage cuthil -o OUT/x.png", 2);
        expect("draw_ending", out, "draw " + small + " -o OUT/x.jpg", 2);
        expect("draw_two_formats", out, "draw " + small + " --format svg -o OUT/x.pdf", 2);
        expect("draw_width", out, "draw " + small + " --width 10 -o OUT/x.png", 2);
        expect("draw_scale_missing", out, "draw " + small + " --scale-from OUT/none.json -o OUT/x.png", 2);
        expect("draw_scale_other", out, "draw " + small + " --scale-from recipes/csr.toml -o OUT/x.png", 2);
        expect("draw_not_writable", out, "draw " + small + " -o /dev/null/x.png", 4);
        expect("animate_matrix", out, "animate --generate laplace2d:nx=3 -o OUT/x.png", 2);
        expect("animate_ending", out, "animate " + small + " -o OUT/x.mp4", 2);
        CHECK(files_in(folder.path()) == 0);
    }

    TEST_CASE("all formats, bit-identical for any number of threads") {
        const TemporaryFolder folder;
        const std::string matrix = " --generate elasticity3d:nx=8 ";
        for (const std::string name : {"x.png", "x.svg", "x.pdf", "one.png", "one.svg", "one.pdf"}) {
            CAPTURE(name);
            const std::string stage = name.starts_with("one") ? " --stage split " : "";
            const fs::path file = folder.path() / name;
            const auto draw = [&](const std::string& threads) {
                const Outcome outcome = run("draw recipes/ehyb.toml --width 960" + matrix + stage + " -o " + file.string(),
                                            "OMP_NUM_THREADS=" + threads);
                CHECK(outcome.text == "drawn to " + file.string() + "\n");
                return file_text(file);
            };
            const std::string drawn = draw("1");
            CHECK(drawn == draw("3"));
            const std::string begin = name.ends_with("png") ? "\x89PNG" : name.ends_with("svg") ? "<svg" : "%PDF";
            CHECK(drawn.starts_with(begin));
            CHECK(drawn.size() > 3000);
        }
    }

    TEST_CASE("the default file name is that of the recipe or matrix") {
        const TemporaryFolder folder;
        const auto in_folder = [&](const std::string& arguments) {
            return shell("cd " + folder.path().string() + " && '" WORKBENCH_BINARY "' " + arguments + " 2>&1").text;
        };
        const std::string recipe = (source / small).string();
        CHECK(in_folder("draw " + recipe) == "drawn to small_inline.png\n");
        CHECK(in_folder("draw " + recipe + " --stage reversed --format svg") == "drawn to small_inline_reversed.svg\n");
        CHECK(in_folder("draw " + (source / "tests/golden/cli/wide.mtx").string()) == "drawn to wide.png\n");
        CHECK(in_folder("draw --generate laplace2d:nx=4") == "drawn to laplace2d.png\n");
        CHECK(files_in(folder.path()) == 4);
    }

    TEST_CASE("names in Chinese, Japanese and Korean are drawn with or without a font") {
        const TemporaryFolder folder;
        for (const std::string name : {"稀疏", "疎行列", "희소"}) {
            const std::string file = (folder.path() / "x.png").string();
            CHECK(run("draw " + small + " --set 'recipe.name=\"" + name + "\"' --width 640 -o " + file).exit_code == 0);
        }
    }

    TEST_CASE("--scale-from") {
        const TemporaryFolder folder;
        const std::string out = " --samples 1 --seconds 0 --out " + folder.path().string();
        CHECK(run("run recipes/csr.toml --generate elasticity3d:nx=8" + out).exit_code == 0);
        const fs::path first = folder.path() / "csr/report.json";
        CHECK(run("run recipes/rcm_csr.toml --generate elasticity3d:nx=6 --scale-from " + first.string() + out).exit_code == 0);
        const auto ceiling = [](const fs::path& file) { return nlohmann::json::parse(file_text(file)).at("density_ceiling"); };
        CHECK(ceiling(first) > 1);
        CHECK(ceiling(folder.path() / "rcm_csr/report.json") == ceiling(first));
        CHECK(run("run recipes/csr.toml --scale-from " + first.string() + " --no-pictures").exit_code == 2);
    }

    TEST_CASE("compare draws both recipes") {
        const TemporaryFolder folder;
        const std::string compare =
            "compare recipes/csr.toml recipes/rcm_csr.toml --generate laplace2d:nx=30 --samples 1 --seconds 0";
        CHECK(run(compare + " --out " + folder.path().string()).exit_code == 0);
        CHECK(fs::exists(folder.path() / "csr.png"));
        CHECK(fs::exists(folder.path() / "rcm_csr.png"));
    }
}

TEST_SUITE("spy") {
    TEST_CASE("a matrix in the terminal, large and small, with and without Braille") {
        expect("spy_large", "", "spy recipes/matrices/elasticity3d.mtx.gz --columns 50 --lines 24", 0);
        expect("spy_stage", "", "spy recipes/ehyb.toml --stage metis_partition --columns 40 --lines 20", 0);
        expect("spy_small", "", "spy " + small, 0);
        expect("spy_wide", "", "spy tests/golden/cli/wide.mtx", 0);
        const Outcome plain = run("spy recipes/matrices/elasticity3d.mtx.gz --columns 50 --lines 24", "LC_ALL=C");
        compare_with_golden(source / "tests/golden/cli/spy_plain.txt", plain.text);
        for (const char letter : plain.text) CHECK(static_cast<unsigned char>(letter) < 0x80);
    }

    TEST_CASE("the picture fits the window, and a pipe gets no colours") {
        const Outcome narrow = run("spy recipes/matrices/elasticity3d.mtx.gz", "COLUMNS=30 LINES=12 TERM=xterm-256color");
        CHECK(narrow.text.find('\x1b') == std::string::npos);
        CHECK(std::count(narrow.text.begin(), narrow.text.end(), '\n') <= 11);
    }

    TEST_CASE("colours on a terminal, unless NO_COLOR is set") {
        if (shell("command -v script >/dev/null").exit_code != 0) return;
        const auto on_terminal = [](const std::string& environment) {
            return shell("cd '" + source.string() + "' && " + environment +
                         " script -qec \"'" WORKBENCH_BINARY
                         "' spy recipes/matrices/elasticity3d.mtx.gz\" /dev/null </dev/null")
                .text;
        };
        CHECK(on_terminal("TERM=xterm-256color NO_COLOR=").find("\x1b[38;5;") != std::string::npos);
        CHECK(on_terminal("TERM=vt100 COLORTERM= NO_COLOR=").find("\x1b[3") != std::string::npos);
        CHECK(on_terminal("TERM=xterm-256color NO_COLOR=1").find("\x1b[3") == std::string::npos);
        CHECK(on_terminal("TERM=dumb NO_COLOR=").find("\x1b[3") == std::string::npos);
    }
}

TEST_SUITE("animate") {
    TEST_CASE("both formats, bit-identical for any number of threads") {
        const TemporaryFolder folder;
        for (const std::string name : {"x.png", "x.gif"}) {
            const fs::path file = folder.path() / name;
            const auto animate = [&](const std::string& threads) {
                const std::string arguments = "animate " + small + " --width 320 -o " + file.string();
                const Outcome outcome = run(arguments, "OMP_NUM_THREADS=" + threads);
                CHECK(outcome.text == "25 pictures drawn to " + file.string() + "\n");
                return file_text(file);
            };
            const std::string drawn = animate("1");
            CHECK(drawn == animate("3"));
            CHECK(drawn.find(name == "x.png" ? "acTL" : "NETSCAPE2.0") != std::string::npos);
        }
    }
}

}  // namespace workbench
