// docs/architecture.md describes the rooms and what they use; the includes of all files and the order of CMakeLists.txt must
// agree.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/catalogue/catalogue.hpp"

namespace workbench {
namespace {

const std::filesystem::path project = WORKBENCH_SOURCE_DIR;

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file);
    REQUIRE_MESSAGE(in, file.string());
    return {std::istreambuf_iterator<char>(in), {}};
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" `");
    return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" `") + 1 - begin);
}

std::vector<std::string> split(const std::string& line, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(line);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(trimmed(part));
    return parts;
}

/// The rows of the table that follows a heading, without the two lines of its head.
std::vector<std::vector<std::string>> table_after(const std::string& heading) {
    std::istringstream in(text_of(project / "docs/architecture.md"));
    std::vector<std::vector<std::string>> rows;
    bool reached = false;
    for (std::string line; std::getline(in, line);) {
        reached = reached || line == heading;
        if (!reached) continue;
        if (line.starts_with("|")) {
            rows.push_back(split(line.substr(1), '|'));
        } else if (!rows.empty()) {
            break;
        }
    }
    REQUIRE_GT(rows.size(), 2);
    rows.erase(rows.begin(), rows.begin() + 2);
    return rows;
}

struct Include {
    std::string file;  // relative to the project
    std::string included;
};

std::vector<std::filesystem::path> sources_below(const std::string& folder) {
    std::vector<std::filesystem::path> sources;
    for (auto entry = std::filesystem::recursive_directory_iterator(project / folder); entry != end(entry); ++entry) {
        if (entry->path().filename() == "node_modules") entry.disable_recursion_pending();
        const std::string extension = entry->path().extension().string();
        if (extension == ".hpp" || extension == ".cpp" || extension == ".cu" || extension == ".cuh") {
            sources.push_back(entry->path());
        }
    }
    return sources;
}

std::vector<Include> includes_below(const std::string& folder) {
    std::vector<Include> includes;
    const std::string begin = "#include \"";
    for (const std::filesystem::path& source : sources_below(folder)) {
        std::istringstream in(text_of(source));
        for (std::string line; std::getline(in, line);) {
            if (!line.starts_with(begin)) continue;
            const std::string included = line.substr(begin.size(), line.find('"', begin.size()) - begin.size());
            includes.push_back({source.lexically_relative(project).string(), included});
        }
    }
    return includes;
}

/// The most specific of the folders that contains the file, or "".
std::string folder_of(const std::string& file, const std::vector<std::string>& folders) {
    std::string found;
    for (const std::string& folder : folders) {
        if (file.starts_with(folder + "/") && folder.size() > found.size()) found = folder;
    }
    return found;
}

TEST_CASE("each room includes only rooms that the table of docs/architecture.md lets it use") {
    std::vector<std::string> rooms;
    std::map<std::string, std::set<std::string>> may_use;  // also what the used rooms use
    for (const std::vector<std::string>& row : table_after("## The rooms")) {
        REQUIRE_EQ(row.size(), 4);
        std::set<std::string> used;
        for (const std::string& name : split(row[3], ',')) {
            if (name == "-") continue;
            REQUIRE_MESSAGE(may_use.contains(name), row[1], " uses ", name, ", which is not above it");
            used.insert(name);
            used.insert(may_use[name].begin(), may_use[name].end());
        }
        rooms.push_back(row[1]);
        may_use[row[1]] = used;
    }
    for (const char* const floor : {"core", "stages", "kernels", "viz", "pipeline", "studies", "frontends"}) {
        for (const auto& [file, included] : includes_below(floor)) {
            const std::string from = folder_of(file, rooms);
            const std::string to = folder_of(included, rooms);
            CHECK_MESSAGE(!from.empty(), file, " is in no room");
            const bool allowed = to.empty() || to == from || may_use[from].contains(to);
            CHECK_MESSAGE(allowed, file, " includes ", included);
        }
    }
    std::vector<std::string> in_cmake;
    std::istringstream cmake(text_of(project / "CMakeLists.txt"));
    for (std::string line; std::getline(cmake, line);) {
        if (line.starts_with("workbench_room(")) in_cmake.push_back(split(line, ' ')[1]);
    }
    std::erase_if(rooms,
                  [&](const std::string& room) { return std::find(in_cmake.begin(), in_cmake.end(), room) == in_cmake.end(); });
    CHECK(in_cmake == rooms);
}

