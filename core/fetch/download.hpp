// Downloads a file over HTTP and resumes interrupted downloads.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace workbench {

/// A failed download, with a message for the user.
struct DownloadError : std::runtime_error {
    DownloadError(const std::string& what, bool server_is_out_of_reach)
        : std::runtime_error(what), out_of_reach(server_is_out_of_reach) {}
    bool out_of_reach;  // the server cannot be reached, so other downloads from it would fail too
};

struct DownloadOptions {
    int patience_seconds = 60;  // without a connection, or without a byte received
    /// `total` is 0 if the server does not state the size.
    std::function<void(std::int64_t received, std::int64_t total)> progress = {};
};

/// Downloads `url` into the file `part`. An interrupted download leaves `part` and `part`.from, which records the URL and the
/// version (ETag or Last-Modified), and the next call requests only the rest. It starts over if the server ignores the range,
/// if its file has changed, or if the version is unknown. Throws DownloadError, or MachineError if the disk is full.
void download(const std::string& url, const std::filesystem::path& part, const DownloadOptions& options);

/// Deletes `part` and `part`.from.
void discard_download(const std::filesystem::path& part);

/// `part`.from.
[[nodiscard]] std::filesystem::path origin_file(const std::filesystem::path& part);

}  // namespace workbench
