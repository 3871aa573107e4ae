// The program: its output and exit codes. Texts are compared with tests/golden/cli.
#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include <nlohmann/json.hpp>

#include "cli/shell.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

const std::string fast = quick + " --no-pictures";

/// Removes GPU kernels, which not every build has.
std::string without_gpu_lines(const std::string& text) {
    static const std::regex gpu(R"(^  \S+ +(cuda|cusparse) |\((cuda|cusparse)\): |no GPU kernels)");
    std::istringstream lines(text);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        if (!std::regex_search(line, gpu)) result += line + '\n';
    }
    return result;
}

/// Removes all but these stages and layouts, so that adding one changes no golden text.
std::string without_others(std::string text) {
    static const std::set<std::string> pinned{
        "csr",     "ehyb",         "rows",     "sell",   "cuthill_mckee", "metis_partition",
        "natural", "random_order", "row_sort", "source", "split"};
    const auto remove = [&](const std::string& name) {
        if (pinned.count(name) == 1) return;
        text = std::regex_replace(text, std::regex("(^|\\n)  " + name + " .*"), "");
        text = std::regex_replace(text, std::regex(" " + name + ",(?= )"), "");
    };
    for (const LayoutEntry& layout : catalogue().layouts) remove(layout.name);
    for (const StageEntry& stage : catalogue().stages) remove(stage.name);
    return text;
}

std::string without_column_widths(const std::string& text) {
    return std::regex_replace(text, std::regex(R"((\S) {2,})"), "$1  ");
}

/// Masks figures, which vary from run to run.
std::string without_figures(const std::string& text) {
    std::string masked = std::regex_replace(text, std::regex(R"(\b\d[\d,]*(\.\d+)?(e[+-]\d+)?\b)"), "#");
    masked = std::regex_replace(masked, std::regex(R"(# (us|ms|s)\b)"), "# s");
    masked = std::regex_replace(masked, std::regex(R"(\b(never|-)$)", std::regex::multiline), "#");
    masked = std::regex_replace(masked, std::regex(R"(  warning: .*\n)"), "");
    return std::regex_replace(masked, std::regex(R"( {2,})"), "  ");
}

void expect(const std::string& name, const std::string& arguments, int exit_code) {
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.exit_code == exit_code);
    compare_with_stored(name, without_others(without_gpu_lines(outcome.text)));
}

/// Like expect, with "OUT" for the test's folder in arguments and texts.
void expect_in(const std::string& name, const std::string& folder, std::string arguments, int exit_code) {
    arguments = replaced(arguments, "OUT", folder);
    CAPTURE(arguments);
    const Outcome outcome = run(arguments);
    CHECK(outcome.exit_code == exit_code);
    compare_with_stored(name, replaced(without_gpu_lines(outcome.text), folder, "OUT"));
}

}  // namespace

TEST_CASE("help") {
    expect("help", "--help", 0);
    expect("help", "help", 0);
    expect("help_run", "help run", 0);
    expect("help_run", "run --help", 0);
    expect("help_serve", "serve --help", 0);
    expect("help_bench", "bench --help", 0);
    expect("help_summary", "summary --help", 0);
    expect("help_judge", "judge --help", 0);
    expect("help_fetch", "fetch --help", 0);
    expect("help_list", "list --help", 0);
    expect("help_explain", "explain --help", 0);
    expect("help_check", "check --help", 0);
    expect("help_info", "info --help", 0);
    expect("help_storage", "storage --help", 0);
    expect("help_generate", "generate --help", 0);
    expect("help_convert", "convert --help", 0);
    expect("help_export", "export --help", 0);
    expect("help_new", "new --help", 0);
    expect("help_cache", "cache --help", 0);
    expect("help_schema", "schema --help", 0);
    expect("help_calibrate", "calibrate --help", 0);
}

