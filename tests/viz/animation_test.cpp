// Animations: decoded files equal the drawn images; nonzeros move from their old places to their new ones.
#include <gif_lib.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "core/matrix/battery.hpp"
#include "support/split_shares.hpp"
#include "viz/animation.hpp"
#include "viz/golden_picture.hpp"
#include "viz/image.hpp"
#include "viz/moves.hpp"
#include "viz/pdf_canvas.hpp"
#include "viz/text.hpp"

namespace workbench {
namespace {

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
    return number;
}

struct Chunk {
    std::string name;
    std::string data;
};

/// All chunks, after checking their checksums.
std::vector<Chunk> chunks_of(const std::string& png) {
    std::vector<Chunk> chunks;
    for (std::size_t at = 8; at < png.size();) {
        const std::uint32_t length = number_at(png, at);
        const std::string body = png.substr(at + 4, length + 4);
        CHECK(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())) ==
              number_at(png, at + 8 + length));
        chunks.push_back({body.substr(0, 4), body.substr(4)});
        at += length + 12;
    }
    return chunks;
}

std::string big_endian(std::uint32_t number) {
    std::string text;
    for (int byte = 3; byte >= 0; --byte) text += static_cast<char>(number >> 8 * byte & 0xFF);
    return text;
}

std::string chunk(const std::string& name, const std::string& data) {
    const std::string body = name + data;
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size()));
    return big_endian(static_cast<std::uint32_t>(data.size())) + body + big_endian(static_cast<std::uint32_t>(sum));
}

void lay(Image& canvas, const Image& part, int left, int top) {
    for (int y = 0; y < part.height; ++y) {
        for (int x = 0; x < part.width; ++x) fill(canvas, {left + x, top + y, 1, 1}, part.at(x, y));
    }
}

/// Decodes the images that a viewer shows.
std::vector<Image> play_png(const std::string& png) {
    const std::vector<Chunk> chunks = chunks_of(png);
    std::vector<Image> shown;
    std::uint32_t sequence = 0;
    std::string header;
    std::string control;
    std::string pixels;
    const auto show = [&] {
        if (control.empty()) return;
        const std::string size = control.substr(4, 8);
        const std::string part =
            png.substr(0, 8) + chunk("IHDR", size + header.substr(8)) + chunk("IDAT", pixels) + chunk("IEND", "");
        if (shown.empty()) {
            shown.push_back(read_png(part));
        } else {
            Image next = shown.back();
            lay(next, read_png(part), static_cast<int>(number_at(control, 12)), static_cast<int>(number_at(control, 16)));
            shown.push_back(next);
        }
        pixels.clear();
    };
    for (const Chunk& each : chunks) {
        if (each.name == "IHDR") header = each.data;
        if (each.name == "fcTL") {
            show();
            control = each.data;
            REQUIRE(control.size() == 26);
            CHECK(number_at(control, 0) == sequence++);
            CHECK(control.substr(22) == std::string("\0\x64\0\0", 4));  // hundredths of a second
        }
        if (each.name == "IDAT") pixels += each.data;
        if (each.name == "fdAT") {
            CHECK(number_at(each.data, 0) == sequence++);
            pixels += each.data.substr(4);
        }
        if (each.name == "IEND") show();
    }
    return shown;
}

struct PictureReader {
    std::string bytes;
    std::size_t at = 0;
};

int read_bytes(GifFileType* file, GifByteType* to, int count) {
    auto* reader = static_cast<PictureReader*>(file->UserData);
    const std::size_t given = std::min<std::size_t>(count, reader->bytes.size() - reader->at);
    std::copy_n(reader->bytes.begin() + static_cast<std::ptrdiff_t>(reader->at), given, to);
    reader->at += given;
    return static_cast<int>(given);
}

std::vector<Image> play_gif(const std::string& bytes) {
    PictureReader reader{bytes};
    int error = 0;
    GifFileType* file = DGifOpen(&reader, read_bytes, &error);
    REQUIRE(file != nullptr);
    REQUIRE(DGifSlurp(file) == GIF_OK);
    std::vector<Image> shown;
    for (int i = 0; i < file->ImageCount; ++i) {
        const SavedImage& saved = file->SavedImages[i];
        GraphicsControlBlock control{};
        CHECK(DGifSavedExtensionToGCB(file, i, &control) == GIF_OK);
        CHECK_FALSE(control.UserInputFlag);  // the next image follows by itself
        const GifImageDesc& place = saved.ImageDesc;
        Image next = shown.empty() ? blank_image(file->SWidth, file->SHeight) : shown.back();
        for (int y = 0; y < place.Height; ++y) {
            for (int x = 0; x < place.Width; ++x) {
                const GifColorType& colour = file->SColorMap->Colors[saved.RasterBits[y * place.Width + x]];
                fill(next, {place.Left + x, place.Top + y, 1, 1}, {colour.Red, colour.Green, colour.Blue});
            }
        }
        shown.push_back(next);
    }
    DGifCloseFile(file, &error);
    return shown;
}

