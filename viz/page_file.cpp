#include "viz/page_file.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "viz/encode.hpp"
#include "viz/palette.hpp"

// The templates of the pages, embedded by the assembler.
asm(".pushsection .rodata\n"
    "workbench_page: .incbin \"" WORKBENCH_PAGE_FILE
    "\"\n"
    "workbench_page_end: .byte 0\n"
    "workbench_live_page: .incbin \"" WORKBENCH_LIVE_PAGE_FILE
    "\"\n"
    "workbench_live_page_end: .byte 0\n"
    ".popsection\n");
extern "C" const char workbench_page[];
extern "C" const char workbench_page_end[];
extern "C" const char workbench_live_page[];
extern "C" const char workbench_live_page_end[];

namespace workbench {
namespace {

std::string_view page() { return {workbench_page, static_cast<std::size_t>(workbench_page_end - workbench_page)}; }

constexpr std::string_view title_mark = "<!--title-->";
constexpr std::string_view data_mark = "<!--data-->";

}  // namespace

std::string page_text(std::string_view bytes, PageCompression compression) {
    if (compression == PageCompression::none) return std::string(bytes);
    z_stream stream{};
    if (deflateInit(&stream, Z_BEST_COMPRESSION) != Z_OK) {
        throw MachineError("out of memory while compressing the data of a page");
    }
    std::string deflated(deflateBound(&stream, bytes.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // only read
    stream.next_out = reinterpret_cast<Bytef*>(deflated.data());
    constexpr std::size_t longest_piece = std::size_t{1} << 30;  // zlib counts in 32 bits
    int state = Z_OK;
    while (state == Z_OK) {
        stream.avail_in = static_cast<uInt>(std::min<std::size_t>(longest_piece, bytes.size() - stream.total_in));
        stream.avail_out = static_cast<uInt>(std::min<std::size_t>(longest_piece, deflated.size() - stream.total_out));
        state = deflate(&stream, stream.total_in + stream.avail_in == bytes.size() ? Z_FINISH : Z_NO_FLUSH);
    }
    (void)deflateEnd(&stream);
    if (state != Z_STREAM_END) throw std::logic_error("deflate needs more space than deflateBound has promised");
    return base64(std::string_view(deflated).substr(0, stream.total_out));
}

std::string joined_parts(const std::vector<std::string_view>& parts) {
    std::string lengths;
    std::size_t bytes = 0;
    for (const std::string_view part : parts) {
        lengths += fmt::format("{} ", part.size());
        bytes += part.size();
    }
    std::string data = lengths + '\n';
    data.reserve(data.size() + bytes);
    for (const std::string_view part : parts) data += part;
    return data;
}

std::vector<std::string_view> parts_of(std::string_view data) {
    const std::size_t end = data.find('\n');
    if (end == std::string_view::npos) throw std::logic_error("the data of a page have no lengths");
    std::istringstream lengths{std::string(data.substr(0, end))};
    data.remove_prefix(end + 1);
    std::vector<std::string_view> parts;
    for (std::size_t length = 0; lengths >> length; data.remove_prefix(length)) {
        if (length > data.size()) throw std::logic_error("the data of a page are incomplete");
        parts.push_back(data.substr(0, length));
    }
    if (parts.size() < 2 || !data.empty()) throw std::logic_error("the data of a page do not have their lengths");
    return parts;
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
    if (!document.empty()) add_script("document", page_text(document, compression_));
    for (std::size_t i = 0; i < sections_.size(); ++i) add_script(fmt::format("section-{}", i), sections_[i]);
    text += page().substr(data_at + data_mark.size());
    return text;
}

std::string PageFile::data(std::string_view title, std::string_view document) const {
    std::vector<std::string_view> parts{title, document};
    parts.insert(parts.end(), sections_.begin(), sections_.end());
    return joined_parts(parts);
}

std::string page_of_parts(std::string_view data) {
    const std::vector<std::string_view> parts = parts_of(data);
    PageFile page;
    for (std::size_t i = 2; i < parts.size(); ++i) page.add(page_text(parts[i]));
    return page.html(parts[0], parts[1]);
}

std::string empty_page() { return PageFile().html("SpMV workbench", ""); }

std::string live_page_html(std::string_view title, std::string_view nonce, std::string_view document) {
    std::string json;
    for (const char letter : document) json += letter == '<' ? std::string("\\u003c") : std::string(1, letter);  // no </script>
    std::string_view rest(workbench_live_page, static_cast<std::size_t>(workbench_live_page_end - workbench_live_page));
    std::string text;
    // In the order of their places in the template.
    const std::array<std::pair<std::string_view, std::string>, 3> marks{
        {{"<!--title-->", escaped(title)}, {"<!--data-->", json}, {"@nonce@", std::string(nonce)}}};
    for (const auto& [mark, content] : marks) {
        const std::size_t at = rest.find(mark);
        if (at == std::string_view::npos) throw std::logic_error("the template of the live page lacks a mark");
        text += rest.substr(0, at);
        text += content;
        rest.remove_prefix(at + mark.size());
    }
    text += rest;
    return text;
}

}  // namespace workbench
