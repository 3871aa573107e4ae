#include "viz/page_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
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
    constexpr int usual_window = 15;
    constexpr int usual_memory = 8;
    z_stream stream{};
    // Without a search for repetitions, which takes three times as long as the rest.
    const int status = compression == PageCompression::best
                           ? deflateInit(&stream, Z_BEST_COMPRESSION)
                           : deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, usual_window, usual_memory, Z_RLE);
    if (status != Z_OK) throw MachineError("out of memory while compressing the data of a page");
    std::string deflated(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // only read
    stream.next_out = reinterpret_cast<Bytef*>(deflated.data());
    constexpr std::size_t longest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits
    std::size_t read = 0;
    std::size_t written = 0;
    int state = Z_OK;
    while (state == Z_OK) {
        const std::size_t in = std::min(longest_piece, bytes.size() - read);
        const std::size_t out = std::min(longest_piece, deflated.size() - written);
        stream.avail_in = static_cast<uInt>(in);
        stream.avail_out = static_cast<uInt>(out);
        state = deflate(&stream, read + in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
        read += in - stream.avail_in;
        written += out - stream.avail_out;
    }
    (void)deflateEnd(&stream);
    if (state != Z_STREAM_END) throw std::logic_error("deflate needs more space than deflateBound has promised");
    return base64(std::string_view(deflated).substr(0, written));
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
