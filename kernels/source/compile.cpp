#include "kernels/source/compile.hpp"

#include <fmt/format.h>

#include "core/system/whole_file.hpp"
#include "kernels/source/arrays_header.hpp"

namespace workbench {

std::string source_behind_header(const std::filesystem::path& file) {
    return fmt::format("#include \"{}\"\n{}{}", arrays_header_name, line_directive(file),
                       source_text(file, "the source of a kernel"));
}

void compile_for_host(const std::filesystem::path& file, const std::string& header, const std::filesystem::path& folder,
                      const std::filesystem::path& library) {
    write_whole_file(folder / arrays_header_name, header);
    compile_shared_object(file, source_behind_header(file), {}, folder, library);
}

}  // namespace workbench
