// Connections to the server of the live page, on which a test writes what it likes.
#pragma once

#include <cstddef>
#include <string>

namespace workbench {

struct Reply {
    int status = 0;  // 0: the connection was closed without an answer
    std::string head;
    std::string body;  // chunks are joined
};

/// "http://127.0.0.1:PORT/TOKEN/" taken apart.
struct Address {
    std::string port;
    std::string token;
    std::string host;       // "127.0.0.1:PORT"
    std::string host_line;  // "Host: 127.0.0.1:PORT\r\n"

    explicit Address(const std::string& address);

    /// The answer to the bytes of a request.
    [[nodiscard]] Reply send(const std::string& request) const;
    [[nodiscard]] Reply get(const std::string& path) const;
    [[nodiscard]] Reply post(const std::string& path, const std::string& body) const;
    /// A request up to its body. `more`: further lines of the head.
    [[nodiscard]] std::string post_head(const std::string& path, std::size_t length, const std::string& more) const;
};

class Connection {
public:
    explicit Connection(const Address& address);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] bool is_open() const { return open_; }
    void write(const std::string& bytes) const;
    /// Everything up to the end of the connection.
    [[nodiscard]] std::string read_all() const;

private:
    int socket_ = -1;
    bool open_ = false;
};

}  // namespace workbench
