// workbench draw and workbench animate: pictures of the stages; no kernel runs.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/child.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "core/system/process.hpp"
#include "core/system/whole_file.hpp"
#include "core/text/words.hpp"
#include "frontends/cli/command.hpp"
#include "frontends/cli/drawn_stages.hpp"
#include "frontends/cli/terminal.hpp"
#include "pipeline/catalogue/catalogue.hpp"
#include "pipeline/report/pictures.hpp"
#include "pipeline/run/recipe_storage.hpp"
#include "viz/animation.hpp"
#include "viz/flow_picture.hpp"
#include "viz/graph_picture.hpp"
#include "viz/image.hpp"
#include "viz/moves.hpp"
#include "viz/paper_panels.hpp"
#include "viz/pattern_view.hpp"
#include "viz/pdf_canvas.hpp"

namespace workbench {
namespace {

constexpr const char* encoder = "ffmpeg";
constexpr const char* list_name = "frames.txt";
constexpr const char* movie_name = "movie.mp4";

/// The list of ffmpeg's demuxer `concat`. Without a second entry the last picture would be shown for no time.
std::string list_of(std::span<const AnimationFrame> frames) {
    std::string list = "ffconcat version 1.0\n";
    for (std::size_t i = 0; i < frames.size(); ++i) {
        list += fmt::format("file {}.png\nduration {}.{:02}\n", i, frames[i].hundredths / 100, frames[i].hundredths % 100);
    }
    return list + fmt::format("file {}.png\n", frames.size() - 1);
}

/// Throws MachineError if ffmpeg is not on PATH.
void require_movie_encoder(const std::string& file) {
    if (program_exists(encoder)) return;
    throw MachineError(
        fmt::format("--out {}: ffmpeg, which encodes MP4, is not on PATH; install it, or write .png or .gif", file));
}

/// The frames as an MP4 with H.264. Odd sizes grow by a white pixel. Throws MachineError if ffmpeg fails, with what it printed.
std::string movie_bytes(std::span<const AnimationFrame> frames) {
    const WorkFolder folder;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        write_whole_file(folder.path() / fmt::format("{}.png", i), png_bytes(frames[i].image));
    }
    write_whole_file(folder.path() / list_name, list_of(frames));
    const std::vector<std::string> command{
        encoder,      "-nostdin", "-loglevel", "error", "-f",
        "concat",     "-i",       list_name,   "-vf",   "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white,fps=50,format=yuv420p",
        "-c:v",       "libx264",  "-crf",      "18",    "-movflags",
        "+faststart", movie_name};
    constexpr double limit_seconds = 3600;
    const Ending end = Child(command, {.output = ChildOutput::returned, .folder = folder.path()}).wait(limit_seconds);
    if (!end.not_started.empty()) throw MachineError(fmt::format("ffmpeg cannot be started: {}", end.not_started));
    if (end.too_long) throw MachineError(fmt::format("ffmpeg took longer than {:g} s and was ended", limit_seconds));
    if (end.exit_code < 0) throw MachineError(fmt::format("ffmpeg was ended by signal {}", end.signal));
    if (end.exit_code > 0) {
        const std::string printed = end.output.substr(0, end.output.find_last_not_of(" \n") + 1);
        throw MachineError(fmt::format("ffmpeg failed with exit code {}: {}", end.exit_code, printed));
    }
    std::ifstream movie(folder.path() / movie_name, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(movie), {}};
    if (bytes.empty()) throw MachineError("ffmpeg wrote no movie");
    return bytes;
}

struct DrawArguments {
    DrawnArguments drawn;
    std::string stage;
    bool flow = false;
    bool graph = false;
    bool storage = false;
    std::string colour_by;
    std::string format;
    std::string out;
    std::string scale_from;
    int width = nominal_width;
    PaperColumn column;
    bool force = false;
};

/// The picture format: the extension of --out, or --format.
std::string format_of(const DrawArguments& arguments, std::vector<std::string> known) {
    if (arguments.column.inches > 0) known = {"pdf"};
    std::string extension = std::filesystem::path(arguments.out).extension().string();
    if (!extension.empty()) extension.erase(0, 1);
    if (arguments.out.empty()) return arguments.format.empty() ? known.front() : arguments.format;
    if (!arguments.format.empty() && arguments.format != extension) {
        throw RecipeError(fmt::format("--out {}: the extension differs from --format {}", arguments.out, arguments.format));
    }
    if (std::find(known.begin(), known.end(), extension) == known.end()) {
        throw RecipeError(
            fmt::format("--out {}: found the extension '{}', expected .{}", arguments.out, extension, fmt::join(known, ", .")));
    }
    return extension;
}

/// The density scale of a report's pictures, or one that suits all stages.
DensityScale scale_of(const DrawArguments& arguments, const std::vector<PatternRaster>& rasters) {
    return arguments.scale_from.empty() ? common_scale(rasters) : DensityScale{density_ceiling_of_report(arguments.scale_from)};
}

PatternRaster drawn_raster(const Recipe& recipe, const StagedMatrix& staged, int resolution) {
    PatternRaster raster = rasterise(staged, resolution);
    raster.slice_height = slice_height_of(recipe);
    return raster;
}

/// fineness: the pixels of the picture in one of the column's, if it is for a paper.
std::string drawn_as(const DrawArguments& arguments, const std::string& format, const auto& picture, int fineness = 1) {
    if (arguments.column.inches > 0) {
        PdfStyle style = arguments.column.style();
        style.points /= fineness;
        return file_of<PdfCanvas>(picture, style);
    }
    if (format == "svg") return svg_of(picture);
    return format == "pdf" ? file_of<PdfCanvas>(picture) : png_bytes(image_of(picture));
}

/// Draws the phases of a product over the segments or tiles that the last stage left.
void draw_flow(const DrawArguments& arguments, const Recipe& recipe, const std::string& format, WholeFile& file) {
    ProductFlow flow;
    std::string problem;
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        try {
            flow = flow_of(staged);
            problem.clear();
        } catch (const std::invalid_argument& wrong) {
            problem = wrong.what();
        }
    });
    if (!problem.empty()) {
        std::string segmenting;
        for (const StageEntry& stage : catalogue().stages) {
            if (!stage.segment_width.empty()) segmenting += (segmenting.empty() ? "" : " or ") + stage.name;
        }
        throw RecipeError(fmt::format("--flow: {}; expected a recipe with {} and a matrix of 1 to {} rows and columns", problem,
                                      segmenting, most_flow_rows));
    }
    const SheetHead head = head_of(report);
    FlowPicture picture{head.title, head.origin, flow, arguments.width};
    if (arguments.column.inches > 0) {
        constexpr double least_points = 4.5;
        picture.width = arguments.column.pixels() * FlowPicture::fineness;
        picture.is_bare = true;
        if (const double points = points_of_numbers(picture); points < least_points) {
            throw RecipeError(
                fmt::format("--column: the numbers of this flow would be {:.1f} points high, expected at least {}; use a wider "
                            "column, such as 6.9in for two, or a matrix with fewer columns and segments",
                            points, least_points));
        }
    }
    file.write(drawn_as(arguments, format, picture, FlowPicture::fineness));
}

