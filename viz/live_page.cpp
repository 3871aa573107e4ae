#include "viz/live_page.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "viz/encode.hpp"

// The template of the page, embedded by the assembler.
asm(".pushsection .rodata\n"
    "workbench_live_page: .incbin \"" WORKBENCH_LIVE_PAGE_FILE
    "\"\n"
    "workbench_live_page_end: .byte 0\n"
    ".popsection\n");
extern "C" const char workbench_live_page[];
extern "C" const char workbench_live_page_end[];

namespace workbench {

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
