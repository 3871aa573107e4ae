// The code blocks of a page of documentation: files that it shows unchanged, and commands that the reader runs.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace workbench {

struct ShownBlocks {
    std::map<std::string, std::string> files;  // of the blocks with a file name after their language (```cpp FILE)
    std::vector<std::string> commands;         // of the blocks ```sh
};

[[nodiscard]] ShownBlocks shown_blocks(const std::string& page);

}  // namespace workbench
