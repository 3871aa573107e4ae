// The only file that includes cpp-httplib. It is a module so that the program depends on the library and on OpenSSL only while
// it serves.
#include "frontends/serve/http/module.hpp"

#include <httplib.h>

#include <thread>

namespace workbench {
namespace {

constexpr std::size_t thread_count = 128;  // each idle connection occupies one
constexpr time_t patience = 2;             // seconds until an idle connection is closed

WebRequest request_of(const httplib::Request& request) {
    return {.method = request.method,
            .path = request.path,
            .host = request.get_header_value("Host"),
            .origin = request.get_header_value("Origin"),
            .content_type = request.get_header_value("Content-Type"),
            .content_length = request.get_header_value("Content-Length"),
            .encoded = request.has_header("Transfer-Encoding") || request.has_header("Content-Encoding"),
            .body = request.body};
}

void send(WebAnswer answer, httplib::Response& response) {
    response.status = answer.status;
    for (const auto& [name, value] : answer.headers) response.set_header(name, value);
    // Not set_content, whose bodies the library compresses with Brotli's slowest level, in seconds.
    if (!answer.later && !answer.body.empty()) {
        const std::size_t length = answer.body.size();
        response.set_content_provider(
            length, answer.type, [body = std::move(answer.body)](std::size_t from, std::size_t count, httplib::DataSink& sink) {
                return sink.write(body.data() + from, count);
            });
    } else if (answer.later) {
        response.set_content_provider(answer.type, [later = std::move(answer.later)](std::size_t, httplib::DataSink& sink) {
            const std::string body = later(sink.is_writable);
            if (!sink.is_writable() || !sink.write(body.data(), body.size())) return false;
            sink.done();
            return true;
        });
    }
}

class HttplibServer : public WebServer {
public:
    explicit HttplibServer(int port) {
        server_.new_task_queue = [] { return new httplib::ThreadPool(thread_count); };
        server_.set_keep_alive_max_count(1);  // a refused body must not be read as the next request
        server_.set_keep_alive_timeout(patience);
        server_.set_read_timeout(patience);
        server_.set_tcp_nodelay(true);
        // Not SO_REUSEPORT, the library's default, with which another program could listen on the same port.
        server_.set_socket_options([this](int socket) {
            socket_ = socket;
            const int yes = 1;
            (void)setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        });
        port_ = port == 0 ? server_.bind_to_any_port("127.0.0.1") : server_.bind_to_port("127.0.0.1", port) ? port : -1;
        // The library lets 5 connections wait; TCP tries further ones again only after seconds.
        if (port_ >= 0) (void)listen(socket_, thread_count);
    }
    ~HttplibServer() override {
        if (!thread_.joinable()) return;
        server_.stop();
        thread_.join();
    }
    HttplibServer(const HttplibServer&) = delete;
    HttplibServer& operator=(const HttplibServer&) = delete;

    [[nodiscard]] int port() const override { return port_; }

    void start(WebSite site) override {
        site_ = std::move(site);
        server_.set_payload_max_length(site_.longest_body);
        server_.set_pre_routing_handler([this](const httplib::Request& request, httplib::Response& response) {
            std::optional<WebAnswer> refusal = site_.refuse(request_of(request));
            if (!refusal) return httplib::Server::HandlerResponse::Unhandled;
            send(*std::move(refusal), response);
            return httplib::Server::HandlerResponse::Handled;
        });
        const auto answer = [this](const httplib::Request& request, httplib::Response& response) {
            send(site_.answer(request_of(request)), response);
        };
        server_.Get(".*", answer);
        server_.Post(".*", answer);
        thread_ = std::thread([this] { server_.listen_after_bind(); });
        while (!server_.is_running()) std::this_thread::yield();
    }

private:
    httplib::Server server_;
    WebSite site_;
    int port_ = -1;
    int socket_ = -1;  // listens
    std::thread thread_;
};

}  // namespace
}  // namespace workbench

extern "C" __attribute__((visibility("default"))) workbench::WebServer* workbench_open_web_server(int port) {
    auto server = std::make_unique<workbench::HttplibServer>(port);
    return server->port() < 0 ? nullptr : server.release();
}
