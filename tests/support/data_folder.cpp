#include "support/data_folder.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

namespace workbench {

std::filesystem::path data_folder(std::string_view name) {
    const char* given = std::getenv("WORKBENCH_TEST_DATA");
    const std::filesystem::path base = given != nullptr ? given : WORKBENCH_SOURCE_DIR "/../shared/data";
    if (std::filesystem::is_directory(base / name)) return base / name;
    MESSAGE("SKIPPED: no folder " << (base / name).string() << "; WORKBENCH_TEST_DATA names another");
    return {};
}

}  // namespace workbench
