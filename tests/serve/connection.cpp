#include "serve/connection.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

namespace workbench {
namespace {

std::string joined_chunks(const std::string& text) {
    std::string body;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t size = std::stoul(text.substr(at), nullptr, 16);
        if (size == 0) break;
        at = text.find("\r\n", at) + 2;
        body += text.substr(at, size);
        at += size + 2;
    }
    return body;
}

}  // namespace

Address::Address(const std::string& address) {
    const std::size_t colon = address.rfind(':');
    const std::size_t slash = address.find('/', colon);
    port = address.substr(colon + 1, slash - colon - 1);
    token = address.substr(slash + 1, address.size() - slash - 2);
    host = "127.0.0.1:" + port;
    host_line = "Host: " + host + "\r\n";
}

Reply Address::send(const std::string& request) const {
    const Connection connection(*this);
    connection.write(request);
    const std::string answer = connection.read_all();
    const std::size_t end = answer.find("\r\n\r\n");
    if (!answer.starts_with("HTTP/1.1 ") || end == std::string::npos) return {};
    Reply reply{std::stoi(answer.substr(9)), answer.substr(0, end), answer.substr(end + 4)};
    if (reply.head.find("Transfer-Encoding: chunked") != std::string::npos) reply.body = joined_chunks(reply.body);
    return reply;
}

Reply Address::get(const std::string& path) const {
    return send("GET /" + token + "/" + path + " HTTP/1.1\r\n" + host_line + "\r\n");
}

Reply Address::post(const std::string& path, const std::string& body) const {
    return send(post_head(path, body.size(), "Content-Type: application/json\r\n") + body);
}

std::string Address::post_head(const std::string& path, std::size_t length, const std::string& more) const {
    return "POST /" + token + "/" + path + " HTTP/1.1\r\n" + host_line + more + "Content-Length: " + std::to_string(length) +
           "\r\n\r\n";
}

Connection::Connection(const Address& address) : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.port)));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{30, 0};
    (void)setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    open_ = connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof(to)) == 0;
}

Connection::~Connection() { (void)close(socket_); }

void Connection::write(const std::string& bytes) const {
    for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t count = ::send(socket_, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
        if (count <= 0) return;  // the server has refused the rest
        at += static_cast<std::size_t>(count);
    }
}

std::string Connection::read_all() const {
    std::string text;
    std::array<char, 65536> buffer{};
    for (ssize_t count = 0; (count = recv(socket_, buffer.data(), buffer.size(), 0)) > 0;) {
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
}

}  // namespace workbench
