// The blocks of a page of documentation: files that it shows as they are, and commands that it tells to type.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace workbench {

struct ShownBlocks {
    std::map<std::string, std::string> files;  // of the blocks that name a file behind their language (```cpp FILE)
    std::vector<std::string> commands;         // of the blocks ```sh
};

[[nodiscard]] ShownBlocks shown_blocks(const std::string& page);

}  // namespace workbench
