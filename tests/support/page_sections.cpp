#include "support/page_sections.hpp"

#include <zlib.h>

#include <cstdint>
#include <stdexcept>

namespace workbench {

std::string from_base64(const std::string& text) {
    const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes;
    std::uint32_t four = 0;
    int bits = 0;
    for (const char letter : text) {
        if (letter == '=') break;
        four = (four << 6 | static_cast<std::uint32_t>(letters.find(letter))) & 0xFFFFFF;
        bits += 6;
        if (bits >= 8) bytes += static_cast<char>(four >> (bits -= 8) & 255);
    }
    return bytes;
}

std::string inflated(const std::string& text) {
    const std::string bytes = from_base64(text);
    std::string result(1 << 20, '\0');
    uLongf size = result.size();
    uLong read = bytes.size();
    const int status =
        uncompress2(reinterpret_cast<Bytef*>(result.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), &read);
    if (status != Z_OK || read != bytes.size()) throw std::runtime_error("not the data of a page, or more than 1 MiB");
    result.resize(size);
    return result;
}

std::string section_of_page(const std::string& html, const std::string& id) {
    const std::string begin = "<script type=\"text/plain\" id=\"" + id + "\">";
    const std::size_t at = html.find(begin);
    if (at == std::string::npos) return "";
    const std::size_t from = at + begin.size();
    return inflated(html.substr(from, html.find('<', from) - from));
}

}  // namespace workbench