/// Draws the arrays that the recipe's layouts store, in f64.
void draw_storage(const DrawArguments& arguments, const Recipe& recipe, const std::string& format, WholeFile& file) {
    if (recipe.layouts.empty()) {
        throw RecipeError(fmt::format("--storage: {}: no layout; expected a recipe with one", recipe.file.string()));
    }
    StorageMap map;
    std::size_t visited = 0;
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        if (visited++ < recipe.stages.size()) return;
        try {
            map = storage_of<double>(recipe, staged);
        } catch (const Unsuitable& reason) {
            throw InputError(fmt::format("--storage: unsuitable: {}", reason.what()));
        }
    });
    file.write(
        drawn_as(arguments, format,
                 arguments.column.inches > 0 ? paper_storage(map, arguments.column.pixels()) : storage_picture(report, map)));
}

/// The graph, and its colours after each stage.
struct StagedGraph {
    GraphView view;
    std::vector<GraphColours> colours;
};

void add_colours(const DrawArguments& arguments, const StagedMatrix& staged, bool is_needed, StagedGraph& graph) {
    static const std::map<std::string, GraphColouring> words{{"partition", GraphColouring::pieces},
                                                             {"order", GraphColouring::order},
                                                             {"level", GraphColouring::level},
                                                             {"length", GraphColouring::length}};
    std::optional<GraphColouring> by;
    if (!arguments.colour_by.empty()) by = words.at(arguments.colour_by);
    // Stages that are not drawn may have no partitions yet.
    if (!is_needed || (by == GraphColouring::pieces && !has_row_pieces(staged))) by = GraphColouring::order;
    graph.colours.push_back(graph_colours(staged, graph.view, by, arguments.column.style().palette));
}

