// The live page: a recipe that is edited in a browser, and runs again after each change.
#pragma once

#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/contract/catalogue.hpp"
#include "frontends/serve/http/module.hpp"
#include "frontends/serve/worker.hpp"
#include "pipeline/recipe/recipe.hpp"

namespace workbench {

/// A recipe with which the page can begin.
struct LiveFile {
    std::filesystem::path file;              // messages name it, and paths in the recipe are relative to it
    std::string text;                        // of the recipe
    std::string lesson = {};                 // the Markdown text of the lesson that uses it; empty: none
    std::filesystem::path lesson_file = {};  // empty: `file` was given
};

struct LiveSettings {
    std::vector<LiveFile> files;   // at least one
    std::filesystem::path folder;  // no file outside of it is read
    const Catalogue& catalogue;
    RecipeChanges changes = {};  // that apply to every text
    /// Runs a recipe and returns the data of its page (PageFile::data); `timed`: with its kernels. Called in a child process,
    /// for one recipe after another until one is timed. Throws UserError.
    std::function<std::string(const Recipe& recipe, bool timed, const GoOn& go_on)> page;
    bool can_time = false;      // the page offers to time kernels
    bool begins = false;        // the page asks first where to begin
    double limit_seconds = 60;  // for a run
};

/// A request of the page to run a recipe.
struct LiveRequest {
    std::string text;         // of the recipe
    std::size_t of = 0;       // the number of its LiveFile
    bool timed = false;       // with its kernels
    std::string client = {};  // the page that sent it
    long number = 0;          // of the request of this page; a greater one is newer
    long have = 0;            // number of the report whose data the page has; 0: none
};

/// Answers the requests of the page, given as paths below the site's address:
///   GET  (empty)         the page
///   GET  matrices/OF     the matrix files of the folder, relative to the recipe of this number
///   POST matrix/OF/NAME  a matrix file, to be written beside that recipe -> {"path": TEXT} or {"error": TEXT}
///   POST check           {"text", "of"} -> {"problems", "message", "outline"}
///   POST run             {"text", "of", "timed", "client", "number", "have"} -> a line of JSON: {"error": TEXT}, {"replaced":
///   true}, or
///                        {"page": NUMBER, "parts": [...]}. A part is a title, a document or a section, in this order: {"same":
///                        I} if it is part I of the report that the page has, else {"bytes": N}; their bytes follow the line
///   GET  page            the page of a report, without data
///   GET  page/NUMBER     the report of a run as a file, among the last few
class LiveSite {
public:
    explicit LiveSite(LiveSettings settings);

    /// May be called by several threads.
    [[nodiscard]] WebAnswer answer(const std::string& method, const std::string& path, const std::string& body);

    /// Ends running work, so that open requests are answered soon.
    void stop() { worker_.stop(); }

private:
    [[nodiscard]] WebAnswer start_page() const;
    [[nodiscard]] WebAnswer check(const LiveRequest& request);
    [[nodiscard]] WebAnswer run(const LiveRequest& request);
    [[nodiscard]] WebAnswer page(const std::string& number);
    [[nodiscard]] WebAnswer matrices(const LiveFile& recipe) const;
    [[nodiscard]] WebAnswer keep_matrix(const LiveFile& recipe, const std::string& name, const std::string& bytes);
    /// The file of this number; null if there is none.
    [[nodiscard]] const LiveFile* file(std::string_view number) const;
    [[nodiscard]] std::string run_now(long number, const LiveRequest& request, const ClientIsThere& client_is_there);
    [[nodiscard]] bool is_newest(const std::string& client, long number);
    /// Keeps the data and returns the answer for a page that has those of another report.
    [[nodiscard]] std::string keep_page(std::string data, long have);
    /// Null if it is not kept.
    [[nodiscard]] std::shared_ptr<const std::string> kept_page(long number);
    /// Returns the recipe, or sets the message of its errors.
    [[nodiscard]] std::optional<Recipe> checked(const LiveRequest& request, std::string& message) const;
    /// In the child process.
    [[nodiscard]] std::string page_of(const std::string& request, const GoOn& go_on) const;

    LiveSettings settings_;
    std::mutex forking_;  // held by threads that run code of other rooms
    /// The newest run of a page: its number there, and its number among all runs.
    struct Newest {
        long of_client = 0;
        long of_all = 0;
    };
    std::mutex newest_mutex_;
    std::map<std::string, Newest> newest_;  // by client
    long last_run_ = 0;
    Worker worker_;
    std::mutex pages_mutex_;
    long last_page_ = 0;
    std::deque<std::pair<long, std::shared_ptr<const std::string>>> pages_;
};

/// The matrix files in a folder and its subfolders, relative to `from`, in alphabetical order; at most `most`. None of
/// folders named build, fuzz, node_modules or tests.
[[nodiscard]] std::vector<std::string> matrix_files(const std::filesystem::path& folder, const std::filesystem::path& from,
                                                    std::size_t most = 1000);

}  // namespace workbench
