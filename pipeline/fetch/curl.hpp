// libcurl, opened when something is fetched and not before: linked, it and the 25 libraries that it needs would double the
// start of the program and the size of its package, and the certificates that it trusts would be those of another machine.
#pragma once

#include <curl/curl.h>

namespace workbench {

/// The functions that are used of it. libcurl has macros of the same names.
struct Curl {
    decltype(&::curl_easy_init) init = nullptr;
    decltype(&::curl_easy_cleanup) cleanup = nullptr;
    CURLcode (*set)(CURL*, CURLoption, ...) = nullptr;
    CURLcode (*perform)(CURL*) = nullptr;
    CURLcode (*get)(CURL*, CURLINFO, ...) = nullptr;
    decltype(&::curl_easy_strerror) error_text = nullptr;
    decltype(&::curl_slist_append) append = nullptr;
    decltype(&::curl_slist_free_all) free_all = nullptr;
};

/// Throws MachineError where the machine has none.
[[nodiscard]] const Curl& curl();

}  // namespace workbench
