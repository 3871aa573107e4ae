#include "support/http_server.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace workbench {
namespace {

/// A socket that is bound to a free port of this machine.
std::pair<int, int> bound_socket() {
    const int socket_file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (socket_file < 0 || bind(socket_file, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(socket_file, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
        throw std::runtime_error("no socket on this machine");
    }
    return {socket_file, ntohs(address.sin_port)};
}

std::string text_of(const std::string& head, const std::string& name) {
    const std::size_t at = head.find("\r\n" + name + ": ");
    if (at == std::string::npos) return "";
    const std::size_t begin = at + name.size() + 4;
    return head.substr(begin, head.find("\r\n", begin) - begin);
}

void send_all(int connection, const std::string& bytes) {
    for (std::size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = send(connection, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<std::size_t>(count);
    }
}

/// A member of a tar archive: a header of 512 bytes, and the contents in blocks of 512.
std::string tar_member(const std::string& name, const std::string& bytes) {
    std::array<char, 512> head{};
    const auto put = [&head](std::size_t at, const std::string& text) {
        std::memcpy(head.data() + at, text.data(), text.size());
    };
    std::array<char, 12> size{};
    (void)std::snprintf(size.data(), size.size(), "%011zo", bytes.size());
    put(0, name);
    put(100, "0000644");
    put(108, "0000000");
    put(116, "0000000");
    put(124, size.data());
    put(136, "00000000000");
    put(148, "        ");
    put(156, "0");
    put(257, "ustar");
    put(263, "00");
    unsigned sum = 0;
    for (const char letter : head) sum += static_cast<unsigned char>(letter);
    std::array<char, 8> sum_text{};
    (void)std::snprintf(sum_text.data(), sum_text.size(), "%06o", sum);
    put(148, sum_text.data());
    head[154] = '\0';
    return std::string(head.data(), head.size()) + bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
}

}  // namespace

HttpServer::HttpServer(std::function<HttpReply(const HttpRequest&)> answer) : answer_(std::move(answer)) {
    std::tie(listener_, port_) = bound_socket();
    if (listen(listener_, 16) != 0) throw std::runtime_error("no server on this machine");
    thread_ = std::thread([this] { serve(); });
}

HttpServer::~HttpServer() {
    over_ = true;
    thread_.join();
    close(listener_);
}

std::string HttpServer::address() const { return "http://127.0.0.1:" + std::to_string(port_); }

std::vector<HttpRequest> HttpServer::requests() const {
    const std::scoped_lock lock(mutex_);
    return requests_;
}

void HttpServer::serve() {
    while (!over_) {
        pollfd waiting{listener_, POLLIN, 0};
        if (poll(&waiting, 1, 5) <= 0) continue;
        const int connection = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
        if (connection < 0) continue;
        answer_one(connection);
        close(connection);
    }
}

void HttpServer::answer_one(int connection) {
    std::string head;
    std::array<char, 4096> buffer{};
    while (head.find("\r\n\r\n") == std::string::npos) {
        const ssize_t count = recv(connection, buffer.data(), buffer.size(), 0);
        if (count <= 0) return;
        head.append(buffer.data(), static_cast<std::size_t>(count));
    }
    const std::size_t path = head.find(' ') + 1;
    const HttpRequest request{head.substr(path, head.find(' ', path) - path), text_of(head, "Range"),
                              text_of(head, "If-Range")};
    {
        const std::scoped_lock lock(mutex_);
        requests_.push_back(request);
    }
    const HttpReply reply = answer_(request);
    std::string text = "HTTP/1.1 " + std::to_string(reply.status) + " So\r\nConnection: close\r\n";
    for (const std::string& header : reply.headers) text += header + "\r\n";
    if (reply.says_length) text += "Content-Length: " + std::to_string(reply.body.size()) + "\r\n";
    const std::string body = reply.body.substr(0, reply.stop_after);
    send_all(connection, text + "\r\n");
    for (int piece = 0; piece < reply.pieces; ++piece) {
        if (piece > 0) std::this_thread::sleep_for(std::chrono::milliseconds(reply.pause_ms));
        const std::size_t begin = body.size() * piece / reply.pieces;
        send_all(connection, body.substr(begin, body.size() * (piece + 1) / reply.pieces - begin));
    }
    while (reply.hang && !over_) {
        pollfd waiting{connection, POLLIN, 0};
        if (poll(&waiting, 1, 5) > 0) break;  // the client has closed the connection
    }
}

HttpReply file_reply(const HttpRequest& request, const std::string& bytes, const std::string& etag) {
    HttpReply reply{.headers = {"ETag: " + etag}, .body = bytes};
    if (request.range.empty() || (!request.if_range.empty() && request.if_range != etag)) return reply;
    const std::size_t first = std::stoull(request.range.substr(std::strlen("bytes=")));
    if (first >= bytes.size()) return {.status = 416, .headers = {"Content-Range: bytes */" + std::to_string(bytes.size())}};
    reply.status = 206;
    reply.headers.push_back("Content-Range: bytes " + std::to_string(first) + "-" + std::to_string(bytes.size() - 1) + "/" +
                            std::to_string(bytes.size()));
    reply.body = bytes.substr(first);
    return reply;
}

std::string unused_address() {
    const auto [socket_file, port] = bound_socket();  // bound, but not listening
    close(socket_file);
    return "http://127.0.0.1:" + std::to_string(port);
}

std::string collection_archive(const std::string& name, const std::string& matrix_market) {
    const std::string right_side = "%%MatrixMarket matrix array real general\n2 1\n1\n2\n";
    const std::string tar = tar_member(name + "/" + name + "_b.mtx", right_side) +
                            tar_member(name + "/" + name + ".mtx", matrix_market) + std::string(1024, '\0');
    z_stream stream{};
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        throw std::runtime_error("zlib");
    }
    std::string packed(deflateBound(&stream, tar.size()), '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(tar.data()));
    stream.avail_in = static_cast<uInt>(tar.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    (void)deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    (void)deflateEnd(&stream);
    return packed;
}

}  // namespace workbench
