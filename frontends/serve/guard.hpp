// Decides which requests the live page answers. Other programs and pages on this machine must not reach it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "frontends/serve/http/module.hpp"

namespace workbench {

inline constexpr std::size_t longest_request = std::size_t{1} << 21;  // bytes of a body of JSON
inline constexpr std::size_t longest_matrix = std::size_t{1} << 26;   // bytes of a matrix file

/// 128 random bits as 32 hexadecimal digits. Throws MachineError if the system has no random numbers.
[[nodiscard]] std::string random_token();

/// The token in this file, which no other user can read. If there is none, a new one is written to it, so that the address of a
/// server remains the same when it is started again. Throws MachineError if the file cannot be written.
[[nodiscard]] std::string kept_token(const std::filesystem::path& file);

/// Accepts requests that contain the token and come from the page itself: addressed to this machine by its own name, so that no
/// other name can be made to point here (DNS rebinding), and, if a page sends them, from a page of this server.
class Guard {
public:
    Guard(std::string token, int port) : token_(std::move(token)), port_(port) {}

    /// "http://127.0.0.1:PORT/TOKEN/"
    [[nodiscard]] std::string address() const;

    /// The answer to a request that is refused; none if it is accepted.
    [[nodiscard]] std::optional<WebAnswer> refuse(const WebRequest& request) const;

    /// The part of an accepted path after "/TOKEN/".
    [[nodiscard]] std::string path_in_site(const WebRequest& request) const;

private:
    std::string token_;
    int port_;
};

/// Adds the headers that all answers have.
[[nodiscard]] WebAnswer with_safe_headers(WebAnswer answer);

}  // namespace workbench