TEST_CASE("list and explain") {
    for (const auto& [name, arguments] : {std::pair{"list", "list"}, {"list_stages", "list stages"}}) {
        const Outcome outcome = run(arguments);
        CHECK(outcome.exit_code == 0);
        compare_with_stored(name, without_column_widths(without_others(without_gpu_lines(outcome.text))));
    }
    for (const char* name : {"colouring",
                             "cuthill_mckee",
                             "metis_partition",
                             "multilevel_partition",
                             "rcm_blocks",
                             "row_sort",
                             "split",
                             "random_order",
                             "natural",
                             "csr",
                             "sell",
                             "ehyb",
                             "laplace2d",
                             "laplace3d",
                             "elasticity3d",
                             "delaunay",
                             "finite_volume",
                             "banded",
                             "random_uniform",
                             "random_normal",
                             "rmat"}) {
        expect(std::string("explain_") + name, std::string("explain ") + name, 0);
    }
}

TEST_CASE("--keep with a file instead of a folder") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "file") << "text";
    for (const char* command : {"run recipes/csr.toml", "compare recipes/csr.toml recipes/sell.toml", "solve recipes/csr.toml",
                                "choose recipes/csr.toml --budget 1"}) {
        const Outcome outcome = run(std::string(command) + " --generate laplace2d:nx=3 --keep '" +
                                    (folder.path() / "file").string() + "' --out '" + (folder.path() / "out").string() + "'");
        CHECK(outcome.exit_code == 4);
        CHECK(outcome.text.find("file: no folder to keep results in: ") != std::string::npos);
    }
}

TEST_CASE("check") {
    expect("check", "check recipes/csr.toml recipes/sell.toml recipes/ehyb.toml", 0);
    expect("check_errors", "check tests/golden/cli/wrong.toml", 2);
    expect("check_shares", "check tests/golden/cli/shares.toml", 2);
    expect("check_shares_of_blocks", "check tests/golden/cli/shares_of_blocks.toml", 2);
    expect("check_shares_beyond", "check tests/golden/cli/shares_beyond.toml", 2);
    expect("check_old_word", "check recipes/ehyb.toml --set stage.sort_outside.part=outside", 2);
    expect("check_override", "check recipes/ehyb.toml --set stage.metis_partition.partz=3", 2);
}

TEST_CASE("cache") {
    const std::string recipe = "cache recipes/teaching/segment_width.toml ";
    const std::string matrix = "--generate laplace2d:nx=20,ny=20 ";
    expect("cache", recipe + matrix + "--sweep stage.column_segmentation.width=50,400", 0);
    expect("cache_of_matrices", recipe + matrix + "--device h200 --precision f32 --sweep matrix.nx=10,20", 0);
    expect("cache_no_values", recipe + "--sweep stage.column_segmentation.width=", 2);
    expect("cache_wrong_value", recipe + "--sweep stage.column_segmentation.width=400,0", 2);
    expect("cache_large_block", recipe + "--resident 4", 2);
    CHECK(run(recipe + matrix + "--resident 8 --block 8").exit_code == 0);
    expect("cache_plot_of_nothing", recipe + matrix + "--plot a", 2);
    expect("cache_plot_of_words", recipe + matrix + "--sweep layout.piece=jds,sell --plot a", 2);
    expect("cache_plot_of_too_much",
           recipe + matrix + "--sweep matrix.nx=1..4 --sweep stage.column_segmentation.width=8,9 --plot a", 2);
    // Stages see the device model.
    const std::string partitions = " --set stage.metis_partition.parts=auto --device ";
    expect("cache_auto", "cache recipes/ehyb.toml --generate laplace2d:nx=30 --precision f32" + partitions + "v100", 0);
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "cache.json").string();
    CHECK(run(recipe + matrix + "--json " + file).exit_code == 0);
    std::ifstream json(file);
    CHECK(nlohmann::json::parse(json)["points"][0]["nonzeros"] == 1920);
    const std::string plot = (folder.path() / "new" / "hits").string();
    const Outcome drawn = run(recipe + matrix + "--sweep stage.column_segmentation.width=50,400 --plot " + plot);
    CHECK(drawn.exit_code == 0);
    CHECK(drawn.text.find("\ndrawn to hits.png, hits.svg\n") != std::string::npos);
    CHECK(file_text(plot + ".svg").find("read_only") != std::string::npos);
    CHECK(std::filesystem::file_size(plot + ".png") > 1000);
}

