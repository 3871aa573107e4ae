// libcurl, loaded on first use. Linking it and its 25 dependencies would double the program's start-up time and package size,
// and it would trust the certificates of the build machine.
#pragma once

#include <curl/curl.h>

namespace workbench {

/// The libcurl functions in use, under other names because libcurl defines macros with theirs.
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

/// Throws MachineError if libcurl is not installed.
[[nodiscard]] const Curl& curl();

}  // namespace workbench