std::vector<AnimationFrame> three_frames() {
    std::vector<AnimationFrame> frames;
    Image image = blank_image(40, 30);
    frames.push_back({image, 100});
    fill(image, {5, 6, 10, 8}, {200, 30, 40});
    frames.push_back({image, 5});
    frames.push_back({image, 5});  // unchanged
    fill(image, {39, 29, 1, 1}, {0, 90, 255});
    fill(image, {0, 0, 1, 1}, {1, 2, 3});
    frames.push_back({image, 7});
    return frames;
}

}  // namespace

TEST_CASE("an animated PNG contains its images, and plain readers show the first") {
    const std::vector<AnimationFrame> frames = three_frames();
    const std::string png = animated_png_bytes(frames);
    const std::vector<Image> shown = play_png(png);
    REQUIRE(shown.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) CHECK(shown[i] == frames[i].image);
    CHECK(read_png(png) == frames.front().image);
    CHECK(png == animated_png_bytes(frames));
    CHECK_THROWS_AS((void)animated_png_bytes({}), std::invalid_argument);
    const std::vector<AnimationFrame> uneven{{blank_image(3, 3)}, {blank_image(3, 4)}};
    CHECK_THROWS_AS((void)animated_png_bytes(uneven), std::invalid_argument);
    CHECK_THROWS_AS((void)gif_bytes(uneven), std::invalid_argument);
}

TEST_CASE("a GIF contains its images in almost the same colours, with exact white") {
    const std::vector<AnimationFrame> frames = three_frames();
    const std::string gif = gif_bytes(frames);
    CHECK((gif[10] & 0x70) == 0x70);  // eight bits of each colour
    CHECK(gif[11] == 0);              // the background
    const std::vector<Image> shown = play_gif(gif);
    REQUIRE(shown.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        int largest = 0;
        for (std::size_t k = 0; k < shown[i].pixels.size(); ++k) {
            largest = std::max(largest, std::abs(shown[i].pixels[k] - frames[i].image.pixels[k]));
        }
        CHECK(largest <= 8);
        CHECK(shown[i].at(20, 20) == white);
    }
}

TEST_CASE("moving nonzeros are the same at every stage and move along straight lines") {
    const CsrMatrix matrix = csr_from_entries(3, 3, std::vector<Entry>{{0, 0, 1}, {0, 2, 2}, {1, 1, 3}, {2, 0, 4}});
    StagedMatrix staged = stage_input(matrix);
    const MovingEntries before = moving_entries(staged);
    apply(staged, {OrderChange{Acts::rows, Permutation::from_old_of_new({2, 0, 1})}}, {});
    const MovingEntries after = moving_entries(staged);
    using Place = MovingEntries::MatrixPlace;
    CHECK(before.places == std::vector<Place>{{0, 0}, {0, 2}, {1, 1}, {2, 0}});
    CHECK(after.places == std::vector<Place>{{1, 0}, {1, 2}, {2, 1}, {0, 0}});
    CHECK(before.moves_to(after));
    CHECK_FALSE(after.moves_to(after));

    const PatternRaster like = rasterise(staged);
    const PatternRaster start = raster_between(before, after, 0, 4, like);
    REQUIRE(start.row_bins() == 30);
    CHECK(start.count(5, 5) == 1);
    CHECK(start.count(15, 5) == 0);
    const PatternRaster half = raster_between(before, after, 2, 4, like);
    CHECK(half.count(10, 25) == 1);  // from row 0 to row 1, in column 2
    CHECK(half.count(15, 5) == 1);   // from row 2 to row 0: in the middle
    CHECK(raster_between(before, after, 4, 4, like).count(15, 5) == 1);
    CHECK_THROWS_AS((void)raster_between(before, {}, 0, 1, like), std::invalid_argument);
}

