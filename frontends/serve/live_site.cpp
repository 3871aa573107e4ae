#include "frontends/serve/live_site.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/contract/errors.hpp"
#include "core/contract/parameters.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/serve/guard.hpp"
#include "frontends/serve/live_json.hpp"
#include "pipeline/recipe/document.hpp"
#include "viz/page_file.hpp"

namespace workbench {
namespace {

using Json = nlohmann::json;

constexpr std::size_t most_pages = 8;  // reports that are kept
constexpr char timed_mark = 't';       // the first letter of a request to the child process; the number of the file follows
constexpr char untimed_mark = 'u';
constexpr const char* json_type = "application/json";
constexpr const char* bytes_type = "application/octet-stream";
constexpr const char* html_type = "text/html; charset=utf-8";

/// File names may contain any bytes.
std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

WebAnswer json_answer(const Json& json) { return {.type = json_type, .body = text_of(json)}; }
WebAnswer not_found() { return {.status = 404, .body = "not found\n"}; }

/// A report contains its script and makes no requests.
constexpr const char* report_policy =
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; frame-ancestors 'self'";

WebAnswer report_answer(std::string html) {
    return {.type = html_type, .body = std::move(html), .headers = {{"Content-Security-Policy", report_policy}}};
}

bool is_matrix_file(const std::filesystem::path& file) {
    constexpr std::array<std::string_view, 14> endings{".mtx",      ".rb",     ".graph",   ".npz",   ".mtx.gz",
                                                       ".mtx.xz",   ".mat",    ".mtx.zst", ".rb.gz", ".graph.gz",
                                                       ".graph.xz", ".tar.gz", ".tar",     ".h5"};
    const std::string name = file.filename().string();
    return std::any_of(endings.begin(), endings.end(), [&name](std::string_view ending) { return name.ends_with(ending); });
}

/// True if the file contains exactly these bytes.
bool contains(const std::filesystem::path& file, std::string_view bytes) {
    if (!std::filesystem::is_regular_file(file) || std::filesystem::file_size(file) != bytes.size()) return false;
    std::ifstream stream(file, std::ios::binary);
    return std::equal(std::istreambuf_iterator<char>(stream), {}, bytes.begin(), bytes.end());
}

/// Returns none unless the body is a JSON object with a string "text".
std::optional<LiveRequest> read_request(const std::string& body) {
    const Json json = Json::parse(body, nullptr, false);
    if (!json.is_object() || !json.contains("text") || !json["text"].is_string()) return std::nullopt;
    LiveRequest request{.text = json["text"]};
    if (const auto of = json.find("of"); of != json.end() && of->is_number_unsigned()) request.of = *of;
    if (const auto timed = json.find("timed"); timed != json.end() && timed->is_boolean()) request.timed = *timed;
    if (const auto client = json.find("client"); client != json.end() && client->is_string()) request.client = *client;
    if (const auto number = json.find("number"); number != json.end() && number->is_number_integer()) request.number = *number;
    if (const auto have = json.find("have"); have != json.end() && have->is_number_integer()) request.have = *have;
    return request;
}

}  // namespace

std::vector<std::string> matrix_files(const std::filesystem::path& folder, const std::filesystem::path& from,
                                      std::size_t most) {
    namespace fs = std::filesystem;
    constexpr int deepest = 4;
    constexpr std::size_t most_visited = 100'000;
    // Folders of test and build files in a checkout of this program.
    constexpr std::array<std::string_view, 4> folders_without_matrices{"build", "fuzz", "node_modules", "tests"};
    std::vector<std::string> files;
    std::error_code problem;
    std::size_t visited = 0;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, problem);
    for (; !problem && at != fs::recursive_directory_iterator() && visited < most_visited; at.increment(problem), ++visited) {
        std::error_code unknown;
        const bool hidden = at->path().filename().string().starts_with('.');
        const bool other =
            std::ranges::find(folders_without_matrices, at->path().filename().string()) != folders_without_matrices.end();
        if (at->is_directory(unknown) && (hidden || other || at.depth() >= deepest)) at.disable_recursion_pending();
        if (hidden || !is_matrix_file(at->path()) || !at->is_regular_file(unknown)) continue;
        if (!is_in_folder(at->path(), folder)) continue;  // a link to another place
        files.push_back(fs::absolute(at->path()).lexically_relative(fs::absolute(from)).string());
    }
    std::ranges::sort(files);
    if (files.size() > most) files.resize(most);
    return files;
}

LiveSite::LiveSite(LiveSettings settings)
    : settings_(std::move(settings)),
      worker_(forking_, [this](const std::string& request, const GoOn& go_on) { return page_of(request, go_on); }) {
    settings_.changes.bases_within = settings_.folder;
    settings_.changes.no_code_because = "this page runs none; `workbench run` does";
}

