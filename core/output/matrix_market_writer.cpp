#include "core/output/matrix_market_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <new>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <Kokkos_Core.hpp>

#include "core/matrix/host_threads.hpp"

namespace workbench {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
using Blocks = Kokkos::RangePolicy<Host, Kokkos::Schedule<Kokkos::Dynamic>, Kokkos::IndexType<int>>;

constexpr Offset items_per_block = Offset{1} << 15;

/// False if memory is short.
[[nodiscard]] bool gzip_member(std::string_view text, std::string& compressed) {
    z_stream stream{};
    constexpr int gzip_wrapping = 15 + 16;
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_wrapping, 8, Z_DEFAULT_STRATEGY) != Z_OK) return false;
    compressed.resize(deflateBound(&stream, text.size()));
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
    stream.avail_out = static_cast<uInt>(compressed.size());
    const bool ended = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    compressed.resize(stream.total_out);
    deflateEnd(&stream);
    return ended;
}

struct Block {
    std::string text;
    std::string compressed;
    bool done = true;
};

}  // namespace

char* append_number(char* place, double number) { return std::to_chars(place, place + longest_number, number).ptr; }
char* append_number(char* place, Offset number) { return std::to_chars(place, place + longest_number, number).ptr; }

void write_items(WholeFile& file, Compression compression, std::string_view start, Offset count, std::size_t longest_item,
                 const FormatItems& format) {
    const bool plain = compression == Compression::none;
    std::string compressed_start;
    if (!plain && !gzip_member(start, compressed_start)) throw std::bad_alloc();
    file.write(plain ? start : compressed_start);

    const Offset block_count = (count + items_per_block - 1) / items_per_block;
    std::vector<Block> blocks(static_cast<std::size_t>(std::min<Offset>(block_count, 4 * host_threads())));
    for (Block& block : blocks) block.text.resize(longest_item * static_cast<std::size_t>(std::min(count, items_per_block)));
    for (Offset done = 0; done < block_count; done += static_cast<Offset>(blocks.size())) {
        const auto now = static_cast<int>(std::min<Offset>(static_cast<Offset>(blocks.size()), block_count - done));
        std::vector<std::string_view> texts(now);
        Kokkos::parallel_for("write_items", Blocks(0, now), [&](int i) {
            Block& block = blocks[i];
            const Offset first = (done + i) * items_per_block;
            char* const begin = block.text.data();
            char* const end = format(first, std::min(first + items_per_block, count), begin);
            texts[i] = {begin, static_cast<std::size_t>(end - begin)};
            if (plain) return;
            block.done = gzip_member(texts[i], block.compressed);
            texts[i] = block.compressed;
        });
        if (!std::all_of(blocks.begin(), blocks.end(), [](const Block& block) { return block.done; })) throw std::bad_alloc();
        for (const std::string_view text : texts) file.write(text);
    }
}

void write_matrix_market(WholeFile& file, const CsrMatrix& matrix, Compression compression) {
    const std::string start = fmt::format("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", matrix.rows,
                                          matrix.columns, matrix.nonzeros());
    constexpr std::size_t longest_line = 2 * 11 + longest_number + 1;
    // Blocks may begin and end within a row, because a single row may contain the whole matrix.
    write_items(file, compression, start, matrix.nonzeros(), longest_line, [&](Offset first, Offset last, char* place) {
        const auto& offsets = matrix.row_offsets;
        Offset row = std::upper_bound(offsets.begin(), offsets.end(), first) - offsets.begin() - 1;
        for (Offset i = first; i < last; ++i) {
            while (offsets[row + 1] <= i) ++row;
            place = append_number(place, row + 1);
            *place++ = ' ';
            place = append_number(place, Offset{matrix.column_indices[i]} + 1);
            *place++ = ' ';
            place = append_number(place, matrix.values[i]);
            *place++ = '\n';
        }
        return place;
    });
}

}  // namespace workbench