TEST_CASE("nonzeros of a rectangular matrix move on its own rows and columns") {
    StagedMatrix staged = stage_input(csr_from_entries(2, 4, std::vector<Entry>{{0, 3, 1}, {1, 0, 2}}));
    const MovingEntries before = moving_entries(staged);
    apply(staged, {OrderChange{Acts::columns, Permutation::from_old_of_new({3, 1, 2, 0})}}, {});
    const PatternRaster start = raster_between(before, moving_entries(staged), 0, 2, rasterise(staged));
    REQUIRE(start.row_bins() == 20);
    REQUIRE(start.column_bins() == 40);
    CHECK(start.count(5, 35) == 1);
    CHECK(start.count(15, 5) == 1);
    CHECK(start.plane_names == rasterise(staged).plane_names);
    CHECK(start.count(15, 35) == 0);
}

TEST_CASE("nonzeros that move have the colours of their shares") {
    StagedMatrix staged = stage_input(csr_from_entries(2, 4, std::vector<Entry>{{0, 3, 1}, {1, 0, 2}}));
    staged.shares = split_shares(staged.matrix, 2, [](Index row, Index) { return row; });
    for (int i = 0; i < 2; ++i) staged.shares[i].id = {ShareKind::near, i, 0};
    const MovingEntries entries = moving_entries(staged);
    const PatternRaster moving = raster_between(entries, entries, 0, 2, rasterise(staged));
    REQUIRE(moving.planes.size() == 2);
    for (const auto& plane : moving.planes) CHECK(std::accumulate(plane.begin(), plane.end(), Offset{0}) == 81);
}

