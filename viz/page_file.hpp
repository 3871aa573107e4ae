// HTML pages: the templates of viz/page with their data.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace workbench {

/// Sections of files are compressed as much as possible, and in base64. Those that are shown at once are plain bytes.
enum class PageCompression { best, none };

/// The bytes as a section contains them. Throws MachineError if memory runs out.
[[nodiscard]] std::string page_text(std::string_view bytes, PageCompression compression = PageCompression::best);

/// The title, the document and the sections of a page as one string, for a page that is open already.
[[nodiscard]] std::string joined_parts(const std::vector<std::string_view>& parts);
/// Reverses joined_parts. Throws std::logic_error for other bytes.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view data);

/// A self-contained page, with the data as compressed base64 sections. They are numbered in the order in which they are added;
/// the document refers to these numbers.
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

    /// The whole page, of compressed sections. `document` is JSON; empty: the page waits for data. `title` is plain text.
    [[nodiscard]] std::string html(std::string_view title, std::string_view document) const;
    /// Its parts, of sections that are not compressed.
    [[nodiscard]] std::string data(std::string_view title, std::string_view document) const;

private:
    PageCompression compression_;
    std::vector<std::string> sections_;
    std::map<std::string, std::size_t> numbers_;
    std::size_t bytes_ = 0;
};

/// The page of the parts that PageFile::data has joined.
[[nodiscard]] std::string page_of_parts(std::string_view data);
/// The page without data, which is given them later.
[[nodiscard]] std::string empty_page();

/// The page of `workbench serve`, in which a recipe is edited, with the data for its start. `nonce`: the nonce of the page's
/// scripts, for its content security policy; `document` is JSON.
[[nodiscard]] std::string live_page_html(std::string_view title, std::string_view nonce, std::string_view document);

}  // namespace workbench
