// A file from a server, bit by bit and in as many attempts as it takes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

namespace workbench {

/// Why something did not arrive, in words for the user.
struct DownloadError : std::runtime_error {
    DownloadError(const std::string& what, bool server_is_out_of_reach)
        : std::runtime_error(what), out_of_reach(server_is_out_of_reach) {}
    bool out_of_reach;  // nothing else will come from there either
};

struct DownloadOptions {
    int patience_seconds = 60;  // for a connection, and while nothing comes
    /// Bytes that are there, and all of them where the server has said so, otherwise 0.
    std::function<void(std::int64_t there, std::int64_t all)> progress = {};
};

/// Brings what is at `url` into the file `part`, all of it. Where an attempt breaks off, `part` stays, and beside it
/// `part`.from, which says what it is the beginning of; the next attempt asks for the rest only. It begins anew where the
/// server sends everything all the same, or its file is another one by now (ETag, Last-Modified), or nothing tells whether it
/// is. Throws DownloadError, and MachineError where the disk does not take it.
void download(const std::string& url, const std::filesystem::path& part, const DownloadOptions& options);

/// Takes `part` and what stands beside it away.
void forget_download(const std::filesystem::path& part);

/// The file that says what `part` is the beginning of.
[[nodiscard]] std::filesystem::path origin_file(const std::filesystem::path& part);

}  // namespace workbench
