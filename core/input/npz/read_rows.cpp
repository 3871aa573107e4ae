#include "core/input/npz/read_rows.hpp"

#include <fstream>
#include <system_error>

#include "core/input/npz/npz_archive.hpp"
#include "core/input/npz/scipy_npz.hpp"

namespace workbench {

std::unique_ptr<RowReader> open_rows(const std::filesystem::path& path, const std::string& member) {
    std::error_code unknown;
    if (!member.empty() || !std::filesystem::is_regular_file(path, unknown)) return nullptr;
    std::string start(4, '\0');
    std::ifstream(path, std::ios::binary).read(start.data(), static_cast<std::streamsize>(start.size()));
    return is_zip(start) ? open_scipy_npz_rows(path) : nullptr;
}

}  // namespace workbench
