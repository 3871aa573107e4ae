// A self-contained HTML page: the template of viz/page with the data as compressed base64 sections.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Files are compressed as much as possible; a page that is shown at once, in a fraction of the time.
enum class PageCompression { best, quick };

/// The bytes compressed with zlib, in base64. Throws MachineError if memory runs out.
[[nodiscard]] std::string page_text(std::string_view bytes, PageCompression compression = PageCompression::best);

/// Sections are numbered in the order in which they are added; the document refers to these numbers.
class PageFile {
public:
    explicit PageFile(PageCompression compression = PageCompression::best) : compression_(compression) {}

    [[nodiscard]] PageCompression compression() const { return compression_; }

    /// Adds a text of page_text and returns the section's number. Equal texts share a section.
    std::size_t add(std::string text);

    /// The size of all sections in the file.
    [[nodiscard]] std::size_t bytes() const { return bytes_; }
    /// The size of the page without sections.
    [[nodiscard]] static std::size_t template_bytes();

    /// The whole page. `document` is JSON; `title` is plain text.
    [[nodiscard]] std::string html(std::string_view title, std::string_view document) const;

private:
    PageCompression compression_;
    std::vector<std::string> sections_;
    std::map<std::string, std::size_t> numbers_;
    std::size_t bytes_ = 0;
};

}  // namespace workbench
