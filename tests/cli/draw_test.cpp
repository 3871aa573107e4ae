// workbench draw, spy and animate.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;
const std::string small_recipe = "recipes/teaching/small_inline.toml";

Outcome run_utf8(const std::string& arguments, const std::string& environment = "") {
    return run(arguments, "LC_ALL=C.UTF-8 " + environment);
}

/// "OUT" stands for the test's folder.
void expect_drawing(const std::string& name, const std::string& folder, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = run_utf8(replaced(arguments, "OUT", folder));
    CHECK(outcome.exit_code == exit_code);
    const std::string text = folder.empty() ? outcome.text : replaced(outcome.text, folder, "OUT");
    compare_with_stored(name, text);
}

std::size_t count_files(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

/// The compressed data of each picture of a PNG, which may be an animation.
std::vector<std::string> pictures_in(const std::string& png) {
    std::vector<std::string> pictures;
    std::string data;
    for (std::size_t at = 8; at + 8 <= png.size();) {
        const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(png[at + i])); };
        const std::size_t length = byte(0) << 24U | byte(1) << 16U | byte(2) << 8U | byte(3);
        const std::string kind = png.substr(at + 4, 4);
        const std::size_t number = kind == "fdAT" ? 4 : 0;  // the bytes that number the piece
        if (kind == "IDAT" || kind == "fdAT") data += png.substr(at + 8 + number, length - number);
        if ((kind == "fcTL" || kind == "IEND") && !data.empty()) pictures.push_back(std::exchange(data, ""));
        at += 12 + length;
    }
    REQUIRE(!pictures.empty());
    return pictures;
}

}  // namespace

