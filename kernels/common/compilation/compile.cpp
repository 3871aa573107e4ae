#include "kernels/common/compilation/compile.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/system/beside_program.hpp"
#include "core/system/checksum.hpp"
#include "core/system/whole_file.hpp"
#include "kernels/common/compilation/arrays_header.hpp"

namespace workbench {

std::string source_behind_header(const std::filesystem::path& file) {
    return fmt::format("#define WORKBENCH_KERNEL_SOURCE\n#include \"{}\"\n{}{}", arrays_header_name, line_directive(file),
                       source_text(file, "the source of a kernel"));
}

void compile_for_host(const std::filesystem::path& file, const std::string& header, const std::filesystem::path& folder,
                      const std::filesystem::path& library) {
    write_whole_file(folder / arrays_header_name, header);
    compile_shared_object(file, source_behind_header(file), {}, folder, library);
}

std::string checksum_of_headers_in(const std::filesystem::path& root) {
    std::vector<std::filesystem::path> files{root / "core/system/host_memory.hpp", root / "kernels/format.hpp"};
    for (const char* folder : {"core/contract", "core/forecast", "core/matrix", "core/text", "kernels/common", "kernels/device",
                               "kernels/formats"}) {
        for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
            const auto ending = entry.path().extension();
            if (ending == ".hpp" || ending == ".cuh") files.push_back(entry.path());
        }
    }
    std::sort(files.begin(), files.end());
    std::string all;
    for (const std::filesystem::path& file : files) all += checksum_of_file(file);
    return checksum_of(all);
}

const std::string& checksum_of_headers() {
    static const std::string checksum = checksum_of_headers_in(headers_folder());
    return checksum;
}

}  // namespace workbench
