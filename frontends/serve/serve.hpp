// Serves the live page on this machine.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "frontends/serve/guard.hpp"
#include "frontends/serve/live_site.hpp"

namespace workbench {

/// The live page on a port of 127.0.0.1. The destructor ends running work and closes all connections.
class LiveServer {
public:
    /// `port`: 0 for any free one. `token`: of the address. Throws MachineError if the port is taken, or the module with the
    /// HTTP library is missing.
    LiveServer(LiveSettings settings, int port, const std::string& token = random_token());
    ~LiveServer();
    LiveServer(const LiveServer&) = delete;
    LiveServer& operator=(const LiveServer&) = delete;

    /// "http://127.0.0.1:PORT/TOKEN/"
    [[nodiscard]] std::string address() const { return guard_->address(); }

private:
    LiveSite site_;
    std::unique_ptr<WebServer> server_;
    std::unique_ptr<Guard> guard_;
};

}  // namespace workbench