/// Draws the graph beside the pattern after the chosen stage.
void draw_graph(const DrawArguments& arguments, const Recipe& recipe, const std::string& format, WholeFile& file) {
    const std::size_t number = stage_number(recipe, arguments.stage);
    const int paper_width = arguments.column.pixels() * PaperPanels::fineness;  // 0: not for a paper
    const int resolution = paper_width > 0 ? resolution_for(panel_side(2, paper_width)) : graph_resolution(arguments.width);
    StagedGraph graph;
    std::vector<PatternRaster> rasters;
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        if (rasters.empty()) graph.view = drawn_graph(recipe.matrix, staged.matrix);
        if (rasters.size() == number && arguments.colour_by == "partition" && !has_row_pieces(staged)) {
            throw RecipeError("--colour-by partition: found no partitions, row blocks or length groups after the drawn stage");
        }
        add_colours(arguments, staged, rasters.size() == number, graph);
        rasters.push_back(rasterise(staged, resolution));
    });
    const DensityScale scale = scale_of(arguments, rasters);
    const GraphColours& colours = graph.colours[number];
    if (paper_width > 0) {
        const bool by_pieces = colours.by == GraphColouring::pieces;
        const std::vector<PaperPanel> panels{{PaperGraph{graph.view, colours}, by_pieces ? colours.name : "by " + colours.name},
                                             {rasters[number], "matrix"}};
        file.write(drawn_as(arguments, format, PaperPanels{panels, scale, paper_width}, PaperPanels::fineness));
        return;
    }
    const std::vector<StageCaption> captions = captions_of(report);
    StageCaption caption = short_caption(captions[number], captions);
    caption.origin = captions[number].origin;
    caption.subtitle = captions[number].subtitle;
    file.write(
        drawn_as(arguments, format, GraphPicture{graph.view, colours, rasters[number], scale, caption, arguments.width}));
}

/// Draws all stages with those rasters that fill the patterns best: rasters[k] are those of resolutions[k].
std::string drawn_sheet(const DrawArguments& arguments, const std::string& format, const RunReport& report,
                        const std::vector<int>& resolutions, const std::vector<std::vector<PatternRaster>>& rasters) {
    const std::vector<StageCaption> captions = captions_of(report, rasters.front());
    std::vector<StageFrame> frames;
    for (std::size_t i = 0; i < captions.size(); ++i) {
        frames.push_back({rasters.front()[i], short_caption(captions[i], captions)});
    }
    ContactSheet sheet{frames, {}, head_of(report), arguments.width};
    const int side = pattern_side(sheet);
    const auto filled = [side](int resolution) { return side / resolution * resolution; };  // bins have whole pixels
    const auto best =
        std::max_element(resolutions.begin(), resolutions.end(), [&](int a, int b) { return filled(a) < filled(b); });
    const std::vector<PatternRaster>& chosen = rasters.at(static_cast<std::size_t>(best - resolutions.begin()));
    for (std::size_t i = 0; i < frames.size(); ++i) frames[i].raster = chosen[i];
    sheet.scale = scale_of(arguments, chosen);
    return drawn_as(arguments, format, sheet);
}

/// Draws all stages, or the one that is named, for the column of a paper.
void draw_panels(const DrawArguments& arguments, const Recipe& recipe, const std::string& format, WholeFile& file) {
    constexpr std::size_t most = 26;  // letters
    const bool one = !arguments.stage.empty();
    if (!one && recipe.stages.size() >= most) {
        throw RecipeError(
            fmt::format("--column: found {} stages; expected at most {}, or --stage", recipe.stages.size(), most - 1));
    }
    const int width = arguments.column.pixels() * PaperPanels::fineness;
    const int resolution = resolution_for(panel_side(one ? 1 : recipe.stages.size() + 1, width));
    std::vector<PatternRaster> rasters;
    (void)run_drawn_stages(recipe,
                           [&](const StagedMatrix& staged) { rasters.push_back(drawn_raster(recipe, staged, resolution)); });
    const DensityScale scale = scale_of(arguments, rasters);
    std::vector<PaperPanel> panels;
    for (std::size_t i = 0; i < rasters.size(); ++i) {
        if (one && i != stage_number(recipe, arguments.stage)) continue;
        panels.push_back({std::move(rasters[i]), i == 0 ? "input" : recipe.stages[i - 1].id});
    }
    file.write(drawn_as(arguments, format, PaperPanels{panels, scale, width}, PaperPanels::fineness));
}

