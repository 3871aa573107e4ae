#include "support/golden.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace workbench {

std::string file_text(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

void compare_with_golden(const std::filesystem::path& file, const std::string& text) {
    if (std::getenv("WORKBENCH_UPDATE_GOLDEN") != nullptr) {
        std::ofstream(file, std::ios::binary) << text;
        return;
    }
    CHECK_MESSAGE(text == file_text(file), "differs from ", file.string(), ":\n", text);
}

}  // namespace workbench
