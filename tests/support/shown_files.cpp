#include "support/shown_files.hpp"

#include <sstream>

namespace workbench {

ShownBlocks shown_blocks(const std::string& page) {
    ShownBlocks shown;
    std::istringstream lines(page);
    bool inside = false;
    std::string* block = nullptr;
    for (std::string line; std::getline(lines, line);) {
        if (line.rfind("```", 0) != 0) {
            if (block != nullptr) *block += line + '\n';
            continue;
        }
        inside = !inside;
        block = nullptr;
        if (!inside) continue;
        const std::size_t space = line.find(' ');
        if (space != std::string::npos) block = &shown.files[line.substr(space + 1)];
        if (line == "```sh") block = &shown.commands.emplace_back();
    }
    return shown;
}

}  // namespace workbench
