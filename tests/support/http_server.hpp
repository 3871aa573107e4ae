// A file server on this machine, which serves one connection at a time and misbehaves as a test requests.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace workbench {

struct HttpRequest {
    std::string path;      // "/MM/Group/name.tar.gz"
    std::string range;     // of the header Range: "bytes=10-"; empty if there is none
    std::string if_range;  // of the header If-Range
};

struct HttpReply {
    int status = 200;
    std::vector<std::string> headers = {};  // "ETag: \"1\""
    std::string body = {};
    std::size_t stop_after = std::string::npos;  // the connection is closed after this many bytes of the body
    bool hang = false;                           // before that, the server waits until the client closes the connection
    bool says_length = true;
    int pieces = 1;  // of the body, with a pause before each but the first
    int pause_ms = 0;
};

class HttpServer {
public:
    explicit HttpServer(std::function<HttpReply(const HttpRequest&)> answer);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// Such as "http://127.0.0.1:34567".
    [[nodiscard]] std::string address() const;

    /// All requests, in order.
    [[nodiscard]] std::vector<HttpRequest> requests() const;

private:
    void serve();
    void answer_one(int connection);

    std::function<HttpReply(const HttpRequest&)> answer_;
    mutable std::mutex mutex_;
    std::vector<HttpRequest> requests_;
    std::atomic<bool> over_ = false;
    int listener_ = -1;
    int port_ = 0;
    std::thread thread_;
};

/// The reply of a correct server: the whole file, or the requested range if the file still has this ETag.
[[nodiscard]] HttpReply file_reply(const HttpRequest& request, const std::string& bytes, const std::string& etag);

/// An address of this machine on which no server listens.
[[nodiscard]] std::string unused_address();

/// NAME/NAME.mtx and NAME/NAME_b.mtx, a right-hand side, in a .tar.gz, as the SuiteSparse collection sends them.
[[nodiscard]] std::string collection_archive(const std::string& name, const std::string& matrix_market);

}  // namespace workbench
