// The data of an HTML page, decoded.
#pragma once

#include <string>

namespace workbench {

/// The bytes of a text in base64.
[[nodiscard]] std::string from_base64(const std::string& text);

/// Reverses page_text (viz/page_file.hpp). At most 1 MiB; throws std::runtime_error for other texts.
[[nodiscard]] std::string inflated(const std::string& text);

/// The decoded content of the script with this id: "document", "section-0". Empty if there is none.
[[nodiscard]] std::string section_of_page(const std::string& html, const std::string& id);

}  // namespace workbench
