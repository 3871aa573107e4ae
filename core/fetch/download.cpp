#include "core/fetch/download.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>

#include <curl/curl.h>
#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/whole_file.hpp"

namespace workbench {
namespace {

/// The functions of libcurl in use, under other names because libcurl defines macros with theirs. It is loaded on first use:
/// linking it and its 25 dependencies would double the program's start-up time and package size, and it would trust the
/// certificates of the build machine.
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

/// Throws MachineError if libcurl is not installed.
const Curl& curl() {
    static const Curl opened = loaded_functions();
    return opened;
}

namespace fs = std::filesystem;

constexpr long most_redirects = 10;
constexpr long http_ok = 200;
constexpr long http_partial = 206;
constexpr long http_not_found = 404;
constexpr long http_gone = 410;
constexpr long http_out_of_range = 416;

/// The partial download, locked against other programs.
class PartFile {
public:
    explicit PartFile(const fs::path& path) : path_(path), file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
        if (file_ < 0) fail();
        if (flock(file_, LOCK_EX | LOCK_NB) == 0) return;
        close(file_);
        throw MachineError(path.string() + ": another workbench is downloading this file; wait until it has finished");
    }
    ~PartFile() { close(file_); }
    PartFile(const PartFile&) = delete;
    PartFile& operator=(const PartFile&) = delete;

    [[nodiscard]] std::int64_t size() const { return lseek(file_, 0, SEEK_END); }

    void clear() const {
        if (size() > 0 && ftruncate(file_, 0) != 0) fail();
    }

    /// Returns false with errno if the disk is full.
    [[nodiscard]] bool append(std::string_view bytes) const {
        (void)lseek(file_, 0, SEEK_END);
        while (!bytes.empty()) {
            const ssize_t count = write(file_, bytes.data(), bytes.size());
            if (count < 0 && errno == EINTR) continue;
            if (count <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(count));
        }
        return true;
    }

    [[noreturn]] void fail(int error = errno) const {
        throw MachineError(fmt::format("{}: cannot be written: {}", path_.string(), std::strerror(error)));
    }

private:
    fs::path path_;
    int file_;
};

/// Identifies the version of the server's file: a strong ETag, or else its date; may be empty.
std::string validator_of(const std::string& etag, const std::string& last_modified) {
    return etag.empty() || etag.starts_with("W/") ? last_modified : etag;
}

/// The validator recorded for `part`; empty if it is unknown or `part` came from another URL.
std::string known_validator(const fs::path& part, const std::string& url) {
    std::ifstream file(origin_file(part));
    std::string from;
    std::string validator;
    return std::getline(file, from) && std::getline(file, validator) && from == url ? validator : "";
}

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::optional<std::int64_t> number_in(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() && number >= 0 ? std::optional(number) : std::nullopt;
}

/// A header such as "bytes 100-199/200" or "bytes */200".
struct ContentRange {
    std::optional<std::int64_t> first;
    std::optional<std::int64_t> total;
};

ContentRange content_range(std::string_view text) {
    ContentRange range;
    if (!text.starts_with("bytes ")) return range;
    text.remove_prefix(6);
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return range;
    range.first = number_in(text.substr(0, std::min(text.find('-'), slash)));
    range.total = number_in(text.substr(slash + 1));
    return range;
}

enum class Outcome { complete, start_over };

/// One HTTP request and its response.
class CurlRequest {
public:
    CurlRequest(std::string url, const fs::path& part_path, const PartFile& part, const DownloadOptions& options)
        : url_(std::move(url)), part_path_(part_path), part_(part), options_(options), received_(part.size()) {}

    Outcome run() {
        const std::string validator = received_ > 0 ? known_validator(part_path_, url_) : "";
        if (validator.empty()) received_ = 0;  // the file itself is kept until the server responds
        validator_ = validator;
        const std::unique_ptr<CURL, decltype(curl_.cleanup)> handle(curl_.init(), curl_.cleanup);
        if (handle == nullptr) throw MachineError("libcurl cannot be initialised");
        curl_slist* headers = nullptr;
        if (received_ > 0) headers = curl_.append(headers, ("If-Range: " + validator).c_str());
        const std::unique_ptr<curl_slist, decltype(curl_.free_all)> kept(headers, curl_.free_all);
        set_up(handle.get(), headers);
        const CURLcode result = curl_.perform(handle.get());
        return judge(result);
    }

private:
    void discard() {
        part_.clear();
        received_ = 0;
    }

