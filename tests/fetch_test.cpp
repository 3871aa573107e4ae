// Downloads from a local server: complete, resumed and failing.
#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/errors.hpp"
#include "core/fetch/fetch_matrix.hpp"
#include "support/free_memory.hpp"
#include "support/golden.hpp"
#include "support/http_server.hpp"
#include "support/message_of.hpp"
#include "support/slow.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

const std::string matrix = "%%MatrixMarket matrix coordinate real general\n3 4 3\n1 1 1\n1 3 2\n3 4 -1\n";
const std::string bytes = collection_archive("m", matrix);
const std::string etag = "\"one\"";

/// A download into a temporary folder.
struct Place {
    TemporaryFolder folder;
    fs::path part = folder.path() / "m.tar.gz.part";

    explicit Place() { setenv("no_proxy", "127.0.0.1", 1); }

    /// Leaves the files of an interrupted download.
    void interrupted(const std::string& start, const std::string& url, const std::string& validator) const {
        std::ofstream(part, std::ios::binary) << start;
        std::ofstream(origin_file(part)) << url << '\n' << validator << '\n';
    }
    [[nodiscard]] std::string got() const { return file_text(part); }

    [[nodiscard]] std::string error(const std::string& url, int patience = 5) const {
        return message_of<DownloadError>([&] { download(url, part, {patience, {}}); });
    }
    /// Returns true if the download fails because the server is out of reach.
    [[nodiscard]] bool finds_no_server(const std::string& url) const {
        try {
            download(url, part, {1, {}});
        } catch (const DownloadError& error) {
            return error.out_of_reach;
        }
        return false;
    }
};

HttpReply plain(const HttpRequest& request) { return file_reply(request, bytes, etag); }

}  // namespace

