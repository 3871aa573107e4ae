// The members of a tar archive.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "core/input/bytes/byte_source.hpp"

namespace workbench {

/// True if these are at least 512 bytes that begin with a tar header with a correct check sum.
[[nodiscard]] bool is_tar(std::string_view start);

/// Calls visit(name, bytes) for each regular file in order; visit need not read the bytes and must not keep them. Throws
/// BrokenSource if the archive is damaged.
void for_each_member(std::unique_ptr<ByteSource> archive,
                     const std::function<void(const std::string& name, std::unique_ptr<ByteSource> bytes)>& visit);

}  // namespace workbench
