#include "pipeline/cli/command_line.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>

namespace workbench {

std::string quoted_for_shell(const std::string& word) {
    const auto is_plain = [](unsigned char letter) {
        return std::isalnum(letter) != 0 || std::string("_-./=,:+@%").find(static_cast<char>(letter)) != std::string::npos;
    };
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), is_plain);
    if (plain) return word;
    std::string result = "'";
    for (const char letter : word) result += letter == '\'' ? std::string(R"('\'')") : std::string(1, letter);
    return result + "'";
}

std::string command_line() {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    const std::size_t first_end = words.find('\0');
    if (first_end == std::string::npos) return "";
    std::string line = "workbench";
    for (std::size_t begin = first_end + 1; begin < words.size();) {
        const std::size_t end = std::min(words.find('\0', begin), words.size());
        line += ' ' + quoted_for_shell(words.substr(begin, end - begin));
        begin = end + 1;
    }
    return line;
}

}  // namespace workbench
