// A server of files for tests: on this machine, one connection after the other, and as badly behaved as a test asks for.
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
    std::string range;     // of the header Range: "bytes=10-"; empty: none
    std::string if_range;  // likewise
};

struct HttpReply {
    int status = 200;
    std::vector<std::string> headers = {};  // "ETag: \"1\""
    std::string body = {};
    std::size_t stop_after = std::string::npos;  // so many bytes of the body, then the connection is closed
    bool hang = false;                           // and, before it is closed: nothing, until the other side has had enough
    bool says_length = true;
};

class HttpServer {
public:
    explicit HttpServer(std::function<HttpReply(const HttpRequest&)> answer);
    ~HttpServer();
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

    /// "http://127.0.0.1:34567".
    [[nodiscard]] std::string address() const;

    /// All that it was asked for, in this order.
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

/// What a good server answers: the whole file, or the piece that is asked for where the file is still the one with this ETag.
[[nodiscard]] HttpReply file_reply(const HttpRequest& request, const std::string& bytes, const std::string& etag);

/// An address of this machine where nobody listens.
[[nodiscard]] std::string unused_address();

/// NAME/NAME.mtx and, beside it, NAME/NAME_b.mtx with a right side, in a .tar.gz: what the collection sends.
[[nodiscard]] std::string collection_archive(const std::string& name, const std::string& matrix_market);

}  // namespace workbench