ExitCode draw(const DrawArguments& arguments) {
    const KokkosRuntime kokkos;
    const std::string format = format_of(arguments, {"png", "svg", "pdf"});
    const Recipe recipe = drawn_recipe(arguments.drawn);
    const bool one = !arguments.stage.empty() || recipe.stages.empty();
    const std::size_t number = stage_number(recipe, arguments.stage);
    const std::string suffix = arguments.flow            ? "_flow"
                               : arguments.storage       ? "_storage"
                               : arguments.graph         ? "_graph"
                               : arguments.stage.empty() ? ""
                                                         : "_" + arguments.stage;
    const std::filesystem::path out =
        arguments.out.empty() ? recipe.file.stem().string() + suffix + "." + format : arguments.out;
    check_new(out, arguments.force);
    WholeFile file(out);  // throws before the work
    if (!arguments.scale_from.empty()) static_cast<void>(density_ceiling_of_report(arguments.scale_from));

    if (arguments.flow || arguments.graph || arguments.storage || arguments.column.inches > 0) {
        const auto draw_it = arguments.storage ? draw_storage
                             : arguments.flow  ? draw_flow
                             : arguments.graph ? draw_graph
                                               : draw_panels;
        draw_it(arguments, recipe, format, file);
        file.finish();
        print_text("drawn to {}\n", out.string());
        return ExitCode::ok;
    }
    // Captions are not known before the stages have run, so a sheet selects from several resolutions.
    const std::vector<int> resolutions =
        one ? std::vector{stage_resolution(arguments.width)} : sheet_resolutions(recipe.stages.size() + 1, arguments.width);
    std::vector<std::vector<PatternRaster>> rasters(resolutions.size());
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        for (std::size_t k = 0; k < rasters.size(); ++k) rasters[k].push_back(drawn_raster(recipe, staged, resolutions[k]));
    });
    if (one) {
        const DensityScale scale = scale_of(arguments, rasters.front());
        const StageCaption caption = captions_of(report, rasters.front())[number];
        file.write(drawn_as(arguments, format, StagePicture{rasters.front()[number], scale, caption, arguments.width}));
    } else {
        file.write(drawn_sheet(arguments, format, report, resolutions, rasters));
    }
    file.finish();
    print_text("drawn to {}\n", out.string());
    return ExitCode::ok;
}

/// The frames of an animation that holds each stage and moves the nonzeros between stages. draw(stage, caption, raster or null
/// instead of the stage's) returns an image.
template <typename Draw>
std::vector<AnimationFrame> frames_of(const RunReport& report, const std::vector<PatternRaster>& rasters,
                                      const std::vector<MovingEntries>& entries, const Draw& draw) {
    constexpr int steps = 12;
    constexpr int hold = 160;
    const std::vector<StageCaption> captions = captions_of(report, rasters);
    std::vector<AnimationFrame> frames;
    for (std::size_t i = 0; i < rasters.size(); ++i) {
        if (i > 0 && entries[i - 1].moves_to(entries[i])) {
            // Bars and figures are those of the stage before, until the nonzeros have arrived.
            StageCaption caption = captions[i - 1];
            caption.title = captions[i].title;
            caption.subtitle = captions[i].subtitle;
            for (CaptionLine& line : caption.lines) line.before.clear();
            const auto moving = static_cast<Offset>(entries[i].places.size());
            if (moving < entries[i].nonzeros) {
                caption.origin = fmt::format("moving: a sample of {} of the {}  ·  {}", moving,
                                             counted(entries[i].nonzeros, "nonzero"), caption.origin);
            }
            for (int step = 1; step < steps; ++step) {
                const int eased = step * step * (3 * steps - 2 * step);  // smoothstep: slow at both ends
                const PatternRaster between =
                    raster_between(entries[i - 1], entries[i], eased, steps * steps * steps, rasters[i]);
                frames.push_back({draw(i - 1, caption, &between), 6});
            }
        }
        frames.push_back({draw(i, captions[i], nullptr), hold});
    }
    return frames;
}

