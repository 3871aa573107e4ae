// Files of kept results that are damaged, misplaced or cannot be written.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/contract/errors.hpp"
#include "run/kept_runs.hpp"
#include "support/golden.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {

TEST_SUITE("kept results") {
    TEST_CASE("damage in any byte of a file is detected, and so is truncation") {
        const TemporaryFolder folder;
        KeepFolder keep(folder.path(), "a program");
        const Keeping keeping(&keep, grid(3));
        std::string text = "text";
        std::vector<double> values{1, 2, 3};
        std::vector<std::string> texts{"some", "", "more"};
        const auto transfer = [&](Transfer& all) { all(text, values, texts); };
        keeping.write(transfer);
        const fs::path file = file_in(folder.path(), "matrix");
        const std::string good = file_text(file);
        CHECK(keeping.read(transfer));
        CHECK(keep.take_notes().empty());
        for (std::size_t i = 0; i < good.size(); ++i) {
            CAPTURE(i);
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
            write_text(file, bad);
            CHECK_FALSE(keeping.read(transfer));
            write_text(file, good.substr(0, i));
            CHECK_FALSE(keeping.read(transfer));
            CHECK_EQ(keep.take_notes().size(), 2);
        }
        write_text(file, good + "more");
        CHECK_FALSE(keeping.read(transfer));
        write_text(file, good);
        CHECK(keeping.read(transfer));
        CHECK(texts == std::vector<std::string>{"some", "", "more"});
    }

    TEST_CASE("damaged results of stages are computed again and kept") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(6);
        const Recipe recipe = parse_recipe(hybrid, "test.toml", catalogue());
        StagedMatrix expected = stage_input(matrix);
        (void)apply_stages(recipe, expected, {});
        KeepFolder keep(folder.path(), "a program");
        const Keeping keeping(&keep, matrix);
        const auto is_read = [&] {
            StagedMatrix staged = stage_input(matrix);
            const std::vector<StageOutcome> stages = apply_stages(recipe, staged, {}, {}, {}, keeping).outcomes;
            CHECK(staged.shares == expected.shares);
            return stages.front().kept_seconds.has_value();
        };
        CHECK_FALSE(is_read());
        const fs::path file = file_in(folder.path(), "split");
        const std::string good = file_text(file);
        for (std::size_t i = 0; i < good.size(); i += good.size() / 20) {
            CAPTURE(i);
            std::string bad = good;
            bad[i] = static_cast<char>(bad[i] ^ 0x80);
            write_text(file, bad);
            CHECK_FALSE(is_read());
            CHECK_EQ(keep.take_notes().size(), 1);
            CHECK(is_read());
        }
    }

    TEST_CASE("a damaged layout is built again, and the note names the file") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        (void)run_keeping(ehyb, matrix, folder.path());
        const fs::path file = file_in(folder.path(), "ehyb_f64");
        std::string bytes = file_text(file);
        bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
        write_text(file, bytes);
        const RunReport report = run_keeping(ehyb, matrix, folder.path());
        const std::vector<std::string> notes = notes_on(folder.path(), report);
        REQUIRE_EQ(notes.size(), 1);
        CHECK_EQ(notes[0].substr(0, file.string().size()), file.string());
        CHECK_NE(notes[0].find("made anew"), std::string::npos);
        CHECK_EQ(kept_of(run_keeping(ehyb, matrix, folder.path())), all_of_ehyb);
    }

    TEST_CASE("a file under another result's name is not used") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        CsrMatrix other = matrix;
        for (double& value : other.values) value += 1;
        (void)run_keeping(ehyb, matrix, folder.path());
        const std::string of_matrix = fs::directory_iterator(folder.path())->path().filename().string();
        (void)run_keeping(ehyb, other, folder.path());
        // The files of the other matrix, renamed to those of the first one.
        for (const std::string name : {"metis_partition", "split"}) {
            fs::path of_other;
            for (const auto& entry : fs::directory_iterator(folder.path())) {
                if (entry.path().filename() != of_matrix) of_other = file_in(entry.path(), name);
            }
            fs::copy_file(of_other, file_in(folder.path() / of_matrix, name), fs::copy_options::overwrite_existing);
        }
        const RunReport report = run_keeping(ehyb, matrix, folder.path());
        CHECK_EQ(kept_of(report), NameSet{"row_sort", "sort_outside", "ehyb"});
        CHECK_EQ(notes_on(folder.path(), report).size(), 2);
        CHECK_EQ(kept_of(run_keeping(ehyb, matrix, folder.path())), all_of_ehyb);
    }

    TEST_CASE("if results cannot be written, the run continues with one note") {
        const TemporaryFolder folder;
        const CsrMatrix matrix = grid(12);
        SUBCASE("no folder for the matrix") {
            (void)run_keeping(ehyb, matrix, folder.path());
            const fs::path place = fs::directory_iterator(folder.path())->path();
            fs::remove_all(place);
            write_text(place, "a file");
        }
        SUBCASE("a full disk") {
            (void)run_keeping(ehyb, matrix, folder.path());
            const fs::path file = file_in(folder.path(), "metis_partition");
            fs::remove_all(file.parent_path());
            fs::create_directory(file.parent_path());
            fs::create_symlink("/dev/full", file);
        }
        const RunReport report = run_keeping(ehyb, matrix, folder.path());
        CHECK(kept_of(report).empty());
        const std::vector<std::string> notes = notes_on(folder.path(), report);
        REQUIRE_EQ(notes.size(), 1);
        CHECK_NE(notes[0].find("nothing more is kept"), std::string::npos);
        CHECK_EQ(report.kernels.size(), 2);
    }

    TEST_CASE("a file instead of a folder") {
        const TemporaryFolder folder;
        write_text(folder.path() / "file", "text");
        CHECK_THROWS_AS(KeepFolder(folder.path() / "file", "a program"), MachineError);
        CHECK_THROWS_AS(KeepFolder(folder.path() / "file" / "below", "a program"), MachineError);
    }
}

}  // namespace workbench
