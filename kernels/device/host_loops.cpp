#include "kernels/device/host_loops.hpp"

#include <algorithm>

#include "core/matrix/guarded_loop.hpp"

namespace workbench {

void for_chunks_in_parallel(std::int64_t count, std::int64_t chunk,
                            void (*work)(const void* body, std::int64_t begin, std::int64_t end), const void* body) {
    if (count <= chunk) {  // a parallel region takes longer than a few rows
        if (count > 0) work(body, 0, count);
        return;
    }
    UnevenHostRange<std::int64_t> chunks(0, (count + chunk - 1) / chunk);
    chunks.set_chunk_size(1);
    guarded_for("host_loop", chunks, [=](std::int64_t i) { work(body, i * chunk, std::min((i + 1) * chunk, count)); });
}

}  // namespace workbench