WebAnswer LiveSite::answer(const std::string& method, const std::string& path, const std::string& body) {
    if (method == "GET") {
        if (path.empty()) return start_page();
        if (path.starts_with("matrices/")) {
            const LiveFile* const recipe = file(std::string_view(path).substr(9));
            return recipe == nullptr ? not_found() : matrices(*recipe);
        }
        if (path == "page") return report_answer(empty_page());
        return path.starts_with("page/") ? page(path.substr(5)) : not_found();
    }
    if (path.starts_with("matrix/")) {
        const std::size_t end = path.find('/', 7);
        const LiveFile* const recipe = end == std::string::npos ? nullptr : file(std::string_view(path).substr(7, end - 7));
        return recipe == nullptr ? not_found() : keep_matrix(*recipe, path.substr(end + 1), body);
    }
    if (path != "check" && path != "run") return not_found();
    const std::optional<LiveRequest> request = read_request(body);
    if (!request) {
        return {.status = 400, .body = "expected a JSON object with the text of a recipe: {\"text\": \"...\"}\n"};
    }
    if (request->of >= settings_.files.size()) {
        return {.status = 400,
                .body = fmt::format("found \"of\": {}; expected less than {}\n", request->of, settings_.files.size())};
    }
    if (request->timed && !settings_.can_time) {
        return {.status = 400, .body = "kernels are not timed: the server was started without --backend\n"};
    }
    return path == "check" ? check(*request) : run(*request);
}

