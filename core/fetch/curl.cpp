#include "core/fetch/curl.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <type_traits>

#include "core/contract/errors.hpp"

namespace workbench {
namespace {

void* open_library() {
    for (const char* file : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
        void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) return library;
    }
    throw MachineError(
        "libcurl is not available: neither libcurl.so.4 nor libcurl-gnutls.so.4 was found; install it (Debian, Ubuntu: "
        "libcurl4) or download the matrices by other means");
}

/// Never closes the library, which keeps global state.
Curl loaded_functions() {
    Curl curl;
    void* const library = open_library();
    const auto find = [library](auto& function, const char* name) {
        function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr) throw MachineError(fmt::format("libcurl is not available: the library has no {}", name));
    };
    find(curl.init, "curl_easy_init");
    find(curl.cleanup, "curl_easy_cleanup");
    find(curl.set, "curl_easy_setopt");
    find(curl.perform, "curl_easy_perform");
    find(curl.get, "curl_easy_getinfo");
    find(curl.error_text, "curl_easy_strerror");
    find(curl.append, "curl_slist_append");
    find(curl.free_all, "curl_slist_free_all");
    return curl;
}

}  // namespace

const Curl& curl() {
    static const Curl opened = loaded_functions();
    return opened;
}

}  // namespace workbench
