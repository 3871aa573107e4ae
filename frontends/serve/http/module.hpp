// The interface of the module with the HTTP library, which `workbench serve` loads. It knows addresses and limits, but not what
// the pages contain.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/matrix/interface.hpp"

namespace workbench {

struct WebRequest {
    std::string method;
    std::string path;               // "/TOKEN/check"
    std::string host = {};          // of the header Host
    std::string origin = {};        // of the header Origin; empty if there is none
    std::string content_type = {};  // of the body
    std::string content_length = {};
    bool encoded = false;  // the body is compressed or chunked
    std::string body = {};
};

/// Returns false once the client has closed the connection.
using ClientIsThere = std::function<bool()>;

struct WebAnswer {
    int status = 200;
    std::string type = "text/plain; charset=utf-8";
    std::string body = {};
    std::vector<std::pair<std::string, std::string>> headers = {};
    /// Makes the body after the headers are sent, for answers that take long; null: `body` is the body.
    std::function<std::string(const ClientIsThere&)> later = nullptr;
};

struct WebSite {
    /// Called with the headers of a request, before its body is read. None: the request is accepted.
    std::function<std::optional<WebAnswer>(const WebRequest&)> refuse;
    std::function<WebAnswer(const WebRequest&)> answer;  // called by several threads
    std::size_t longest_body = 0;                        // bytes; longer requests are refused
};

/// A server on 127.0.0.1. The destructor closes all connections.
class WebServer : public Interface {
public:
    [[nodiscard]] virtual int port() const = 0;

    /// From now on, requests are answered by other threads.
    virtual void start(WebSite site) = 0;
};

/// Listens on this port, or on any free port if it is 0. Null if the port is taken.
using OpenWebServer = WebServer*(int port);

inline constexpr const char* http_module_file = "libworkbench_http.so";
inline constexpr const char* http_module_function = "workbench_open_web_server";

}  // namespace workbench