TEST_CASE("errors of the command line") {
    expect("no_command", "", 2);
    expect("unknown_command", "rum", 2);
    expect("unknown_command", "help rum", 2);
    expect("unknown_option", "run recipes/csr.toml --colour", 2);
    expect("misspelt_option", "run recipes/csr.toml --precison=f32", 2);
    expect("misspelt_option_of_program", "--versoin", 2);
    expect("unexpected_argument", "explain csr sell", 2);
    expect("unknown_recipe", "run recipes/none.toml", 2);
    expect("unknown_name", "explain ehib", 2);
    expect("unknown_precision", "run recipes/csr.toml --precision f16", 2);
    expect("unknown_kernel", "run recipes/csr.toml --backend kokkos --only none", 2);
    expect("unknown_generator", "run recipes/csr.toml --generate elasticity4d", 2);
    expect("no_matrix_file", "info none.mtx", 3);
    expect("no_archive", "info tests/golden/cli/wide.mtx --member wide.mtx", 3);
    expect("member_of_no_file", "run recipes/csr.toml --generate laplace2d:nx=3 --member wide.mtx", 2);
    expect("member_of_nothing", "run recipes/csr.toml --set matrix.generate=laplace2d --set matrix.nx=3 --member wide.mtx", 2);
    expect("matrix_twice", "run recipes/csr.toml --matrix a.mtx --set matrix.path=b.mtx", 2);
    expect("matrix_and_generate", "run recipes/csr.toml --generate laplace2d:nx=3 --set matrix.generate=laplace3d", 2);
    expect("empty_only", "run recipes/csr.toml --only \"\"", 2);
    expect("empty_out", "run recipes/csr.toml --generate laplace2d:nx=3 --out \"\"", 2);
    expect("empty_recipe", "check \"\"", 2);
    const Outcome too_small = run("info tests/golden/cli/wide.mtx --max-memory 1K");
    CHECK(too_small.exit_code == 2);
    CHECK(std::regex_search(too_small.text,
                            std::regex("^error: --max-memory: 1K is less than the program uses already, .* MiB\nRun")));
    expect("max_memory_unknown", "info tests/golden/cli/wide.mtx --max-memory much", 2);
    expect("max_memory_negative", "info tests/golden/cli/wide.mtx --max-memory -1", 2);
    expect("two_matrices", "run recipes/csr.toml recipes/teaching/small_inline.toml", 2);
    expect("not_a_matrix", "run recipes/csr.toml --matrix README.md", 3);
    expect("not_square", "run recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx", 3);
}

TEST_CASE("--max-memory") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "large.mtx") << "%%MatrixMarket matrix coordinate real general\n2000000 2000000 2000000\n"
                                               << std::string(8'000'000, ' ');
    const Outcome outcome = run("info " + (folder.path() / "large.mtx").string() + " --max-memory 60M");
    CHECK(outcome.exit_code == 4);
    CHECK(outcome.text.find("large.mtx: reading a matrix of 2000000 rows and 2000000 entries needs ") != std::string::npos);
}

TEST_CASE("info") {
    expect("info", "info tests/golden/cli/wide.mtx", 0);
    expect("info_legend", "info recipes/matrices/elasticity3d.mtx.gz --legend", 0);
    const TemporaryFolder folder;
    const std::string equal = (folder.path() / "equal.mtx").string();
    std::ofstream(equal) << "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 3\n2 1 3\n2 2 4\n";
    CHECK(run("info " + equal).text.find("  equal values                 in each column\n") != std::string::npos);
    expect("info_table", "info tests/golden/cli/wide.mtx tests/golden/cli/figure5.mtx recipes/matrices/elasticity3d.mtx.gz", 0);
    expect("info_table_of_one", "info --table --legend tests/golden/cli/figure5.mtx", 0);
    expect("info_table_without_a_file", "info tests/golden/cli/wide.mtx none.mtx", 3);
    const Outcome table = run("info --json tests/golden/cli/wide.mtx tests/golden/cli/figure5.mtx");
    const auto matrices = nlohmann::json::parse(table.text)["matrices"];
    CHECK(matrices.size() == 2);
    CHECK(matrices[1]["matrix"]["source"] == "figure5.mtx");
    CHECK(matrices[1]["metrics"]["sorted_warp_iterations"] == 7);
    const Outcome json = run("info tests/golden/cli/wide.mtx --json");
    CHECK(json.exit_code == 0);
    CHECK(nlohmann::json::parse(json.text)["metrics"]["nonzeros"] == 5);
}