TEST_CASE("each folder of kernels includes only folders above it in the table of docs/architecture.md") {
    std::vector<std::string> folders;
    for (const std::vector<std::string>& row : table_after("### Inside `kernels`")) folders.push_back("kernels/" + row[0]);
    for (const auto& [file, included] : includes_below("kernels")) {
        if (std::filesystem::path(file).parent_path() == "kernels") continue;  // format.hpp, for authors
        const std::string from = folder_of(file, folders);
        const std::string to = folder_of(included, folders);
        CHECK_MESSAGE(!from.empty(), file, " is in no folder of the table");
        const auto place = [&](const std::string& folder) { return std::find(folders.begin(), folders.end(), folder); };
        const bool allowed = to.empty() || place(to) <= place(from);
        CHECK_MESSAGE(allowed, file, " includes ", included);
    }
}

/// The first `depth` folders of a path; empty if the file is not below as many.
std::string folders_of(const std::string& file, int depth) {
    const std::vector<std::string> parts = split(file, '/');
    std::string folders;
    for (int i = 0; i < depth && depth < std::ssize(parts); ++i) folders += parts[i] + "/";
    return folders;
}

TEST_CASE("no two folders of kernels include each other") {
    for (const int depth : {2, 3}) {  // kernels/common, and kernels/common/storage
        std::set<std::pair<std::string, std::string>> arrows;
        for (const auto& [file, included] : includes_below("kernels")) {
            if (included.starts_with("kernels/")) arrows.insert({folders_of(file, depth), folders_of(included, depth)});
        }
        CHECK_GT(arrows.size(), 10);
        for (const auto& [from, to] : arrows) {
            const bool both_ways = from < to && !from.empty() && arrows.contains({to, from});
            CHECK_MESSAGE(!both_ways, from, " and ", to, " include each other");
        }
    }
}

/// The longest parts of a literal that are letters, digits and underscores, without the letter of an escape sequence.
std::vector<std::string> words_of(const std::string& literal) {
    std::vector<std::string> words(1);
    for (std::size_t i = 0; i < literal.size(); ++i) {
        if (std::isalnum(static_cast<unsigned char>(literal[i])) != 0 || literal[i] == '_') {
            words.back() += literal[i];
        } else if (words.emplace_back(); literal[i] == '\\') {
            ++i;
        }
    }
    return words;
}

TEST_CASE("only the catalogue names stages and layouts; other rooms ask what an entry declares") {
    std::set<std::string> names;
    for (const StageEntry& stage : catalogue().stages) names.insert(stage.name);
    for (const LayoutEntry& layout : catalogue().layouts) names.insert(layout.name);
    for (const char* const word : {"program", "source", "rows", "natural", "split", "segmented", "halo", "imported", "unite"}) {
        names.erase(word);  // also a word of texts, or a key of recipes and reports
    }
    const std::set<std::string> exempt{
        "pipeline/catalogue/catalogue.cpp",
        "pipeline/recipe/changes.cpp",  // examples in texts
        "frontends/cli/explain_command.cpp",
        "frontends/cli/new_command.cpp",
    };
    for (const char* const floor : {"viz", "pipeline", "studies", "frontends"}) {
        for (const std::filesystem::path& path : sources_below(floor)) {
            const std::string file = path.lexically_relative(project).string();
            if (exempt.contains(file)) continue;
            std::istringstream in(text_of(path));
            for (std::string line; std::getline(in, line);) {
                const std::string code = line.substr(0, line.find("//"));
                const std::vector<std::string> parts = split(code, '"');  // every second one is a literal
                for (std::size_t i = 1; i < parts.size(); i += 2) {
                    if (parts[i].find(".toml") != std::string::npos) continue;  // the name of a file
                    for (const std::string& word : words_of(parts[i])) {
                        CHECK_MESSAGE(!names.contains(word), file, " names ", word);
                    }
                }
            }
        }
    }
}

}  // namespace
}  // namespace workbench