TEST_SUITE("download") {
    TEST_CASE("a complete file, with progress") {
        const Place place;
        const HttpServer server(plain);
        std::int64_t received = 0;
        std::int64_t total = 0;
        download(server.address() + "/f", place.part, {5, [&](std::int64_t now, std::int64_t of) {
                                                           CHECK(now > received);
                                                           received = now;
                                                           total = of;
                                                       }});
        CHECK(place.got() == bytes);
        CHECK(received == static_cast<std::int64_t>(bytes.size()));
        CHECK(total == received);
        REQUIRE(server.requests().size() == 1);
        CHECK(server.requests()[0].path == "/f");
        CHECK(server.requests()[0].range.empty());
    }

    TEST_CASE("an interrupted download is resumed") {
        const Place place;
        bool breaks = true;
        const HttpServer server([&](const HttpRequest& request) {
            HttpReply reply = plain(request);
            if (std::exchange(breaks, false)) reply.stop_after = 100;
            return reply;
        });
        const std::string url = server.address() + "/f";
        CHECK(place.error(url) == url + ": the connection was lost after 100 of " + std::to_string(bytes.size()) +
                                      " bytes; repeat the command to resume");
        CHECK(place.got() == bytes.substr(0, 100));
        std::int64_t total = 0;
        download(url, place.part, {5, [&](std::int64_t, std::int64_t of) { total = of; }});
        CHECK(place.got() == bytes);
        CHECK(total == static_cast<std::int64_t>(bytes.size()));
        REQUIRE(server.requests().size() == 2);
        CHECK(server.requests()[1].range == "bytes=100-");
        CHECK(server.requests()[1].if_range == etag);
    }

    TEST_CASE("it starts over if the server ignores ranges, its file has changed, or its version is unknown") {
        const Place place;
        const HttpServer without_ranges(
            [](const HttpRequest&) { return HttpReply{.headers = {"ETag: " + etag}, .body = bytes}; });
        const HttpServer server(plain);
        for (const bool ranges : {false, true}) {
            const std::string url = (ranges ? server : without_ranges).address() + "/f";
            place.interrupted("something else", url, ranges ? "\"zero\"" : etag);
            download(url, place.part, {});
            CHECK(place.got() == bytes);
        }
        const std::string url = server.address() + "/f";
        for (const auto& [from, validator] : {std::pair<std::string, std::string>{url, ""}, {url + "2", etag}}) {
            place.interrupted("something else", from, validator);
            download(url, place.part, {});
            CHECK(place.got() == bytes);
            CHECK(server.requests().back().range.empty());
        }
        std::ofstream(place.part) << "something else";
        fs::remove(origin_file(place.part));
        download(url, place.part, {});
        CHECK(place.got() == bytes);
    }

    TEST_CASE("a date identifies the version, a weak ETag does not") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            HttpReply reply = file_reply(request, bytes, "Mon, 01 Jan 2024 00:00:00 GMT");
            reply.headers[0] = "last-modified:Mon, 01 Jan 2024 00:00:00 GMT";
            reply.headers.emplace_back("ETag: W/\"x\"");
            if (request.range.empty()) reply.stop_after = 50;
            return reply;
        });
        const std::string url = server.address() + "/f";
        CHECK(place.error(url).find("lost after 50 of") != std::string::npos);
        download(url, place.part, {});
        CHECK(place.got() == bytes);
        CHECK(server.requests()[1].if_range == "Mon, 01 Jan 2024 00:00:00 GMT");
    }

    TEST_CASE("killed after the last byte; longer than the server's file") {
        const Place place;
        const HttpServer server(plain);
        const std::string url = server.address() + "/f";
        place.interrupted(bytes, url, etag);
        download(url, place.part, {});
        CHECK(place.got() == bytes);
        CHECK(server.requests().size() == 1);
        place.interrupted(bytes + "more", url, etag);
        download(url, place.part, {});
        CHECK(place.got() == bytes);
        CHECK(server.requests().size() == 3);
        CHECK(server.requests()[2].range.empty());
    }

    TEST_CASE("a range other than the requested one is not appended") {
        const Place place;
        const HttpServer server([](const HttpRequest&) {
            return HttpReply{.status = 206, .headers = {"Content-Range: bytes 7-9/10"}, .body = "789"};
        });
        const std::string url = server.address() + "/f";
        place.interrupted("012", url, etag);
        CHECK(place.error(url) == url + ": the server sends a range other than the requested one");
        CHECK(place.got().empty());
        CHECK(server.requests().size() == 2);
    }

    TEST_CASE("a range of another version, from a server that ignores If-Range, is not appended") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            return file_reply({request.path, request.range, ""}, bytes, etag);
        });
        const std::string url = server.address() + "/f";
        place.interrupted(bytes.substr(0, 10), url, etag);
        download(url, place.part, {});
        CHECK(server.requests().size() == 1);
        place.interrupted("0123456789", url, "\"zero\"");
        download(url, place.part, {});
        CHECK(place.got() == bytes);
        CHECK(server.requests().size() == 3);
    }

    TEST_CASE("without a version, an interrupted download cannot be resumed") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            CHECK(request.range.empty());
            return HttpReply{.body = bytes, .stop_after = 100};
        });
        const std::string url = server.address() + "/f";
        for (int i = 0; i < 2; ++i) {
            CHECK(place.error(url) ==
                  url + ": the connection was lost after 100 of " + std::to_string(bytes.size()) + " bytes");
        }
        CHECK(place.got() == bytes.substr(0, 100));
    }

    TEST_CASE("redirects are followed, up to a limit and only to a location") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            if (request.path == "/f") {
                return HttpReply{.status = 302, .headers = {"Location: /there", "ETag: \"page\""}, .body = "moved"};
            }
            if (request.path == "/there") return plain(request);
            if (request.path == "/gone") return HttpReply{.status = 301, .headers = {"Location: /none"}};
            if (request.path == "/removed") return HttpReply{.status = 410, .body = "gone"};
            if (request.path == "/none") return HttpReply{.status = 404, .body = "<html>none</html>"};
            if (request.path == "/nowhere") return HttpReply{.status = 302};
            return HttpReply{.status = 302, .headers = {"Location: /round"}};
        });
        const std::string at = server.address();
        download(at + "/f", place.part, {});
        CHECK(place.got() == bytes);
        CHECK(file_text(origin_file(place.part)) == at + "/f\n" + etag + "\n");
        CHECK(place.error(at + "/gone") == at + "/gone (redirected to " + at + "/none): the server has no such file (404)");
        CHECK(place.error(at + "/removed") == at + "/removed: the server has no such file (410)");
        CHECK(place.error(at + "/nowhere") == at + "/nowhere: redirected without a location (302)");
        CHECK(place.error(at + "/round") == at + "/round: redirected more than 10 times, last to " + at + "/round");
        for (const char* path : {"/gone", "/removed", "/nowhere", "/round"}) CHECK_FALSE(place.finds_no_server(at + path));
    }

    TEST_CASE("the version of a redirect is not that of the file behind it") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            const bool dated = request.path.ends_with("dated");
            if (request.path.starts_with("/f")) {
                return HttpReply{.status = 302,
                                 .headers = {dated ? "Location: /dated" : "Location: /there", "ETag: \"page\"",
                                             "Last-Modified: Tue, 02 Jan 2024 00:00:00 GMT"}};
            }
            HttpReply reply{.body = bytes, .stop_after = 60};
            if (dated) reply.headers = {"Last-Modified: Mon, 01 Jan 2024 00:00:00 GMT"};
            return reply;
        });
        const std::string url = server.address() + "/f";
        CHECK(place.error(url).find("resume") == std::string::npos);
        CHECK(file_text(origin_file(place.part)) == url + "\n\n");
        CHECK(place.error(url + "dated").find("resume") != std::string::npos);
        CHECK(file_text(origin_file(place.part)) == url + "dated\nMon, 01 Jan 2024 00:00:00 GMT\n");
    }

    TEST_CASE("a server error, no server, and a server that stops sending") {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            if (request.path == "/busy") return HttpReply{.status = 503, .body = "later"};
            HttpReply reply = plain(request);
            reply.stop_after = request.path == "/dumb" ? 0 : 10;
            reply.hang = true;
            return reply;
        });
        const std::string at = server.address();
        CHECK(place.error(at + "/busy") == at + "/busy: the server responded with status 503");
        CHECK(place.got().empty());
        CHECK(place.error(at + "/silent", 1) == at + "/silent: no data for 1 s, after 10 of " + std::to_string(bytes.size()) +
                                                    " bytes; repeat the command to resume");
        CHECK(place.got() == bytes.substr(0, 10));
        const std::string unreachable = unused_address() + "/f";
        const std::string refused = place.error(unreachable);
        CHECK(refused.starts_with(unreachable + ": the server cannot be reached ("));
        CHECK(refused.find("onnect") != std::string::npos);
        CHECK(place.got() == bytes.substr(0, 10));  // the partial file is kept
        CHECK(place.finds_no_server(unreachable));
        CHECK_FALSE(place.finds_no_server(at + "/silent"));
    }

    TEST_CASE("a server that accepts no connection cannot be reached") {
        const Place place;
        const auto new_socket = [] { return socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0); };
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const auto* const address = reinterpret_cast<const sockaddr*>(&at);
        std::vector<int> sockets{new_socket()};
        REQUIRE(bind(sockets[0], address, sizeof(at)) == 0);
        REQUIRE(listen(sockets[0], 0) == 0);
        socklen_t size = sizeof(at);
        REQUIRE(getsockname(sockets[0], reinterpret_cast<sockaddr*>(&at), &size) == 0);
        for (int i = 0; i < 4; ++i) {  // they fill the queue of the server
            sockets.push_back(new_socket());
            (void)connect(sockets.back(), address, sizeof(at));
        }
        const std::string url = fmt::format("http://127.0.0.1:{}/f", ntohs(at.sin_port));
        CHECK(place.error(url, 1) == url + ": the server cannot be reached (no response within 1 s)");
        CHECK(place.finds_no_server(url));
        for (const int each : sockets) close(each);
    }

    TEST_CASE("a slow server has time as long as it sends something" * doctest::test_suite(slow)) {
        const Place place;
        const HttpServer server([](const HttpRequest& request) {
            HttpReply reply = plain(request);
            reply.pieces = 5;
            reply.pause_ms = 600;  // 2.4 s in all
            return reply;
        });
        download(server.address() + "/f", place.part, {1, {}});
        CHECK(place.got() == bytes);
    }

    TEST_CASE("a locked file, a missing folder and a full disk") {
        const Place place;
        const HttpServer server(plain);
        const int other = open(place.part.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        REQUIRE(flock(other, LOCK_EX) == 0);
        CHECK(message_of<MachineError>([&] { download(server.address() + "/f", place.part, {}); }) ==
              place.part.string() + ": another workbench is downloading this file; wait until it has finished");
        close(other);
        const fs::path nowhere = place.folder.path() / "none" / "f.part";
        CHECK(message_of<MachineError>([&] { download(server.address() + "/f", nowhere, {}); }) ==
              nowhere.string() + ": cannot be written: No such file or directory");
        fs::create_symlink("/dev/full", place.folder.path() / "full");
        CHECK(message_of<MachineError>([&] {
                  download(server.address() + "/f", place.folder.path() / "full", {});
              }).ends_with("/full: cannot be written: No space left on device"));
    }
}