TEST_CASE("storage") {
    expect("storage", "storage recipes/matrices/elasticity3d.mtx.gz --slice-height 64,512 --alpha 0.01,0.1", 0);
    expect("storage_alpha", "storage tests/golden/cli/wide.mtx --alpha 1.5", 2);
    const Outcome json = run("storage tests/golden/cli/wide.mtx --json --slice-height 2");
    CHECK(json.exit_code == 0);
    const auto data = nlohmann::json::parse(json.text);
    CHECK(data["nonzeros"] == 5);
    CHECK(data["storage"][0]["format"] == "COO");
    CHECK(data["storage"][0]["bytes_f32"] == 5 * 12);
    CHECK(data["storage"].back()["alpha"] == 0.01);
    CHECK(data["storage"].back()["height"] == 2);
    const Outcome generated = run("storage --generate laplace2d:nx=9");
    CHECK(generated.exit_code == 0);
    CHECK(generated.text.find("\n  SELL                32      -    480 ") != std::string::npos);
    CHECK(generated.text.find("\n  SELL               512      -  2,560 ") != std::string::npos);
    expect("storage_nothing", "storage", 2);
    expect("storage_two", "storage tests/golden/cli/wide.mtx tests/golden/cli/figure5.mtx", 2);
    expect("storage_set", "storage tests/golden/cli/wide.mtx --set layout.slice_height=8", 2);
}

TEST_CASE("storage of recipes") {
    expect("storage_sweep", "storage recipes/teaching/own_hybrid.toml --sweep stage.split.longer_than=8,64", 0);
    expect("storage_recipes",
           "storage recipes/sell_c_sigma.toml recipes/dia.toml recipes/csr.toml --matrix recipes/matrices/elasticity3d.mtx.gz",
           0);
    expect("storage_recipes_alpha", "storage recipes/csr.toml --alpha 0.1", 2);
    expect("storage_recipes_not_square", "storage recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx", 3);
    const Outcome json = run("storage recipes/dia.toml recipes/teaching/windows.toml --generate laplace2d:nx=9 --json");
    CHECK(json.exit_code == 0);
    const auto recipes = nlohmann::json::parse(json.text)["recipes"];
    CHECK(recipes.size() == 2);
    CHECK(recipes[0]["slots"] == 5 * 81);
    CHECK(recipes[0]["nonzeros"] == 369);
    CHECK(recipes[1]["unsuitable"].is_null());
    CHECK(recipes[1]["bytes_f64"] == recipes[1]["bytes_f32"].get<int>() + 4 * recipes[1]["slots"].get<int>());

    const TemporaryFolder folder;  // a value that f32 cannot store
    const std::filesystem::path large = folder.path() / "large.mtx";
    std::ofstream(large) << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e300\n";
    const auto of_large =
        nlohmann::json::parse(run("storage recipes/csr.toml --json --matrix " + large.string()).text)["recipes"][0];
    CHECK(of_large["bytes_f32"].is_null());
    CHECK(of_large["bytes_f64"] == 2 * 8 + 4 + 8);
}

