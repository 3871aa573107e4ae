// docs/new_format.md shows every file of its format, as it is compiled.
#include <doctest/doctest.h>

#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "support/golden.hpp"

namespace workbench {
namespace {

const std::filesystem::path source = WORKBENCH_SOURCE_DIR;

/// The blocks of the page that name a file behind their language (```cpp FILE), by file.
std::map<std::string, std::string> shown_files(const std::string& page) {
    std::map<std::string, std::string> shown;
    std::istringstream lines(page);
    std::string* block = nullptr;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("```", 0) != 0) {
            if (block != nullptr) *block += line + '\n';
            continue;
        }
        const std::size_t space = line.find(' ');
        block = block == nullptr && space != std::string::npos ? &shown[line.substr(space + 1)] : nullptr;
    }
    return shown;
}

/// Where the page and the files differ. Of the catalogue, it shows a line; of all others, everything.
std::vector<std::string> differences(const std::string& page) {
    const std::map<std::string, std::string> shown = shown_files(page);
    std::vector<std::string> found;
    for (const auto& [path, text] : shown) {
        const std::string file = file_text(source / path);
        const bool is_there =
            path == "pipeline/catalogue/catalogue.cpp" ? file.find('\n' + text) != std::string::npos : file == text;
        if (!is_there) found.push_back(path + " is not as the page shows it");
    }
    std::vector<std::string> wanted{"pipeline/catalogue/catalogue.cpp", "recipes/csr16.toml", "tests/layouts/csr16.toml",
                                    "tests/kernels/csr16_test.cpp"};
    for (const auto& file : std::filesystem::directory_iterator(source / "kernels" / "csr16")) {
        wanted.push_back("kernels/csr16/" + file.path().filename().string());
    }
    for (const std::string& path : wanted) {
        if (shown.count(path) == 0) found.push_back(path + " is not shown");
    }
    return found;
}

}  // namespace

TEST_CASE("docs/new_format.md shows every file of its format as it is") {
    const std::string page = file_text(source / "docs" / "new_format.md");
    for (const std::string& difference : differences(page)) FAIL_CHECK(difference);
    // A page that says anything else is found out.
    for (const std::string word :
         {"csr16_entry(),", "sum += layout_.values", "use = \"csr16\"", "```cuda kernels/csr16/cuda.cu"}) {
        const std::size_t place = page.find(word);
        REQUIRE(place != std::string::npos);
        std::string changed = page;
        changed[place + word.size() - 1] = '?';
        CAPTURE(word);
        CHECK_FALSE(differences(changed).empty());
    }
}

}  // namespace workbench