    void set_up(CURL* handle, curl_slist* headers) {
        handle_ = handle;
        const std::string range = fmt::format("{}-", received_);
        curl_.set(handle, CURLOPT_URL, url_.c_str());
        curl_.set(handle, CURLOPT_USERAGENT, "spmv-workbench");
        curl_.set(handle, CURLOPT_FOLLOWLOCATION, 1L);
        curl_.set(handle, CURLOPT_MAXREDIRS, most_redirects);
        curl_.set(handle, CURLOPT_NOPROGRESS, 0L);
        curl_.set(handle, CURLOPT_XFERINFOFUNCTION, &CurlRequest::on_progress);
        curl_.set(handle, CURLOPT_XFERINFODATA, this);
        curl_.set(handle, CURLOPT_ERRORBUFFER, error_.data());
        curl_.set(handle, CURLOPT_HEADERFUNCTION, &CurlRequest::on_header);
        curl_.set(handle, CURLOPT_HEADERDATA, this);
        curl_.set(handle, CURLOPT_WRITEFUNCTION, &CurlRequest::on_body);
        curl_.set(handle, CURLOPT_WRITEDATA, this);
        if (received_ > 0) {
            curl_.set(handle, CURLOPT_RANGE, range.c_str());
            curl_.set(handle, CURLOPT_HTTPHEADER, headers);
        }
    }

    /// A time-out that restarts with each byte, which libcurl's minimum speed cannot express. Called once a second when idle.
    static int on_progress(void* self, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
        const auto& request = *static_cast<CurlRequest*>(self);
        return Clock::now() - request.last_data_ > std::chrono::seconds(request.options_.patience_seconds) ? 1 : 0;
    }

    static std::size_t on_header(char* text, std::size_t one, std::size_t count, void* self) {
        static_cast<CurlRequest*>(self)->take_header({text, one * count});
        return one * count;
    }

    void take_header(std::string_view line) {
        last_data_ = Clock::now();
        if (line.starts_with("HTTP/")) {  // another response, after a redirect
            etag_.clear();
            last_modified_.clear();
            range_ = {};
            return;
        }
        const std::size_t colon = line.find(':');
        if (colon == std::string_view::npos) return;
        std::string name(line.substr(0, colon));
        for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        const std::string_view value = trimmed(line.substr(colon + 1));
        if (name == "etag") etag_ = value;
        if (name == "last-modified") last_modified_ = value;
        if (name == "content-range") range_ = content_range(value);
    }

    static std::size_t on_body(char* bytes, std::size_t one, std::size_t count, void* self) {
        // Exceptions must not propagate through libcurl's C code.
        try {
            static_cast<CurlRequest*>(self)->take_body({bytes, one * count});
            return one * count;
        } catch (...) {
            static_cast<CurlRequest*>(self)->failure_ = std::current_exception();
            return 0;
        }
    }

    void take_body(std::string_view bytes) {
        last_data_ = Clock::now();
        if (!begun_) begin();
        if (!wanted_) return;  // the body of an error response
        if (!part_.append(bytes)) part_.fail();
        received_ += static_cast<std::int64_t>(bytes.size());
        if (options_.progress) options_.progress(received_, total_);
    }

    [[nodiscard]] long status() const {
        long code = 0;
        curl_.get(handle_, CURLINFO_RESPONSE_CODE, &code);
        return code;
    }