TEST_CASE("generate, convert and export write files that are read as the same matrix") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    expect_in("generate", out, "generate laplace2d nx=3 ny=2 -o OUT/a.mtx", 0);
    expect_in("convert", out, "convert OUT/a.mtx OUT/b.npz", 0);
    CHECK(run("convert " + out + "/b.npz " + out + "/c.mtx.gz").exit_code == 0);
    CHECK(run("convert " + out + "/c.mtx.gz " + out + "/d.mtx").exit_code == 0);
    compare_with_stored("generated_matrix", file_text(folder.path() / "a.mtx"));
    CHECK(file_text(folder.path() / "d.mtx") == file_text(folder.path() / "a.mtx"));
    CHECK(run("generate laplace2d:nx=3,ny=2 -o " + out + "/f.mtx").exit_code == 0);
    CHECK(file_text(folder.path() / "f.mtx") == file_text(folder.path() / "a.mtx"));
    // A file converted to itself.
    expect_in("convert_to_itself", out, "convert OUT/d.mtx OUT/d.mtx", 2);
    CHECK(file_text(folder.path() / "d.mtx") == file_text(folder.path() / "a.mtx"));
    CHECK(run("convert " + out + "/d.mtx " + out + "/d.mtx --force").exit_code == 0);
    CHECK(file_text(folder.path() / "d.mtx") == file_text(folder.path() / "a.mtx"));

    expect_in("export", out, "export recipes/sell_c_sigma.toml --generate laplace2d:nx=8 -o OUT/e --format text", 0);
    compare_with_stored("export_readme", file_text(folder.path() / "e" / "README.txt"));
    CHECK_FALSE(std::filesystem::exists(folder.path() / "e" / "matrix.npz"));
    expect_in("export_shares", out,
              "export recipes/ehyb.toml --generate laplace2d:nx=8 --set stage.metis_partition.parts=2 -o OUT/p", 0);
    // Exporting the exported recipe gives the same files.
    CHECK(run("export " + out + "/p/recipe.toml -o " + out + "/q").exit_code == 0);
    for (const char* name : {"matrix.mtx", "matrix.npz", "shares.npz", "row_old_of_new.npy", "cuts_partition.npy"}) {
        CHECK(file_text(folder.path() / "q" / name) == file_text(folder.path() / "p" / name));
    }
    CHECK(
        run("export recipes/rcm_sell.toml --generate laplace2d:nx=8 --format numpy --each-stage -o " + out + "/s").exit_code ==
        0);
    CHECK(json_in(folder.path() / "s/000_input/metrics.json")["metrics"]["nonzeros"] == 288);
    CHECK(file_text(folder.path() / "s/002_row_sort/matrix.npz") == file_text(folder.path() / "s/matrix.npz"));
    CHECK(file_text(folder.path() / "s/000_input/matrix.npz") != file_text(folder.path() / "s/matrix.npz"));
}

TEST_CASE("errors of generate, convert and export") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    expect_in("generate_without_file", out, "generate laplace2d nx=3", 2);
    expect_in("generate_unknown_kind", out, "generate laplace4d nx=3 -o OUT/a.mtx", 2);
    expect_in("generate_unknown_ending", out, "generate laplace2d nx=3 -o OUT/a.txt", 2);
    expect_in("generate_missing", out, "generate laplace2d -o OUT/a.mtx", 2);
    expect_in("generate_wrong", out, "generate laplace3d nx=3 nx=4 ny nz=two points=9.5 node_size=2 -o OUT/a.mtx", 2);
    expect_in("generate_together", out, "generate laplace3d nx=3 points=9 -o OUT/a.mtx", 2);
    expect_in("generate_wrong_words", out, "generate finite_volume nx=3 numbering=morton irregularity=2 cells=9 -o OUT/a.mtx",
              2);
    expect_in("generate_too_large", out, "generate laplace2d nx=46341 -o OUT/a.mtx", 3);
    expect_in("convert_missing", out, "convert OUT/none.mtx OUT/a.mtx", 3);
    expect_in("convert_unknown_ending", out, "convert tests/golden/cli/wide.mtx OUT/a", 2);
    expect_in("convert_full", out, "convert tests/golden/cli/wide.mtx tests/golden/cli/wide.mtx/a.mtx", 4);
    expect_in("export_without_folder", out, "export recipes/sell.toml", 2);
    expect_in("export_not_square", out, "export recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx -o OUT/e", 3);
    expect_in("export_over_file", out, "export recipes/sell.toml -o tests/golden/cli/wide.mtx", 2);
    expect_in("export_unknown_format", out, "export recipes/sell.toml -o OUT/e --format pdf", 2);
    expect("generated_twice", "run recipes/csr.toml --generate laplace2d:nx=3,nx=4", 2);
    expect("generated_wrong", "run recipes/csr.toml --generate laplace3d:nx=three,,scramble=-1", 2);
    expect("generated_missing", "run recipes/csr.toml --generate laplace2d", 2);
    expect_in("generated_together", out, "run recipes/csr.toml --generate laplace3d:nx=3,points=9 --out OUT", 2);
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
        CHECK_MESSAGE(!entry.is_regular_file(), entry.path());
    }
}

