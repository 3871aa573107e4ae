#include "frontends/serve/guard.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

WebAnswer refusal(int status, const std::string& text) { return with_safe_headers({.status = status, .body = text}); }

/// Takes the same time wherever the texts differ, so that a token cannot be guessed letter by letter.
bool equal_in_constant_time(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    unsigned different = 0;
    for (std::size_t i = 0; i < a.size(); ++i) different |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    return different == 0;
}

}  // namespace

std::string random_token() {
    std::array<unsigned char, 16> bytes{};
    if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
        throw MachineError("the system returned no random numbers for the address of the page");
    }
    std::string token;
    for (const unsigned char byte : bytes) token += fmt::format("{:02x}", byte);
    return token;
}

std::string kept_token(const std::filesystem::path& file) {
    constexpr mode_t others = S_IRWXG | S_IRWXO;
    const std::size_t length = random_token().size();
    std::string token(length, ' ');
    const int old = open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    struct stat status {};
    const bool is_mine = old >= 0 && fstat(old, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
                         (status.st_mode & others) == 0;
    const bool is_read = is_mine && read(old, token.data(), length) == static_cast<ssize_t>(length);
    if (old >= 0) (void)close(old);
    if (is_read && token.find_first_not_of("0123456789abcdef") == std::string::npos) return token;
    token = random_token();
    std::error_code unknown;
    std::filesystem::create_directories(file.parent_path(), unknown);
    std::filesystem::remove(file, unknown);
    const int fresh = open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
    const bool is_written = fresh >= 0 && write(fresh, token.data(), length) == static_cast<ssize_t>(length);
    if (fresh >= 0) (void)close(fresh);
    if (!is_written) throw MachineError(fmt::format("{}: cannot be written", file.string()));
    return token;
}

std::string Guard::address() const { return fmt::format("http://127.0.0.1:{}/{}/", port_, token_); }

std::optional<WebAnswer> Guard::refuse(const WebRequest& request) const {
    const std::string here = fmt::format("127.0.0.1:{}", port_);
    const std::string also_here = fmt::format("localhost:{}", port_);
    if (request.host != here && request.host != also_here) return refusal(403, "the host is not this server\n");
    if (!request.origin.empty() && request.origin != "http://" + request.host) {
        return refusal(403, "the request comes from another page\n");
    }
    const std::string prefix = "/" + token_ + "/";
    if (!equal_in_constant_time(std::string_view(request.path).substr(0, prefix.size()), prefix)) {
        return refusal(404, "not found\n");
    }
    if (request.method == "GET") return std::nullopt;
    if (request.method != "POST") return refusal(405, "expected GET or POST\n");
    // A page of another origin cannot send these types without being asked first.
    const bool is_matrix = path_in_site(request).starts_with("matrix/");
    const std::string type = is_matrix ? "application/octet-stream" : "application/json";
    if (request.content_type != type) return refusal(415, "expected a body of type " + type + "\n");
    if (request.encoded) return refusal(415, "expected a body that is neither compressed nor in chunks\n");
    const std::string& length = request.content_length;
    const bool is_number = !length.empty() && length.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) return refusal(411, "expected the length of the body\n");
    const std::size_t longest = is_matrix ? longest_matrix : longest_request;
    if (length.size() > 9 || std::strtoull(length.c_str(), nullptr, 10) > longest) {
        return refusal(413, "the body is too long\n");
    }
    return std::nullopt;
}

std::string Guard::path_in_site(const WebRequest& request) const { return request.path.substr(token_.size() + 2); }

WebAnswer with_safe_headers(WebAnswer answer) {
    const auto add = [&answer](const char* name, const char* value) { answer.headers.emplace_back(name, value); };
    const auto has = [&answer](std::string_view name) {
        for (const auto& header : answer.headers) {
            if (header.first == name) return true;
        }
        return false;
    };
    add("Cache-Control", "no-store");
    add("Referrer-Policy", "no-referrer");  // the address contains the token
    add("X-Content-Type-Options", "nosniff");
    add("Cross-Origin-Resource-Policy", "same-origin");
    if (!has("Content-Security-Policy")) add("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'");
    return answer;
}

}  // namespace workbench
