// docs/new_format.md shows every file of its format as it is compiled, and its commands make that format.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "support/golden.hpp"
#include "support/shown_files.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const fs::path source = WORKBENCH_SOURCE_DIR;
const std::string catalogue_file = "pipeline/catalogue/catalogue.cpp";

/// All files of the format except the catalogue.
std::vector<std::string> format_files() {
    std::vector<std::string> files{"recipes/dia.toml", "tests/layouts/dia.toml", "tests/kernels/dia_test.cpp"};
    for (const auto& file : fs::directory_iterator(source / "kernels/formats/dia")) {
        files.push_back("kernels/formats/dia/" + file.path().filename().string());
    }
    return files;
}

/// The differences between the page and the files. Of the catalogue it shows one line, of the other files everything.
std::vector<std::string> differences(const std::string& page) {
    const ShownBlocks shown = shown_blocks(page);
    std::vector<std::string> found;
    for (const auto& [path, text] : shown.files) {
        const std::string file = file_text(source / path);
        const bool is_there = path == catalogue_file ? file.find('\n' + text) != std::string::npos : file == text;
        if (!is_there) found.push_back(path + " is not as the page shows it");
    }
    std::vector<std::string> wanted = format_files();
    wanted.push_back(catalogue_file);
    for (const std::string& path : wanted) {
        if (!shown.files.contains(path)) found.push_back(path + " is not shown");
    }
    return found;
}

/// The commands of the page that write files, in its order; the other commands build and start the program.
std::vector<std::string> writing_commands() {
    std::vector<std::string> writing;
    for (const std::string& command : shown_blocks(file_text(source / "docs" / "new_format.md")).commands) {
        if (command.find("./bootstrap") == std::string::npos) writing.push_back(command);
    }
    return writing;
}

bool succeeds(const std::string& commands, const fs::path& folder) {
    const fs::path script = folder / "commands.sh";
    std::ofstream(script) << commands;
    const std::string quiet = "cd '" + folder.string() + "' && bash commands.sh >/dev/null 2>&1";
    const bool ok = std::system(quiet.c_str()) == 0;
    fs::remove(script);
    return ok;
}

using Files = std::map<std::string, std::string>;

Files files_of(const fs::path& folder) {
    Files files;
    for (const auto& file : fs::recursive_directory_iterator(folder)) {
        if (file.is_regular_file()) files[fs::relative(file.path(), folder).string()] = file_text(file.path());
    }
    return files;
}

std::string renamed(const std::string& text) {
    return std::regex_replace(std::regex_replace(text, std::regex("dia(\\b|_)"), "mine$1"), std::regex("Dia(\\b|[A-Z])"),
                              "Mine$1");
}

/// The files of the format and the catalogue, as in a checkout.
void copy_checkout(const fs::path& folder) {
    std::vector<std::string> paths = format_files();
    paths.push_back(catalogue_file);
    for (const std::string& path : paths) {
        fs::create_directories((folder / path).parent_path());
        fs::copy_file(source / path, folder / path);
    }
}

}  // namespace

TEST_SUITE("new_format") {
    TEST_CASE("docs/new_format.md shows every file of its format as it is") {
        const std::string page = file_text(source / "docs" / "new_format.md");
        for (const std::string& difference : differences(page)) FAIL_CHECK(difference);
        // A page that differs is detected.
        for (const std::string word : {"        dia_entry(),", "struct DiaRows final", "\"one thread per row, neighbouring",
                                       "use = \"dia\"", "generate = \"laplace3d\"", "```cuda kernels/formats/dia/cuda.cu"}) {
            const std::size_t place = page.find(word);
            REQUIRE(place != std::string::npos);
            std::string changed = page;
            changed[place + word.size() - 1] = '?';
            CAPTURE(word);
            CHECK_FALSE(differences(changed).empty());
        }
    }

    TEST_CASE("the commands of docs/new_format.md make a format") {
        const TemporaryFolder folder;
        copy_checkout(folder.path());
        Files expected = files_of(folder.path());
        for (const std::string& path : format_files()) expected[renamed(path)] = renamed(expected.at(path));
        const std::string line = "            dia_entry(),\n";
        std::string& catalogue = expected.at(catalogue_file);
        catalogue.insert(catalogue.find(line) + line.size(), renamed(line));

        const std::vector<std::string> commands = writing_commands();
        REQUIRE(commands.size() == 3);
        for (const std::string& command : commands) {
            CAPTURE(command);
            CHECK(succeeds(command, folder.path()));
        }
        const Files made = files_of(folder.path());
        for (const auto& file : expected) {
            CAPTURE(file.first);
            REQUIRE(made.contains(file.first));
            CHECK(made.at(file.first) == file.second);
        }
        CHECK(made.size() == expected.size());
    }

    TEST_CASE("the commands of docs/new_format.md overwrite no file") {
        const std::vector<std::string> commands = writing_commands();
        for (const std::string& path : format_files()) {
            const TemporaryFolder folder;
            copy_checkout(folder.path());
            fs::create_directories((folder.path() / renamed(path)).parent_path());
            std::ofstream(folder.path() / renamed(path)) << "somebody's own\n";
            const Files before = files_of(folder.path());
            CAPTURE(path);
            int refused = 0;
            for (const std::string& command : commands) refused += succeeds(command, folder.path()) ? 0 : 1;
            CHECK(refused == 1);
            const Files after = files_of(folder.path());
            for (const auto& [file, text] : before) {
                if (file != catalogue_file) CHECK(after.at(file) == text);
            }
        }
    }
}

}  // namespace workbench