TEST_CASE("run") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const std::string recipe = WORKBENCH_SOURCE_DIR "/recipes/ehyb.toml";
    const Outcome outcome = workbench_in(
        folder.path(), "run " + recipe + " --backend kokkos --precision both --samples 1 --seconds 0 --cache warm" + " --out " +
                           out + " --json " + out + "/copy.json");
    CHECK(outcome.exit_code == 0);
    compare_with_stored("run", without_figures(without_gpu_lines(replaced(outcome.text, out, "OUT"))));

    for (const char* file :
         {"0_input.png", "1_metis_partition.png", "2_row_sort.png", "3_split.png", "4_sort_outside.png", "stages.png"}) {
        CHECK_MESSAGE(std::filesystem::exists(folder.path() / "ehyb" / file), file);
    }
    std::ifstream stored(folder.path() / "ehyb" / "report.json");
    const auto json = nlohmann::json::parse(stored);
    std::ifstream copied(folder.path() / "copy.json");
    CHECK(json == nlohmann::json::parse(copied));
    CHECK(json["layouts"].size() == 2);

    // The resolved recipe of a report runs in the folder of that run.
    std::ofstream(folder.path() / "again.toml") << json["recipe"]["resolved"].get<std::string>();
    const Outcome again =
        run("run " + out + "/again.toml --backend kokkos --samples 1 --seconds 0 --cache warm --no-pictures --out " + out);
    CHECK(again.exit_code == 0);
    std::ifstream stored_again(folder.path() / "again" / "report.json");
    const auto json_again = nlohmann::json::parse(stored_again);
    for (std::size_t i = 0; i < json["stages"].size(); ++i) {
        CHECK(json_again["stages"][i]["metrics"] == json["stages"][i]["metrics"]);
    }
}

TEST_CASE("a missing share is an error that names the stage") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const std::string recipe = " tests/layouts/hbp_rows_sorted.toml ";
    const std::string rest = " --samples 1 --seconds 0 --cache warm --no-pictures --out ";
    CHECK(run("check" + recipe).exit_code == 0);
    CHECK(run("run" + recipe + "--generate laplace2d:nx=3" + rest + out).exit_code == 0);
    const std::string one = recipe + "--set 'stage.row_sort.share=\"tile 1,1\"' --generate laplace2d:nx=";
    CHECK(run("run" + one + "3" + rest + out).exit_code == 0);
    expect_in("no_such_share", out, "run" + one + "2" + rest + "OUT", 3);
}

TEST_CASE("without a GPU, its kernels are omitted with a note, and requesting them is an error") {
    const TemporaryFolder folder;
    const std::string rest = " --samples 1 --seconds 0 --cache warm --no-pictures --out " + folder.path().string();
    const Outcome demanded = run("run recipes/csr.toml --backend cuda" + rest);
    if (demanded.exit_code == 0) {
        MESSAGE("skipped: this machine has a GPU");
        return;
    }
    CHECK(demanded.exit_code == 4);
    CHECK(demanded.text.rfind("error: --backend cuda: ", 0) == 0);
    const Outcome one = run("run recipes/csr.toml --only merge" + rest);
    const bool has_kernels = !demanded.text.ends_with(": this program was built without CUDA\n");
    CHECK(one.exit_code == (has_kernels ? 4 : 2));
    CHECK(one.text.starts_with(has_kernels ? "error: --only merge: this kernel needs a GPU: "
                                           : "error: --only merge: unknown kernel; expected one of "));
    const Outcome free_choice = run("run recipes/csr.toml" + rest);
    CHECK(free_choice.exit_code == 0);
    CHECK(free_choice.text.find("note: no GPU kernels: ") != std::string::npos);
}

