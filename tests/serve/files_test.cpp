// Settings and files of the live page: whether it times, the matrices of a folder, the token of an address that stays the same.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "frontends/serve/serve.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "serve/connection.hpp"
#include "support/temporary_folder.hpp"
#include "viz/page_file.hpp"

namespace workbench {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using Texts = std::vector<std::string>;

TEST_SUITE("live page") {
    TEST_CASE("kernels are timed only if the server was started for it") {
        const std::string recipe = "[matrix]\nrows = [\"1 .\", \". 1\"]\n\n[layout]\nuse = \"csr\"\n";
        const TemporaryFolder folder;
        const LiveServer server({.files = {{folder.path() / "r.toml", ""}},
                                 .folder = folder.path(),
                                 .catalogue = catalogue(),
                                 .page =
                                     [](const Recipe&, bool, const GoOn&) {
                                         return joined_parts({"title", "{}"});
                                     }},
                                0);
        const Address address(server.address());
        const Reply refused = address.post("run", Json({{"text", recipe}, {"timed", true}}).dump());
        CHECK(refused.status == 400);
        CHECK(refused.body == "kernels are not timed: the server was started without --backend\n");
        CHECK(address.post("run", Json({{"text", recipe}, {"timed", false}}).dump()).status == 200);
    }

    TEST_CASE("the matrices of a folder: no hidden ones, no other files, at most as many as asked for") {
        const TemporaryFolder folder;
        for (const char* file : {"b.mtx", "a.graph.gz", ".hidden.mtx", ".git/c.mtx", "sub/d.npz", "sub/notes.txt",
                                 "1/2/3/4/deep.mtx", "1/2/3/4/5/deeper.mtx", "tests/golden/e.mtx"}) {
            fs::create_directories((folder.path() / file).parent_path());
            std::ofstream(folder.path() / file) << "1";
        }
        fs::create_directory(folder.path() / "folder.mtx");
        const Texts all{"1/2/3/4/deep.mtx", "a.graph.gz", "b.mtx", "sub/d.npz"};
        CHECK(matrix_files(folder.path(), folder.path()) == all);
        CHECK(matrix_files(folder.path(), folder.path(), 2) == Texts{all[0], all[1]});
        CHECK(matrix_files(folder.path() / "sub", folder.path() / "1") == Texts{"../sub/d.npz"});
    }

    TEST_CASE("tokens are long and differ, unless one is kept, which no other user can read") {
        CHECK(random_token().size() == 32);
        CHECK(random_token() != random_token());
        const TemporaryFolder folder;
        const fs::path file = folder.path() / "new" / "token";
        const std::string token = kept_token(file);
        CHECK(token.size() == 32);
        CHECK(kept_token(file) == token);
        CHECK(fs::status(file).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
        fs::permissions(file, fs::perms::others_read, fs::perm_options::add);
        const std::string next = kept_token(file);
        CHECK(next != token);
        std::ofstream(file) << "short";
        CHECK(kept_token(file) != next);
        fs::remove(file);
        fs::create_symlink(folder.path() / "elsewhere", file);
        CHECK(kept_token(file) != next);
        CHECK_FALSE(fs::is_symlink(file));
    }
}

}  // namespace workbench
