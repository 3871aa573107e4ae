#include "viz/page_file.hpp"

#include <zlib.h>

#include <stdexcept>

#include <fmt/format.h>

#include "pipeline/contract/errors.hpp"
#include "viz/encode.hpp"
#include "viz/palette.hpp"

// The template of the page, embedded by the assembler.
asm(".pushsection .rodata\n"
    "workbench_page: .incbin \"" WORKBENCH_PAGE_FILE
    "\"\n"
    "workbench_page_end: .byte 0\n"
    ".popsection\n");
extern "C" const char workbench_page[];
extern "C" const char workbench_page_end[];

namespace workbench {
namespace {

std::string_view page() { return {workbench_page, static_cast<std::size_t>(workbench_page_end - workbench_page)}; }

constexpr std::string_view title_mark = "<!--title-->";
constexpr std::string_view data_mark = "<!--data-->";

}  // namespace

std::string page_text(std::string_view bytes, PageCompression compression) {
    const int level = compression == PageCompression::best ? Z_BEST_COMPRESSION : Z_BEST_SPEED;
    uLongf size = compressBound(bytes.size());
    std::string deflated(size, '\0');
    const int status = compress2(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                                 bytes.size(), level);
    if (status != Z_OK) throw MachineError("out of memory while compressing the data of a page");
    return base64(std::string_view(deflated).substr(0, size));
}

std::size_t PageFile::add(std::string text) {
    const auto [known, is_new] = numbers_.emplace(text, sections_.size());
    if (is_new) {
        bytes_ += text.size();
        sections_.push_back(std::move(text));
    }
    return known->second;
}

std::size_t PageFile::template_bytes() { return page().size(); }

std::string PageFile::html(std::string_view title, std::string_view document) const {
    const std::size_t title_at = page().find(title_mark);
    const std::size_t data_at = page().find(data_mark);
    if (title_at == std::string_view::npos || data_at == std::string_view::npos || data_at < title_at) {
        throw std::logic_error("the template of the page lacks the marks of title and data");
    }
    std::string text;
    text.reserve(page().size() + bytes_ + document.size() / 2);
    text += page().substr(0, title_at);
    text += escaped(title);
    text += page().substr(title_at + title_mark.size(), data_at - title_at - title_mark.size());
    text += "<style>" + palette_css() + "</style>\n";
    const auto add_script = [&text](const std::string& id, std::string_view content) {
        text += fmt::format("<script type=\"text/plain\" id=\"{}\">{}</script>\n", id, content);
    };
    add_script("document", page_text(document, compression_));
    for (std::size_t i = 0; i < sections_.size(); ++i) add_script(fmt::format("section-{}", i), sections_[i]);
    text += page().substr(data_at + data_mark.size());
    return text;
}

}  // namespace workbench