TEST_SUITE("fetch a matrix") {
    TEST_CASE("addresses and file names") {
        CHECK(collection_url("https://a.b/c//", "Janna", "Hook_1498") == "https://a.b/c/MM/Janna/Hook_1498.tar.gz");
        CHECK(fetched_file("into", "Janna", "Hook_1498") == fs::path("into/Janna/Hook_1498.tar.gz"));
    }

    TEST_CASE("a matrix is checked before it gets its name") {
        const Place place;
        const fs::path target = place.folder.path() / "G" / "m.tar.gz";
        const HttpServer server([&](const HttpRequest& request) {
            CHECK(!fs::exists(target));
            return plain(request);
        });
        const CheckedMatrix read = fetch_matrix(server.address() + "/f", target, {});
        CHECK(read.rows == 3);
        CHECK(read.columns == 4);
        CHECK(read.nonzeros == 3);
        CHECK(read.unchecked.empty());
        CHECK(file_text(target) == bytes);
        CHECK(std::distance(fs::directory_iterator(target.parent_path()), fs::directory_iterator()) == 1);
    }

    TEST_CASE("a matrix too large for this machine's memory is kept") {
        const Place place;
        const fs::path target = place.folder.path() / "G" / "m.tar.gz";
        const HttpServer server(plain);
        const FreeMemory none(0);
        const CheckedMatrix read = fetch_matrix(server.address() + "/f", target, {});
        CHECK(read.unchecked.find("bytes of memory") != std::string::npos);
        CHECK(file_text(target) == bytes);
    }

    TEST_CASE("anything but a matrix is deleted") {
        const Place place;
        const fs::path target = place.folder.path() / "G" / "m.tar.gz";
        const fs::path part = target.string() + ".part";
        std::string body;
        const HttpServer server([&](const HttpRequest&) { return HttpReply{.body = body, .says_length = false}; });
        const std::string url = server.address() + "/f";
        const auto found = [&](std::string sent) {
            body = std::move(sent);
            const std::string prefix = url + ": the download was deleted: ";
            std::string what = message_of<DownloadError>([&] { (void)fetch_matrix(url, target, {}); });
            CHECK(what.starts_with(prefix));
            CHECK(!fs::exists(target));
            CHECK(!fs::exists(part));
            CHECK(!fs::exists(origin_file(part)));
            what = what.substr(std::min(prefix.size(), what.size()));
            return what.starts_with(part.string()) ? "PART" + what.substr(part.string().size()) : what;
        };
        CHECK(found("\n <!DOCTYPE html><html>Sign in</html>") ==
              "found an HTML page, expected a .tar.gz archive with a matrix");
        CHECK(found("") == "found an empty file, expected a .tar.gz archive with a matrix");
        CHECK(found(matrix) == "found something else, expected a .tar.gz archive with a matrix");
        CHECK(found(bytes.substr(0, bytes.size() / 2)) ==
              "PART:1: found a truncated gzip stream; expected a whole one");  // the server states no length
        CHECK(
            found(collection_archive("m", matrix.substr(0, matrix.size() - 7))) ==
            "PART: member 'm/m.mtx':5: found the end of the file after 2 of 3 entries; expected as many as the size line says");
        CHECK(found(collection_archive("m", "%%MatrixMarket matrix coordinate complex general\n"))
                  .starts_with("PART: member 'm/m.mtx':1: found a complex matrix"));
    }

    TEST_CASE("an interrupted download keeps its beginning for the next one") {
        const Place place;
        bool breaks = true;
        const HttpServer server([&](const HttpRequest& request) {
            HttpReply reply = plain(request);
            if (std::exchange(breaks, false)) reply.stop_after = 70;
            return reply;
        });
        const fs::path target = place.folder.path() / "G" / "m.tar.gz";
        CHECK_THROWS_AS((void)fetch_matrix(server.address() + "/f", target, {}), DownloadError);
        CHECK(file_text(target.string() + ".part") == bytes.substr(0, 70));
        CHECK(fetch_matrix(server.address() + "/f", target, {}).rows == 3);
        REQUIRE(server.requests().size() == 2);
        CHECK(server.requests()[1].range == "bytes=70-");
        CHECK(file_text(target) == bytes);
    }

    TEST_CASE("a failed download leaves no files") {
        const Place place;
        const HttpServer server([](const HttpRequest&) { return HttpReply{.status = 404, .body = "none"}; });
        const std::string url = server.address() + "/f";
        const auto fetch = [&](const fs::path& target) {
            return message_of<DownloadError>([&] { (void)fetch_matrix(url, target, {}); });
        };
        CHECK(fetch(place.folder.path() / "into" / "G" / "m.tar.gz") == url + ": the server has no such file (404)");
        CHECK(fs::is_empty(place.folder.path()));
        std::ofstream(place.folder.path() / "G") << "a file";
        const fs::path inside = place.folder.path() / "G" / "H" / "m.tar.gz";
        CHECK(message_of<MachineError>([&] { (void)fetch_matrix(url, inside, {}); }) ==
              inside.parent_path().string() + ": cannot be created: Not a directory");
    }
}

}  // namespace workbench
