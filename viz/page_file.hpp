// A page for a browser, in one file that needs no network: the template of viz/page, and the data as base64 of deflated bytes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Bytes as the page has them: base64 of what zlib makes of them. Throws MachineError where memory runs out.
[[nodiscard]] std::string page_text(std::string_view bytes);

/// Sections are numbered as they are added; the document names those that it wants.
class PageFile {
public:
    /// The number of the section. Texts of page_text that are equal are one section.
    std::size_t add(std::string text);

    /// Of all sections, in the file.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// Of the page without any.
    [[nodiscard]] static std::size_t template_bytes();

    /// The whole page. `document` is JSON; `title` any text.
    [[nodiscard]] std::string html(std::string_view title, std::string_view document) const;

private:
    std::vector<std::string> sections_;
    std::map<std::string, std::size_t> numbers_;
    std::size_t bytes_ = 0;
};

}  // namespace workbench
