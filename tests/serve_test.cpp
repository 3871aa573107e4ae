// The server of the live page, attacked: other hosts and origins, paths out of the folder, huge bodies, many connections,
// clients that vanish.
#include <doctest/doctest.h>

#include <unistd.h>

#include <fstream>
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "frontends/serve/worker.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "serve/served.hpp"
#include "support/golden.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

using Json = nlohmann::json;
using Texts = std::vector<std::string>;
namespace fs = std::filesystem;

}  // namespace

TEST_SUITE("live page") {
    TEST_CASE("the page, its checks, its runs and their reports") {
        const Served served;
        const Reply page = served.get("");
        CHECK(page.status == 200);
        CHECK(page.body.find("[matrix]") != std::string::npos);
        CHECK(page.head.find("script-src 'nonce-") != std::string::npos);
        for (const char* header : {"Referrer-Policy: no-referrer", "X-Content-Type-Options: nosniff", "Cache-Control: no-store",
                                   "Cross-Origin-Resource-Policy: same-origin"}) {
            CHECK_MESSAGE(page.head.find(header) != std::string::npos, header);
        }
        CHECK(Json::parse(served.get("matrices/0").body) == Json::array({"inside.mtx"}));

        const Json good = Json::parse(served.post("check", {{"text", small_recipe}}).body);
        CHECK(good["problems"].empty());
        CHECK(good["message"] == "");
        CHECK(good["outline"]["layout"] ==
              Json({{"line", 4}, {"settings", {{{"key", "use"}, {"line", 5}, {"column", 7}, {"value", "csr"}}}}}));

        // A recipe of another folder, with a lesson.
        CHECK(page.body.find("# A lesson") != std::string::npos);
        CHECK(page.body.find("\"path\":\"docs/a_lesson.md\"") != std::string::npos);
        CHECK(Json::parse(served.get("matrices/1").body) == Json::array({"../inside.mtx"}));
        const std::string beside = "[matrix]\npath = \"../inside.mtx\"\n\n[layout]\nuse = \"csr\"\n";
        CHECK(Json::parse(served.post("check", {{"text", beside}, {"of", 1}}).body)["message"] == "");
        CHECK(head_of(served.post("run", {{"text", beside}}))["error"].get<std::string>().find("outside the folder") !=
              std::string::npos);
        for (const char* path : {"matrices/2", "matrices/-1", "matrices/", "matrices/1x"})
            CHECK_MESSAGE(served.get(path).status == 404, path);
        CHECK(served.post("check", {{"text", beside}, {"of", 2}}).status == 400);
        CHECK(served.post("run", {{"text", beside}, {"of", 2}}).status == 400);

        CHECK(served.run("first") == Json({{"page", 1}}));
        CHECK(served.run("second", true) == Json({{"page", 2}}));
        const Reply report = served.get("page/1");
        CHECK(section_of_page(report.body, "document") == "first");
        CHECK(section_of_page(report.body, "section-0") == "a section");
        CHECK(report.head.find("frame-ancestors 'self'") != std::string::npos);
        CHECK(served.document(2) == "second timed");
        const Reply empty = served.get("page");
        CHECK(empty.body.ends_with("</html>\n"));
        CHECK(empty.body.find("id=\"document\">") == std::string::npos);
        for (const std::string& number : Texts{"0", "3", "-1", "1x", "", "99999999999999999999"}) {
            CHECK(served.get("page/" + number).status == 404);
        }
        for (int i = 0; i < 8; ++i) CHECK(served.run("more").contains("page"));
        CHECK(served.get("page/2").status == 404);  // only the last eight are kept
        CHECK(served.get("page/3").status == 200);
    }

    TEST_CASE("a run sends the parts of its report that the page does not have") {
        const Served served;
        const auto run = [&](const std::string& name, int have) {
            return served.post("run", {{"text", Served::named(name)}, {"have", have}}).body;
        };
        CHECK(run("one", 0) == R"({"page":1,"parts":[{"bytes":5},{"bytes":3},{"bytes":9}]})"
                               "\ntitleonea section");
        CHECK(run("two", 1) == R"({"page":2,"parts":[{"same":0},{"bytes":3},{"same":2}]})"
                               "\ntwo");
        CHECK(run("two", 2) == R"({"page":3,"parts":[{"same":0},{"same":1},{"same":2}]})"
                               "\n");
        CHECK(run("two", 99) == R"({"page":4,"parts":[{"bytes":5},{"bytes":3},{"bytes":9}]})"
                                "\ntitletwoa section");
    }

    TEST_CASE("answers are sent as they are, because compressing them takes longer than sending them") {
        const Served served;
        const Reply page = served.address.send("GET /" + served.address.token + "/ HTTP/1.1\r\n" + served.address.host_line +
                                               "Accept-Encoding: gzip, deflate, br\r\n\r\n");
        CHECK(page.status == 200);
        CHECK(page.head.find("Content-Encoding") == std::string::npos);
        CHECK(page.head.find("Content-Length: " + std::to_string(page.body.size())) != std::string::npos);
        CHECK(page.body.ends_with("</html>\n"));
    }

    TEST_CASE("errors have their places, in the words of the terminal") {
        const Served served;
        const std::string wrong = "[matrix]\nrows = [\"1 .\", \". 1\"]\n\n[layout]\nuse = \"csrr\"\n";
        const Json checked = Json::parse(served.post("check", {{"text", wrong}}).body);
        REQUIRE(checked["problems"].size() == 1);
        CHECK(checked["problems"][0]["line"] == 5);
        CHECK(checked["problems"][0]["column"] == 7);
        CHECK(checked["problems"][0]["message"].get<std::string>().find("unknown layout 'csrr'") != std::string::npos);
        const auto message = checked["message"].get<std::string>();
        CHECK(message.find("recipe.toml:5:7: unknown layout") != std::string::npos);
        CHECK(message.ends_with("  5 | use = \"csrr\"\n    |       ^"));
        const Json ran = head_of(served.post("run", {{"text", wrong}}));
        CHECK(ran == Json({{"error", message}}));

        const Json broken = Json::parse(served.post("check", {{"text", "[matrix\n"}}).body);
        CHECK(broken["outline"].is_null());
        REQUIRE(broken["problems"].size() == 1);
        CHECK(broken["problems"][0]["line"] == 1);

        // The place of an error in another file is in its message.
        std::ofstream(served.recipe.parent_path() / "base.toml") << wrong;
        const Json extended = Json::parse(served.post("check", {{"text", "[recipe]\nextends = \"base.toml\"\n"}}).body);
        REQUIRE(extended["problems"].size() == 1);
        CHECK(extended["problems"][0]["line"] == 0);
        CHECK(extended["problems"][0]["column"] == 0);
        CHECK(extended["message"].get<std::string>().find("base.toml:5:7: unknown layout 'csrr'") != std::string::npos);
    }

    TEST_CASE("matrices are named relative to the recipe") {
        const TemporaryFolder folder;
        for (const char* name : {"recipes", "matrices"}) fs::create_directories(folder.path() / name);
        std::ofstream(folder.path() / "matrices" / "a.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
        const LiveServer server({.files = {{folder.path() / "recipes" / "r.toml", ""}},
                                 .folder = folder.path(),
                                 .catalogue = catalogue(),
                                 .page =
                                     [](const Recipe&, bool, const GoOn&) {
                                         return joined_parts({"title", "{}"});
                                     }},
                                0);
        const Address address(server.address());
        CHECK(Json::parse(address.get("matrices/0").body) == Json::array({"../matrices/a.mtx"}));
        const std::string text = "[matrix]\npath = \"../matrices/a.mtx\"\n\n[layout]\nuse = \"csr\"\n";
        CHECK(head_of(address.post("run", Json({{"text", text}}).dump())) == Json({{"page", 1}}));
    }

    TEST_CASE("a matrix file is written beside the recipe, under a plain name, and replaces none") {
        const Served served;
        const fs::path site = served.recipe.parent_path();
        const std::string type = "Content-Type: application/octet-stream\r\n";
        const auto send = [&](const std::string& name, const std::string& bytes) {
            const Address& at = served.address;
            return at.send(at.post_head("matrix/0/" + name, bytes.size(), type) + bytes);
        };
        const std::string bytes = "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 1\n";
        CHECK(Json::parse(send("new.mtx", bytes).body) == Json({{"path", "new.mtx"}}));
        CHECK(file_text(site / "new.mtx") == bytes);
        CHECK(Json::parse(served.get("matrices/0").body) == Json::array({"inside.mtx", "new.mtx"}));
        CHECK(Json::parse(send("new.mtx", bytes).body) == Json({{"path", "new.mtx"}}));  // the same again
        const std::string binary("\0\xFF\r\n", 4);
        CHECK(Json::parse(send("a%20b.npz", binary).body) == Json({{"path", "a b.npz"}}));
        CHECK(file_text(site / "a b.npz") == binary);

        const auto error_of = [&](const std::string& name) { return Json::parse(send(name, "other").body).value("error", ""); };
        CHECK(error_of("new.mtx").find("found another file of this name") != std::string::npos);
        CHECK(file_text(site / "new.mtx") == bytes);
        fs::create_symlink(served.folder.path() / "outside.mtx", site / "link.mtx");
        fs::create_symlink(served.folder.path() / "nowhere.mtx", site / "dangling.mtx");
        fs::create_directory(site / "folder.mtx");
        for (const std::string& name : Texts{"link.mtx", "dangling.mtx", "folder.mtx"}) {
            CHECK(error_of(name).find("found another file") != std::string::npos);
        }
        CHECK_FALSE(fs::exists(served.folder.path() / "nowhere.mtx"));
        for (const std::string& name : Texts{"recipe.toml", "x.so", ".mtx", ".x.mtx", "..%2Fx.mtx", "..%5Cx.mtx",
                                             "%2Ftmp%2Fx.mtx", "x.mtx%00.mtx", "a/b.mtx", std::string(300, 'x') + ".mtx"}) {
            CAPTURE(name);
            const Reply reply = send(name, "other");
            CHECK((reply.status == 404 ||
                   Json::parse(reply.body).value("error", "").find("no name of a matrix") != std::string::npos));
        }
        CHECK(served.address.send(served.address.post_head("matrix/0/x.mtx", 2, "Content-Type: application/json\r\n") + "{}")
                  .status == 415);
        CHECK(served.address.send(served.address.post_head("matrix/0/x.mtx", longest_matrix + 1, type)).status == 413);
        CHECK(served.address.send(served.address.post_head("run", 2, type) + "{}").status == 415);
        std::size_t files = 0;
        for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(served.folder.path())) ++files;
        CHECK(files == 10);  // site, recipe, lesson, inside, outside, new, a b, and three that are in the way
    }

    TEST_CASE("requests for other hosts, from other pages and without the token are refused") {
        const Served served;
        const Address& at = served.address;
        const std::string body = Json({{"text", small_recipe}}).dump();
        const std::string type = "Content-Type: application/json\r\n";
        const auto status = [&](const std::string& request) { return at.send(request).status; };
        const std::string site = "/" + at.token + "/";
        for (const std::string& host : Texts{"evil.example", "127.0.0.1", "127.0.0.1:1", "localhost", "[::1]:" + at.port, ""}) {
            CHECK(status("GET " + site + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n") == 403);
        }
        CHECK(status("GET " + site + " HTTP/1.1\r\nHost: localhost:" + at.port + "\r\n\r\n") == 200);
        CHECK(status("GET " + site + " HTTP/1.0\r\n\r\n") == 403);
        for (const std::string& origin : Texts{"http://evil.example", "null", "https://" + at.host, "http://127.0.0.1:1",
                                               "http://" + at.host + "0", "http://" + at.host + ".evil.example"}) {
            CHECK(status("GET " + site + " HTTP/1.1\r\n" + at.host_line + "Origin: " + origin + "\r\n\r\n") == 403);
            CHECK(status(at.post_head("run", body.size(), type + "Origin: " + origin + "\r\n") + body) == 403);
        }
        CHECK(status(at.post_head("check", body.size(), type + "Origin: http://" + at.host + "\r\n") + body) == 200);
        const std::string as_localhost = "POST " + site + "check HTTP/1.1\r\nHost: localhost:" + at.port + "\r\n" + type +
                                         "Content-Length: " + std::to_string(body.size()) + "\r\nOrigin: http://";
        CHECK(status(as_localhost + "localhost:" + at.port + "\r\n\r\n" + body) == 200);
        CHECK(status(as_localhost + at.host + "\r\n\r\n" + body) == 403);
        std::string other = at.token;
        other.back() = other.back() == '0' ? '1' : '0';
        for (const std::string& path : Texts{std::string("/"), "/" + other + "/", "/" + at.token,
                                             "/" + at.token.substr(1) + "/", "//" + at.token + "/", "/favicon.ico"}) {
            CHECK(status("GET " + path + " HTTP/1.1\r\n" + at.host_line + "\r\n") == 404);
        }
        for (const std::string& method : Texts{"PUT", "DELETE", "OPTIONS", "PATCH", "HEAD"}) {
            CHECK(status(method + " " + site + " HTTP/1.1\r\n" + at.host_line + "\r\n") == 405);
        }
        CHECK(served.get("").head.find("Access-Control") == std::string::npos);
    }

    TEST_CASE("no path leads out of the site, and no recipe out of the folder") {
        const Served served;
        for (const std::string& path :
             Texts{"../../etc/passwd", "page/../../../etc/passwd", "%2e%2e/%2e%2e/etc/passwd", "..%2foutside.mtx", "inside.mtx",
                   "page//etc/passwd", "matrices.json/..", "page/1%00"}) {
            CHECK(served.get(path).status == 404);
        }
        fs::create_symlink(served.folder.path() / "outside.mtx", served.recipe.parent_path() / "link.mtx");
        fs::create_directory_symlink("/", served.recipe.parent_path() / "root");
        CHECK(Json::parse(served.get("matrices/0").body) == Json::array({"inside.mtx"}));
        const std::string end = "\n[layout]\nuse = \"csr\"\n";
        const auto error_of = [&](const std::string& text) {
            const Json ran = head_of(served.post("run", {{"text", text}}));
            return ran.value("error", std::string());
        };
        for (const std::string& path :
             Texts{(served.folder.path() / "outside.mtx").string(), std::string("../outside.mtx"), std::string("link.mtx"),
                   std::string("/dev/zero"), std::string("root/etc/passwd")}) {
            CHECK(error_of("[matrix]\npath = \"" + path + "\"\n" + end).find("found a matrix outside the folder") !=
                  std::string::npos);
        }
        CHECK(error_of("[matrix]\npath = \"inside.mtx\"\n" + end).empty());
        CHECK(error_of("[recipe]\nextends = \"../../etc/passwd\"\n").find("outside the folder") != std::string::npos);
        CHECK(error_of(small_recipe + "[[stage]]\nprogram = [\"sh\", \"-c\", \"touch stolen\"]\n").find("found code beside") !=
              std::string::npos);
    }

    TEST_CASE("bodies that are huge, in chunks, compressed or not JSON are refused") {
        const Served served;
        const Address& at = served.address;
        const std::string type = "Content-Type: application/json\r\n";
        CHECK(at.send(at.post_head("run", std::size_t{3} << 30, type)).status == 413);  // before the body is sent
        CHECK(at.send(at.post_head("run", longest_request + 1, type) + std::string(100, ' ')).status == 413);
        CHECK(at.send("POST /" + at.token + "/run HTTP/1.1\r\n" + at.host_line + type + "\r\n").status == 411);
        CHECK(at.send("POST /" + at.token + "/run HTTP/1.1\r\n" + at.host_line + type + "Content-Length: -1\r\n\r\n").status ==
              411);
        CHECK(at.send("POST /" + at.token + "/run HTTP/1.1\r\n" + at.host_line + type +
                      "Transfer-Encoding: chunked\r\n\r\nffffffff\r\n")
                  .status == 415);
        CHECK(at.send(at.post_head("run", 2, type + "Content-Encoding: gzip\r\n") + "{}").status == 415);
        CHECK(at.send(at.post_head("run", 2, "Content-Type: text/plain\r\n") + "{}").status == 415);
        CHECK(at.send(at.post_head("run", 2, "Content-Type: multipart/form-data; boundary=x\r\n") + "{}").status == 415);
        for (const std::string& body : Texts{"", "{", "[]", "{}", "{\"text\": 3}", "\"text\"", "null"}) {
            CHECK(at.post("run", body).status == 400);
        }
        CHECK(at.post("run", std::string(longest_request, '[')).status == 400);
        CHECK(at.post("else", "{\"text\": \"\"}").status == 404);
        // A recipe of more than a megabyte is an error like others.
        const Json long_text = Json::parse(served.post("check", {{"text", "#" + std::string(1'500'000, 'x')}}).body);
        CHECK(long_text["problems"].size() == 1);
        CHECK(served.get("").status == 200);
    }

    TEST_CASE("a run that crashes, refuses or takes too long is reported, and the next one runs") {
        const Served served;
        CHECK(served.run("crash") == Json({{"error", "error: the run ended early: killed by signal 11 (Segmentation fault)"}}));
        CHECK(served.run("exit") == Json({{"error", "error: the run ended early: exit code 3"}}));
        CHECK(served.run("refuse") == Json({{"error", "error: the matrix is too pretty"}}));
        CHECK(served.run("sleep") ==
              Json({{"error", "error: the run did not end within 1 s and was stopped; --limit SECONDS allows more"}}));
        CHECK(served.comes_to_rest());
        CHECK(served.run("last") == Json({{"page", 1}}));
    }

    TEST_CASE("a newer run ends an older one") {
        const Served served;
        Json first;
        std::thread older([&] { first = served.run("sleep"); });
        while (served.beats() == 0) (void)usleep(5'000);
        CHECK(served.run("new") == Json({{"page", 1}}));
        older.join();
        CHECK(first == Json({{"replaced", true}}));
        CHECK(served.comes_to_rest());
    }

    TEST_CASE("the runs of two pages wait for each other") {
        const Served served;
        const auto run = [&](const std::string& name, const std::string& client) {
            return head_of(served.post("run", {{"text", Served::named(name)}, {"client", client}, {"number", 1}}));
        };
        Json first;
        std::thread other([&] { first = run("nap", "presenter"); });
        while (served.beats() == 0) (void)usleep(5'000);
        const Json second = run("new", "projector");
        other.join();
        // The answer that is ready first may be numbered second.
        CHECK((first == Json({{"page", 1}}) || first == Json({{"page", 2}})));
        CHECK((second == Json({{"page", 1}}) || second == Json({{"page", 2}})));
        CHECK(first != second);
    }

    TEST_CASE("requests of a page that overtake each other leave the newest") {
        const Served served;
        const auto run = [&](const std::string& client, int number) {
            const Json body{{"text", small_recipe}, {"client", client}, {"number", number}};
            return head_of(served.post("run", body)).contains("page");
        };
        CHECK(run("a", 2));
        CHECK_FALSE(run("a", 1));
        CHECK(run("a", 3));
        CHECK(run("b", 1));
        CHECK(served.run("without a number").contains("page"));
    }

    TEST_CASE("runs share a process until one is replaced within a step, is timed or is lost") {
        const Served served;
        const auto count = [&](bool timed = false) { return served.document(served.run("count", timed)["page"].get<int>()); };
        CHECK(count() == "1");
        CHECK(count() == "2");
        CHECK(served.run("refuse").contains("error"));
        CHECK(count() == "4");
        const auto replaced_by_count = [&](const std::string& name) {
            const std::uintmax_t before = served.beats();
            Json first;
            std::thread older([&] { first = served.run(name); });
            while (served.beats() == before) (void)usleep(1'000);
            const std::string runs = count();
            older.join();
            CHECK(first == Json({{"replaced", true}}));
            CHECK(served.comes_to_rest());
            return runs;
        };
        CHECK(replaced_by_count("steps") == "6");  // the older run ended at its next step
        CHECK(replaced_by_count("sleep") == "1");
        CHECK(count(true) == "2");
        CHECK(count() == "1");
        CHECK(served.run("crash").contains("error"));
        CHECK(count() == "1");
    }

    TEST_CASE("the run of a client that vanishes ends") {
        const Served served;
        const std::string body = Json({{"text", Served::named("sleep")}}).dump();
        {
            const Connection gone(served.address);
            gone.write(served.address.post_head("run", body.size(), "Content-Type: application/json\r\n") + body);
            while (served.beats() == 0) (void)usleep(5'000);
        }
        CHECK(served.comes_to_rest());
        CHECK(served.beats() < 90);  // it would have worked for a second
        {
            const Connection half(served.address);
            half.write("GET /" + served.address.token);
        }
        CHECK(served.run("next") == Json({{"page", 1}}));
    }

    TEST_CASE("100 idle connections and 100 requests at a time") {
        const Served served;
        std::vector<std::unique_ptr<Connection>> idle;
        for (int i = 0; i < 100; ++i) idle.push_back(std::make_unique<Connection>(served.address));
        CHECK(served.get("matrices/0").status == 200);
        idle.clear();
        std::vector<std::thread> threads;
        std::atomic<int> answered = 0;
        std::atomic<int> pages = 0;
        for (int i = 0; i < 100; ++i) {
            threads.emplace_back([&] {
                const Json ran = served.run("nap");
                answered += ran.contains("page") || ran.contains("replaced") ? 1 : 0;
                pages += ran.contains("page") ? 1 : 0;
            });
        }
        for (std::thread& each : threads) each.join();
        CHECK(answered == 100);
        CHECK(pages >= 1);
        CHECK(served.run("last").contains("page"));
    }

    TEST_CASE("the end of the server ends running work and open connections") {
        auto served = std::make_unique<Served>();
        const std::string body = Json({{"text", Served::named("sleep")}}).dump();
        const Connection open(served->address);
        open.write(served->address.post_head("run", body.size(), "Content-Type: application/json\r\n") + body);
        while (served->beats() == 0) (void)usleep(5'000);
        const Address address = served->address;
        served.reset();
        CHECK(!Connection(address).is_open());
    }

    TEST_CASE("a worker that is stopped ends its work and refuses more") {
        std::mutex forking;
        Worker worker(forking, [](const std::string& request, const GoOn&) {
            while (request == "sleep") (void)pause();
            return request;
        });
        const auto end_of = [&worker](const std::string& request) {
            return worker.run(request, 10, [] { return Wanted::yes; }).end;
        };
        CHECK(end_of("a") == WorkResult::WorkEnd::done);
        std::jthread stopping([&worker] {
            (void)usleep(50'000);
            worker.stop();
        });
        CHECK(end_of("sleep") == WorkResult::WorkEnd::unwanted);
        CHECK(end_of("b") == WorkResult::WorkEnd::unwanted);
    }

    TEST_CASE("a port that is taken") {
        const Served served;
        TemporaryFolder other;
        LiveSettings settings{
            .files = {{other.path() / "x.toml", ""}}, .folder = other.path(), .catalogue = catalogue(), .page = {}};
        CHECK(message_of<MachineError>([&] { const LiveServer second(settings, std::stoi(served.address.port)); }) ==
              "--port " + served.address.port + ": the port is in use; expected a free one, or 0");
    }
}

}  // namespace workbench