    /// Handles the response's status: the requested range, the whole file, or an error.
    void begin() {
        begun_ = true;
        const long code = status();
        wanted_ = code == http_ok || code == http_partial;
        if (code == http_ok) {
            discard();
            validator_ = validator_of(etag_, last_modified_);
            write_whole_file(origin_file(part_path_), url_ + '\n' + validator_ + '\n');
        } else if (code == http_partial && !continues_part()) {
            wrong_range_ = received_ > 0;
            throw DownloadError(fmt::format("{}: the server sends a range other than the requested one", url_), false);
        }
        curl_off_t length = -1;
        curl_.get(handle_, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
        if (length >= 0) total_ = received_ + length;
    }

    /// True if the response continues `part`. Some servers support ranges but ignore If-Range, so the version is checked too.
    [[nodiscard]] bool continues_part() const {
        const std::string validator = validator_of(etag_, last_modified_);
        return range_.first == received_ && (validator.empty() || validator == validator_);
    }

    Outcome judge(CURLcode result) {
        if (wrong_range_) {
            discard();
            return Outcome::start_over;
        }
        if (failure_) std::rethrow_exception(failure_);
        if (result != CURLE_OK) fail(result);
        const long code = status();
        if (code == http_out_of_range && received_ > 0) {
            if (range_.total == received_) return Outcome::complete;  // killed after the last byte
            discard();
            return Outcome::start_over;
        }
        if (code != http_ok && code != http_partial) refuse(code);
        if (!begun_) begin();  // an empty file has no body
        return Outcome::complete;
    }

    /// The URL after redirects.
    [[nodiscard]] std::string last_url() const {
        const char* text = nullptr;
        curl_.get(handle_, CURLINFO_EFFECTIVE_URL, &text);
        return text == nullptr ? url_ : text;
    }

    [[nodiscard]] std::string from() const {
        const std::string last = last_url();
        return last == url_ ? url_ : fmt::format("{} (redirected to {})", url_, last);
    }

    [[noreturn]] void refuse(long code) const {
        if (code == http_not_found || code == http_gone) {
            throw DownloadError(fmt::format("{}: the server has no such file ({})", from(), code), false);
        }
        if (code >= 300 && code < 400) {
            throw DownloadError(fmt::format("{}: redirected without a location ({})", from(), code), false);
        }
        throw DownloadError(fmt::format("{}: the server responded with status {}", from(), code), false);
    }

    [[nodiscard]] std::string received_text() const {
        if (received_ == 0) return "before the first byte";
        const std::string of = total_ > 0 ? fmt::format(" of {}", total_) : "";
        return fmt::format("after {}{} bytes{}", received_, of, validator_.empty() ? "" : "; repeat the command to resume");
    }

    [[noreturn]] void fail(CURLcode result) const {
        std::string reason = error_[0] != '\0' ? error_.data() : curl_.error_text(result);
        if (result == CURLE_ABORTED_BY_CALLBACK) reason = fmt::format("no response within {} s", options_.patience_seconds);
        double connected = 0;
        curl_.get(handle_, CURLINFO_CONNECT_TIME, &connected);
        switch (result) {
            case CURLE_ABORTED_BY_CALLBACK:
            case CURLE_OPERATION_TIMEDOUT:
                if (connected > 0) {
                    throw DownloadError(
                        fmt::format("{}: no data for {} s, {}", from(), options_.patience_seconds, received_text()), false);
                }
                [[fallthrough]];
            case CURLE_COULDNT_RESOLVE_PROXY:
            case CURLE_COULDNT_RESOLVE_HOST:
            case CURLE_COULDNT_CONNECT:
            case CURLE_SSL_CONNECT_ERROR:
            case CURLE_PEER_FAILED_VERIFICATION:
            case CURLE_SSL_CACERT_BADFILE:
                throw DownloadError(fmt::format("{}: the server cannot be reached ({})", from(), reason), true);
            case CURLE_TOO_MANY_REDIRECTS:
                throw DownloadError(
                    fmt::format("{}: redirected more than {} times, last to {}", url_, most_redirects, last_url()), false);
            case CURLE_PARTIAL_FILE:
            case CURLE_RECV_ERROR:
            case CURLE_SEND_ERROR:
            case CURLE_GOT_NOTHING:
            case CURLE_HTTP2:
            case CURLE_HTTP2_STREAM:
                throw DownloadError(fmt::format("{}: the connection was lost {}", from(), received_text()), false);
            default: throw DownloadError(fmt::format("{}: {}", from(), reason), false);
        }
    }

    using Clock = std::chrono::steady_clock;

    const Curl& curl_ = curl();
    CURL* handle_ = nullptr;
    std::string url_;
    const fs::path& part_path_;
    const PartFile& part_;
    const DownloadOptions& options_;
    std::int64_t received_;
    std::int64_t total_ = 0;  // 0: unknown
    std::string etag_;
    std::string last_modified_;
    ContentRange range_;
    std::string validator_;  // of the partial file; empty: unknown, so it cannot be resumed
    bool wrong_range_ = false;
    Clock::time_point last_data_ = Clock::now();
    bool begun_ = false;
    bool wanted_ = false;
    std::exception_ptr failure_;
    std::array<char, CURL_ERROR_SIZE> error_{};
};

}  // namespace

fs::path origin_file(const fs::path& part) { return part.string() + ".from"; }

void discard_download(const fs::path& part) {
    std::error_code ignored;
    fs::remove(part, ignored);
    fs::remove(origin_file(part), ignored);
}

void download(const std::string& url, const fs::path& part, const DownloadOptions& options) {
    const PartFile file(part);
    if (CurlRequest(url, part, file, options).run() == Outcome::complete) return;
    if (CurlRequest(url, part, file, options).run() == Outcome::complete) return;
    throw DownloadError(fmt::format("{}: the server refuses to send the file from its start (416)", url), false);
}

}  // namespace workbench
