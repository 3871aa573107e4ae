// Commands with options that no other test uses, and the main errors of each command: whole texts and exit codes, in
// tests/golden/cli/transcript_*.txt.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "cli/shell.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// Runs commands one after the other in one folder. None of them measures, so that texts are the same in each run.
class Transcript {
public:
    explicit Transcript(std::string name) : name_(std::move(name)) {}
    Transcript(const Transcript&) = delete;
    Transcript& operator=(const Transcript&) = delete;
    ~Transcript() { compare_with_stored("transcript_" + name_, text_); }

    [[nodiscard]] const fs::path& folder() const { return folder_.path(); }

    void file(const std::string& name, const std::string& text) const { std::ofstream(folder() / name) << text; }

    void run(const std::vector<std::string>& commands) {
        for (std::string command : commands) {
            const std::string shown = command;
            for (const char* place : {"recipes/", "tests/"}) {
                command =
                    std::regex_replace(command, std::regex(std::string(" ") + place), " " + project.string() + "/" + place);
            }
            const Outcome outcome = workbench_in(folder(), command, "CUDA_VISIBLE_DEVICES= LC_ALL=C.UTF-8 COLUMNS=80");
            const std::string text = replaced(replaced(outcome.text, folder().string(), "OUT"), project.string() + "/", "");
            text_ += "$ " + shown + '\n' + text + "[" + std::to_string(outcome.exit_code) + "]\n\n";
        }
    }

private:
    std::string name_;
    TemporaryFolder folder_;
    std::string text_;
};

const std::string grid = "recipes/teaching/small_inline.toml";

}  // namespace