TEST_CASE("a sample of many nonzeros moves, is the same at every stage, and is weighted") {
    std::vector<Entry> entries;
    for (Index row = 0; row < 3000; ++row) {
        for (Index k = 0; k < 4; ++k) entries.push_back({row, (row * 7 + k * 611) % 3000, 1});
    }
    StagedMatrix staged = stage_input(csr_from_entries(3000, 3000, entries));
    const MovingEntries before = moving_entries(staged, 1000);
    CHECK(before.places.size() > 850);
    CHECK(before.places.size() < 1150);
    std::vector<Index> backwards;
    for (Index row = 2999; row >= 0; --row) backwards.push_back(row);
    apply(staged, {OrderChange{Acts::symmetric, Permutation::from_old_of_new(backwards)}}, {});
    const MovingEntries after = moving_entries(staged, 1000);
    REQUIRE(after.places.size() == before.places.size());
    for (std::size_t i = 0; i < after.places.size(); ++i) {
        CHECK(after.places[i].row == 2999 - before.places[i].row);
        CHECK(after.places[i].column == 2999 - before.places[i].column);
    }
    const PatternRaster between = raster_between(before, after, 1, 2, rasterise(staged));
    Offset total = 0;
    for (const Offset count : between.planes[0]) total += count;
    CHECK(total == static_cast<Offset>(before.places.size()) * (12'000 / static_cast<Offset>(before.places.size())));
}

TEST_CASE("a PDF has reproducible bytes") {
    const auto drawn = [](Colour colour) {
        PdfCanvas canvas(400, 200);
        canvas.box({10, 10, 50, 20}, colour);
        canvas.box({10, 10, 50, 20}, colour, 0.5);
        canvas.line({0, 0}, {400, 200}, colour, 2);
        canvas.text(20, 100, "稀疏 Größe", {24, colour, Align::left});
        canvas.picture({100, 100, 50, 50}, blank_image(2, 2, colour));
        for (const Marker shape : {Marker::circle, Marker::square, Marker::diamond, Marker::triangle}) {
            canvas.marker(shape, {200, 50}, 9, colour);
        }
        return canvas.bytes();
    };
    const std::string pdf = drawn({10, 20, 30});
    CHECK(pdf.starts_with("%PDF-"));
    CHECK(pdf.find("%%EOF") != std::string::npos);
    CHECK(pdf == drawn({10, 20, 30}));
    CHECK(pdf != drawn({10, 20, 31}));
    CHECK(pdf.find("CreationDate") == std::string::npos);
}

TEST_CASE("a PDF contains the boxes and outlines that were drawn") {
    const auto content = [](const std::function<void(Canvas&)>& draws, const PdfStyle& style = {}) {
        PdfCanvas canvas(400, 200, style);
        draws(canvas);
        const std::string pdf = canvas.bytes();
        std::string text;
        for (std::size_t at = pdf.find("stream\r\n"); at != std::string::npos; at = pdf.find("\nstream\r\n", at + 1)) {
            const std::size_t begin = pdf.find('\n', at + 1) + 1;
            std::string bytes(100'000, '\0');
            z_stream stream{};
            stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(pdf.data() + begin));  // only read
            stream.avail_in = static_cast<uInt>(pdf.size() - begin);
            stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
            stream.avail_out = static_cast<uInt>(bytes.size());
            REQUIRE(inflateInit(&stream) == Z_OK);
            if (inflate(&stream, Z_FINISH) == Z_STREAM_END) text += bytes.substr(0, stream.total_out);
            (void)inflateEnd(&stream);
        }
        return text;
    };
    const auto count = [](const std::string& text, const std::string& part) {
        std::ptrdiff_t found = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
        return found;
    };
    const std::string boxes = content([](Canvas& canvas) {
        canvas.box({10, 15, 50, 20}, {1, 2, 3});
        canvas.box({10, 15, 0, 20}, {1, 2, 3});
        canvas.box({10, 15, 50, 0}, {1, 2, 3});
        canvas.box({7, 0, 3, 9}, {1, 2, 3}, 0.5);
    });
    CHECK(count(boxes, " re\n") == 2);
    CHECK(count(boxes, "10 165 50 20 re\nf\n") == 1);
    CHECK(count(boxes, "7 191 3 9 re\nf\n") == 1);

    // Lines that go down to the left, within a box of the picture, and none within a box without area.
    const std::string hatched = content([](Canvas& canvas) {
        const Filling filling{.colour = {1, 2, 3}, .lines = Colour{4, 5, 6}};
        canvas.boxes(std::array{Box{10, 15, 4 * filling_line_distance, filling_line_distance}, Box{10, 15, 0, 99}}, filling);
    });
    CHECK(count(hatched, "W\n") == 1);
    CHECK(count(hatched, "S\n") >= 5);
    CHECK(count(hatched, "S\n") <= 6);

    const auto coloured = [&](std::string_view palette) {
        const Colour blue = hues[0].colour;
        return content(
            [&](Canvas& canvas) {
                canvas.box({10, 15, 50, 20}, blue);
                canvas.line({0, 0}, {9, 9}, blue, 1);
                canvas.picture({0, 0, 4, 4}, blank_image(4, 4, blue));
            },
            {.palette = paper_palette(palette)});
    };
    CHECK(count(coloured("grey"), "0 0 0 rg\n") == 1);
    CHECK(count(coloured("grey"), "0 0 0 RG\n") == 1);
    CHECK(coloured("grey").find(std::string(4 * 4 * 3, '\0')) != std::string::npos);
    const std::string replaced = coloured("okabe-ito");
    CHECK(count(replaced, "0 0.44706 0.69804 rg\n") == 1);
    CHECK(count(replaced, "0 0.44706 0.69804 RG\n") == 1);
    CHECK(count(replaced, std::string("\x00\x72\xB2", 3)) == 16);
    CHECK(coloured("default").find(std::string("\x25\x6B\xB1")) != std::string::npos);

    const TextStyle style{24, {1, 2, 3}, Align::left};
    const std::string latin = content([&](Canvas& canvas) { canvas.text(20, 100, "SpMV 8 \u00B5s", style); });
    CHECK(count(latin, "(SpMV 8 \\265s) Tj") == 1);
    const std::string arrow = content([&](Canvas& canvas) { canvas.text(20, 100, "23 \u2192 10", style); });
    CHECK(count(arrow, " Tj\n") == 1);
    CHECK(count(arrow, " c\n") == 0);
    if (!has_cjk_font()) return;
    const std::string text = "\u7A00 8";
    const std::string letters = content([&](Canvas& canvas) { canvas.text(20, 100, text, style); });
    const std::vector<OutlinePart> outline = text_outline({20, 100}, text, style);
    for (const auto& [kind, part] : {std::pair{OutlinePart::PathStep::move, " m\n"},
                                     {OutlinePart::PathStep::line, " l\n"},
                                     {OutlinePart::PathStep::curve, " c\n"}}) {
        const auto parts = std::count_if(outline.begin(), outline.end(), [&](const auto& each) { return each.kind == kind; });
        CHECK(parts > 3);
        CHECK(count(letters, part) == parts);
    }
}

}  // namespace workbench
