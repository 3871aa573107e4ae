// The members of a tar archive, in their order.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/input/byte_source.hpp"

namespace workbench {

/// Is it the start, of 512 bytes at least, of a tar archive: a header whose sum of bytes is right?
[[nodiscard]] bool is_tar(std::string_view start);

/// Calls visit(name, bytes) for each regular file; it may leave the bytes unread, and must not keep them.
/// Throws BrokenSource where the archive is damaged.
void for_each_member(std::unique_ptr<ByteSource> archive,
                     const std::function<void(const std::string& name, std::unique_ptr<ByteSource> bytes)>& visit);

}  // namespace workbench