TEST_SUITE("transcripts") {
    TEST_CASE("draw, animate and spy") {
        Transcript transcript("pictures");
        transcript.run(
            {"draw " + grid + " --width 320 -o a.png", "draw " + grid + " --width 330 -o a.png",
             "draw " + grid + " --stage reversed --graph --colour-by level --format pdf --width 320",
             "draw " + grid + " --stage input --format svg", "draw tests/golden/cli/wide.mtx --member wide.mtx -o b.png",
             "draw --generate laplace2d:nx=3 --stage input -o c.png", "draw tests/golden/cli/wide.mtx --flow -o b.png",
             "draw " + grid + " --set layout.height=3 -o b.png",
             "draw recipes/teaching/my_csr_kernel.toml --no-sources -o b.png", "animate " + grid + " --width 320 -o a.gif",
             "animate " + grid + " --width 330 -o a.gif", "animate " + grid + " --graph --colour-by length -o c.gif",
             "animate " + grid + " --colour-by level -o b.gif",
             "animate recipes/csr.toml --matrix tests/golden/cli/wide.mtx -o b.gif",
             "animate " + grid + " --scale-from none.json -o b.gif", "spy " + grid + " --stage input --columns 30 --lines 12",
             "spy " + grid + " --stage none", "spy --generate laplace2d:nx=5 --columns 24 --lines 12",
             "spy tests/golden/cli/wide.mtx --lines 3"});
        for (const char* name : {"a.png", "small_inline_graph.pdf", "small_inline_input.svg", "a.gif"}) {
            CHECK_MESSAGE(fs::exists(transcript.folder() / name), name);
        }
        CHECK_FALSE(fs::exists(transcript.folder() / "b.png"));
    }

    TEST_CASE("cache, storage, explain, info and list") {
        Transcript transcript("figures");
        const std::string cache = "cache recipes/teaching/segment_width.toml --generate laplace2d:nx=12 ";
        transcript.run({cache + "--resident 8 --block 4 --device a100 --precision f32 --json c.json", cache + "--json c.json",
                        cache + "--sweep stage.column_segmentation.width=40,80 --plot p",
                        cache + "--sweep stage.column_segmentation.width=40,90 --plot p", cache + "--device k30",
                        cache + "--set stage.column_segmentation.width=50", "cache recipes/csr.toml --matrix none.mtx",
                        "cache recipes/ehyb.toml --matrix tests/golden/cli/wide.mtx",
                        "storage --generate laplace2d:nx=9 --slice-height 2,4 --alpha 0.1,0.5",
                        "storage tests/golden/cli/wide.mtx --slice-height 0",
                        "storage recipes/teaching/own_hybrid.toml --set stage.split.longer_than=20",
                        "storage recipes/teaching/my_csr_kernel.toml --no-sources",
                        "storage recipes/csr.toml tests/golden/cli/wide.mtx", "explain warp_iterations",
                        "explain csr --header --precision f32", "info tests/golden/cli/figure5.mtx --legend",
                        "info tests/golden/cli/wide.mtx tests/golden/cli/figure5.mtx --member wide.mtx",
                        "info recipes/csr.toml", "list generators"});
    }

    TEST_CASE("check, new, schema, export, convert and generate") {
        Transcript transcript("files");
        transcript.file("wrong.toml", "[[stage]]\nuse = 'row_sort'\nwindow = 3\n[layout]\nuse = 'sell'\nheight = 3\n");
        transcript.file(
            "space.toml",
            "[space]\nname = 'S'\n[matrix]\ngenerate = 'laplace2d'\nnx = 4\n[layout]\nuse = 'sell'\nslice_height = [2, 4]\n");
        const std::string sell = "check tests/golden/cli/variant.toml ";
        transcript.run({"check wrong.toml --format json",
                        "check wrong.toml --format github",
                        "check wrong.toml none.toml recipes/csr.toml",
                        "check recipes/csr.toml recipes/coo.toml --set layout.nope=3 --format github",
                        sell + "--format json",
                        sell + "--format github",
                        sell + "--sweep layout.slice_height=4,8",
                        sell + "--sweep layout.slice_height=4,8 --resolved",
                        sell + "--generate laplace2d:nx=5 --resolved",
                        sell + "--matrix none.mtx",
                        sell + "--point 1",
                        "check space.toml --point 2",
                        "check space.toml --point 3",
                        "check space.toml --resolved",
                        "check recipes/teaching/my_csr_kernel.toml --no-sources",
                        "new stage my_sort",
                        "new format my_sort",
                        "new stage my_sort --force",
                        "new stage 9x",
                        "new stage my-sort",
                        "new format my_rows -o rows",
                        "new format csr",
                        "schema suits",
                        "export " + grid + " -o e --format text --each-stage",
                        "export " + grid + " -o e --format text",
                        "export " + grid + " -o e --format text --force",
                        "export recipes/csr.toml --matrix none.mtx -o f",
                        "export " + grid + " -o g --format text",
                        "generate laplace2d:nx=3 -o a.mtx",
                        "generate laplace2d:nx=4 -o a.mtx",
                        "generate laplace2d:nx=4 -o a.mtx --force",
                        "convert a.mtx b.npz",
                        "convert tests/golden/cli/wide.mtx b.npz",
                        "convert a.mtx b.npz --force",
                        "convert a.mtx c.mtx --member a.mtx"});
        CHECK(fs::exists(transcript.folder() / "e/000_input"));
        CHECK(!fs::exists(transcript.folder() / "g/000_input"));
    }

    TEST_CASE("errors of run, compare, solve, choose, bench and calibrate") {
        Transcript transcript("measuring");
        transcript.file("column.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\n2\n");
        transcript.file("suite.toml", "[suite]\nrecipes = [\"" + csr_file + "\"]\ngenerate = [\"laplace2d:nx=0\"]\n");
        const std::string matrix = " --generate laplace2d:nx=3";
        const std::string solve = "solve recipes/sell.toml --backend kokkos --out s" + matrix;
        const std::string choose = "choose recipes/sell.toml --backend kokkos" + matrix;
        const std::string bench = "bench recipes/sell.toml --backend kokkos" + matrix;
        transcript.run({"run recipes/sell.toml --backend kokkos --only rows" + matrix,
                        "run recipes/sell.toml --rows-to-ranks metis" + matrix,
                        "run recipes/sell.toml --samples 0",
                        "run recipes/sell.toml --seconds -1",
                        "run recipes/sell.toml --watch --distributed",
                        "run recipes/sell.toml --no-pictures --scale-from report.json",
                        "run recipes/sell.toml --inside bicgstab",
                        "compare recipes/sell.toml recipes/csr.toml --inside cg --cache cold" + matrix,
                        "compare recipes/sell.toml recipes/sell.toml --out o" + matrix,
                        solve + " --rows-to-ranks metis",
                        solve + " --rhs column.mtx",
                        solve + " --iterations 0",
                        solve + " --patience 0",
                        solve + " --tolerance -1",
                        solve + " --distributed --keep k",
                        solve + " --distributed --column 8cm",
                        "run recipes/sell.toml --distributed --seconds 1",
                        solve + " --rhs random --rhs-member b.mtx",
                        solve + " --distributed --tune recipes/csr.toml",
                        solve + " --distributed --method bicgstab",
                        solve + " recipes/sell.toml",
                        choose + " --page p.html -o p.html",
                        choose + " --budget 0",
                        choose + " --products 0",
                        choose + " --sweep matrix.nx=3,4",
                        bench + " --points 3",
                        "bench --backend kokkos none.toml other.toml",
                        "bench suite.toml --backend kokkos",
                        bench + " --generate laplace2d:nx=0",
                        bench + " --shard 0/3",
                        bench + " --inside cg --cache cold",
                        bench + " --limit -1",
                        bench + " --precision f16",
                        "judge kernel.cpp --precision f16",
                        "calibrate --budget 0",
                        "calibrate --backend kokkos,cuda"});
        for (const char* name : {"s", "o", "out", "p.html", "winner.toml", "bench.jsonl"}) {
            CHECK_MESSAGE(!fs::exists(transcript.folder() / name), name);
        }
    }

    TEST_CASE("summary") {
        Transcript transcript("summary");
        const std::string report = "summary tests/golden/counted/report.json ";
        transcript.run({report, report + "--csv", report + "--tex", report + "--of 'counted 101: height=101'",
                        report + "--of counted", report + "--cover", report + "--cover --csv", report + "--rule 2 --tex",
                        report + "--plots p --metric bandwidth", report + "--plots p --metric rows",
                        report + "--metric bandwith --plots q", report + "tests/golden/counted/report.json --csv",
                        "summary none.jsonl", "summary tests/golden/cli/wide.mtx"});
        std::vector<std::string> files;
        for (const auto& entry : fs::directory_iterator(transcript.folder() / "p")) files.push_back(entry.path().filename());
        CHECK(files.size() == 48);
    }
}

}  // namespace workbench