ExitCode animate(const DrawArguments& arguments) {
    const KokkosRuntime kokkos;
    const std::string format = format_of(arguments, {"png", "gif", "mp4"});
    const Recipe recipe = drawn_recipe(arguments.drawn);
    if (recipe.stages.empty()) {
        throw RecipeError(fmt::format("{}: nothing to animate; expected a recipe with stages", recipe.file.string()));
    }
    check_new(arguments.out, arguments.force);
    if (format == "mp4") require_movie_encoder(arguments.out);
    WholeFile file(arguments.out);
    if (!arguments.scale_from.empty()) static_cast<void>(density_ceiling_of_report(arguments.scale_from));
    const int resolution = arguments.graph ? graph_resolution(arguments.width) : stage_resolution(arguments.width);
    StagedGraph graph;
    std::vector<PatternRaster> rasters;
    std::vector<MovingEntries> entries;
    const RunReport report = run_drawn_stages(recipe, [&](const StagedMatrix& staged) {
        if (arguments.graph && rasters.empty()) graph.view = drawn_graph(recipe.matrix, staged.matrix);
        if (arguments.graph) add_colours(arguments, staged, true, graph);
        rasters.push_back(arguments.graph ? rasterise(staged, resolution) : drawn_raster(recipe, staged, resolution));
        entries.push_back(moving_entries(staged));
    });
    const Progress progress;
    progress.show("drawing");
    const DensityScale scale = scale_of(arguments, rasters);
    const auto draw = [&](std::size_t i, const StageCaption& caption, const PatternRaster* moving) {
        const int width = arguments.width;
        if (!arguments.graph) return image_of(StagePicture{rasters[i], scale, caption, width, moving});
        return image_of(GraphPicture{graph.view, graph.colours[i], rasters[i], scale, caption, width, moving});
    };
    const std::vector<AnimationFrame> frames = frames_of(report, rasters, entries, draw);
    file.write(format == "mp4" ? movie_bytes(frames) : format == "gif" ? gif_bytes(frames) : animated_png_bytes(frames));
    file.finish();
    print_text("{} drawn to {}\n", counted(frames.size(), "picture"), arguments.out);
    return ExitCode::ok;
}

CLI::Option* add_graph_options(CLI::App& command, DrawArguments& arguments) {
    CLI::Option* graph = command.add_flag("--graph", arguments.graph, "Draw the graph of a square matrix beside its pattern");
    add_choice(command, "--colour-by", arguments.colour_by, {"partition", "order", "level", "length"},
               "Colour the graph by partition (or row block, or length group), by row order, by level of Cuthill-McKee (edges "
               "from the first row), or by row length (default: "
               "partition if there is one, otherwise order)")
        ->needs(graph);
    return graph;
}

void add_picture_options(CLI::App& command, DrawArguments& arguments) {
    add_number(command, "--width", arguments.width, Range{320, 7680, "PX"},
               "Width of the picture in pixels; its height is 9/16 of the width");
    add_force_option(command, arguments.force);
    command.add_option("--scale-from", arguments.scale_from, "Use the density scale of the pictures of this report.json")
        ->type_name("FILE");
}

}  // namespace

void add_draw_command(CLI::App& app, Action& action) {
    const auto [command, arguments] = add_command(
        app, action, "draw", "Draw the sparsity pattern of a matrix, or the patterns after each stage of a recipe", draw);
    add_drawn_options(command, arguments.drawn);
    command.add_option("--stage", arguments.stage, "Draw only this stage (its id, or 'input') instead of a sheet of all")
        ->type_name("ID");
    command
        .add_flag("--flow", arguments.flow,
                  "Draw the two phases of a product over segments or tiles: partial results, and their sums")
        ->excludes("--stage");
    CLI::Option* storage =
        command.add_flag("--storage", arguments.storage, "Draw the arrays that the recipe's layouts store, in f64")
            ->excludes("--stage")
            ->excludes("--flow");
    add_graph_options(command, arguments)->excludes("--flow")->excludes("--storage");
    add_choice(command, "--format", arguments.format, {"png", "svg", "pdf"},
               "png, svg or pdf (default: the extension of --out, or png)");
    add_picture_options(command, arguments);
    storage->excludes("--width")->excludes("--scale-from");
    add_paper_options(
        command, arguments.column,
        "Draw for a column of a paper, of this width (in, cm, mm or pt), as PDF: the patterns (or graph and pattern, phases, "
        "arrays) alone, with (a), (b), ... and their names below, text of 7.5 pt")
        ->excludes("--width")
        ->excludes("--format");
    command.add_option("-o,--out", arguments.out, "File to write (default: NAME.png in the current folder)")->type_name("FILE");
}

void add_animate_command(CLI::App& app, Action& action) {
    const auto [command, arguments] =
        add_command(app, action, "animate", "Animate how the nonzeros move from stage to stage of a recipe", animate);
    arguments.width = 1280;
    add_drawn_options(command, arguments.drawn);
    add_graph_options(command, arguments);
    add_picture_options(command, arguments);
    command
        .add_option("-o,--out", arguments.out, "File to write: .png (animated, full colour), .gif, or .mp4 (encoded by ffmpeg)")
        ->required()
        ->type_name("FILE");
}

}  // namespace workbench
