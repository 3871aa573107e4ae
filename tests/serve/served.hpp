// A server of the live page for tests, whose runs do what the name of the recipe says.
#pragma once

#include <unistd.h>
#include <csignal>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "frontends/serve/serve.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "serve/connection.hpp"
#include "support/page_sections.hpp"
#include "support/temporary_folder.hpp"
#include "viz/page_file.hpp"

namespace workbench {

inline const std::string small_recipe = "[matrix]\nrows = [\"1 .\", \". 1\"]\n\n[layout]\nuse = \"csr\"\n";

/// The answer to a run, without the bytes that follow; of a report only its number.
inline nlohmann::json head_of(const Reply& reply) {
    nlohmann::json head = nlohmann::json::parse(reply.body.substr(0, reply.body.find('\n')));
    head.erase("parts");
    return head;
}

/// A server over a temporary folder whose runs do what the name of the recipe says.
struct Served {
    TemporaryFolder folder;
    std::filesystem::path recipe = folder.path() / "site" / "recipe.toml";
    LiveServer server{settings(), 0};
    Address address{server.address()};

    LiveSettings settings() {
        std::filesystem::create_directories(recipe.parent_path());
        std::ofstream(recipe) << small_recipe;
        std::ofstream(recipe.parent_path() / "inside.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
        std::filesystem::create_directories(recipe.parent_path() / "lesson");
        std::ofstream(folder.path() / "outside.mtx") << "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n";
        return {.files = {{recipe, small_recipe},
                          {recipe.parent_path() / "lesson" / "other.toml", named("other"), "# A lesson", "docs/a_lesson.md"}},
                .folder = recipe.parent_path(),
                .catalogue = catalogue(),
                .page = [this](const Recipe& given, bool timed, const GoOn& go_on) { return work(given, timed, go_on); },
                .can_time = true,
                .limit_seconds = 1};
    }

    /// Runs in the child process. A file shows that it is still alive.
    [[nodiscard]] std::string work(const Recipe& given, bool timed, const GoOn& go_on) const {
        static int runs = 0;  // of this process
        ++runs;
        if (given.name == "count") return joined_parts({"title", std::to_string(runs)});
        for (int i = 0; given.name == "steps" && i < 1000; ++i) {
            beat();
            go_on();
        }
        if (given.name == "crash") (void)std::raise(SIGSEGV);
        if (given.name == "exit") _exit(3);
        if (given.name == "refuse") throw InputError("the matrix is too pretty");
        if (given.name == "sleep" || given.name == "nap") {
            for (int i = 0; i < (given.name == "nap" ? 20 : 1000); ++i) beat();
        }
        return joined_parts({"title", given.name + (timed ? " timed" : ""), "a section"});
    }

    void beat() const {
        std::ofstream(folder.path() / "alive", std::ios::app) << '.';
        (void)usleep(10'000);
    }

    [[nodiscard]] std::uintmax_t beats() const {
        std::error_code none;
        const std::uintmax_t size = std::filesystem::file_size(folder.path() / "alive", none);
        return none ? 0 : size;
    }

    /// True once the child of a "sleep" no longer works.
    [[nodiscard]] bool comes_to_rest() const {
        for (int i = 0; i < 100; ++i) {
            const std::uintmax_t before = beats();
            (void)usleep(60'000);
            if (beats() == before) return true;
        }
        return false;
    }

    [[nodiscard]] Reply get(const std::string& path) const { return address.get(path); }
    [[nodiscard]] Reply post(const std::string& path, const nlohmann::json& body) const {
        return address.post(path, body.dump());
    }
    [[nodiscard]] nlohmann::json run(const std::string& name, bool timed = false) const {
        return head_of(post("run", {{"text", named(name)}, {"timed", timed}}));
    }
    /// The document of a report.
    [[nodiscard]] std::string document(int page) const {
        return section_of_page(get("page/" + std::to_string(page)).body, "document");
    }
    [[nodiscard]] static std::string named(const std::string& name) {
        return "[recipe]\nname = \"" + name + "\"\n\n" + small_recipe;
    }
};

}  // namespace workbench