TEST_SUITE("draw") {
    TEST_CASE("help and errors, which leave no files") {
        const TemporaryFolder folder;
        const std::string out = folder.path().string();
        for (const std::string command : {"draw", "spy", "animate"})
            expect_drawing("help_" + command, out, command + " --help", 0);
        expect_drawing("draw_nothing", out, "draw -o OUT/x.png", 2);
        expect_drawing("draw_twice", out, "draw a.mtx --generate laplace2d:nx=3 -o OUT/x.png", 2);
        expect_drawing("draw_no_recipe", out, "draw no/such.toml -o OUT/x.png", 2);
        expect_drawing("draw_no_matrix", out, "draw no/such.mtx -o OUT/x.png", 3);
        expect_drawing("draw_no_stage", out, "draw " + small_recipe + " --stage cuthil -o OUT/x.png", 2);
        expect_drawing("draw_ending", out, "draw " + small_recipe + " -o OUT/x.jpg", 2);
        expect_drawing("draw_two_formats", out, "draw " + small_recipe + " --format svg -o OUT/x.pdf", 2);
        expect_drawing("draw_width", out, "draw " + small_recipe + " --width 10 -o OUT/x.png", 2);
        expect_drawing("draw_scale_missing", out, "draw " + small_recipe + " --scale-from OUT/none.json -o OUT/x.png", 2);
        expect_drawing("draw_scale_other", out, "draw " + small_recipe + " --scale-from recipes/csr.toml -o OUT/x.png", 2);
        expect_drawing("draw_no_flow", out, "draw " + small_recipe + " --flow -o OUT/x.png", 2);
        expect_drawing("draw_large_flow", out, "draw recipes/s_jds.toml --generate laplace2d:nx=6 --flow -o OUT/x.png", 2);
        const std::string graph = " --graph -o OUT/x.png";
        expect_drawing("draw_graph_flow", out, "draw " + small_recipe + " --flow" + graph, 2);
        expect_drawing("draw_graph_colour", out, "draw " + small_recipe + " --colour-by order -o OUT/x.png", 2);
        expect_drawing("draw_graph_no_partition", out, "draw " + small_recipe + " --colour-by partition" + graph, 2);
        expect_drawing("draw_graph_not_square", out, "draw tests/golden/cli/wide.mtx" + graph, 3);
        expect_drawing("draw_graph_large", out, "draw --generate laplace2d:nx=400" + graph, 3);
        expect_drawing("draw_not_writable", out, "draw " + small_recipe + " -o /dev/null/x.png", 4);
        expect_drawing("animate_matrix", out, "animate --generate laplace2d:nx=3 -o OUT/x.png", 2);
        expect_drawing("animate_ending", out, "animate " + small_recipe + " -o OUT/x.avi", 2);
        CHECK(count_files(folder.path()) == 0);
    }

    TEST_CASE("slices of the layout are drawn if the recipe states their height") {
        const TemporaryFolder folder;
        const auto draws_slices = [&](const std::string& arguments) {
            const std::string file = (folder.path() / "x.svg").string();
            CHECK(run_utf8("draw " + arguments + " --force -o " + file).exit_code == 0);
            return file_text(file).find("lines: slices of ") != std::string::npos;
        };
        const std::string recipe = "recipes/teaching/windows.toml";
        CHECK(draws_slices(recipe));
        CHECK(draws_slices(recipe + " --stage row_sort"));
        CHECK_FALSE(draws_slices(recipe + " --graph"));
        CHECK_FALSE(draws_slices(recipe + " --set layout.slice_height=auto"));
        CHECK_FALSE(draws_slices("recipes/csr.toml --generate laplace2d:nx=5"));
        CHECK_FALSE(draws_slices("recipes/staircase_sell.toml --generate laplace2d:nx=50"));  // its slices are within groups
    }

    TEST_CASE("all formats, bit-identical for any number of threads") {
        const TemporaryFolder folder;
        const std::string matrix = " --generate elasticity3d:nx=8 ";
        for (const std::string name : {"x.png", "x.svg", "x.pdf", "one.png", "one.svg", "one.pdf"}) {
            CAPTURE(name);
            const std::string stage = name.starts_with("one") ? " --stage split " : "";
            const fs::path file = folder.path() / name;
            const auto draw = [&](const std::string& threads) {
                const Outcome outcome =
                    run_utf8("draw recipes/ehyb.toml --force --width 960" + matrix + stage + " -o " + file.string(),
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

    TEST_CASE("the patterns of a sheet fill their frames") {
        const TemporaryFolder folder;
        const std::string file = (folder.path() / "x.svg").string();
        CHECK(run_utf8("draw recipes/teaching/windows.toml --generate elasticity3d:nx=8 --width 960 -o " + file).exit_code ==
              0);
        const std::string svg = file_text(file);
        const std::string width = " width=\"";
        const std::size_t image = svg.find("<image ");
        REQUIRE(image != std::string::npos);
        CHECK(std::stoi(svg.substr(svg.find(width, image) + width.size())) >= 300);  // two in a row
    }

    TEST_CASE("panels for a column of a paper") {
        const TemporaryFolder folder;
        const std::string out = (folder.path() / "paper.pdf").string();
        CHECK(run("draw " + small_recipe + " --column 3.3in -o " + out).exit_code == 0);
        const std::string all = file_text(out);
        CHECK(all.find("/MediaBox [ 0 0 237.5") != std::string::npos);  // points
        CHECK(run("draw " + small_recipe + " --column 3.3in --force -o " + out).exit_code == 0);
        CHECK(file_text(out) == all);
        CHECK(run("draw " + small_recipe + " --column 3.3in --stage input --force -o " + out).exit_code == 0);
        CHECK(file_text(out) != all);
        CHECK(run("draw " + small_recipe + " --column 3.3in -o " + (folder.path() / "a.png").string()).exit_code == 2);
        CHECK(run("draw " + small_recipe + " --column 8.382cm --force -o " + out).exit_code == 0);
        CHECK(file_text(out) == all);
        for (const char* width : {"3.3", "0.3in", "-3in", "x", "3.3em", "nanin"}) {
            CAPTURE(width);
            const Outcome wrong = run("draw " + small_recipe + " --force -o " + out + " --column " + width);
            CHECK(wrong.exit_code == 2);
            CHECK(wrong.text.find("expected a width from 1.5in to 20in, in in, cm, mm or pt: 3.3in") != std::string::npos);
        }
    }

    TEST_CASE("the arrays that a layout stores, as a picture and for a column of a paper") {
        const TemporaryFolder folder;
        const std::string out = (folder.path() / "arrays").string();
        const std::string draw = "draw recipes/figures/biell_26.toml --storage -o " + out;
        CHECK(run_utf8(draw + ".svg").exit_code == 0);
        CHECK(file_text(out + ".svg").find(": stored arrays") != std::string::npos);
        CHECK(run(draw + ".pdf --column 3.3in").exit_code == 0);
        CHECK(file_text(out + ".pdf").find("/MediaBox [ 0 0 237.5") != std::string::npos);
        CHECK(run("draw recipes/dia.toml --generate random_uniform:rows=99,shortest=2,longest=9 --storage -o " + out + ".png")
                  .exit_code == 3);
        CHECK(run("draw recipes/csr.toml --storage --graph -o " + out + "2.png").exit_code == 2);
    }

    TEST_CASE("a graph and the flow of a product for a column of a paper") {
        const TemporaryFolder folder;
        const std::string out = (folder.path() / "paper.pdf").string();
        const std::string paper = " --column 3.3in --force -o " + out;
        const auto drawn = [&](const std::string& options) {
            CHECK(run("draw " + options + paper).exit_code == 0);
            CHECK(file_text(out).find("/MediaBox [ 0 0 237.5") != std::string::npos);
            return file_text(out);
        };
        const std::string by_order = drawn(small_recipe + " --graph");
        CHECK(drawn(small_recipe + " --graph --colour-by level") != by_order);
        CHECK(drawn(small_recipe + " --graph --palette okabe-ito") != by_order);
        CHECK(drawn(small_recipe + " --graph --stage input") != by_order);
        CHECK(drawn("recipes/figures/s_jds_6x6.toml --flow") != by_order);
        const Outcome too_small = run("draw recipes/s_jds.toml --generate laplace2d:nx=5 --flow" + paper);
        CHECK(too_small.exit_code == 2);
        CHECK(too_small.text.find("points high, expected at least 4.5; use a wider column") != std::string::npos);
    }

    TEST_CASE("plots of a solve and of hit rates for a column of a paper") {
        const TemporaryFolder folder;
        const std::string out = folder.path().string();
        CHECK(run("solve recipes/csr.toml --generate laplace2d:nx=8 --backend kokkos --column 3.3in --out " + out).exit_code ==
              0);
        CHECK(
            run("cache recipes/csr.toml --generate laplace2d:nx=8 --sweep matrix.nx=8,9 --column 3.3in --plot " + out + "/hits")
                .exit_code == 0);
        for (const char* name : {"residual_by_iteration", "residual_by_time", "hits"}) {
            CAPTURE(name);
            CHECK(file_text((folder.path() / name).string() + ".pdf").find("/MediaBox [ 0 0 237.5") != std::string::npos);
            CHECK_FALSE(std::filesystem::exists((folder.path() / name).string() + ".png"));
        }
    }

    TEST_CASE("fonts and colours of a paper") {
        const TemporaryFolder folder;
        const std::string out = (folder.path() / "paper.pdf").string();
        const auto drawn = [&](const std::string& options) {
            CHECK(run("draw " + small_recipe + " --column 3.3in --force -o " + out + options).exit_code == 0);
            return file_text(out);
        };
        const std::string usual = drawn("");
        CHECK(usual.find("DejaVu") != std::string::npos);
        CHECK(drawn(" --palette default") == usual);
        CHECK(drawn(" --palette grey") != usual);

        const std::filesystem::path font = folder.path() / "fonts" / "type1" / "own.pfb";
        std::filesystem::create_directories(font.parent_path());
        std::filesystem::create_directories(folder.path() / "fonts" / "afm");
        std::ofstream(font) << "%!PS-AdobeFont-1.0: Own\ncurrentfile eexec\n00\ncleartomark\n";
        const std::string with_font = "draw " + small_recipe + " --column 3.3in --force -o " + out + " --font " + font.string();
        const Outcome without_metrics = run(with_font);
        CHECK(without_metrics.exit_code == 2);
        CHECK(without_metrics.text.find("expected the metrics of this font of Type 1 in ") != std::string::npos);
        CHECK(without_metrics.text.find("fonts/afm/own.afm") != std::string::npos);
        std::ofstream(folder.path() / "fonts" / "afm" / "own.afm")
            << "StartFontMetrics 2.0\nFontName Own\nStartCharMetrics 1\nC 97 ; WX 500 ; N a ; B 0 0 1 1 ;\nEndCharMetrics\n";
        const std::string own = drawn(" --font " + font.string());
        CHECK(own.find("/BaseFont /Own") != std::string::npos);
        CHECK(own.find("/Subtype /Type1") != std::string::npos);
        CHECK(own.find("/FontFile") != std::string::npos);
    }

    TEST_CASE("the default file name is that of the recipe or matrix") {
        const TemporaryFolder folder;
        const auto in_folder = [&](const std::string& arguments) { return workbench_in(folder.path(), arguments).text; };
        const std::string recipe = (project / small_recipe).string();
        CHECK(in_folder("draw " + recipe) == "drawn to small_inline.png\n");
        CHECK(in_folder("draw " + recipe + " --stage reversed --format svg") == "drawn to small_inline_reversed.svg\n");
        const std::string drawn = file_text(folder.path() / "small_inline_reversed.svg");
        CHECK(drawn.find("2  reversed") != std::string::npos);
        CHECK(drawn.find("0  input") == std::string::npos);
        CHECK(in_folder("draw " + (project / "tests/golden/cli/wide.mtx").string()) == "drawn to wide.png\n");
        CHECK(in_folder("draw --generate laplace2d:nx=4") == "drawn to laplace2d.png\n");
        const std::string segments = (project / "recipes/figures/s_jds_6x6.toml").string();
        CHECK(in_folder("draw " + segments + " --flow") == "drawn to s_jds_6x6_flow.png\n");
        CHECK(in_folder("draw --generate laplace2d:nx=4 --graph") == "drawn to laplace2d_graph.png\n");
        CHECK(count_files(folder.path()) == 6);
    }

    TEST_CASE("a graph has the colours of the stage that is drawn") {
        const TemporaryFolder folder;
        const auto circles_of = [&folder](const std::string& more_stages) {
            std::ofstream(folder.path() / "r.toml")
                << "[matrix]\ngenerate = 'laplace2d'\nnx = 3\n[[stage]]\nuse = 'cuthill_mckee'\n"
                << more_stages << "[layout]\nuse = 'csr'\n";
            const std::string draw = "draw r.toml --graph --stage cuthill_mckee -o r.svg --force";
            CHECK(workbench_in(folder.path(), draw).exit_code == 0);
            std::istringstream lines(file_text(folder.path() / "r.svg"));
            std::string circles;
            for (std::string line; std::getline(lines, line);) {
                if (line.starts_with("<circle")) circles += line + '\n';
            }
            return circles;
        };
        const std::string of_last_stage = circles_of("");
        CHECK(std::count(of_last_stage.begin(), of_last_stage.end(), '\n') == 9);
        CHECK(circles_of("[[stage]]\nuse = 'random_order'\n") == of_last_stage);
    }

    TEST_CASE("graphs of meshes, of other matrices, and in animations") {
        const TemporaryFolder folder;
        const auto draw = [&](const std::string& arguments) {
            const fs::path file = folder.path() / "x.png";
            const Outcome outcome =
                run_utf8(arguments + " --graph --force --width 640 -o " + file.string(), "OMP_NUM_THREADS=1");
            CHECK(outcome.exit_code == 0);
            const std::string one = file_text(file);
            CHECK(run_utf8(arguments + " --graph --force --width 640 -o " + file.string(), "OMP_NUM_THREADS=2").exit_code == 0);
            CHECK(file_text(file) == one);
            return one;
        };
        const std::string order = draw("draw recipes/ehyb.toml --generate delaunay:nx=20 --colour-by order");
        const std::string parts = draw("draw recipes/ehyb.toml --generate delaunay:nx=20 --set stage.metis_partition.parts=4");
        CHECK(order != parts);
        CHECK(draw("draw " + small_recipe) != draw("draw " + small_recipe + " --stage input"));
        CHECK(draw("draw --generate rmat:scale=8") != "");
        // The colours of an animation are those of each stage.
        std::set<std::string> inputs;
        for (const std::string colours : {"order", "length", "level"}) {
            inputs.insert(pictures_in(draw("animate " + small_recipe + " --colour-by " + colours)).front());
        }
        CHECK(inputs.size() == 3);
        // A partition that a later stage makes colours the graph after that stage alone.
        std::ofstream(folder.path() / "cut.toml") << "[[stage]]\nuse = 'natural'\n[[stage]]\nuse = 'row_blocks'\nheight = 3\n"
                                                     "[layout]\nuse = 'csr'\n";
        const std::string cut = "draw " + (folder.path() / "cut.toml").string() + " --generate laplace2d:nx=3";
        CHECK(draw(cut + " --colour-by partition") != draw(cut + " --colour-by order"));
        const Outcome before =
            run_utf8(cut + " --graph --stage natural --colour-by partition -o " + (folder.path() / "y.png").string());
        CHECK(before.exit_code == 2);
        CHECK(before.text.find("found no partitions, row blocks or length groups after the drawn stage") != std::string::npos);
    }

    TEST_CASE("nonzeros move in an animation, by a different distance in each picture") {
        const TemporaryFolder folder;
        const std::string file = (folder.path() / "x.png").string();
        REQUIRE(run_utf8("animate " + small_recipe + " --width 320 -o " + file).exit_code == 0);
        const std::vector<std::string> pictures = pictures_in(file_text(file));
        CHECK(pictures.size() > 12);
        CHECK(std::set<std::string>(pictures.begin(), pictures.end()).size() > pictures.size() * 3 / 4);
    }

    TEST_CASE("names in Chinese, Japanese and Korean are drawn with or without a font") {
        const TemporaryFolder folder;
        for (const std::string name : {"稀疏", "疎行列", "희소"}) {
            const std::string file = (folder.path() / "x.png").string();
            CHECK(run_utf8("draw " + small_recipe + " --set 'recipe.name=\"" + name + "\"' --force --width 640 -o " + file)
                      .exit_code == 0);
        }
    }

    TEST_CASE("--scale-from") {
        const TemporaryFolder folder;
        const std::string out = " --samples 1 --seconds 0 --out " + folder.path().string();
        CHECK(run_utf8("run recipes/csr.toml --generate elasticity3d:nx=8" + out).exit_code == 0);
        const fs::path first = folder.path() / "csr/report.json";
        CHECK(
            run_utf8("run recipes/rcm_csr.toml --generate elasticity3d:nx=6 --scale-from " + first.string() + out).exit_code ==
            0);
        const auto ceiling = [](const fs::path& file) { return json_in(file).at("density_ceiling"); };
        CHECK(ceiling(first) > 1);
        CHECK(ceiling(folder.path() / "rcm_csr/report.json") == ceiling(first));
        CHECK(run_utf8("run recipes/csr.toml --scale-from " + first.string() + " --no-pictures").exit_code == 2);
    }

    TEST_CASE("compare draws both recipes") {
        const TemporaryFolder folder;
        const std::string compare =
            "compare recipes/csr.toml recipes/rcm_csr.toml --generate laplace2d:nx=30 --samples 1 --seconds 0";
        const std::string out = folder.path().string();
        const Outcome outcome = run_utf8(compare + " --out " + out);
        CHECK(outcome.exit_code == 0);
        const std::string files = fmt::format("{0}/csr.png, {0}/rcm_csr.png, {0}/compare.html", out);
        CHECK(outcome.text.starts_with("A  CSR (recipes/csr.toml)\nB  CSR after RCM (recipes/rcm_csr.toml)\n"));
        CHECK(outcome.text.ends_with("\nwritten to " + files + "\n"));
        for (const char* name : {"csr.png", "rcm_csr.png", "compare.html"}) CHECK(fs::exists(folder.path() / name));
        // One density scale: the pictures are the same in either order of the recipes.
        const std::string scrambled = " --generate laplace2d:nx=60,scramble=1 --samples 1 --seconds 0 --no-page --out ";
        const std::string one = (folder.path() / "one").string();
        const std::string other = (folder.path() / "other").string();
        CHECK(run_utf8("compare recipes/csr.toml recipes/rcm_csr.toml" + scrambled + one).exit_code == 0);
        CHECK(run_utf8("compare recipes/rcm_csr.toml recipes/csr.toml" + scrambled + other).exit_code == 0);
        const std::string picture = file_text(one + "/csr.png");
        CHECK(picture.size() > 1000);
        CHECK(picture == file_text(other + "/csr.png"));
    }
}

TEST_SUITE("spy") {
    TEST_CASE("a matrix in the terminal, large and small, with and without Braille") {
        expect_drawing("spy_large", "", "spy recipes/matrices/elasticity3d.mtx.gz --columns 50 --lines 24", 0);
        expect_drawing("spy_stage", "", "spy recipes/ehyb.toml --stage metis_partition --columns 40 --lines 20", 0);
        expect_drawing("spy_small", "", "spy " + small_recipe, 0);
        expect_drawing("spy_wide", "", "spy tests/golden/cli/wide.mtx", 0);
        const Outcome plain = run_utf8("spy recipes/matrices/elasticity3d.mtx.gz --columns 50 --lines 24", "LC_ALL=C");
        compare_with_stored("spy_plain", plain.text);
        for (const char letter : plain.text) CHECK(static_cast<unsigned char>(letter) < 0x80);
    }

    TEST_CASE("the picture fits the window, and a pipe gets no colours") {
        const Outcome narrow = run_utf8("spy recipes/matrices/elasticity3d.mtx.gz", "COLUMNS=30 LINES=12 TERM=xterm-256color");
        CHECK(narrow.text.find('\x1b') == std::string::npos);
        CHECK(std::count(narrow.text.begin(), narrow.text.end(), '\n') <= 11);
    }

    TEST_CASE("colours on a terminal, unless NO_COLOR is set") {
        if (shell("command -v script >/dev/null").exit_code != 0) return;
        const auto on_terminal = [](const std::string& environment) {
            return shell("cd '" + project.string() + "' && " + environment +
                         " script -qec \"'" WORKBENCH_BINARY
                         "' spy recipes/matrices/elasticity3d.mtx.gz\" /dev/null </dev/null")
                .text;
        };
        CHECK(on_terminal("TERM=xterm-256color NO_COLOR=").find("\x1b[38;5;") != std::string::npos);
        CHECK(on_terminal("TERM=vt100 COLORTERM= NO_COLOR=").find("\x1b[3") != std::string::npos);
        CHECK(on_terminal("TERM=xterm-256color NO_COLOR=1").find("\x1b[3") == std::string::npos);
        CHECK(on_terminal("TERM=dumb NO_COLOR=").find("\x1b[3") == std::string::npos);
        const std::string steps = shell("script -qec \"'" WORKBENCH_BINARY "' cache '" + csr_file +
                                        "' --generate laplace2d:nx=9 "
                                        "--sweep matrix.nx=9,10\" /dev/null </dev/null")
                                      .text;
        CHECK(steps.find("\x1b[K  reading the matrix ...") != std::string::npos);
        CHECK(steps.find("\x1b[K  nx=10 ...") != std::string::npos);
    }
}

TEST_SUITE("animate") {
    TEST_CASE("an MP4 is what ffmpeg makes of the pictures; without ffmpeg there is an error") {
        const TemporaryFolder folder;
        const std::string file = (folder.path() / "x.mp4").string();
        const std::string animate = "animate " + small_recipe + " --width 321 -o " + file;
        const Outcome without = run_utf8(animate, "PATH=" + folder.path().string());
        CHECK(without.exit_code == 4);
        CHECK(without.text ==
              "error: --out " + file + ": ffmpeg, which encodes MP4, is not on PATH; install it, or write .png or .gif\n");
        const auto with = [&](const std::string& script) {
            const fs::path program = folder.path() / "ffmpeg";
            std::ofstream(program) << "#!/bin/sh\n" << script;
            fs::permissions(program, fs::perms::owner_all);
            return run_utf8(animate + " --force", "PATH=" + folder.path().string() + ":$PATH");
        };
        // The stand-in checks that all pictures of the list are there, and prints its arguments into the movie.
        const Outcome outcome = with(
            "for picture in $(sed -n 's/^file //p' frames.txt); do test -s $picture || exit 9; done\n"
            "for last in \"$@\"; do :; done; { cat frames.txt; echo \"$@\"; } > $last\n");
        CHECK(outcome.exit_code == 0);
        const std::string movie = file_text(file);
        CHECK(movie.starts_with("ffconcat version 1.0\nfile 0.png\nduration "));
        CHECK(movie.find("-f concat -i frames.txt ") != std::string::npos);
        const Outcome failing = with("echo no such codec; exit 3\n");
        CHECK(failing.exit_code == 4);
        CHECK(failing.text == "error: ffmpeg failed with exit code 3: no such codec\n");
        CHECK(with("exit 0\n").text == "error: ffmpeg wrote no movie\n");
        CHECK(file_text(file) == movie);
    }

    TEST_CASE("both formats, bit-identical for any number of threads") {
        const TemporaryFolder folder;
        for (const std::string name : {"x.png", "x.gif"}) {
            const fs::path file = folder.path() / name;
            const auto animate = [&](const std::string& threads) {
                const std::string arguments = "animate " + small_recipe + " --force --width 320 -o " + file.string();
                const Outcome outcome = run_utf8(arguments, "OMP_NUM_THREADS=" + threads);
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