TEST_CASE("without a GPU, --prepare gpu is an error of every command") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const std::string rest = " --backend kokkos --generate laplace2d:nx=3,ny=3 --prepare gpu ";
    const Outcome wanted = run("run recipes/csr.toml --samples 1 --seconds 0 --no-pictures --out " + out + rest);
    if (wanted.exit_code == 0) {
        MESSAGE("skipped: this machine has a GPU");
        return;
    }
    const std::string quick = " --samples 1 --seconds 0";
    for (const Outcome& outcome : {wanted, run("compare recipes/csr.toml recipes/coo.toml --no-page" + quick + rest),
                                   run("bench recipes/csr.toml --out " + out + "/lines.jsonl" + quick + rest),
                                   run("solve recipes/csr.toml --out " + out + rest)}) {
        CHECK(outcome.exit_code == 4);
        CHECK(outcome.text.rfind("error: --prepare gpu: ", 0) == 0);
    }
    const Outcome elsewhere = run("run recipes/csr.toml --prepare moon");
    CHECK(elsewhere.exit_code == 2);
    CHECK(elsewhere.text.find("--prepare") != std::string::npos);
    CHECK(run("run recipes/csr.toml --samples 1 --seconds 0 --no-pictures --prepare cpu --out " + out).exit_code == 0);
}

TEST_CASE("measuring options of run") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const auto report_of = [&](const std::string& arguments) {
        const Outcome outcome = run("run recipes/csr.toml --generate laplace2d:nx=60 --out " + out + " " + arguments);
        CHECK_MESSAGE(outcome.exit_code == 0, outcome.text);
        return nlohmann::json::parse(file_text(folder.path() / "csr" / "report.json"));
    };
    const auto by_default = report_of("--samples 3 --seconds 0 --backend kokkos --no-pictures");
    CHECK(by_default["cache"] == "warm");
    CHECK(by_default["kernels"][0]["samples"].size() == 3);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "csr" / "stages.png"));
    // --seconds beyond the default maximum of two seconds.
    const auto begin = std::chrono::steady_clock::now();
    const auto cold = report_of("--samples 1 --seconds 2.1 --cache cold --only rows --backend kokkos --precision f32");
    CHECK(std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(2100));
    CHECK(cold["cache"] == "cold");
    CHECK(cold["kernels"].size() == 1);
    CHECK(cold["kernels"][0]["precision"] == "f32");
    CHECK(std::filesystem::exists(folder.path() / "csr" / "stages.png"));
    const auto inside = report_of("--samples 3 --seconds 0 --inside cg --backend kokkos --precision both");
    CHECK(inside["cache"] == "inside cg");
    CHECK(inside["kernels"].size() == 2);
    CHECK(inside["kernels"][0]["samples"].size() == 3);
    expect("run_inside_and_cache", "run recipes/csr.toml --inside cg --cache warm", 2);
    expect("run_inside_not_square",
           "run recipes/csr.toml --matrix tests/golden/cli/wide.mtx --inside cg --no-pictures --out " + out, 3);
}

TEST_CASE("two recipes with the same file name") {
    const TemporaryFolder folder;
    std::filesystem::copy_file(project / "recipes" / "csr.toml", folder.path() / "csr.toml");
    expect_in("one_folder", folder.path().string(), "run recipes/csr.toml OUT/csr.toml --generate laplace2d:nx=3 --out OUT/out",
              2);
}

TEST_CASE("an unsuitable recipe does not stop the others") {
    const TemporaryFolder folder;
    const std::string out = folder.path().string();
    const Outcome outcome = run(
        "run recipes/ehyb.toml recipes/csr.toml --matrix tests/golden/cli/wide.mtx --backend kokkos --samples 1 --seconds 0 "
        "--cache warm --out " +
        out);
    CHECK(outcome.exit_code == 3);
    compare_with_stored("run_unsuitable", without_figures(without_gpu_lines(replaced(outcome.text, out, "OUT"))));
    CHECK(std::filesystem::exists(folder.path() / "csr" / "0_input.png"));
}

TEST_CASE("an unwritable --json file is an error before the work") {
    const TemporaryFolder folder;
    std::ofstream(folder.path() / "taken") << "a file";
    expect_in("json_not_writable", folder.path().string(),
              "run recipes/csr.toml --matrix none.mtx --json OUT/taken/all.json --out OUT", 4);
    CHECK_FALSE(std::filesystem::exists(folder.path() / "csr"));
}

}  // namespace workbench
