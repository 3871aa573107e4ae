#include "frontends/serve/serve.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/beside_program.hpp"

namespace workbench {
namespace {

/// The module is never closed, as the server's code is in it.
OpenWebServer* load_module() {
    const auto file = find_beside_program(http_module_file);
    if (!file) {
        throw MachineError(
            fmt::format("serve needs an HTTP library: no {} in ../lib/spmv-workbench relative to the program's folder {}; its "
                        "package {} is not installed, or this program was built without cpp-httplib",
                        http_module_file, program_folder().string(), package_of_modules));
    }
    void* const module = dlopen(file->c_str(), RTLD_NOW | RTLD_LOCAL);
    void* const function = module == nullptr ? nullptr : dlsym(module, http_module_function);
    if (function == nullptr) {
        throw MachineError(
            fmt::format("serve needs cpp-httplib (Debian, Ubuntu: libcpp-httplib-dev), which cannot be loaded: {}", dlerror()));
    }
    return reinterpret_cast<OpenWebServer*>(function);
}

}  // namespace

LiveServer::LiveServer(LiveSettings settings, int port, const std::string& token)
    : site_(std::move(settings)), server_(load_module()(port)) {
    if (server_ == nullptr) throw MachineError(fmt::format("--port {}: the port is in use; expected a free one, or 0", port));
    guard_ = std::make_unique<Guard>(token, server_->port());
    const auto refuse = [this](const WebRequest& request) { return guard_->refuse(request); };
    const auto answer = [this](const WebRequest& request) {
        return with_safe_headers(site_.answer(request.method, guard_->path_in_site(request), request.body));
    };
    server_->start({.refuse = refuse, .answer = answer, .longest_body = longest_matrix});
}

LiveServer::~LiveServer() {
    site_.stop();
    server_.reset();
}

}  // namespace workbench