WebAnswer LiveSite::start_page() const {
    const std::string nonce = random_token();
    Json files = Json::array();
    for (const LiveFile& one : settings_.files) {
        files.push_back({{"file", one.file.filename().string()},
                         {"path", seen_from_here(one.lesson_file.empty() ? one.file : one.lesson_file)},
                         {"text", one.text},
                         {"lesson", one.lesson}});
    }
    const Json document{{"files", std::move(files)},
                        {"can_time", settings_.can_time},
                        {"begins", settings_.begins},
                        {"catalogue", json_of(settings_.catalogue)}};
    const std::string policy = fmt::format(
        "default-src 'none'; script-src 'nonce-{}'; style-src 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; "
        "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        nonce);
    return {.type = html_type,
            .body = live_page_html(settings_.files.front().file.filename().string(), nonce, text_of(document)),
            .headers = {{"Content-Security-Policy", policy}}};
}

const LiveFile* LiveSite::file(std::string_view number) const {
    const std::optional<std::int64_t> parsed = parse_integer(number);
    const auto count = static_cast<std::int64_t>(settings_.files.size());
    return parsed && *parsed >= 0 && *parsed < count ? &settings_.files[static_cast<std::size_t>(*parsed)] : nullptr;
}

WebAnswer LiveSite::matrices(const LiveFile& recipe) const {
    return json_answer(matrix_files(settings_.folder, std::filesystem::absolute(recipe.file).parent_path()));
}

WebAnswer LiveSite::keep_matrix(const LiveFile& recipe, const std::string& name, const std::string& bytes) {
    namespace fs = std::filesystem;
    const auto refused = [&name](const std::string& why) {
        return json_answer({{"error", fmt::format("error: {}: {}", name, why)}});
    };
    constexpr std::size_t longest_name = 200;
    const bool is_plain = !name.empty() && name.size() <= longest_name && name.front() != '.' &&
                          name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
    if (!is_plain || !is_matrix_file(name)) {
        return refused(
            "found no name of a matrix file; expected one that ends in .mtx, .rb, .graph (also .gz, .xz, .zst, .tar), .npz, "
            ".mat or .h5");
    }
    const std::scoped_lock lock(forking_);
    const fs::path file = fs::absolute(recipe.file).parent_path() / name;
    try {
        if (fs::exists(fs::symlink_status(file))) {
            if (!is_in_folder(file, settings_.folder) || !contains(file, bytes)) {
                return refused("found another file of this name beside the recipe, which is not replaced; expected a new name");
            }
        } else {
            write_whole_file(file, bytes);
        }
    } catch (const fs::filesystem_error& error) {
        return refused(error.code().message());
    } catch (const UserError& error) {
        return refused(error.what());
    }
    return json_answer({{"path", name}});
}

std::optional<Recipe> LiveSite::checked(const LiveRequest& request, std::string& message) const {
    const std::filesystem::path& file = settings_.files.at(request.of).file;
    CheckedText result = check_text(request.text, file, settings_.catalogue, settings_.changes);
    message = std::move(result.message);
    if (!message.empty()) return std::nullopt;
    if (result.points.size() > 1) {
        message = fmt::format("error: {}: found a sweep of {}; expected a single recipe", file.string(),
                              counted(result.points.size(), "recipe"));
        return std::nullopt;
    }
    const auto* const matrix = std::get_if<MatrixFile>(&result.points.front().matrix.from);
    if (matrix != nullptr && !is_in_folder(matrix->path, settings_.folder)) {
        message = fmt::format("error: {}: found a matrix outside the folder {}; expected a file in it",
                              result.points.front().matrix.where, settings_.folder.string());
        return std::nullopt;
    }
    return std::move(result.points.front());
}

WebAnswer LiveSite::check(const LiveRequest& request) {
    const std::scoped_lock lock(forking_);
    const std::filesystem::path& file = settings_.files[request.of].file;
    const CheckedText result = check_text(request.text, file, settings_.catalogue, settings_.changes);
    return json_answer(
        {{"problems", json_of(result.problems)}, {"message", result.message}, {"outline", outline_of(request.text, file)}});
}

WebAnswer LiveSite::run(const LiveRequest& request) {
    const auto at_once = [](const Json& json) { return WebAnswer{.type = bytes_type, .body = text_of(json) + '\n'}; };
    long number = 0;
    {
        const std::scoped_lock lock(newest_mutex_);
        // Requests of a page may overtake each other on their way. Those of another page wait for each other.
        Newest& newest = newest_[request.client];
        if (request.number < newest.of_client) return at_once({{"replaced", true}});
        newest = {request.number, number = ++last_run_};
    }
    std::string message;
    {
        const std::scoped_lock lock(forking_);
        if (!checked(request, message)) return at_once({{"error", message}});
    }
    return {.type = bytes_type, .later = [this, number, request](const ClientIsThere& client_is_there) {
                return run_now(number, request, client_is_there);
            }};
}

bool LiveSite::is_newest(const std::string& client, long number) {
    const std::scoped_lock lock(newest_mutex_);
    return newest_[client].of_all == number;
}

std::string LiveSite::page_of(const std::string& request, const GoOn& go_on) const {
    std::string message;
    const std::size_t end = request.find(' ');
    const LiveRequest asked{.text = request.substr(end + 1), .of = std::stoul(request.substr(1, end - 1))};
    const std::optional<Recipe> recipe = checked(asked, message);
    if (!recipe) throw RecipeError(message);
    return settings_.page(*recipe, request.front() == timed_mark, go_on);
}

std::string LiveSite::run_now(long number, const LiveRequest& request, const ClientIsThere& client_is_there) {
    using WorkEnd = WorkResult::WorkEnd;
    WorkResult result;
    const auto wanted = [&] {
        if (!client_is_there()) return Wanted::gone;
        return is_newest(request.client, number) ? Wanted::yes : Wanted::replaced;
    };
    try {
        // A child that has timed kernels ends, because it may occupy a GPU.
        const char mark = request.timed ? timed_mark : untimed_mark;
        result =
            worker_.run(fmt::format("{}{} {}", mark, request.of, request.text), settings_.limit_seconds, wanted, request.timed);
    } catch (const UserError& error) {
        result = {WorkEnd::failed, error.what()};
    }
    const auto error = [](const std::string& text) { return text_of({{"error", "error: " + text}}) + '\n'; };
    switch (result.end) {
        case WorkEnd::done: return keep_page(std::move(result.text), request.have);
        case WorkEnd::failed: return error(result.text);
        case WorkEnd::lost: return error("the run ended early: " + result.text);
        case WorkEnd::too_long:
            return error(fmt::format("the run did not end within {} s and was stopped; --limit SECONDS allows more",
                                     settings_.limit_seconds));
        case WorkEnd::unwanted: break;
    }
    return text_of({{"replaced", true}}) + '\n';
}

std::string LiveSite::keep_page(std::string data, long have) {
    const auto kept = std::make_shared<const std::string>(std::move(data));
    const std::shared_ptr<const std::string> before = kept_page(have);
    const std::vector<std::string_view> old = before == nullptr ? std::vector<std::string_view>() : parts_of(*before);
    Json parts = Json::array();
    std::string bytes;
    for (const std::string_view part : parts_of(*kept)) {
        const auto same = std::ranges::find(old, part);
        if (same != old.end()) {
            parts.push_back({{"same", same - old.begin()}});
        } else {
            parts.push_back({{"bytes", part.size()}});
            bytes += part;
        }
    }
    const std::scoped_lock lock(pages_mutex_);
    pages_.emplace_back(++last_page_, kept);
    if (pages_.size() > most_pages) pages_.pop_front();
    return text_of({{"page", last_page_}, {"parts", std::move(parts)}}) + '\n' + bytes;
}

std::shared_ptr<const std::string> LiveSite::kept_page(long number) {
    const std::scoped_lock lock(pages_mutex_);
    const auto found = std::ranges::find(pages_, number, [](const auto& each) { return each.first; });
    return found == pages_.end() ? nullptr : found->second;
}

WebAnswer LiveSite::page(const std::string& number) {
    long wanted = 0;
    const auto [end, problem] = std::from_chars(number.data(), number.data() + number.size(), wanted);
    if (problem != std::errc() || end != number.data() + number.size()) return not_found();
    const std::shared_ptr<const std::string> kept = kept_page(wanted);
    return kept == nullptr ? not_found() : report_answer(page_of_parts(*kept));
}

}  // namespace workbench
